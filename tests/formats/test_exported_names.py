"""What a module exports is read from its text, or said to be unclear."""

import pytest

from hookscope.formats.script_source import exported_names, unusable_default_export


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("export function handler(event) {}", ("handler",)),
        ("export async function handler(event) {}\nexport class Other {}", ("handler", "Other")),
        ("export async function* many() {}", ("many",)),
        ("const a = () => {}; export { a as default, b };", ("default", "b")),
        ("export { default } from './other.ts';", ("default",)),
        ("export default (event) => {};", ("default",)),
        ("export const handler = (event) => {};\nexport let other;", ("handler", "other")),
        ("export type Event = { a: 1 };\nexport interface Other {}\nexport function a() {}", ("a",)),
        ("export { type Event, a };", ("a",)),
        ("export const text = 'export default';", ("text",)),
        ("export const a = 1, b = 2;", None),
        ("export const { a, b } = all;", None),
        ("export * from './other.ts';", None),
        ("exports.handler = () => {};", None),
        ("export function a() {}\nmodule.exports = a;", None),
        ("export type Only = string;", None),
        ("const text = 'export';", None),
    ],
)
def test_exported_names_are_read_or_unclear(source: str, names: tuple[str, ...] | None) -> None:
    assert exported_names(source.encode()) == names


@pytest.mark.parametrize(
    ("source", "members"),
    [
        ("exports.handler = async (event) => {};", ("handler",)),
        ("'use strict';\nmodule.exports.a = 1; exports.b = 2;", ("a", "b")),
        ("exports.default = 1;", None),
        ("Object.defineProperty(exports, '__esModule', { value: true }); exports.a = 1;", None),
        ("const all = exports; exports.a = 1;", None),
        ("import a from 'b'; exports.a = 1;", None),
        ("exports.a == 1;", None),
        ("function later() { exports.a = 1; }", None),
    ],
)
def test_a_file_that_only_exports_names_has_no_function_to_call(
    source: str, members: tuple[str, ...] | None
) -> None:
    found = unusable_default_export(source.encode())
    assert (found.members if found is not None else None) == members

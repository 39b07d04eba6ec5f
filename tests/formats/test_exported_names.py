"""What a module exports is read from its text, or said to be unclear."""

import pytest

from hookscope.formats.script_source import exported_names


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

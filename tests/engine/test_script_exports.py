"""A TypeScript or JavaScript hook without the function that is called is broken before any load."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench


@pytest.mark.parametrize(
    ("file", "code", "export", "reason"),
    [
        (
            "handler.ts",
            "export async function handler() {}",
            "",
            "has no default export; it exports `handler`",
        ),
        (
            "handler.ts",
            "export function handler() {}",
            "other",
            "has no export `other`; it exports `handler`",
        ),
        ("handler.js", "module.exports = { handler() {} };", "", "exports an object with `handler`"),
        ("handler.ts", "export default class Handler {}", "", "exports a class; it must be a function"),
        ("handler.ts", "export function handler() {}", "handler", ""),
        ("handler.ts", "export { run as default } from './run.ts';", "", ""),
        ("handler.ts", "export * from './run.ts';", "run", ""),
        ("handler.js", "module.exports = { handler() {} };", "handler", ""),
    ],
)
def test_a_script_without_the_function_is_broken_in_the_list(
    workspace: Path, make_hook: MakeHook, file: str, code: str, export: str, reason: str
) -> None:
    named = f', "export": "{export}"' if export else ""
    metadata = f'{{"openclaw": {{"events": ["command:new"]{named}}}}}'
    make_hook(workspace / "hooks", "hook", metadata, code, file=file)
    view = Workbench(Options(workspace=workspace, dialect="openclaw")).scan()
    (row,) = [row for row in view.inventory.hooks if row.hook.name == "hook"]
    failed = [gate.reason for gate in row.verdict.failed() if gate.name == "export"]
    assert [text for text in failed if reason in text] == failed
    assert bool(failed) == bool(reason)

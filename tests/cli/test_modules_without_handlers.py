"""Scripts whose default export is plainly no function: told before anybody loads them, as a load has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

HEADER = '---\nname: mine\ndescription: d\nmetadata: {"openclaw": {"events": ["command:new"]}}\n---\n'
RULE = ("--rule", "export-missing")


def hook(workspace: Path, source: str, name: str = "handler.ts") -> Path:
    folder = workspace / "hooks" / "mine"
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(HEADER)
    (folder / name).write_text(source)
    return folder


def plugin(workspace: Path, source: str) -> None:
    folder = workspace / "plugins" / "mine"
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text(
        json.dumps({"id": "mine", "configSchema": {"type": "object"}})
    )
    (folder / "index.ts").write_text(source)


def of_lint(hookscope: Program) -> list[str]:
    findings = hookscope("lint", "mine", *RULE, "--json").json["findings"]
    return [found["text"] for found in findings]


@pytest.mark.parametrize(
    ("name", "source", "kind"),
    [
        ("handler.ts", "export default { handle() {} };", "an object with `handle`"),
        (
            "handler.ts",
            "const hook: Hook = { run: async () => {} };\nexport default hook;",
            "an object with `run`",
        ),
        ("handler.ts", "export default { ...more } satisfies Hook;", "an object"),
        ("handler.ts", "export default class Mine { handle() {} }", "a class"),
        ("handler.ts", "class Mine {}\nexport default Mine", "a class"),
        ("handler.js", "export default [() => {}];", "a list"),
        ("handler.js", "export default 'mine';", "a text"),
        ("handler.js", "module.exports = [() => {}];", "a list"),
    ],
)
def test_a_hook_that_exports_no_function_is_broken(
    hookscope: Program, workspace: Path, name: str, source: str, kind: str
) -> None:
    hook(workspace, source, name)
    assert of_lint(hookscope) == [f"{name} exports {kind}; it must be a function."]
    info = hookscope("info", "mine", "--json").json
    (gate,) = [gate for gate in info["gates"] if gate["gate"] == "export"]
    assert (gate["passed"], gate["reason"]) == (False, f"{name} exports {kind}; it must be a function")
    assert info["state"] == "broken"
    assert "  failed   mine: " in hookscope("load", "mine", "--trust").out


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("export default { handle() {} };", "an object with `handle`"),
        ("export default { id: 'mine', setup(api: any) {} };", "an object with `id`, `setup`"),
        ("export default class Mine { register(api: any) {} }", "a class"),
        ("export default 5;", "a number"),
    ],
)
def test_a_plugin_that_registers_nothing_is_broken(
    hookscope: Program, workspace: Path, source: str, kind: str
) -> None:
    plugin(workspace, source)
    assert of_lint(hookscope) == [f"index.ts exports {kind}; a plugin is a function, or has `register`."]
    assert "  failed   mine: " in hookscope("load", "mine", "--trust").out
    assert "header-missing" not in hookscope("lint", "mine").out


@pytest.mark.parametrize(
    "source",
    [
        "export default async (event) => {};",
        "const hook = (event) => {};\nexport default hook;",
        "export default { handle() {} }.handle;",
        "export default wrapped({ handle() {} });",
        "function mine() {}\nexport default mine;",
        "export default new Hook();",
        "const text = 'export default {}';\nexport default make(text);",
    ],
)
def test_possible_functions_are_not_reported(hookscope: Program, workspace: Path, source: str) -> None:
    hook(workspace, source)
    assert of_lint(hookscope) == []


@pytest.mark.parametrize(
    "source",
    [
        "export default { id: 'mine', register(api: any) {} };",
        "export default { id: 'mine', ...rest };",
        "export default { id: 'mine' };\nexport function register(api: any) {}",
        "export default definePluginEntry({ id: 'mine' });",
    ],
)
def test_plugins_that_may_register_are_not_reported(hookscope: Program, workspace: Path, source: str) -> None:
    plugin(workspace, source)
    assert of_lint(hookscope) == []

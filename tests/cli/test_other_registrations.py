"""What plugins register besides hooks, in forms that openclaw@2026.9 takes and in forms that it does not.

Each was asked of the program itself (2026.9.6, `plugins inspect --all --runtime`): what it refuses it tells,
and goes on, so that the hooks are there; over some it stumbles, and the whole plugin fails with them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

SHIPPED = ("--dialect", "openclaw@2026.9")
TOOL = "{ name: 'dice', description: 'd', parameters: {}, execute: async () => ({ content: [] }) }"


def loaded(hookscope: Program, home: Path, statement: str, tools: tuple[str, ...] = ()) -> str:
    """The report of a load of a plugin that has a hook and runs that statement."""
    folder = home / ".openclaw" / "extensions" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    contracts = {"contracts": {"tools": tools}} if tools else {}
    manifest = {"id": "mine", "configSchema": {"type": "object"}, **contracts}
    (folder / "openclaw.plugin.json").write_text(json.dumps(manifest))
    source = "export default (api) => {\n  api.on('message_received', () => {});\n  %s\n};\n"
    (folder / "index.js").write_text(source % statement)
    return hookscope(*SHIPPED, "load", "mine", "--trust").out


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (
            "api.registerService('mysvc', { start() {} });",
            "a service without effect: service registration id cannot be",
        ),
        (
            "api.registerService({ start() {} });",
            "a service without effect: service registration id cannot be normalized",
        ),
        ("api.registerService({ id: ' ' });", "a service without effect: service registration missing id"),
        (
            f"api.registerTool({TOOL});",
            "a tool without effect: plugin must declare contracts.tools before registering",
        ),
        (
            f"api.registerTool('dice', {TOOL});",
            "a tool without effect: plugin must declare contracts.tools before",
        ),
        ("api.registerCommand({ name: 'zap', handler() {} });", "Command description must be a string"),
        (
            "api.registerCommand({ name: '/zap', description: 'd', handler() {} });",
            "must start with a letter",
        ),
        (
            "api.registerCommand({ name: 'zap', description: 'd', execute() {} });",
            "handler must be a function",
        ),
        ("api.registerCommand({ name: 'help', description: 'd', handler() {} });", '"help" is reserved'),
        ("api.registerHttpRoute({ path: '/p', handler() {} });", "missing or invalid auth: /p"),
        (
            "api.registerHttpRoute('/p', () => {});",
            "a http route without effect: http route registration missing path",
        ),
        ("api.registerCli(({ program }) => {});", "cli registration missing explicit commands metadata"),
        (
            "api.registerProvider({ label: 'x' });",
            "a provider without effect: provider registration missing id",
        ),
        ("api.registerReload({});", "a reload without effect: reload registration missing prefixes"),
        ("api.registerSessionExtension({});", "session extension registration requires namespace and"),
        ("api.registerChannel({ plugin: {} });", "a channel without effect: channel registration missing id"),
        ("api.registerChannel({ plugin: { id: 'x' } });", "required capabilities.chatTypes"),
    ],
)
def test_refused_registrations_are_reported_and_the_hooks_stay(
    hookscope: Program, home: Path, statement: str, why: str
) -> None:
    report = loaded(hookscope, home, statement)
    (line,) = [line for line in report.splitlines() if line.startswith("  error    mine: registers")]
    assert why in line
    assert line.endswith("; the plugin and its hooks still work")
    assert "failed" in report.splitlines()[0]
    assert "  failed   mine" not in report


@pytest.mark.parametrize(
    ("statement", "tools", "error"),
    [
        ("api.registerCommand('zap', async () => {});", (), "properties of undefined (reading 'trim')"),
        ("api.registerGatewayMethod({ name: 'm' });", (), "method.trim is not a function"),
        ("api.registerTool({ description: 'd' });", ("dice",), "properties of undefined (reading 'trim')"),
    ],
)  # fmt: skip
def test_registrations_that_throw_fail_the_plugin(
    hookscope: Program, home: Path, statement: str, tools: tuple[str, ...], error: str
) -> None:
    report = loaded(hookscope, home, statement, tools)
    (line,) = [line for line in report.splitlines() if line.startswith("  failed   mine: TypeError: ")]
    assert error in line
    assert "index.js:3:" in report


@pytest.mark.parametrize(
    ("statement", "tools"),
    [
        ("api.registerService({ id: 'x', start() {} });", ()),
        (f"api.registerTool({TOOL});", ("dice",)),
        (f"api.registerTool(() => ({TOOL}));", ("dice",)),
        ("api.registerCommand({ name: 'zap', description: 'd', handler() {} });", ()),
        ("api.registerHttpRoute({ path: '/p', auth: 'plugin', handler() {} });", ()),
        ("api.registerGatewayMethod('my.method', async () => {});", ()),
        ("api.registerCli(() => {}, { commands: ['zz'] });", ()),
        ("api.registerReload({ hotPrefixes: ['plugins.entries.mine'] });", ()),
    ],
)
def test_accepted_registrations_are_reported_as_not_run(
    hookscope: Program, home: Path, statement: str, tools: tuple[str, ...]
) -> None:
    report = loaded(hookscope, home, statement, tools)
    assert "without effect" not in report
    assert ", which Hookscope does not run" in report


def test_tools_missing_in_the_manifest_are_named(hookscope: Program, home: Path) -> None:
    statement = "for (const name of ['one', 'two']) api.registerTool({ name });"
    report = loaded(hookscope, home, statement, ("one",))
    assert "a tool without effect: plugin must declare contracts.tools for: two; the plugin" in report


def test_a_nested_default_export_is_accepted(hookscope: Program, home: Path) -> None:
    """As some build tools write it; the program loads it."""
    loaded(hookscope, home, "")
    entry = "export default { default: { register(api) { api.on('message_received', () => {}); } } };"
    (home / ".openclaw" / "extensions" / "mine" / "index.js").write_text(entry)
    assert "failed   mine" not in hookscope(*SHIPPED, "load", "mine", "--trust").out

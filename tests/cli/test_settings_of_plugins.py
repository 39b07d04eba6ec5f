"""What a plugin's settings do to all others where its schema does not take them.

What openclaw@2026.9 makes of each was asked of the program itself (2026.9.6): its gateway does not start
(exit code 78) and says which setting it is; `openclaw hooks list` calls the hooks ready all the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

SHIPPED = ("--dialect", "openclaw@2026.9")
SCHEMA = {"type": "object", "additionalProperties": False, "properties": {"n": {"type": "number"}}}
HEADER = '---\nname: mine\ndescription: d\nmetadata: {"openclaw": {"events": ["command:new"]}}\n---\n'
REFUSED = "plugins.entries.strict.config.n: invalid config: must be number"


def plugin(home: Path, name: str, schema: dict[str, Any]) -> None:
    folder = home / ".openclaw" / "extensions" / name
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text(json.dumps({"id": name, "configSchema": schema}))
    source = "export default (api) => { api.on('message_received', () => {}); };\n"
    (folder / "index.js").write_text(source)


def settings(home: Path, **plugins: Any) -> None:
    value = {"hooks": {"internal": {"enabled": True}}, "plugins": plugins}
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps(value, indent=2))


@pytest.fixture
def three(home: Path) -> Path:
    """Two plugins, one of which is strict, and a hook of a HOOK.md folder."""
    plugin(home, "strict", SCHEMA)
    plugin(home, "other", {"type": "object"})
    folder = home / ".openclaw" / "hooks" / "mine"
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(HEADER)
    (folder / "handler.js").write_text("export default async () => {};\n")
    return home


def shut_by_settings(hookscope: Program) -> dict[str, str]:
    """The reason of that gate, by the name of the hook."""
    hooks = hookscope(*SHIPPED, "list", "--json").json["hooks"]
    return {
        hook["name"]: gate["reason"]
        for hook in hooks
        for gate in hook["gates"]
        if gate["gate"] == "settings" and gate["passed"] is False
    }


@pytest.mark.parametrize(
    "of_all",
    [{}, {"enabled": False}, {"deny": ["strict"]}, {"allow": ["other"]}],
    ids=["on", "all plugins off", "denied", "not allowed"],
)
def test_settings_that_violate_one_plugins_schema_block_all_hooks(
    hookscope: Program, three: Path, of_all: dict[str, Any]
) -> None:
    settings(three, entries={"strict": {"config": {"n": "text"}}}, **of_all)
    shut = shut_by_settings(hookscope)
    assert {"mine", "other", "strict", "command-logger"} <= shut.keys()
    assert all(REFUSED in reason for reason in shut.values())

    listed = hookscope(*SHIPPED, "list").out
    assert f"openclaw.json, line 11, column 16: {REFUSED}" in listed
    assert REFUSED in hookscope(*SHIPPED, "info", "mine").out
    assert REFUSED in hookscope(*SHIPPED, "check").out
    doctor = hookscope(*SHIPPED, "doctor").out
    assert REFUSED in doctor
    assert "Fix ~/.openclaw/openclaw.json" in doctor


def test_a_disabled_plugin_without_settings_blocks_no_hook(hookscope: Program, three: Path) -> None:
    plugin(three, "wants", {"type": "object", "required": ["key"]})
    settings(three, entries={"wants": {"enabled": False}})
    assert shut_by_settings(hookscope) == {}
    settings(three, entries={"wants": {"enabled": True}})
    assert (
        "plugins.entries.wants.config.key: invalid config: must have" in shut_by_settings(hookscope)["mine"]
    )


def test_settings_that_the_host_refuses_block_plugins_too(hookscope: Program, three: Path) -> None:
    (three / ".openclaw" / "openclaw.json").write_text('{"hooks": {"internal": {"bogus": 1}}}')
    assert 'Unrecognized key: "bogus"' in shut_by_settings(hookscope)["other"]


def test_the_hosts_own_list_shows_blocked_hooks_as_ready(hookscope: Program, three: Path) -> None:
    settings(three, entries={"strict": {"config": {"n": "text"}}})
    assert "✓ ready" in hookscope(*SHIPPED, "list", "--format", "host").out


@pytest.mark.parametrize(
    ("hooks", "options", "said"),
    [
        ({"timeoutMs": 150}, "", "did not answer within 0.15 s (the limit in the settings)"),
        ({}, ", { timeoutMs: 160 }", "did not answer within 0.16 s (the limit in its registration)"),
    ],
)
def test_a_timeout_names_the_setting_that_caused_it(
    hookscope: Program, home: Path, hooks: dict[str, int], options: str, said: str
) -> None:
    plugin(home, "slow", {"type": "object"})
    source = f"export default (api) => {{ api.on('before_tool_call', () => {{ for (;;); }}{options}); }};\n"
    (home / ".openclaw" / "extensions" / "slow" / "index.js").write_text(source)
    settings(home, entries={"slow": {"enabled": True, "hooks": hooks}})
    done = hookscope(*SHIPPED, "fire", "before_tool_call", "--trust")
    assert said in done.out


def test_info_shows_a_plugins_limit_from_the_settings(hookscope: Program, home: Path) -> None:
    plugin(home, "slow", {"type": "object"})
    settings(home, entries={"slow": {"enabled": True, "hooks": {"timeoutMs": 2000}}})
    assert "load 10 s, run 2 s (the settings)" in hookscope(*SHIPPED, "info", "slow").out

"""Where OpenClaw 2026.7, 2026.6 and 2026.3 differ from 2026.9, as their recordings and programs show."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.hosts.dialects.conftest import Program

from hookscope import HookEngine
from hookscope.cli.main import exit_code
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.plugins import settings_refusal

NEWEST, OLDER = "openclaw@2026.9", ("openclaw@2026.7", "openclaw@2026.6", "openclaw@2026.3")
ALL = (NEWEST, *OLDER)


def loads(program: Program) -> list[str]:
    """The hooks that a load registers."""

    async def load() -> list[str]:
        engine = HookEngine(program.host())
        try:
            await engine.load()
            return [call.name for call in engine.registry.registrations]
        finally:
            await engine.close()

    return asyncio.run(load())


@pytest.mark.parametrize(
    ("settings", "loaded"),
    [
        (None, {"openclaw@2026.3": ["a", "b"]}),
        ({"enabled": True, "entries": {"a": {}}}, {key: ["a", "b"] for key in OLDER} | {NEWEST: ["a"]}),
        ({"entries": {"a": {}}}, {key: ["a"] for key in ALL} | {"openclaw@2026.3": ["a", "b"]}),
        ({"entries": {"key-of-b": {}}}, {NEWEST: ["b"], "openclaw@2026.3": ["a", "b"]}),
        ({"entries": {"a": {"enabled": False}}}, {"openclaw@2026.3": ["b"]}),
        ({"enabled": False, "entries": {"a": {}}}, {}),
    ],
    ids=["nothing configured", "switched on", "one entry", "by its key", "switched off", "all off"],
)
@pytest.mark.parametrize("version", ALL)
def test_a_version_selects_hooks_by_its_own_rules(
    program: Program, version: str, settings: dict[str, object] | None, loaded: dict[str, list[str]]
) -> None:
    program.version = version
    program.hook(".openclaw/hooks/a")
    program.hook(".openclaw/hooks/b", {"hookKey": "key-of-b"})
    program.settings(settings)
    assert loads(program) == loaded.get(version, [])


@pytest.mark.parametrize("version", ALL)
def test_installs_in_the_settings_name_hooks_before_2026_8(program: Program, version: str) -> None:
    program.version = version
    for name in "ab":
        program.hook(f".openclaw/hooks/{name}")
    program.settings({"installs": {"pack": {"source": "npm", "hooks": ["b"]}}})
    if version == NEWEST:
        assert program.says("list")[0] == 1
    else:
        assert loads(program) == (["a", "b"] if version == "openclaw@2026.3" else ["b"])


@pytest.mark.parametrize("version", ALL)
def test_legacy_handlers_of_the_workspace_load_before_2026_8(program: Program, version: str) -> None:
    program.version = version
    program.write(".openclaw/workspace/old.js", "export default () => {};")
    program.settings({"handlers": [{"event": "command:new", "module": "old.js"}]})
    code, _, errors = program.says("list")
    assert code == (version == NEWEST)
    if version == NEWEST:
        assert "Unrecognized key" in "".join(errors)
    else:
        assert loads(program) == ["old.js"]


@pytest.mark.parametrize("version", ALL)
def test_a_list_of_a_version_has_its_own_members_and_verdicts(
    program: Program, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.version = version
    monkeypatch.setenv("BLANK", " ")
    program.hook(".openclaw/hooks/eventless", {"events": []})
    program.hook(".openclaw/hooks/misspelt", {"events": ["command:nwe"]})
    program.hook(".openclaw/hooks/blank", {"requires": {"env": ["BLANK"]}})
    program.hook(".openclaw/hooks/elsewhere", {"os": ["win32"], "always": True})
    program.hook(".openclaw/hooks/letters", {"os": ["Linux"]})
    found = program.listed()
    ready = {name for name, hook in found.items() if hook["loadable"]}
    expected = (
        {"misspelt", "letters"} if version == NEWEST else {"misspelt", "eventless", "blank", "elsewhere"}
    )
    if version in ("openclaw@2026.7", "openclaw@2026.6"):
        expected |= {"letters"}
    assert ready == expected
    has_unknown = version in (NEWEST, "openclaw@2026.7")
    assert found["misspelt"].get("unknownEvents") == (["command:nwe"] if has_unknown else None)


@pytest.mark.parametrize("version", ALL)
def test_refused_settings_are_json_since_2026_8(program: Program, version: str) -> None:
    program.version = version
    program.settings({"enabled": "yes"})
    code, out, errors = program.says("check", "--json")
    assert (code, '"cli_error"' in out) == (1, version == NEWEST)
    if version == NEWEST:
        assert errors[0].startswith("Invalid config at ")
        return
    older = version == "openclaw@2026.3"
    title = "Config invalid" if older else "OpenClaw config is invalid"
    problem = (": expected boolean, received string" if older else "") + " (allowed: true, false)"
    assert errors[:2] == [title, "File: ~/.openclaw/openclaw.json"]
    assert f"  - hooks.internal.enabled: Invalid input{problem}" in errors


@pytest.mark.parametrize(
    ("settings", "version", "problem"),
    [
        ('{"hooks": ', "openclaw@2026.3", "<root>: JSON5 parse failed: SyntaxError: JSON5: invalid end of"),
        ('{"cloudWorkers": {}}', "openclaw@2026.7", "<root>: Invalid input"),
        ('{"crestodian": {}}', "openclaw@2026.3", '<root>: Unrecognized key: "crestodian"'),
        ('{"env": {"A": 5}}', "openclaw@2026.3", "env.A: Invalid input: expected string, received number"),
        ('{"agents": {"entries": {}}}', "openclaw@2026.7", "agents: Invalid input"),
        ('{"agents": {"list": [{}]}}', "openclaw@2026.3", "agents.list.0.id: Invalid input: expected string"),
    ],
)
def test_an_older_program_refuses_what_its_schema_does_not_know(
    program: Program, settings: str, version: str, problem: str
) -> None:
    program.version = version
    program.settings({})
    (program.home / ".openclaw/openclaw.json").write_text(settings)
    code, _, errors = program.says("list")
    assert code == 1
    assert any(line.startswith(f"  - {problem}") for line in errors), errors


@pytest.mark.parametrize("version", OLDER)
def test_sections_that_only_older_programs_know_are_accepted(program: Program, version: str) -> None:
    program.version = version
    program.settings({})
    (program.home / ".openclaw/openclaw.json").write_text(
        '{"audio": {}, "cli": {}, "env": {"A": "b"}, "agents": {"list": [{"id": "a"}]}}'
    )
    assert program.says("list")[0] == 0


@pytest.mark.parametrize("version", OLDER)
def test_an_older_command_writes_the_entry_under_the_name(program: Program, version: str) -> None:
    program.version = version
    program.hook(".openclaw/hooks/a", {"hookKey": "key"})
    assert program.says("disable", "key")[0] == 1
    assert program.says("disable", "a")[0] == 0
    written = json.loads((program.home / ".openclaw/openclaw.json").read_text())
    assert written["hooks"]["internal"]["entries"] == {"a": {"enabled": False}}


@pytest.mark.parametrize("version", ALL)
def test_an_extra_folder_was_a_collection_only(program: Program, version: str) -> None:
    program.version = version
    program.hook("extra")
    program.hook("extra/inner")
    program.settings({"load": {"extraDirs": [str(program.home / "extra")]}})
    assert list(program.listed()) == (["extra"] if version == NEWEST else ["inner"])


def test_a_mark_before_the_header_hides_it_from_2026_3(program: Program) -> None:
    program.hook(".openclaw/hooks/marked")
    manifest: Path = program.home / ".openclaw/hooks/marked/HOOK.md"
    manifest.write_bytes(b"\xef\xbb\xbf" + manifest.read_bytes())
    events = {}
    for version in ALL:
        program.version = version
        events[version] = program.listed()["marked"]["events"]
    assert events == {key: ["command:new"] for key in ALL} | {"openclaw@2026.3": []}


@pytest.mark.parametrize("version", OLDER)
def test_a_load_that_fails_under_strict_rules_keeps_what_loads_before_2026_8(
    program: Program, version: str
) -> None:
    program.version = version
    program.settings({"enabled": True})
    program.hook(".openclaw/hooks/a")
    program.hook(".openclaw/hooks/broken", handler="export default (")

    async def load() -> list[tuple[bool, list[str]]]:
        engine, seen = HookEngine(program.host()), []
        try:
            for _ in range(2):
                report = await engine.load(strict=True)
                seen.append((report.committed, [call.name for call in engine.registry.registrations]))
            return seen
        finally:
            await engine.close()

    again = ["a", "a"] if version == "openclaw@2026.3" else ["a"]
    assert asyncio.run(load()) == [(True, ["a"]), (True, again)]


def test_plugin_hooks_of_a_version_are_its_own() -> None:
    count = {name: len(DIALECTS[name].catalogue().keys_of("plugin")) for name in ALL}
    assert count == {NEWEST: 42, "openclaw@2026.7": 40, "openclaw@2026.6": 39, "openclaw@2026.3": 26}


@pytest.mark.parametrize(("key", "ignored"), [("message:sent", True), ("agent:bootstrap", False)])
def test_a_change_that_the_host_does_not_wait_for_is_noted(
    program: Program, key: str, ignored: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = "export default (event) => { event.context.workspaceDir = 'changed'; };"
    program.hook(".openclaw/hooks/a", {"events": [key]}, handler=handler)
    program.settings({"enabled": True})
    assert exit_code(["--dialect", NEWEST, "fire", key, "--trust", "--context", '{"workspaceDir": "w"}']) == 0
    out = capsys.readouterr().out
    assert 'changed context.workspaceDir = "changed"' in out
    assert ("the handler's change to context.workspaceDir is ignored" in out) == ignored


def test_an_example_is_one_of_the_named_agent(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"agents": {"ownership": "explicit", "entries": {"main": {}, "helper": {}}}}
    program.write(".openclaw/openclaw.json", json.dumps(settings))
    command = ["--dialect", NEWEST, "plan", "command:new", "--agent", "Helper", "--json"]
    assert exit_code(command) == 0
    event = json.loads(capsys.readouterr().out)["event"]
    context = event["context"]
    assert (event["sessionKey"], context["agentId"]) == ("agent:helper:main", "helper")
    assert "/agents/helper/" in context["storePath"]
    assert "agents/main" not in json.dumps(context)


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize(
    ("manifest", "plugins", "problem"),
    [
        ({}, None, None),
        ({}, {}, "plugins: plugin: plugin manifest requires configSchema"),
        (
            {"configSchema": {}},
            {"load": {"paths": ["/no/such"]}},
            "plugins.load.paths: plugin: plugin path not found: /no/such",
        ),
    ],
)
def test_any_faulty_plugin_makes_an_older_program_refuse_its_settings(
    program: Program,
    version: str,
    manifest: dict[str, object],
    plugins: dict[str, object] | None,
    problem: str | None,
) -> None:
    program.version = version
    program.plugin(manifest)
    program.settings(None, **({} if plugins is None else {"plugins": plugins}))
    code, _, errors = program.says("list")
    assert code == (0 if problem is None else 1)
    assert problem is None or f"  - {problem}" in errors


@pytest.mark.parametrize("version", ALL)
def test_a_plugin_without_its_packages_is_imported_before_2026_8(program: Program, version: str) -> None:
    program.version = version
    program.plugin({"configSchema": {}}, dependencies={"absent-package": "1"})
    host = program.host()
    (system,) = (system for system in host.dialect.systems if system.kind == "plugin")
    (hook,) = system.find(host).hooks
    failed = [gate.name for gate in system.gates(hook, host) if gate.passed is False]
    assert failed == (["packages"] if version == NEWEST else [])


def test_2026_3_reads_no_variable_for_its_workspace(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_WORKSPACE_DIR", str(program.home / "other"))
    for version in ALL:
        program.version = version
        default = version == "openclaw@2026.3"
        assert program.host().workspace == program.home / (".openclaw/workspace" if default else "other")


FILLED = {  # path → the versions that fill it in, as each of them told
    "agents.entries.main": {NEWEST},
    "agents.defaults.compaction.mode": {NEWEST, "openclaw@2026.3"},
    "agents.defaults.subagents.archiveAfterMinutes": set(ALL) - {"openclaw@2026.3"},
    "commands.ownerDisplay": set(OLDER),
    "logging.redactSensitive": set(OLDER),
    "cron": {"openclaw@2026.7", "openclaw@2026.6"},
    "commands.native": set(ALL),
}


@pytest.mark.parametrize("version", ALL)
def test_a_version_fills_in_its_own_settings(program: Program, version: str) -> None:
    program.version = version
    for number, path in enumerate(FILLED):
        program.hook(f".openclaw/hooks/h{number}", {"requires": {"config": [path]}})
    program.settings(None, logging={})
    missing = {hook["name"]: hook["missing"]["config"] for hook in program.listed().values()}
    assert {path for number, path in enumerate(FILLED) if not missing[f"h{number}"]} == {
        path for path, versions in FILLED.items() if version in versions
    }


CHANNEL_PLUGIN = {
    "channels": ["own"],
    "channelConfigs": {
        "own": {"schema": {"additionalProperties": False, "properties": {"k": {"type": "string"}}}}
    },
    "configSchema": {},
}


@pytest.mark.parametrize(
    ("settings", "newer", "oldest"),
    [
        ({"channels": {"telegram": {"enabled": False}, "defaults": {}, "own": {"k": "v"}}}, "", ""),
        (
            {"channels": {"telegrm": {}}},
            "channels.telegrm: unknown channel id: telegrm",
            "channels.telegrm: unknown channel id: telegrm",
        ),
        (
            {"channels": {"telegram": {"zz": 1}}},
            'channels.telegram: invalid config: must not have additional properties: "zz"',
            'channels.telegram: Unrecognized key: "zz"',
        ),
        (
            {"channels": {"telegram": {"enabled": "x"}}},
            "channels.telegram.enabled: invalid config: must be boolean",
            "channels.telegram.enabled: "
            "Invalid input: expected boolean, received string (allowed: true, false)",
        ),
        (
            {"channels": {"own": {"k": 1}}},
            "channels.own.k: invalid config for plugin p: must be string",
            "channels.own.k: invalid config: must be string",
        ),
        (
            {"channels": {"gone": {}}, "plugins": {"allow": ["gone", "p"]}},
            "",
            "channels.gone: unknown channel id: gone",
        ),
        (
            {"plugins": {"slots": {"memory": "gone"}}},
            "plugins.slots.memory: plugin not found: gone",
            "plugins.slots.memory: plugin not found: gone",
        ),
        ({"plugins": {"slots": {"memory": "none"}, "entries": {"gone": {}}}}, "", ""),
        ({"plugins": {"slots": {"memory": "p"}, "deny": ["memory-core"]}}, "", ""),
        ({"plugins": {"deny": ["gone", "a-bundle"]}}, "", "plugins.deny: plugin not found: gone"),
    ],
)
@pytest.mark.parametrize("version", ALL)
def test_a_gateway_refuses_unknown_channels_and_absent_plugins(
    program: Program, version: str, settings: dict[str, object], newer: str, oldest: str
) -> None:
    program.version = version
    program.plugin(CHANNEL_PLUGIN)
    program.write(".openclaw/extensions/b/.claude-plugin/plugin.json", '{"name": "A bundle"}')
    program.settings(None, **settings)
    expected = oldest if version == "openclaw@2026.3" else newer
    assert settings_refusal(program.host()).splitlines()[1:] == ([f"- {expected}"] if expected else [])


@pytest.mark.parametrize("version", ALL)
def test_nothing_is_absent_that_the_record_of_packages_may_hold(program: Program, version: str) -> None:
    program.version = version
    program.write(".openclaw/npm/package.json", "{}")
    program.settings(None, channels={"gone": {}}, plugins={"slots": {"memory": "gone"}})
    assert not settings_refusal(program.host())

"""Which folders are plugins, who wins an id, and what stands between a plugin and its handlers."""

import json
from typing import Any

import pytest
from tests.hosts.plugins.conftest import GUIDE, SHIPPED, Home

from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.planning import handler_code, registrations_of
from hookscope.model.hook_status import HookStatus, Inventory, State
from hookscope.model.run import Declared, Event, Module
from hookscope.model.trust import trust_target


def looked(place: Home, dialect: str = GUIDE) -> Inventory:
    return discover(place.host(dialect))


def row(inventory: Inventory, name: str) -> HookStatus:
    found = inventory.find(name)
    assert found is not None, [item.reason for item in inventory.rejected]
    return found


def shut(standing: HookStatus) -> dict[str, str]:
    return {gate.name: gate.reason for gate in standing.verdict.failed()}


def test_a_plugin_is_a_row_with_its_manifest(place: Home) -> None:
    folder = place.plugin("workspace/plugins", "guard", id="tool-guard", name="Guard", description="Watches.")
    hook = row(looked(place), "tool-guard").hook
    assert (hook.kind, hook.root, hook.handler) == ("plugin", folder, folder / "plugin.py")
    assert (hook.meta.events, hook.description, hook.language) == (None, "Watches.", "python")
    assert hook.manifest == folder / "openclaw.plugin.json"
    assert row(looked(place), "tool-guard").state is State.READY


@pytest.mark.parametrize(
    ("entry", "language"),
    [
        ("plugin.py", "python"),
        ("index.ts", "typescript"),
        ("index.js", "javascript"),
        ("index.mjs", "javascript"),
    ],
)
def test_an_entry_file_alone_is_a_plugin_named_after_its_folder(
    place: Home, entry: str, language: str
) -> None:
    place.plugin("plugins", "audit", entry=entry)
    standing = row(looked(place), "audit")
    assert (standing.hook.language, standing.hook.folder.source) == (language, "managed")
    code = handler_code(standing.hook, place.host())
    assert (code.shape, code.path.name, code.root) == ("plugin", entry, place.state / "plugins/audit")


def test_the_manifest_names_the_entry_file(place: Home) -> None:
    folder = place.plugin("plugins", "audit", entry="src/main.py", id="audit")
    (folder.parent / "openclaw.plugin.json").write_text(json.dumps({"id": "audit", "entry": "src/main.py"}))
    assert row(looked(place), "audit").hook.handler == folder / "main.py"


def test_package_json_names_the_entry_file(place: Home) -> None:
    folder = place.plugin("plugins", "audit", entry="lib.ts", id="audit")
    (folder / "package.json").write_text(json.dumps({"openclaw": {"extensions": ["./lib.ts"]}}))
    assert row(looked(place), "audit").hook.handler == folder / "lib.ts"


REJECTED: tuple[tuple[str | None, str | None, str, int], ...] = (
    (None, None, "neither openclaw.plugin.json nor an entry file", 0),
    ("{", "plugin.py", "openclaw.plugin.json, line 1", 1),
    ("[]", "plugin.py", "is not a JSON object", 1),
    ("{}", "plugin.py", "has no `id`", 1),
    ('{\n  "id": 3\n}', "plugin.py", "needs a string as `id`", 2),
    ('{"id": "x"}', None, "no entry file", 0),
    ('{"id": "x", "entry": "../y.py"}', "plugin.py", "not in the plugin's folder", 1),
    ('{"id": "x", "entry": "/tmp/y.py"}', "plugin.py", "not in the plugin's folder", 1),
    ('{"id": "x",\n "main": 3}', "plugin.py", "needs a path as `main`", 2),
)


@pytest.mark.parametrize(("manifest", "entry", "reason", "line"), REJECTED)
def test_what_is_no_plugin_says_why_and_where(
    place: Home, manifest: str | None, entry: str | None, reason: str, line: int
) -> None:
    folder = place.state / "plugins/odd"
    folder.mkdir(parents=True)
    if manifest is not None:
        (folder / "openclaw.plugin.json").write_text(manifest)
    if entry is not None:
        (folder / entry).write_text("")
    (item,) = looked(place).rejected
    assert (item.path, item.source, item.name) == (folder, "managed", "odd")
    assert reason in item.reason
    assert (item.place.line if item.place else 0) == line


def test_the_workspace_wins_over_managed_over_extra(place: Home) -> None:
    for place_of in ("workspace/plugins", "plugins", "more"):
        place.plugin(place_of, "copy", id="same")
    place.settings(plugins={"load": {"paths": [str(place.state / "more")]}})
    inventory = looked(place)
    sources = [(item.hook.folder.source, item.state is State.SHADOWED) for item in inventory.hooks]
    assert sources == [("workspace", False), ("managed", True), ("extra", True)]
    assert [hook.folder.source for hook in inventory.load_order] == ["workspace"]


def test_a_path_of_the_settings_may_be_a_plugin_itself(place: Home) -> None:
    folder = place.plugin("elsewhere", "solo", id="solo")
    place.settings(plugins={"load": {"paths": [str(folder), 3]}})
    inventory = looked(place)
    assert row(inventory, "solo").hook.folder.source == "extra"
    (problem,) = inventory.problems
    assert problem.text == "plugins.load.paths needs a list of strings"
    assert problem.place is not None
    assert problem.place.line == 6


def test_the_programs_own_folders_are_looked_in_too(place: Home) -> None:
    place.plugin("extensions", "far", id="far")
    place.plugin("workspace/.openclaw/extensions", "near", id="near")
    assert {item.hook.name for item in looked(place, SHIPPED).hooks} == {"far", "near"}
    assert {item.hook.name for item in looked(place).hooks} == {"far", "near"}


def test_plugins_are_no_hooks_folders(place: Home) -> None:
    folder = place.plugin("workspace/plugins", "guard", id="guard")
    (folder / "HOOK.md").write_text("---\nname: guard\n---\n")
    (folder / "handler.py").write_text("def handler(event): pass\n")
    inventory = looked(place)
    assert [item.hook.kind for item in inventory.hooks] == ["plugin"]
    assert inventory.rejected == ()


SWITCHED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"enabled": False}, "switch", "all plugins are switched off in the settings"),
    ({"entries": {"guard": {"enabled": False}}}, "enabled", "disabled in config"),
    ({"allow": ["other"]}, "allow", "not in plugins.allow"),
    ({"deny": ["guard"]}, "deny", "denied by plugins.deny"),
)


@pytest.mark.parametrize(("plugins", "gate", "reason"), SWITCHED)
@pytest.mark.parametrize("dialect", [GUIDE, SHIPPED])
def test_what_the_user_decides(
    place: Home, plugins: dict[str, Any], gate: str, reason: str, dialect: str
) -> None:
    place.plugin("extensions", "guard", entry="index.ts", id="guard", configSchema={"type": "object"})
    place.settings(plugins=plugins)
    standing = row(looked(place, dialect), "guard")
    assert shut(standing) == {gate: reason}
    assert standing.state is State.OFF


def test_odd_settings_stop_nobody(place: Home) -> None:
    place.plugin("plugins", "guard", id="guard")
    place.settings(
        plugins={"entries": [], "allow": "guard", "deny": {"guard": 1}, "enabled": "no", "hooks": None}
    )
    assert row(looked(place), "guard").state is State.READY


def test_a_plugin_waits_for_trust(place: Home) -> None:
    place.plugin("plugins", "guard", id="guard")
    host = place.host(trusted=False)
    standing = row(discover(host), "guard")
    assert standing.state is State.UNTRUSTED
    assert trust_target(standing.hook, host).folder == place.state / "plugins"


def test_an_entry_that_leads_out_is_broken(place: Home) -> None:
    folder = place.plugin("plugins", "guard", id="guard")
    outside = place.write("outside.py", "def register(api): pass\n")
    (folder / "plugin.py").unlink()
    (folder / "plugin.py").symlink_to(outside)
    standing = row(looked(place), "guard")
    assert shut(standing) == {"path": f"Handler path escapes the plugin's folder: {outside}"}


def test_a_manifest_with_a_field_of_the_wrong_type(place: Home) -> None:
    folder = place.plugin("plugins", "guard")
    (folder / "openclaw.plugin.json").write_text('{\n  "id": "guard",\n  "description": 3\n}')
    reasons = shut(row(looked(place), "guard"))
    assert reasons == {"fields": "openclaw.plugin.json, line 3, column 18: `description` must be a string"}


def test_an_entry_without_register_is_seen_before_it_runs(place: Home) -> None:
    folder = place.plugin("plugins", "guard")
    (folder / "plugin.py").write_text("def regster(api): pass\n")
    inventory = examine(looked(place), place.host())
    assert shut(row(inventory, "guard")) == {"export": "plugin.py has no `register`; did you mean regster?"}


def test_a_python_plugin_is_marked_where_the_host_runs_none(place: Home) -> None:
    place.plugin("extensions", "guard", id="guard")
    assert row(looked(place, SHIPPED), "guard").hook.beyond_host
    assert not row(looked(place), "guard").hook.beyond_host


async def test_what_the_user_allows_a_plugin(place: Home) -> None:
    """rules-openclaw section 6: the operator's limits first; conversations only where that is allowed."""
    place.plugin("extensions", "guard", entry="index.ts", id="guard", configSchema={"type": "object"})
    hooks = {"timeoutMs": 2000, "timeouts": {"agent_end": 600_000}, "allowPromptInjection": False}
    place.settings(plugins={"entries": {"guard": {"hooks": hooks}}})
    host = place.host(SHIPPED)
    engine = HookEngine(host)
    engine.inventory = discover(host)
    keys = ("before_tool_call", "agent_end", "heartbeat_prompt_contribution")
    module = Module(tuple(Declared(key, lambda view: None, limit=40.0) for key in keys))
    calls = registrations_of(engine.inventory, host, module_of=lambda hook: module)
    engine.registry = engine.registry.with_registrations(calls)
    assert [(call.key, call.limit) for call in calls] == [
        ("before_tool_call", 2.0),
        ("agent_end", 600.0),
        ("heartbeat_prompt_contribution", 2.0),
    ]
    reasons = {
        key: [item.reason for item in engine.plan(Event(key, kind="plugin")).not_run]
        for key in ("before_tool_call", "agent_end", "heartbeat_prompt_contribution")
    }
    entry = "plugins.entries.guard.hooks"
    assert reasons == {
        "before_tool_call": [],
        "agent_end": [f"the plugin needs {entry}.allowConversationAccess to be true"],
        "heartbeat_prompt_contribution": [f"{entry}.allowPromptInjection is false"],
    }
    await engine.close()


@pytest.mark.parametrize(
    ("floor", "reason"),
    [
        (">=2026.9.1", ""),
        (">=2026.10.0", "it requires OpenClaw >=2026.10.0"),
        ("2026.9", 'openclaw.install.minHostVersion must use a semver floor in the form ">=x.y.z'),
    ],
)
def test_a_package_names_the_oldest_host_that_it_supports(place: Home, floor: str, reason: str) -> None:
    folder = place.plugin(
        "extensions", "guard", entry="index.ts", id="guard", configSchema={"type": "object"}
    )
    (folder / "package.json").write_text(json.dumps({"openclaw": {"install": {"minHostVersion": floor}}}))
    rejected = [item.reason for item in looked(place, SHIPPED).rejected]
    assert [item.startswith(reason) for item in rejected] == ([True] if reason else [])


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ({"systemPrompt": "S", "appendContext": "A", "modelOverride": "m"}, {"modelOverride": "m"}),
        ({"prependContext": "P", "appendSystemContext": "A"}, None),
    ],
)
async def test_a_plugin_that_may_not_prompt_keeps_its_other_answers(
    place: Home, answer: dict[str, str], left: dict[str, str] | None
) -> None:
    """Until 2026.7, `before_agent_start` reaches such a plugin, and the program removes the prompt fields."""
    place.plugin("extensions", "guard", entry="index.ts", id="guard", configSchema={"type": "object"})
    place.settings(plugins={"entries": {"guard": {"hooks": {"allowPromptInjection": False}}}})
    host = place.host("openclaw@2026.7")
    engine = HookEngine(host)
    engine.inventory = discover(host)
    module = Module((Declared("before_agent_start", lambda view: answer),))
    calls = registrations_of(engine.inventory, host, module_of=lambda hook: module)
    engine.registry = engine.registry.with_registrations(calls)
    run = await engine.fire(Event("before_agent_start", kind="plugin"))
    assert run.ending.answer == left
    await engine.close()


@pytest.mark.parametrize(
    ("matcher", "problem"),
    [
        ('["read", " Exec "]', ""),
        ('"read"', "must be an array of tool names"),
        ("[]", "must contain at least one tool name"),
        ('["read", " "]', "entries must be non-empty strings"),
        ('["*"]', "wildcard entries are not supported"),
        ('["Bash"]', "entries must use canonical OpenClaw tool ids"),
    ],
)
async def test_a_matcher_that_the_program_takes_from_nobody_fails_its_plugin(
    place: Home, matcher: str, problem: str
) -> None:
    entry = place.plugin("extensions", "guard", id="guard") / "plugin.py"
    entry.write_text(
        "def register(api):\n"
        f"    api.on('before_tool_call', lambda event, ctx: None, matcher={matcher})\n"
        "    api.on('agent_end', lambda event, ctx: None, matcher='of no tool')\n"
    )
    for dialect, fails in ((SHIPPED, bool(problem)), (GUIDE, False)):
        engine = HookEngine(place.host(dialect))
        report = await engine.load()
        await engine.close()
        assert report.failed == (("guard",) if fails else ())
        assert report.registered == int(not fails)
        if fails:
            assert report.failures["guard"].message == f"tool hook matcher {problem}"

"""Plugins as their authors keep them: in a folder of their own, with a manifest, packages and settings.

What openclaw@2026.9 makes of each was asked of the program itself (2026.9.6).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import newest_shipped

if TYPE_CHECKING:
    from tests.cli.conftest import Program

Plugin = Callable[..., Path]
SHIPPED = ("--dialect", "openclaw@2026.9")
NEWEST = newest_shipped("OpenClaw").name
MANIFEST = {"id": "watch", "configSchema": {"type": "object"}}
ENTRY = "export default { id: 'watch', register(api: any) { api.on('before_tool_call', () => {}); } };\n"


def written(folder: Path, manifest: object = MANIFEST, entry: str = ENTRY, **package: Any) -> Path:
    """A plugin in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if manifest is not None:
        (folder / "openclaw.plugin.json").write_text(json.dumps(manifest))
    about = {"name": "watch", "openclaw": {"extensions": ["./index.ts"]}, **package}
    (folder / "package.json").write_text(json.dumps(about))
    (folder / "index.ts").write_text(entry)
    return folder


def settings(home: Path, **plugins: Any) -> None:
    (home / ".openclaw").mkdir(exist_ok=True)
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps({"plugins": plugins}))


def row_of(hookscope: Program, *more: str) -> dict[str, Any]:
    hooks = hookscope(*SHIPPED, *more, "list", "--json").json["hooks"]
    (row,) = [hook for hook in hooks if hook["name"] == "watch"]
    found: dict[str, Any] = row
    return found


def shut(row: dict[str, Any]) -> dict[str, str]:
    return {gate["gate"]: gate["reason"] for gate in row["gates"] if gate["passed"] is False}


@pytest.fixture
def installed(home: Path) -> Path:
    """Where the program itself looks for its user's plugins."""
    return home / ".openclaw" / "extensions" / "watch"


def test_the_folder_of_a_plugin_is_a_workspace(hookscope: Program, workspace: Path) -> None:
    own = written(workspace / "my-plugin")
    for dialect in ("openclaw", "openclaw@2026.9"):
        listed = hookscope("--dialect", dialect, "list", "--json", cwd=own).json
        assert ("watch", str(own)) in [(hook["name"], hook["path"]) for hook in listed["hooks"]]
        fired = hookscope("--dialect", dialect, "fire", "before_tool_call", "--trust", "--json", cwd=own).json
        assert [result["hook"] for result in fired["results"]] == ["watch"]


def test_a_workspace_plugin_is_off_until_settings_enable_it(
    hookscope: Program, workspace: Path, home: Path
) -> None:
    written(workspace / ".openclaw" / "extensions" / "watch")
    row = row_of(hookscope)
    assert (row["state"], shut(row)["enabled"]) == ("off", "workspace plugin (disabled by default)")
    settings(home, allow=["watch"])
    assert "enabled" not in shut(row_of(hookscope))
    settings(home)
    hookscope(*SHIPPED, "fix", "watch", "--apply")
    assert "enabled" not in shut(row_of(hookscope))


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [(None, "plugin manifest not found: "), ({"id": "watch"}, "plugin manifest requires configSchema")],
)
def test_shipped_openclaw_requires_a_manifest(
    manifest: object, reason: str, hookscope: Program, installed: Path
) -> None:
    written(installed, manifest)
    row = row_of(hookscope)
    assert row["state"] == "broken"
    assert shut(row)["manifest"].startswith(reason)


def test_missing_dependencies_of_a_plugin_are_named(hookscope: Program, installed: Path) -> None:
    folder = written(
        installed,
        dependencies={"openclaw": "*", "spare": "1", "yaml": "1", "@a/b": "1"},
        optionalDependencies={"spare": "1"},
        devDependencies={"typescript": "1"},
    )
    row = row_of(hookscope)
    (gate,) = [one for one in row["gates"] if one["gate"] == "packages"]
    assert (row["state"], gate["missing"]) == ("blocked", ["@a/b", "yaml"])
    assert (
        gate["reason"]
        == f"Plugin dependency @a/b is missing from {folder}; install its dependencies and reload."
    )
    assert "npm install --prefix" in hookscope(*SHIPPED, "fix", "watch").out
    for place in (folder / "node_modules" / "@a" / "b", folder.parent / "node_modules" / "yaml"):
        place.mkdir(parents=True)
        (place / "package.json").write_text("{}")
    assert "packages" not in shut(row_of(hookscope))


SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["key"],
    "properties": {
        "key": {"type": "string"},
        "n": {"type": "number", "default": 3},
        "mode": {"enum": ["a", "b"]},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "default": True}}},
    },
}


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "invalid config: key: must have required property 'key'"),
        ({"key": "k", "zz": 1}, 'invalid config: must not have additional properties: "zz"'),
        ({"key": 1}, "invalid config: key: must be string"),
        ({"key": "k", "n": True}, "invalid config: n: must be number"),
        (
            {"key": "k", "mode": "c"},
            'invalid config: mode: must be equal to one of the allowed values (allowed: "a", "b")',
        ),
        ({"key": "k", "deep": {"on": 0}}, "invalid config: deep.on: must be boolean"),
    ],
)
def test_settings_that_violate_the_plugins_schema_block_it(
    config: object, reason: str, hookscope: Program, installed: Path, home: Path
) -> None:
    written(installed, {"id": "watch", "configSchema": SCHEMA})
    settings(home, entries={"watch": {"config": config}})
    row = row_of(hookscope)
    assert (row["state"], shut(row)["schema"]) == ("blocked", reason)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"required": [["n"]]}, "invalid schema: <schema>.required: expected string array"),
        (
            {"properties": {"n": {"type": [{}]}}},
            "invalid schema: <schema>.properties.n.type: unsupported JSON Schema type",
        ),
        ({"properties": {"n": {"type": "integer"}, "other": {"type": "string"}}}, ""),
        (
            {"properties": {"n": {"enum": [True, 2]}}},
            "n: must be equal to one of the allowed values (allowed: true, 2)",
        ),
        ({"properties": {"n": {"type": "string", "nullable": True}}}, "n: must be string"),
        ({"properties": {"n": {"type": ["string", "number"]}}}, ""),
        ({"properties": {"n": False}}, "n: schema is false"),
        ({"additionalProperties": {"type": "string"}}, "n: must be string"),
        ({"additionalProperties": False, "patternProperties": {"^n": {}}}, ""),
        ({"items": [{"type": "string"}]}, ""),
    ],
)
def test_schemas_are_validated_as_shipped_openclaw_does(
    schema: object, reason: str, hookscope: Program, installed: Path, home: Path
) -> None:
    """Each was given to the validator of 2026.9.6: its words; of what is not a schema, that too."""
    written(installed, {"id": "watch", "configSchema": schema})
    settings(home, entries={"watch": {"config": {"n": 1.0}}})
    said = shut(row_of(hookscope)).get("schema", "")
    assert said == (f"invalid config: {reason}" if reason else "")


def test_schema_defaults_reach_the_plugin(hookscope: Program, installed: Path, home: Path) -> None:
    entry = (
        "export default { register(api: any) {\n"
        "  api.on('before_tool_call', () => { console.log(JSON.stringify(api.pluginConfig)); });\n} };"
    )
    written(installed, {"id": "watch", "configSchema": SCHEMA}, entry)
    settings(home, entries={"watch": {"config": {"key": "k", "deep": {}}}})
    run = hookscope(*SHIPPED, "fire", "before_tool_call", "--trust", "--json").json
    assert json.loads(run["results"][0]["stdout"]) == {"key": "k", "n": 3, "deep": {"on": True}}


def test_a_plugin_with_only_forbidden_events_is_blocked(
    hookscope: Program, installed: Path, home: Path
) -> None:
    written(installed, entry=ENTRY.replace("before_tool_call", "agent_end"))
    row = row_of(hookscope)
    wants = "the plugin needs plugins.entries.watch.hooks.allowConversationAccess to be true"
    assert (row["state"], shut(row)["access"]) == ("blocked", wants)
    assert hookscope(*SHIPPED, "trust", str(installed.parent)).code == 0
    assert hookscope(*SHIPPED, "fix", "watch", "--apply").code == 0
    assert row_of(hookscope)["state"] == "ready"


def test_a_retired_event_names_its_replacement(hookscope: Program, installed: Path) -> None:
    written(installed, entry=ENTRY.replace("before_tool_call", "before_agent_start"))
    reason = "OpenClaw never sends before_agent_start; did you mean before_prompt_build?"
    assert shut(row_of(hookscope))["sent"] == reason


def test_an_id_that_differs_from_the_manifest_fails_the_plugin(hookscope: Program, installed: Path) -> None:
    written(installed, entry=ENTRY.replace("'watch'", "'other'"))
    report = hookscope(*SHIPPED, "load", "watch", "--trust").out
    assert 'plugin id mismatch (config uses "watch", export uses "other")' in report


def test_load_shows_registrations_and_output_of_a_plugin(hookscope: Program, workspace: Path) -> None:
    entry = (
        "export default function register(api: any) {\n  console.log('one'); console.log('two');\n"
        "  api.registerTool({}); api.on('agent_end', 5); api.on('agent_end', () => {});\n}"
    )
    written(workspace / "plugins" / "watch", entry=entry)
    report = hookscope("load", "watch", "--trust").out
    for line in (
        "  note     watch: registers a tool, which Hookscope does not run",
        "  note     watch: printed while loading: one · two",
        "  warn     watch: registers no function for agent_end: ignored",
    ):
        assert line in report
    fired = hookscope("fire", "agent_end", "--trust").out
    assert "note: while loading, watch printed: one · two" in fired


def test_an_event_missing_in_the_guide_names_the_version_that_sends_it(
    hookscope: Program, installed: Path
) -> None:
    written(installed, entry=ENTRY.replace("before_tool_call", "subagent_ended"))
    (row,) = [hook for hook in hookscope("list", "--json").json["hooks"] if hook["name"] == "watch"]
    assert shut(row).keys() == {"trusted"}
    assert row["notes"] == [f"subagent_ended is not in OpenClaw's guide; {NEWEST} sends it"]
    report = hookscope("lint", "watch").out
    assert "hint" in report
    assert "error" not in report


@pytest.mark.parametrize(
    ("slots", "reason"),
    [
        ({}, 'memory slot set to "memory-core"'),
        ({"memory": "other"}, 'memory slot set to "other"'),
        ({"memory": "none"}, "memory slot disabled"),
        ({"memory": "NONE "}, "memory slot disabled"),
        ({"memory": " "}, 'memory slot set to "memory-core"'),
        ({"memory": "watch"}, None),
        ({"memory": " watch "}, None),
    ],
)
def test_only_one_memory_plugin_is_enabled(
    slots: dict[str, str], reason: str | None, hookscope: Program, installed: Path, home: Path
) -> None:
    written(installed, {**MANIFEST, "kind": "memory"})
    settings(home, slots=slots)
    assert shut(row_of(hookscope)).get("slot") == reason
    if reason is not None:
        hookscope(*SHIPPED, "fix", "watch", "--apply")
        assert "slot" not in shut(row_of(hookscope))


def test_a_memory_plugin_with_other_kinds_stays_enabled(
    hookscope: Program, installed: Path, home: Path
) -> None:
    written(installed, {**MANIFEST, "kind": ["memory", "context-engine"]})
    settings(home, slots={"memory": "other"})
    assert "slot" not in shut(row_of(hookscope))


def test_folder_events_of_a_plugin_need_no_conversation_access(hookscope: Program, installed: Path) -> None:
    """Of `registerHook` the settings that keep conversations from a plugin say nothing."""
    written(
        installed,
        entry=ENTRY.replace(
            "api.on('before_tool_call', () => {})", "api.registerHook('agent_end', () => {}, { name: 'a' })"
        ),
    )
    assert {"access", "sent"} & shut(row_of(hookscope)).keys() == {"sent"}


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
def test_a_conditional_registration_is_reported_if_it_does_not_happen(
    dialect: str, hookscope: Program, installed: Path
) -> None:
    entry = (
        "export default { id: 'watch', register(api: any) {\n"
        "  if (api.pluginConfig.eager) api.on('before_tool_call', () => {});\n"
        "  api.on('after_tool_call', () => {});\n} };"
    )
    written(installed, entry=entry)
    run = hookscope("--dialect", dialect, "fire", "before_tool_call", "--trust", "--json").json
    (told,) = [one["reason"] for one in run["not_run"] if one["hook"] == "watch"]
    assert "names before_tool_call, but its `register` added no handler for it" in told
    assert "watch" in hookscope("--dialect", dialect, "fire", "before_tool_call", "--trust").out
    run = hookscope("--dialect", dialect, "fire", "message_sent", "--trust", "--json").json
    assert [one["reason"] for one in run["not_run"] if one["hook"] == "watch"] == [
        "subscribes to after_tool_call"
    ]


def test_the_folder_of_a_plugin_is_linted_as_a_plugin(hookscope: Program, workspace: Path) -> None:
    own = written(workspace / "my-plugin", entry=ENTRY.replace("before_tool_call", "before_tol_call"))
    (own / "src").mkdir()
    (own / "src" / "index.ts").write_text("export const x = 1;\n")
    done = hookscope("lint", ".", cwd=own).out
    assert "manifest-missing" not in done
    assert "before_tol_call" in done
    assert hookscope("lint", str(own)).out.replace("./my-plugin", ".").count("before_tol_call") == 1

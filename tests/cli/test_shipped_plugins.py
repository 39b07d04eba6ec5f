"""Plugins of openclaw@2026.9: what the commands say about their source, places and registrations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

Plugin = Callable[..., Path]
SHIPPED = ("--dialect", "openclaw@2026.9")


@pytest.fixture
def plugin(home: Path) -> Plugin:
    """plugin("p", "api.on(…)") → the folder of a plugin in the host's own folder, or in another one."""

    def made(name: str, body: str, *, folder: str = ".openclaw/extensions", whole: str = "") -> Path:
        path = home / folder / name
        path.mkdir(parents=True)
        (path / "openclaw.plugin.json").write_text(json.dumps({"id": name, "configSchema": {}}))
        source = whole or f'export default {{ id: "{name}", register(api: any) {{ {body} }} }};'
        (path / "index.ts").write_text(source)
        return path

    return made


def test_unreadable_registrations_do_not_hide_the_others(hookscope: Program, plugin: Plugin) -> None:
    plugin("half", 'api.on("session_start" as any, f); api.on(name(), f);')
    plugin("typo", 'api.on("before_tool_cal", f); api.on(name(), f);')
    listed = hookscope("list", *SHIPPED).out
    assert "and 1 more, known after a load" in listed
    assert "never sends before_tool_cal" not in listed  # the other one may be sent
    assert "session_start, and 1 more, known after a load" in hookscope("info", "half", *SHIPPED).out
    rows = {row["name"]: row for row in json.loads(hookscope("list", "--json", *SHIPPED).out)["hooks"]}
    assert (rows["half"]["events"], rows["half"]["unreadRegistrations"]) == (["session_start"], 1)
    assert "`before_tool_cal` is not an event" in hookscope("lint", "typo", *SHIPPED).out
    fired = hookscope("fire", "session_end", "--trust", *SHIPPED).out
    assert fired.count("not run: broken: ReferenceError: f is not defined") == 2  # both were loaded


def test_registrations_in_helper_files_count_within_the_plugin_folder(
    hookscope: Program, plugin: Plugin
) -> None:
    imports = 'import { a } from "./lib/a.js"; import { b } from "../b";'
    folder = plugin("p", "", whole=f"{imports}\nexport default function (api) {{ a(api); b(api) }}")
    (folder / "lib").mkdir()
    (folder / "lib" / "a.ts").write_text('export const a = (p) => p.on("session_end", f)')
    (folder.parent / "b.ts").write_text('export const b = (p) => p.on("agent_end", f)')
    row = json.loads(hookscope("info", "p", "--json", *SHIPPED).out)
    assert row["events"] == ["session_end"]


def test_an_entry_file_that_is_not_built_names_the_build_command(hookscope: Program, plugin: Plugin) -> None:
    folder = plugin("built", "")
    (folder / "index.ts").unlink()
    package = {"openclaw": {"extensions": ["./dist/index.js"]}, "scripts": {"build": "tsc"}}
    (folder / "package.json").write_text(json.dumps(package))
    done = hookscope("lint", "built", *SHIPPED)
    assert done.code == 1
    assert "dist/index.js does not exist, so the plugin does not load" in done.out
    assert "npm run build" in done.out
    (folder / "package.json").write_text(json.dumps({"openclaw": {"extensions": ["./main.js"]}}))
    assert (
        "Create main.js, or name an existing file in the plugin's manifest."
        in hookscope("lint", "built", *SHIPPED).out
    )


def test_compare_suggests_a_plugin_folder_for_a_plugin(hookscope: Program, plugin: Plugin) -> None:
    plugin("p", 'api.on("session_start", f)')
    assert "1 alike, 0 different" in hookscope("compare", "p", "--dialects", "openclaw,openclaw@2026.9").out
    compared = hookscope("compare", "p", "--dialects", "milady,openclaw@2026.9").out
    assert "/hooks" not in compared


def test_a_denied_event_beside_allowed_ones_is_marked_linted_and_fixed(
    hookscope: Program, plugin: Plugin, home: Path
) -> None:
    plugin("mem", 'api.on("agent_end", () => {}); api.on("session_end", () => {});')
    setting = "plugins.entries.mem.hooks.allowConversationAccess"
    assert hookscope("trust", str(home / ".openclaw" / "extensions")).code == 0
    denied = f"1 event denied: not agent_end: the plugin needs {setting} to be true"
    assert denied in hookscope("list", *SHIPPED).out
    assert "[events-denied]" in hookscope("lint", "mem", *SHIPPED).out
    assert f"{setting}: true" in hookscope("fix", "mem", "--apply", *SHIPPED).out
    assert "denied" not in hookscope("list", *SHIPPED).out
    assert "1 handler would run" in hookscope("plan", "agent_end", *SHIPPED).out


@pytest.mark.parametrize(
    ("version", "received"),
    [
        ("2026.9", set()),
        ("2026.7", {"before_prompt_build"}),
        ("2026.6", {"before_prompt_build"}),
        ("2026.3", {"before_prompt_build", "agent_end"}),
    ],
)
def test_older_versions_withhold_fewer_events(
    hookscope: Program, plugin: Plugin, home: Path, version: str, received: set[str]
) -> None:
    """From OpenClaw 2026.9.6, 2026.7.35, 2026.6.35 and 2026.3.31, which has no `allowConversationAccess`."""
    events = ("before_prompt_build", "agent_end")
    plugin("mem", "".join(f'api.on("{event}", () => {{}});' for event in events))
    assert hookscope("trust", str(home / ".openclaw" / "extensions")).code == 0
    plans = {event: hookscope("plan", event, "--dialect", f"openclaw@{version}").out for event in events}
    assert {event for event, plan in plans.items() if "1 handler would run" in plan} == received


def test_a_hook_without_a_name_costs_only_itself_in_the_oldest_version(
    hookscope: Program, plugin: Plugin
) -> None:
    """OpenClaw 2026.3.31 warns and goes on; later versions reject the plugin."""
    plugin("p", 'api.registerHook("command", () => {}); api.on("session_end", () => {});')
    loads = {
        version: json.loads(hookscope("load", "--trust", "--json", "--dialect", f"openclaw@{version}").out)
        for version in ("2026.3", "2026.6")
    }
    assert {version: list(load["failed"]) for version, load in loads.items()} == {
        "2026.3": [],
        "2026.6": ["p"],
    }
    fired = json.loads(
        hookscope("fire", "command:stop", "--trust", "--json", "--dialect", "openclaw@2026.3").out
    )
    assert "p" not in [result["hook"] for result in fired["results"]]


@pytest.mark.parametrize("source", ["managed", "workspace"])
def test_a_plugin_in_a_folder_of_the_guide_is_told_where_to_go(
    hookscope: Program, plugin: Plugin, home: Path, workspace: Path, source: str
) -> None:
    folder_of_guide = (workspace if source == "workspace" else home / ".openclaw") / "plugins"
    folder = plugin("guard", 'api.on("before_tool_call", () => {})')
    folder_of_guide.mkdir(parents=True)
    folder.rename(folder_of_guide / "guard")
    place = "extensions, or list it in plugins.load.paths"
    assert "guard  ok" in hookscope("fire", "before_tool_call", "--trust").out
    for command in (("list",), ("plan", "before_tool_call"), ("fix", "guard")):
        assert place in hookscope(*command, *SHIPPED).out
    compared = hookscope("compare", "guard", "--dialects", "openclaw,openclaw@2026.9").out
    assert place in compared
    assert "fix it" not in compared
    assert place in hookscope("info", "guard", *SHIPPED).err
    for named in ([], ["guard"]):
        linted = hookscope("lint", *named, *SHIPPED)
        assert (linted.code, place in linted.out) == (1, True)
    (home / ".openclaw" / "openclaw.json").write_text(
        json.dumps({"plugins": {"load": {"paths": [str(folder_of_guide)]}}})
    )
    assert place not in hookscope("list", *SHIPPED).out


def test_a_package_whose_main_is_no_entry_is_told_what_to_add(hookscope: Program, plugin: Plugin) -> None:
    folder = plugin("remember", "")
    (folder / "index.ts").unlink()
    (folder / "package.json").write_text(json.dumps({"main": "dist/index.js"}))
    linted = hookscope("lint", "remember", *SHIPPED)
    assert linted.code == 1
    assert 'add "openclaw": {"extensions": ["./dist/index.js"]}' in linted.out


HELPERS = """
import path from "node:path";
import { resolveStateDir } from "openclaw/plugin-sdk/state-paths";
import { normalizeAgentId, parseAgentSessionKey } from "openclaw/plugin-sdk/routing";
const file = path.join(resolveStateDir(), "store.json");
const agent = normalizeAgentId(parseAgentSessionKey("Agent:My Bot:main")?.agentId);
export default { id: "store", register(api: any) {
  const memory = path.join(api.runtime.agent.resolveAgentWorkspaceDir(api.config, "helper"), "memory");
  api.on("session_start", () => { console.log(file, agent, memory); });
} };
"""


def test_helpers_of_the_sdk_that_only_compute_answer_as_a_plugin_loads(
    hookscope: Program, plugin: Plugin, home: Path
) -> None:
    plugin("store", "", whole=HELPERS)
    agents = {"list": [{"id": "main", "default": True}, {"id": "helper"}]}
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps({"agents": agents}))
    fired = hookscope("fire", "session_start", "--trust", "--json", *SHIPPED).json
    state = home / ".openclaw"
    (result,) = fired["results"]
    assert result["stdout"] == f"{state / 'store.json'} my-bot {state / 'workspace-helper' / 'memory'}\n"


def test_a_load_that_fails_names_the_helper_that_only_the_host_has(
    hookscope: Program, plugin: Plugin
) -> None:
    imported = 'import { loadSessionStore } from "openclaw/plugin-sdk/session-store-runtime";'
    plugin("p", "", whole=f"{imported}\nimport path from 'node:path';\npath.join(loadSessionStore('x'));")
    loaded = hookscope("load", "p", "--trust", *SHIPPED).out
    assert "stubs replaced `loadSessionStore` of openclaw/plugin-sdk/session-store-runtime" in loaded


def test_lint_reads_what_a_plugin_registers_and_answers(hookscope: Program, plugin: Plugin) -> None:
    answers = 'if (event.tool_name === "Bash") return { decision: "block" }; return { allow: true };'
    plugin("guard", f'api.on("before_tool_call", (event: any) => {{ {answers} }});')
    plugin("noname", 'api.registerHook("message:received", () => {});')
    plugin("later", "", whole="export default async function register(api) { }")
    plugin("wrong", 'api.registerHook("before_tool_call", () => {}, { name: "g" });')
    own = 'api.on("before_tool_call", (event) => ({ block: event.toolName === "exec" }));'
    hook = 'api.registerHook(["command:new"], () => {}, { name: "x" });'
    other = "api.registerService({ id: 's', commands: [{ register: async () => {} }] });"  # of something else
    plugin("right", f"{own} {hook} {other} const text = 'async register()';")
    entry = 'export default definePluginEntry({ id: "entry", async register(api) {} });'
    plugin("entry", "", whole=entry)
    linted = json.loads(hookscope("lint", "--json", *SHIPPED).out)
    found = {(item["hook"], item["rule"]) for item in linted["findings"]}
    assert found == {
        ("guard", "plugin-member"),
        ("noname", "plugin-register"),
        ("later", "plugin-register"),
        ("entry", "plugin-register"),
        ("wrong", "events-unknown"),
    }
    assert "needs `api.on`" in hookscope("lint", "wrong", *SHIPPED).out


@pytest.mark.parametrize(
    ("package", "built"),
    [
        ({"extensions": ["./index.ts"], "runtimeExtensions": ["./out/main.js"]}, "out/main.js"),
        ({"extensions": ["./index.ts"]}, "dist/index.js"),
        ({"extensions": ["./src/index.ts"]}, "dist/index.mjs"),
        ({"extensions": ["src/index.ts"]}, "dist/src/index.js"),
        ({"extensions": ["./index.mts"]}, "index.mjs"),
    ],
)
def test_the_built_file_of_an_entry_is_the_one_that_loads(
    hookscope: Program, plugin: Plugin, package: dict[str, list[str]], built: str
) -> None:
    folder = plugin("p", 'api.on("session_start", () => {})')
    (folder / "package.json").write_text(json.dumps({"openclaw": package}))
    (folder / built).parent.mkdir(parents=True, exist_ok=True)
    (folder / built).write_text('export default (api) => { api.on("session_end", () => {}) };')
    row = json.loads(hookscope("info", "p", "--json", *SHIPPED).out)
    assert row["events"] == ["session_end"]


@pytest.mark.parametrize(
    "source",
    [
        'import * as self from "./index.ts";\nexport default self.default;\n',
        'import * as self from "./index.ts";\nexport default { register: self.default.register };\n',
        'export { default } from "./index.ts";\n',
    ],
    ids=["member of itself", "object of itself", "exports itself"],
)
def test_a_module_that_imports_itself_ends_no_command(
    hookscope: Program, plugin: Plugin, source: str
) -> None:
    plugin("circle", "", whole=source)
    for command in ("list", "check", "lint"):
        done = hookscope(command, *SHIPPED)
        assert "bug in Hookscope" not in done.err
    assert "circle" in hookscope("list", *SHIPPED).out

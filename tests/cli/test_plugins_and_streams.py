"""Plugin hooks and stream hooks from the command line: listed, planned, fired, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

Write = Callable[[str, str], Path]

GUARD = """
async def guard(event, ctx):
    if "rm -rf" in event.params["command"]:
        return {"block": True, "blockReason": f"destructive, says {ctx.session_key}"}
    return {"params": {**event.params, "cwd": "/tmp"}}


def register(api):
    api.on("before_tool_call", guard, priority=10)
"""
AUDIT = """
export default function register(api) {
  api.registerHook({
    event: "before-tool-call",
    handler: async (ctx) => { console.log(ctx.toolName, ctx.params.cwd, ctx.runId); },
    priority: 100,
  });
}
"""


@pytest.fixture
def write(workspace: Path) -> Write:
    """write("plugins/guard/plugin.py", source) → the file below the workspace."""

    def written(name: str, source: str) -> Path:
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        if name.startswith("agent/"):
            (workspace / "agent" / "instructions.md").touch()  # without which its host builds nothing
        return file

    return written


@pytest.fixture
def plugins(write: Write) -> None:
    write("plugins/guard/plugin.py", GUARD)
    write("plugins/audit/index.ts", AUDIT)


def test_plugins_of_both_languages_are_listed(hookscope: Program, plugins: None) -> None:
    rows = {row["name"]: row for row in hookscope("list", "--json").json["hooks"]}
    facts = {name: (rows[name]["kind"], rows[name]["events"], rows[name]["state"]) for name in rows}
    assert facts["guard"] == ("plugin", ["before_tool_call"], "untrusted")
    assert facts["audit"] == ("plugin", ["before_tool_call"], "untrusted")
    assert "kind      plugin" in hookscope("info", "guard").out


def test_plugin_answers_are_merged_in_order_of_priority(hookscope: Program, plugins: None) -> None:
    call = json.dumps({"toolName": "exec", "params": {"command": "ls"}})
    fired = hookscope("fire", "before_tool_call", "--trust", "--json", "--context", call, "--ctx", RUN)
    document = fired.json
    assert fired.code == 0
    assert document["result"] == {"blocked": False, "params": {"command": "ls", "cwd": "/tmp"}}
    assert document["verdict"] == "changed params"
    results = [(item["hook"], item["returned"], item["stdout"]) for item in document["results"]]
    assert results == [
        ("guard", {"params": {"command": "ls", "cwd": "/tmp"}}, ""),
        ("audit", None, "exec /tmp run-7\n"),
    ]


def test_before_a_load_plan_reads_priorities_from_the_source(hookscope: Program, plugins: None) -> None:
    hookscope("trust", "plugins")
    plan = hookscope("plan", "before_tool_call", "--json").json
    assert [call["hook"] for group in plan["groups"] for call in group["calls"]] == ["guard", "audit"]


@pytest.mark.parametrize(
    ("event", "together"),
    [("before_tool_call", False), ("message_received", True), ("skill_proposal_evaluate", True)],
)
def test_observers_run_at_once_and_modifiers_in_turn(
    hookscope: Program, write: Write, event: str, together: bool
) -> None:
    body = f"def register(api):\n    api.on({event!r}, print)\n    api.on({event!r}, repr)\n"
    write(".openclaw/extensions/twice/plugin.py", body)
    hookscope("trust", ".openclaw/extensions")
    plan = hookscope("--dialect", "openclaw@2026.9", "plan", event, "--json").json
    assert [group["together"] for group in plan["groups"]] == [together]


def test_a_block_ends_the_event_and_names_the_plugin(hookscope: Program, plugins: None) -> None:
    call = json.dumps({"toolName": "exec", "params": {"command": "rm -rf /"}})
    text = hookscope(
        "fire", "before-tool-call", "--trust", "--context", call, "--ctx", '{"sessionKey": "me"}'
    )
    assert text.code == 0
    assert "blocked by guard: destructive, says me" in text.out
    assert "→ blocked = true" in text.out
    assert "ran, blocked by guard: destructive, says me" in hookscope("log").out
    assert "later handlers are not called" in text.out
    assert "audit  not run: an earlier handler ended the event" in text.out


def test_shipped_openclaw_calls_higher_priorities_first(hookscope: Program, write: Write) -> None:
    write(".openclaw/extensions/guard/plugin.py", GUARD)
    manifest = {"id": "audit", "configSchema": {"type": "object"}}
    write(".openclaw/extensions/audit/openclaw.plugin.json", json.dumps(manifest))
    old = 'api.registerHook({\n    event: "before-tool-call",\n    handler:'
    write(
        ".openclaw/extensions/audit/index.ts",
        AUDIT.replace(old, 'api.on("before_tool_call",').replace(
            "    priority: 100,\n  });", "  { priority: 100 });"
        ),
    )
    hookscope("enable", "audit", "--dialect", "openclaw@2026.9")
    call = json.dumps({"toolName": "exec", "params": {"command": "ls"}})
    shipped = ("--dialect", "openclaw@2026.9")
    document = hookscope(*shipped, "fire", "before_tool_call", "--trust", "--json", "--context", call).json
    assert [item["hook"] for item in document["results"]] == ["audit", "guard"]
    assert document["results"][0]["stdout"].startswith("exec undefined")  # each has the original for itself
    assert document["result"] == {"params": {"command": "ls", "cwd": "/tmp"}}


def test_fire_names_an_untrusted_plugin_with_the_trust_command(hookscope: Program, plugins: None) -> None:
    fired = hookscope("fire", "before_tool_call")
    assert fired.code == 1
    assert "plugins did not run: the folder is not trusted" in fired.err


def test_the_plan_of_a_plugin_hook_runs_nothing(hookscope: Program, write: Write, workspace: Path) -> None:
    mark = workspace / "ran"
    write("plugins/eager/plugin.py", f"open({str(mark)!r}, 'w')\n{GUARD}")
    hookscope("trust", str(workspace / "plugins"))
    document = hookscope("plan", "before_tool_call", "--json").json
    assert [call["hook"] for group in document["groups"] for call in group["calls"]] == ["eager"]
    for command in (("list",), ("info", "eager"), ("check",), ("plan", "before_tool_call")):
        assert hookscope(*command).code == 0
    assert not mark.exists()


def test_an_unknown_plugin_hook_suggests_the_closest_name(hookscope: Program, write: Write) -> None:
    write("plugins/typo/plugin.py", GUARD.replace("before_tool_call", "before_tool_cal"))
    notes = next(row for row in hookscope("list", "--json").json["hooks"] if row["name"] == "typo")["notes"]
    assert "before_tool_cal is not an event of OpenClaw; did you mean before_tool_call?" in notes
    assert "Did you mean before_tool_call?" in hookscope("fire", "before_tool_cal").err


def test_a_handler_mapped_by_settings_is_called(hookscope: Program, write: Write) -> None:
    write(
        "policies/limits.py", "def check(event, ctx):\n    return {'block': True, 'blockReason': 'mapped'}\n"
    )
    mapped = "{event: before-tool-call, module: policies/limits, export: check, priority: 5, name: limits}"
    write(".hookscope/config.yaml", f"plugin_hooks:\n  - {mapped}\n")
    document = hookscope("fire", "before_tool_call", "--trust", "--json").json
    assert document["verdict"] == "blocked by limits: mapped"
    write(".hookscope/config.yaml", f"plugin_hooks:\n  - {mapped.replace('policies', '../policies')}\n")
    assert any("without `..`" in item["reason"] for item in hookscope("list", "--json").json["rejected"])
    write(".hookscope/config.yaml", "plugin_hooks: {event: x}\n")
    wrong = hookscope("list")
    assert (wrong.code, "needs a list of mappings" in wrong.err) == (2, True)


RUN = '{"runId": "run-7"}'

WATCH = """
import { defineHook } from "eve/hooks";

export default defineHook({
  events: {
    "turn.started"(event, ctx) { console.log(event.data.turnId, ctx.agent.name); },
    "*"(event) { console.log("every", event.type); },
  },
});
"""
STOP = """
from hookscope import define_hook


async def stop(event, ctx):
    ctx.cancel()


default = define_hook(events={"turn.started": stop})
"""
HEARS = """
from hookscope import define_hook


def heard(event, ctx):
    {does}


default = define_hook(events={{"{event}": heard}})
"""
BAD = "export default { events: { 'turn.started'() { throw new Error('boom'); } } };\n"


@pytest.fixture
def agent(write: Write, workspace: Path) -> Path:
    write("agent/hooks/watch.ts", WATCH)
    (workspace / "hooks").rmdir()
    return workspace


def test_eve_is_found_by_its_hooks_folder(hookscope: Program, agent: Path) -> None:
    document = hookscope("list", "--json").json
    (row,) = document["hooks"]
    assert document["dialect"] == "eve"
    assert (row["name"], row["kind"], row["events"]) == ("watch", "stream", ["turn.started", "*"])


def test_a_stream_event_reaches_typed_handlers_before_wildcards(hookscope: Program, agent: Path) -> None:
    fired = hookscope("fire", "turn.started", "--trust")
    assert fired.code == 0
    lines = [line.strip() for line in fired.out.splitlines()]
    typed, every = lines.index("typed"), lines.index("*")
    assert typed < lines.index("out │ turn_0 workspace") < every < lines.index("out │ every turn.started")


def test_an_event_that_lacks_a_field_is_refused(hookscope: Program, agent: Path) -> None:
    fired = hookscope("fire", "turn.completed", "--context", '{"turnId": "t"}', "--trust")
    assert (fired.code, fired.out) == (2, "")
    assert "turn.completed has no `sequence` in its data" in fired.err


def test_a_handler_can_cancel_the_turn(hookscope: Program, agent: Path, write: Write) -> None:
    write("agent/hooks/stop.py", STOP)
    document = hookscope("--dialect", "eve@0.80", "fire", "turn.started", "--trust", "--json").json
    assert document["verdict"] == "turn cancelled by stop"
    assert [item["asked"] for item in document["results"]] == [["cancel"], [], []]
    assert [run["event"]["type"] for run in document["caused"]] == ["turn.cancelled", "session.waiting"]


@pytest.mark.parametrize(
    ("dialect", "follow", "watched"),
    [("eve", ["turn.failed"], False), ("eve@0.18", ["session.failed"], False), ("eve@0.80", [], True)],
)
def test_a_thrown_error_follows_the_rule_of_the_version(
    hookscope: Program, agent: Path, write: Write, dialect: str, follow: list[str], watched: bool
) -> None:
    write("agent/hooks/bad.ts", BAD)
    fired = hookscope("--dialect", dialect, "fire", "turn.started", "--trust", "--json")
    document = fired.json
    assert fired.code == 1
    assert [run["event"]["type"] for run in document["caused"]] == follow
    assert ("watch" in [item["hook"] for item in document["results"]]) is watched
    assert document["failure"] == (None if watched else "boom")
    assert any("stream event hook failed" in line["text"] for line in document["log"]) is watched


def test_excluded_modules_get_no_follow_up_events(hookscope: Program, workspace: Path, write: Write) -> None:
    for name, event, does in (
        ("bad", "turn.started", "raise ValueError('no')"),
        ("every", "*", "print('heard', event.type)"),
    ):
        write(f"agent/hooks/{name}.py", HEARS.format(event=event, does=does))
    fired = hookscope("--dialect", "eve", "fire", "turn.started", "--trust", "--only", "bad", "--json").json
    (caused,) = fired["caused"]
    assert (caused["event"]["type"], caused["results"]) == ("turn.failed", [])
    assert [(left["hook"], left["reason"]) for left in caused["not_run"]] == [
        ("every", "skipped: only bad was requested"),
        ("bad", "subscribes to turn.started"),
    ]
    everybody = hookscope("--dialect", "eve", "fire", "turn.started", "--trust", "--json").json
    assert [item["hook"] for item in everybody["caused"][0]["results"]] == ["every"]


def test_a_file_that_breaks_eves_build_blocks_every_hook(
    hookscope: Program, agent: Path, write: Write
) -> None:
    write("agent/hooks/1st.ts", WATCH)
    listed = hookscope("list")
    assert '"1st" is not a legal hook name' in listed.out
    row = next(row for row in hookscope("list", "--json").json["hooks"] if row["name"] == "watch")
    assert row["state"] == "broken"


def test_disable_writes_the_entry_of_the_plugin(hookscope: Program, plugins: None, home: Path) -> None:
    hookscope("trust", "plugins")
    assert hookscope("disable", "guard").code == 0
    settings = home / ".openclaw/openclaw.json"
    assert json.loads(settings.read_text()) == {"plugins": {"entries": {"guard": {"enabled": False}}}}
    assert [call["hook"] for call in _calls(hookscope("plan", "before_tool_call", "--json").json)] == [
        "audit"
    ]
    assert hookscope("enable", "guard").code == 0
    assert len(_calls(hookscope("plan", "before_tool_call", "--json").json)) == 2


def _calls(plan: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[dict[str, str]]:
    return [call for group in plan["groups"] for call in group["calls"]]


def test_disable_refuses_eve_modules_with_the_next_step(hookscope: Program, agent: Path) -> None:
    refused = hookscope("disable", "watch")
    assert (refused.code, refused.out) == (1, "")
    assert "Eve has no switch for hooks" in refused.err
    assert "Move ./agent/hooks/watch.ts away" in refused.err


def test_a_plugin_of_an_installed_package_is_listed_without_import(
    hookscope: Program, tmp_path: Path, write: Write
) -> None:
    site = tmp_path / "site"
    info, package = site / "ours-1.0.dist-info", site / "ourpkg"
    info.mkdir(parents=True)
    package.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hookscope.plugins]\nours = ourpkg.policy:register\n")
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "words.py").write_text("REASON = 'installed'\n")
    (package / "policy.py").write_text(
        "from .words import REASON\n\n\ndef register(api):\n"
        "    api.on('before_tool_call', lambda event: {'block': True, 'blockReason': REASON})\n"
    )
    env = {"PYTHONPATH": str(site)}
    listed = hookscope("list", "--json", env=env)
    row = next(row for row in listed.json["hooks"] if row["name"] == "ours")
    assert (row["source"], row["state"], row["events"]) == ("installed", "untrusted", ["before_tool_call"])
    fired = hookscope("fire", "before_tool_call", "--trust", "--json", env=env).json
    assert fired["verdict"] == "blocked by ours: installed"
    write("plugins/ours/plugin.py", GUARD)
    rows = [row for row in hookscope("list", "--json", env=env).json["hooks"] if row["name"] == "ours"]
    assert [(row["source"], row["state"]) for row in rows] == [
        ("workspace", "untrusted"),
        ("installed", "shadowed"),
    ]


@pytest.mark.parametrize(
    "damaged",
    ["x = /etc/x", "x = __import__('os')", "x =", "x = a:b:c", "no sign", "x = a\0", "\ufffd = \udcff"],
)
def test_a_damaged_package_does_not_hide_other_plugins(
    hookscope: Program, tmp_path: Path, damaged: str
) -> None:
    site = tmp_path / "site"
    (site / "ours.py").parent.mkdir()
    (site / "ours.py").write_text("def register(api):\n    api.on('before_tool_call', print)\n")
    for name, text in {"bad": damaged, "ours": "ours = ours:register"}.items():
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        written = f"[hookscope.plugins]\n{text}\n".encode("utf-8", "surrogateescape")
        (info / "entry_points.txt").write_bytes(written)
    listed = hookscope("list", "--json", env={"PYTHONPATH": str(site)})
    assert listed.code == 0, listed.err
    assert [row["name"] for row in listed.json["hooks"] if row["source"] == "installed"] == ["ours"]


@pytest.mark.parametrize(("dialect", "stops"), [("eve", False), ("eve@0.18", True), ("eve@0.80", True)])
def test_a_tool_that_throws_at_load_breaks_eves_build(
    hookscope: Program, workspace: Path, dialect: str, stops: bool
) -> None:
    """Recorded from both versions: nothing is built, and so no hook runs."""
    agent = workspace / "agent"
    for name in ("hooks", "tools"):
        (agent / name).mkdir(parents=True)
    (agent / "instructions.md").write_text("You are.\n")
    (agent / "hooks/a.ts").write_text("export default { events: { 'turn.started'() {} } };\n")
    (agent / "tools/t.ts").write_text("throw new TypeError('tool broke');\n")
    given = ("--dialect", dialect)
    report = hookscope(*given, "load", "--trust", "--json").json
    assert report["failed"] == (["a"] if stops else [])
    assert any("the tool t did not load" in line["text"] for line in report["log"]) is not stops
    run = hookscope(*given, "fire", "turn.started", "--trust", "--json").json
    assert [item["hook"] for item in run["results"]] == ([] if stops else ["a"])
    if stops:
        (left,) = run["not_run"]
        assert f"the build stops at {agent / 'tools/t.ts'}: TypeError: tool broke" in left["reason"]

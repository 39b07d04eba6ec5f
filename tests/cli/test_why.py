"""`why`: one sentence and the steps from a hook's file to its user, for HOOK.md hooks, plugins and Eve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

HOST = ("--dialect", "openclaw")
NOTE = "{openclaw: {events: ['command:new'], requires: {env: [DEPLOY_DIR]}}}"
GUARD = """
def register(api):
    api.on("before_tool_call", lambda event, ctx: None)
"""


def steps(document: dict[str, Any], number: int = 0) -> dict[str, bool | None]:
    """The steps of one event, by name."""
    return {step["lamp"]: step["passed"] for step in document["events"][number]["lamps"]}


def test_the_first_failed_step_is_marked_with_its_command_until_the_message_arrives(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = "def handler(event):\n    event.messages.append('deployed')\n"
    make_hook(workspace / "hooks", "deploy-note", NOTE, source)
    blocked = hookscope(*HOST, "why", "deploy-note", "command:new")
    assert blocked.code == 1
    lines = blocked.out.splitlines()
    assert lines[0] == "deploy-note does not run on command:new: DEPLOY_DIR is not set."
    failed = next(number for number, line in enumerate(lines) if line.startswith("  ✗"))
    assert lines[failed].split() == ["✗", "requirements", "DEPLOY_DIR", "is", "not", "set"]
    command = "hookscope --dialect openclaw"
    assert lines[-3:] == [
        "Next steps, the easiest first:",
        f"  → {command} trust ./hooks",
        f"  → {command} fix deploy-note --gate env",
    ]

    assert hookscope(*HOST, "fix", "deploy-note", "--value", "DEPLOY_DIR=/srv", "--apply").code in (0, 1)
    untrusted = hookscope(*HOST, "why", "deploy-note")
    assert "does not run on command:new: its folder is not trusted." in untrusted.out
    (command,) = (line.strip("→ ") for line in untrusted.out.splitlines() if "→" in line)
    assert command == "hookscope --dialect openclaw trust ./hooks"

    assert hookscope(*command.split()[1:]).code == 0
    ready = hookscope(*HOST, "why", "deploy-note")
    assert ready.code == 0
    expected = "deploy-note would run on command:new; no such event has arrived yet."
    assert ready.out.splitlines()[0] == expected

    hookscope(*HOST, "fire", "command:new")
    ran = hookscope(*HOST, "why", "deploy-note", "--json")
    assert ran.code == 0
    assert set(steps(ran.json).values()) == {True}
    assert ran.json["events"][0]["sentence"].startswith("deploy-note runs on command:new: ")


def test_each_event_has_its_answer_and_one_that_runs_is_enough(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "both", "{openclaw: {events: ['command:new', before_tool_call]}}")
    hookscope("trust", "hooks")
    done = hookscope(*HOST, "why", "both", "--json")
    assert (done.code, done.json["would_run"]) == (0, True)
    assert [one["would_run"] for one in done.json["events"]] == [True, False]
    assert done.json["events"][1]["first_dark"] == "sent"
    stop = hookscope(*HOST, "why", "both", "command:stop")
    assert stop.code == 1
    assert "a different action; to receive this, list command:stop or command in its events" in stop.out
    assert "→ add command:stop to its events in HOOK.md" in stop.out
    assert hookscope(*HOST, "why", "both", "command:nwe").code == 1
    make_hook(workspace / "hooks", "slip", "{openclaw: {events: ['agent:bootstap']}}")
    assert hookscope(*HOST, "why", "slip").out.splitlines()[0].endswith("did you mean agent:bootstrap?")
    unknown = hookscope(*HOST, "why", "bosh")
    assert unknown.code == hookscope(*HOST, "info", "bosh").code
    assert "Did you mean both?" in unknown.err


def test_a_run_that_failed_and_a_message_that_nobody_sees(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    fails = make_hook(workspace / "hooks", "note", "{openclaw: {events: ['message:received']}}")
    (fails / "handler.py").write_text("def handler(event):\n    raise KeyError('who')\n")
    hookscope("trust", "hooks")
    hookscope(*HOST, "fire", "message:received")
    failed = hookscope(*HOST, "why", "note")
    assert failed.code == 0, "it runs, whatever comes of it"
    assert failed.out.startswith("note runs on message:received and fails: error in run 1")
    assert "→ hookscope --dialect openclaw replay 1" in failed.out

    (fails / "handler.py").write_text("def handler(event):\n    event.messages.append('hi')\n")
    hookscope(*HOST, "fire", "message:received")
    first_line = hookscope(*HOST, "why", "note").out.splitlines()[0]
    assert first_line.startswith("note runs on message:received, but its message is not shown: ")


def test_a_copy_that_wins_and_a_folder_that_is_no_hook(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    empty = workspace / "hooks" / "empty"
    empty.mkdir()
    (empty / "handler.py").write_text("def handler(event): ...\n")
    rejected = hookscope(*HOST, "why", "empty")
    assert rejected.code == 1
    assert rejected.out.startswith("empty does not run: ")
    assert "✗ found" in rejected.out

    make_hook(home / ".openclaw" / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    hookscope("trust", "hooks")
    assert "precedence     over 1 with the same name" in hookscope(*HOST, "why", "greet").out


def test_a_switched_off_hook_names_the_command_that_enables_it(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
    hookscope(*HOST, "disable", "greet")
    off = hookscope(*HOST, "why", "greet")
    assert off.out.startswith("greet does not run on command:new: it is switched off.")
    assert "→ hookscope --dialect openclaw enable greet" in off.out


def test_a_plugin_has_the_same_steps(hookscope: Program, workspace: Path) -> None:
    folder = workspace / "plugins" / "guard"
    folder.mkdir(parents=True)
    (folder / "plugin.py").write_text(GUARD)
    done = hookscope(*HOST, "why", "guard", "before_tool_call", "--json")
    assert done.code == 1
    assert done.json["hook"].endswith("guard")
    assert len(steps(done.json)) == 12
    assert steps(done.json)["subscribed"] is True
    assert steps(done.json)["trusted"] is False
    astray = hookscope("--dialect", "openclaw@2026.9", "why", "guard", "before_tool_call")
    assert astray.code == 1
    assert "move it to ./.openclaw/extensions" in astray.out


def test_a_hook_of_eve_has_the_same_steps(hookscope: Program, workspace: Path) -> None:
    files = {
        "agent/instructions.md": "Help.",
        "package.json": json.dumps({"dependencies": {"eve": "^0.80.1"}}),
        "agent/hooks/close.ts": "import { defineHook } from 'eve/hooks';\n"
        "export default defineHook({ events: { 'turn.completed'() {} } });",
    }
    for name, text in files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    done = hookscope("--dialect", "eve@0.80", "why", "close", "--json")
    assert [one["event"] for one in done.json["events"]] == ["turn.completed"]
    assert done.json["events"][0]["first_dark"] == "trusted"
    assert steps(done.json)["sent"] is True


def test_a_hook_of_thousands_of_events_is_answered_for_the_first_ones(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    events = [f"command:{number}" for number in range(3000)]
    make_hook(workspace / "hooks", "all", json.dumps({"openclaw": {"events": events}}))
    done = hookscope(*HOST, "why", "all", "--json")
    assert [one["event"] for one in done.json["events"]] == events[:100]
    assert "2,900 more events are omitted: `why NAME EVENT` shows one." in done.err
    assert hookscope(*HOST, "why", "all", events[-1], "--json").json["events"][0]["event"] == events[-1]


def test_a_damaged_journal_is_named(
    hookscope: Program, workspace: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "greet", '{"openclaw": {"events": ["command:new"]}}')
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "journal.db").write_text("not a journal" * 1000)
    done = hookscope(*HOST, "why", "greet")
    assert done.code == 1
    assert "journal.db is not a journal of Hookscope" in done.err
    assert "`hookscope info greet` shows every check." in done.err


def test_next_steps_begin_with_the_easiest(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    """A key, then a value, then a program to install, then another machine: in `why`, `info` and `list`."""
    needed = "os: [win32], requires: {bins: [jq-1.9], env: [DEPLOY_DIR]}"
    make_hook(workspace / "hooks", "note", f"{{openclaw: {{events: ['command:new'], {needed}}}}}")
    hookscope("trust", "hooks")
    hookscope(*HOST, "disable", "note")
    order = ["enabled", "env", "bins", "os"]
    (event,) = hookscope(*HOST, "why", "note", "--json").json["events"]
    name = "hookscope --dialect openclaw"
    fixes = [f"{name} fix note --gate {gate}" for gate in order[1:]]
    assert event["next"] == [f"{name} enable note", *fixes]
    for command in (("info", "note"), ("list", "--verbose")):
        lines = [line.split() for line in hookscope(*HOST, *command).out.splitlines()]
        assert [words[1] for words in lines if words[:1] == ["✗"]][:4] == order

    (workspace / "hooks" / "note" / "HOOK.md").write_text(
        "---\nname: note\nmetadata: {openclaw: {events: ['command:new'], os: [Linux, macos], requires: "
        "{env: [DEPLOY_DIR]}}}\n---\n"
    )
    near = hookscope(*HOST, "why", "note", "--json").json["events"][0]["next"]
    assert near[1:] == [f"{name} fix note --gate os", fixes[0]], "a spelling is easier than a value"

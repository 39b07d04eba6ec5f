"""play, from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.done import Done

HOOK = """
from hookscope import define_hook
def note(event, ctx):
    print("saw", event["type"])
hook = define_hook(events={"turn.started": note})
"""
THROWS = HOOK.replace('print("saw", event["type"])', 'raise ValueError("boom")')
LATE = """
from hookscope import define_hook
kept = []
def keep(event, ctx):
    kept.append(ctx)
def cancel(event):
    kept[0].cancel()
hook = define_hook(events={"message.completed": keep, "turn.completed": cancel})
"""
ADD = """
from hookscope import define_tool
def execute(given):
    return {"sum": given["a"] + given["b"]}
tool = define_tool(execute=execute)
"""
SCRIPT = [{"toolCalls": [{"name": "add-up", "input": {"a": 2, "b": 3}}]}, "Five."]
EVENT_FIELDS = {
    "session", "agent", "place", "type", "data", "meta", "results", "not_run", "verdict", "failure", "log",
    "ms",
}  # fmt: skip


@pytest.fixture
def app(workspace: Path) -> Path:
    """A project with one hook."""
    hooks = workspace / "agent" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "audit.py").write_text(HOOK)
    (workspace / "agent" / "instructions.md").touch()
    return workspace


@pytest.fixture
def play(hookscope: Program, app: Path) -> Program:
    def play(*arguments: str, dialect: str = "eve@0.80") -> Done:
        return hookscope("play", *arguments, "--dialect", dialect, "--workspace", str(app), "--trust")

    return play


def test_play_prints_sessions_for_people_and_json(play: Program) -> None:
    done = play("hi", "again", "--reply", "Hello", "--json")
    assert done.code == 0, done.err
    told = done.json
    assert set(told) == {
        "dialect", "rule", "session", "rest", "failure", "events", "uses", "notes",
    }  # fmt: skip
    assert all(set(event) == EVENT_FIELDS for event in told["events"])
    assert [event["place"] for event in told["events"]] == list(range(17))
    (result,) = told["events"][1]["results"]
    assert (result["hook"], result["stdout"]) == ("audit", "saw turn.started\n")
    assert told["events"][9]["data"] == {"sequence": 1, "turnId": "turn_1"}
    assert told["rest"] == "waiting"


def test_play_shows_each_event_with_its_hooks(play: Program) -> None:
    lines = play("hi", "--reply", "Hello").out.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["0", "session.started"], ["1", "turn.started"]]
    assert lines[2].split()[:3] == ["✓", "audit", "ok"]
    assert "saw turn.started" in lines[3]
    assert lines[-2] == "9 events  ✓ no hook failed  the session waits for the next message"
    assert lines[-1].startswith("rule: a hook's throw is logged")


def test_a_script_may_call_tools(play: Program, app: Path) -> None:
    (app / "agent" / "tools").mkdir()
    (app / "agent" / "tools" / "add-up.py").write_text(ADD)
    script = app / "script.json"
    script.write_text(json.dumps(SCRIPT))
    done = play("--script", str(script))
    assert done.code == 0
    assert "add-up: {'sum': 5}" in done.out


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("eve@0.80", "9 events  ✗ 1 failed  the session waits for the next message"),
        ("eve@0.18", "9 events  ✗ 4 failed  the session is over"),
        ("eve", "4 events  ✗ 1 failed  the session waits for the next message"),
    ],
)
def test_play_names_a_failing_hook_under_each_version(
    play: Program, app: Path, dialect: str, said: str
) -> None:
    (app / "agent" / "hooks" / "audit.py").write_text(THROWS)
    done = play("hi", "--reply", "Hello", dialect=dialect)
    assert done.code == 1
    assert said in done.out.splitlines()
    assert "✗ audit at turn.started (1): boom" in done.out


def test_play_reports_a_late_cancel(play: Program, app: Path) -> None:
    (app / "agent" / "hooks" / "audit.py").write_text(LATE)
    done = play("hi", "--reply", "Hello")
    assert done.code == 0
    assert "the session waits" in done.out
    assert "note: audit ctx.cancel() ignored: the event's hooks already returned" in done.out


def test_play_names_a_missing_tool(play: Program, app: Path) -> None:
    script = app / "script.yaml"
    script.write_text("- toolCalls: [{name: nope}]\n- Done\n")
    done = play("--script", str(script))
    assert "tool nope failed: the project has no such tool" in done.out


def test_play_runs_no_code_of_an_untrusted_project(hookscope: Program, app: Path) -> None:
    (app / "agent" / "agent.py").write_text("raise SystemExit('ran')")
    done = hookscope("play", "--dialect", "eve@0.80", "--workspace", str(app))
    assert done.code == 1
    assert "`hookscope trust ./agent`" in done.err
    assert "agent/hooks" not in done.err


@pytest.mark.parametrize(
    ("arguments", "text", "sentence"),
    [
        (["--script", "none.json"], "", "Cannot read the script none.json: no such file or directory."),
        (["--script", "s.yaml"], "{}", "s.yaml is not a list of replies."),
        (["--script", "s.yaml"], "- {}", "Reply 1 of the script s.yaml is invalid"),
        (["--script", "s.yaml"], "- {toolCalls: [{}]}", "tool call 1 has no name"),
        (["--script", "s.yaml", "--reply", "x"], "- x", "--reply and --script both set"),
    ],
)
def test_play_refuses_an_invalid_script(
    hookscope: Program, app: Path, arguments: list[str], text: str, sentence: str
) -> None:
    (app / "s.yaml").write_text(text)
    done = hookscope("play", *arguments, "--dialect", "eve@0.80", cwd=app)
    assert done.code == 2
    assert sentence in done.err


def test_play_refuses_a_host_without_sessions(hookscope: Program, app: Path) -> None:
    done = hookscope("play", "--dialect", "openclaw", cwd=app)
    assert done.code == 1
    assert "OpenClaw has no sessions to simulate" in done.err
    assert "`--dialect eve` uses the rules" in done.err

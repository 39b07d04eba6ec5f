"""`hookscope sequence`, and saved events listed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

GREET = """
def handler(event):
    event.messages.append(event.key)
"""


@pytest.fixture
def scope(hookscope: Program, bundled: Path, workspace: Path, make_hook: MakeHook) -> Program:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", GREET)
    folder = workspace / ".hookscope/sequences"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(
        "notes: My own.\nsteps:\n"
        "  - {event: 'command:new', expect: {messages: 1}}\n"
        "  - {after: 2m, event: 'command:reset', expect: {messages: 0}}\n"
    )

    def run(*arguments: str) -> Done:
        return hookscope("--bundled", str(bundled), *arguments)

    return run


def test_sequence_lists_sequences_with_their_events(scope: Program) -> None:
    lines = scope("sequence").out.splitlines()
    assert lines[:2] == ["  mine        workspace  My own.", "    command:new → (120 s) command:reset"]
    rows = {row["name"]: row for row in scope("sequence", "--json").json}
    assert rows["mine"]["steps"][1] == {"after_ms": 120_000, "event": "command:reset"}
    assert (rows["restart"]["ships"], rows["restart"]["file"], rows["mine"]["expects"]) == (True, None, True)


def test_each_step_shows_its_run_and_failed_expectations(scope: Program) -> None:
    done = scope("sequence", "mine", "--no-delays", "--trust", "--json")
    assert done.code == 1
    first, second = done.json["steps"]
    assert (done.json["sequence"], done.json["ok"], done.json["cancelled"]) == ("mine", False, False)
    assert (first["after_ms"], first["passed"], first["run"]["messages"]) == (0, True, ["command:new"])
    assert [miss["what"] for miss in second["misses"]] == ["messages"]
    text = scope("sequence", "mine", "--no-delays", "--trust").out
    assert "── mine 2/2, after 120 s" in text
    assert "✗ messages: expected 0, got 1" in text
    assert text.splitlines()[-1] == "mine: 2 steps, 1 did not pass"


def test_an_untrusted_sequence_names_the_trust_command_and_dry_runs_nothing(
    scope: Program, workspace: Path
) -> None:
    untrusted = scope("sequence", "mine", "--no-delays")
    assert untrusted.code == 1
    assert "`hookscope trust ./hooks` allows it" in untrusted.err
    dry = scope("sequence", "mine", "--dry", "--json")
    assert dry.code == 0
    assert [step["plan"]["event"]["type"] for step in dry.json["steps"]] == ["command", "command"]
    assert len(scope("log", "--json").json["runs"]) == 2  # of the first try


def test_ctrl_c_ends_a_sequence_and_reports_finished_steps(
    workspace: Path, bundled: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    tells = f"def handler(event):\n    open({str(told)!r}, 'w').write(event.key)\n"
    make_hook(workspace / "hooks", "tells", "{openclaw: {events: [command]}}", tells)
    sequence = workspace / "waits.yaml"
    sequence.write_text("steps: [{event: 'command:new'}, {after: 60m, event: 'command:new'}]")
    program = subprocess.Popen(
        [
            *(sys.executable, "-m", "hookscope", "--bundled", str(bundled)),
            *("sequence", "waits.yaml", "waits.yaml", "--trust", "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=workspace,
    )
    try:
        assert told.read_text() == "command:new"  # waits until the handler has opened it too
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    finally:
        program.kill()
    assert program.returncode == 1, err
    (told_of,) = json.loads(out)  # of several a list, however many were begun
    assert (len(told_of["steps"]), told_of["cancelled"]) == (1, True)


def test_saved_events_are_listed(scope: Program, workspace: Path) -> None:
    events = workspace / ".hookscope/events"
    events.mkdir()
    (events / "hello.yaml").write_text(
        "name: Hello\ntags: [chat]\nnotes: From Ada.\nevent: command:new\nexpect: {errors: 0}\n"
    )
    (events / "bad.yaml").write_text("event: 5\n")
    lines = scope("events", "--saved").out.splitlines()
    assert lines[0].startswith("✗ bad ")
    assert lines[1] == "  Hello  command:new  expects #chat From Ada."
    rows = scope("events", "command:new", "--saved", "--json").json
    assert [(row["name"], row["tags"], row["problem"]) for row in rows] == [("Hello", ["chat"], None)]
    none = scope("events", "command:stop", "--saved").out
    assert (
        none == "No event command:stop is saved here; `hookscope fire command:stop --save NAME` saves one.\n"
    )
    (events / "tool.yaml").write_text("event: before_tool_call\n")
    assert scope("events", "before-tool-call", "--saved").out.startswith("  tool ")

"""What was fired is on record, and a record of it is not a leak."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

COMMAND = "{openclaw: {events: [command]}}"


def test_log_lists_events_with_their_results(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    assert hookscope("log").out == "Nothing was fired in this workspace yet.\n"
    make_hook(workspace / "hooks", "good", COMMAND, "def handler(event): event.messages.append('hello')")
    make_hook(
        workspace / "hooks", "bad", "{openclaw: {events: ['command:reset']}}", "def handler(event): 1 / 0"
    )
    fire = ("fire", "--trust", "--bundled", str(bundled))
    hookscope(*fire, "command:new", "--context", '{"apiKey": "sk-abcdefghijklmnopqrstuvwx"}')
    hookscope(*fire, "command:reset")
    runs = hookscope("log", "--json").json["runs"]
    outcomes = [(run["event"], run["outcome"]) for run in runs]
    assert outcomes == [("command:new", "ok"), ("command:reset", "failed")]
    assert runs[0]["run"]["messages"] == ["hello"]
    assert "sk-" not in json.dumps(runs)
    for narrowed in (["--failed"], ["--hook", "bad"], ["--event", "command:reset"], ["--text", "division"]):
        found = hookscope("log", *narrowed, "--json").json["runs"]
        assert [run["event"] for run in found] == ["command:reset"]
    assert "failed: bad" in hookscope("log").out


def test_log_number_shows_the_whole_run(
    hookscope: Program, workspace: Path, bundled: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "good", COMMAND, "def handler(event): event.messages.append('hello')")
    make_hook(workspace / "hooks", "bad", COMMAND, "def handler(event):\n    print('so far')\n    1 / 0\n")
    fire = ("fire", "--trust", "--bundled", str(bundled))
    hookscope(*fire, "command:new", "--session", "agent:main:it", "--context", '{"senderId": "dev"}')
    hookscope(*fire, "command:reset")
    told = hookscope("log", "2", "1")
    second, first = told.out.split("\n\nrun 1  ")
    assert told.code == 0
    assert second.startswith("run 2  ")
    assert "command:reset" in second
    for text in (
        "agent:main:it",
        '"senderId": "dev"',
        "ZeroDivisionError",
        "handler.py:3",
        "so far",
        "hello",
    ):
        assert text in first
    one = hookscope("log", "1", "--json").json
    assert [run["id"] for run in one["runs"]] == [1]
    assert one["runs"] == [run for run in hookscope("log", "--json").json["runs"] if run["id"] == 1]
    missing = hookscope("log", "9")
    assert (missing.code, missing.out) == (1, "")
    assert "no run 9" in missing.err
    assert hookscope("log", "1", "--failed").code == hookscope("log", "1", "--limit", "3").code == 2
    kept = tmp_path / "runs.jsonl"
    hookscope("export", "1", "--jsonl", str(kept))
    assert hookscope("log", "1", "--from", str(kept)).out == hookscope("log", "1").out
    assert "no run 2" in hookscope("log", "2", "--from", str(kept)).err


def test_secrets_never_reach_the_disk(
    hookscope: Program, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz123456"
    make_hook(workspace / "hooks", "leaks", COMMAND, "def handler(event): print(event.context['apiKey'])")
    hookscope("fire", "command:new", "--trust", "--context", json.dumps({"apiKey": secret}))
    assert hookscope("log", "--json").json["runs"]
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()


def test_a_run_of_a_killed_process_is_shown_as_interrupted(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "loops", COMMAND, "def handler(event):\n    while True: pass\n")
    program = [sys.executable, "-m", "hookscope", "fire", "command:new", "--trust", "--json-lines"]
    running = subprocess.Popen(
        [*program, "--bundled", str(bundled)], cwd=workspace, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert json.loads(running.stdout.readline())["step"] == "started"
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    (run,) = hookscope("log", "--json").json["runs"]
    assert run["outcome"] == "interrupted"
    assert "The end of this run was not recorded" in hookscope("log", str(run["id"])).out


def test_an_unwritable_journal_does_not_stop_handlers(
    hookscope: Program, workspace: Path, tmp_path: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "good", COMMAND, "def handler(event): event.messages.append('hello')")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "journal.db").write_bytes(b"no database at all" * 100)
    done = hookscope("fire", "command:new", "--trust", "--json", "--bundled", str(bundled))
    assert done.code == 0
    assert done.json["messages"] == ["hello"]
    assert any("could not be recorded" in line["text"] for line in done.json["log"])
    told = hookscope("fire", "command:new", "--trust", "--bundled", str(bundled)).out
    assert "warn: This run could not be recorded: " in told
    assert hookscope("log").code == 1
    assert (tmp_path / "state" / "journal.db").read_bytes() == b"no database at all" * 100


def test_log_records_loads_and_edits(hookscope: Program, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    hookscope("load", "--trust")
    hookscope("disable", "greet")
    hookscope("undo")
    entries = hookscope("log", "--json").json["entries"]
    switched = "hooks.internal.entries.greet.enabled: false"
    assert [(entry["kind"], entry["subject"]) for entry in entries] == [
        ("load", "openclaw"),
        ("change", "greet"),
        ("change", "undo"),
    ]
    assert [entry["text"] for entry in entries[1:]] == [switched, switched]
    assert f"undo: {switched}" in hookscope("log").out
    assert "undo: undo:" not in hookscope("log").out

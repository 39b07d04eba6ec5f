"""`hookscope tap` as a user and a script meet it: from the install to a saved event, and back."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook
from tests.done import Done
from tests.recording.conftest import Agent

from hookscope.cli.main import exit_code
from hookscope.model.hook_event import iso

ECHO = """
def handler(event):
    context, mark = event.context, sorted(event.context.get("replayed", ()))
    event.messages.append(f"{context['senderId']} {mark} {'hooks' in context['cfg']}")
"""
SETTINGS = '{"hooks": {"internal": {"enabled": true}}}'


@pytest.fixture
def hookscope(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """hookscope("tap", "status") in the workspace; in this process, since most of them only read."""
    bundled = tmp_path / "bundled"
    bundled.mkdir()

    def run(*words: str, env: dict[str, str] | None = None) -> Done:
        with monkeypatch.context() as here:
            here.chdir(workspace)
            for name, value in (env or {}).items():
                here.setenv(name, value)
            code = exit_code(["--bundled", str(bundled), *words])
        return Done(code, *capsys.readouterr())

    return run


def spooled(home: Path, *events: dict[str, Any]) -> None:
    folder = home / ".openclaw" / "hookscope"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "events.jsonl").open("a") as file:
        for number, event in enumerate(events):
            told = {
                "tap": 1,
                "at": iso(datetime.now(UTC)),
                "kind": "folder",
                "pid": 7,
                "seq": number,
                **event,
            }
            file.write(json.dumps(told) + "\n")


def test_a_recorded_event_becomes_a_test(
    agent: Agent, hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    """An event that an agent really sent is listed, fired again, saved, and then a test."""
    (home / ".openclaw" / "openclaw.json").write_text(SETTINGS)
    make_hook(workspace / "hooks", "echo", "{openclaw: {events: [command:new]}}", ECHO)
    agent.send(("command", "new", {"senderId": "Ada", "cfg": {"old": 1}}))
    listed = hookscope("tap", "events", "--json").json
    (event,) = listed["events"]
    assert (event["key"], event["context"], event["left_out"]) == (
        "command:new",
        {"senderId": "Ada"},
        ["cfg"],
    )
    fired = hookscope("tap", "fire", event["id"][:6], "--trust", "--only", "echo", "--json")
    assert fired.code == 0, fired.err
    (run,) = fired.json
    assert run["run"]["messages"] == ["Ada ['at', 'real'] True"]
    assert run["real"]["id"] == event["id"]
    everybody = hookscope("tap", "fire", "--trust", "--json").json[0]["run"]
    assert [result["hook"] for result in everybody["results"]] == ["echo"]
    assert everybody["not_run"][0]["hook"] == "event-tap"
    alone = hookscope("tap", "fire", "--trust", "--only", "event-tap", "--json").json[0]["run"]
    assert [result["status"] for result in alone["results"]] == ["ok"]
    assert len(agent.lines()) == 1  # it ran, and wrote nothing: that event was no real one
    saved = hookscope("tap", "save", event["id"])
    file = workspace / ".hookscope" / "events" / f"command-new-{event['id'][:8]}.yaml"
    assert f"./{file.relative_to(workspace)}" in saved.out
    assert file.read_text() == 'event: command:new\ncontext:\n  senderId: "Ada"\n  cfg: "${cfg}"\n'
    assert hookscope("tap", "save", event["id"]).code == 1


def test_an_install_by_the_command_line_shows_what_it_writes(
    hookscope: Program, home: Path, workspace: Path
) -> None:
    (home / ".openclaw").mkdir()
    dry = hookscope("tap", "install", "--dry-run", "--json").json
    assert (dry["written"], dry["taps"]) == (False, [])
    assert [file["action"] for file in dry["files"]] == ["write", "write"]
    assert not any((home / ".openclaw").iterdir())
    done = hookscope("--dialect", "openclaw@2026.9", "tap", "install")
    assert done.code == 0
    assert "enable event-tap` enables it" in done.out
    assert "its gateway" in done.out
    assert "wrote ~/.openclaw/hooks/event-tap/HOOK.md\n" in done.out
    assert str(home) not in done.out
    status = hookscope("--dialect", "openclaw@2026.9", "tap", "status", "--json")
    assert status.code == 1
    assert [need["gate"] for need in status.json["taps"][0]["needs"]] == ["selected"]
    assert hookscope("--dialect", "openclaw@2026.9", "enable", "event-tap").code == 0
    status = hookscope("--dialect", "openclaw@2026.9", "tap", "status")
    assert (status.code, "not yet" in status.out) == (0, True)
    removed = hookscope("--dialect", "openclaw@2026.9", "tap", "remove", "--json").json
    assert (removed["written"], removed["events_kept"]) == (True, False)
    assert [path.name for path in (home / ".openclaw").iterdir()] == ["openclaw.json"]
    assert "installed" not in hookscope("log").err


def test_undo_names_the_command_that_removes_a_tap(hookscope: Program, home: Path) -> None:
    (home / ".openclaw").mkdir()
    assert "tap remove" not in hookscope("undo").err
    hookscope("tap", "install")
    assert "`hookscope tap remove` removes the tap." in hookscope("undo").err
    hookscope("tap", "remove")
    assert "tap remove" not in hookscope("undo").err


def test_recorded_events_are_deleted_only_on_request(hookscope: Program, home: Path, workspace: Path) -> None:
    (home / ".openclaw").mkdir()
    hookscope("tap", "install")
    spooled(home, {"key": "command:new"})
    removed = hookscope("tap", "remove").out
    assert "removed ~/.openclaw/hooks/event-tap/HOOK.md\n" in removed
    assert "stay in ~/.openclaw/hookscope;" in removed
    assert (home / ".openclaw" / "hookscope" / "events.jsonl").exists()
    hookscope("tap", "install")
    assert hookscope("tap", "remove", "--events", "--json").json["events_kept"] is False
    assert not any((home / ".openclaw").iterdir())


def test_recorded_events_are_shown_without_control_characters(
    hookscope: Program, home: Path, workspace: Path
) -> None:
    spooled(
        home,
        {"key": "message:sent", "session": "\x1b[2J", "context": {"content": "\x1b[31m[/x]\u202e"}, "cut": 2},
    )
    spooled(home, {"key": "command:new"}, {"kind": "loaded"})
    with (home / ".openclaw" / "hookscope" / "events.jsonl").open("ab") as file:
        file.write(b"\xff\xfe garbage\n")
    shown = hookscope("tap", "events")
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out
    assert "(shortened)" in shown.out
    assert "1 invalid line of the spool is skipped" in shown.out
    assert len(hookscope("tap", "events", "--event", "command:new", "--json").json["events"]) == 1


def test_a_recorded_event_that_cannot_be_fired_is_refused_in_one_sentence(
    hookscope: Program, home: Path, workspace: Path
) -> None:
    def refused(*words: str) -> Done:
        done = hookscope("tap", *words)
        assert done.err.startswith("hookscope: ")
        assert done.err.count("\n") == 1
        return done

    assert refused("fire").code == 1
    assert "tap status" in refused("fire").err
    spooled(
        home,
        {"key": "command:new", "context": {"token": "${SECRET:TOKEN}"}},
        {"key": "x.y", "kind": "stream"},
    )
    first, second = (event["id"] for event in hookscope("tap", "events", "--json").json["events"])
    assert "The secret TOKEN of the event was not stored" in refused("fire", first).err
    assert hookscope("tap", "fire", first, "--dry", env={"TOKEN": "t"}).code == 0
    assert "has no events of the same kind as x.y" in refused("fire", second).err
    assert refused("fire", "ab").code == 2
    assert "No real event 'ffffff'" in refused("fire", "ffffff").err
    assert refused().code == 2
    assert refused("nope").code == 2


def test_an_unreadable_spool_is_named(hookscope: Program, home: Path, workspace: Path) -> None:
    (home / ".openclaw" / "hookscope" / "events.jsonl").mkdir(parents=True)
    for words in (("events",), ("status",), ("lists",), ("fire",), ("save", "abcd")):
        done = hookscope("tap", *words)
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert "events.jsonl: is a directory" in done.err


def test_lists_say_how_long_was_recorded(
    hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    assert "Nothing has been recorded" in hookscope("tap", "lists").out
    hookscope("tap", "install")
    make_hook(workspace / "hooks", "typo", "{openclaw: {events: [command:nwe]}}")
    spooled(home, {"key": "message:received"}, {"key": "message:received"})
    shown = hookscope("tap", "lists").out
    assert "Recorded for " in shown
    assert "2 events of 1 key" in shown
    assert "command:nwe" in shown
    document = hookscope("tap", "lists", "--json").json
    assert [(one["key"], one["count"]) for one in document["nobody_listens"]] == [("message:received", 2)]
    assert "typo" in {one["hook"] for one in document["never_seen"]}


def test_new_events_are_followed(home: Path, workspace: Path) -> None:
    spooled(home, {"key": "command:new"}, *[{"key": "message:sent"}] * 3)
    program = [sys.executable, "-m", "hookscope", "tap", "events", "--follow", "--json"]
    program += ["--event", "command:new", "--limit", "1"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=workspace) as following:
        assert following.stdout is not None
        assert json.loads(following.stdout.readline())["key"] == "command:new"
        spooled(
            home, {"key": "message:sent"}, {"kind": "loaded"}, {"key": "command:new", "session": "second"}
        )
        assert json.loads(following.stdout.readline())["session"] == "second"
        following.terminate()
    program[-3] = "command:stop"
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True, cwd=workspace) as waiting:
        assert waiting.stderr is not None
        assert "as they arrive; press Ctrl-C to stop" in waiting.stderr.readline()
        waiting.terminate()


@pytest.mark.parametrize(
    "words", [(), ("install",), ("events",), ("fire",), ("lists",), ("remove",), ("save",)]
)
def test_every_command_has_help(hookscope: Program, words: tuple[str, ...]) -> None:
    done = hookscope("tap", *words, "--help")
    assert done.code == 0
    assert "Usage: hookscope tap" in done.out


def test_installing_and_removing_a_tap_are_logged(hookscope: Program, home: Path) -> None:
    (home / ".openclaw").mkdir(exist_ok=True)
    assert [hookscope("tap", word).code for word in ("install", "remove")] == [0, 0]
    told = hookscope("log", "--json").json["entries"]
    assert [entry["text"] for entry in told] == ["install event-tap", "remove event-tap"]
    assert {Path(entry["detail"]).name for entry in told} == {"event-tap"}

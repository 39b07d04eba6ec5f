"""enable, disable and undo: the host command's own edits, and no other byte."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.storage.edits.atomic_files import locked

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

COMMAND = "{openclaw: {events: [command]}, milady: {events: [command]}, eliza: {events: [command]}}"
SETTINGS = """\ufeff// mine
{
  hooks: { internal: {
    load: { extraDirs: ['./more'] }, // and these
    entries: {
      'session-memory': { messages: 25, /* keep */ enabled: true, },
    },
  } },
}
"""


@pytest.fixture
def settings(home: Path) -> Path:
    file = home / ".openclaw" / "openclaw.json"
    file.parent.mkdir()
    file.write_bytes(SETTINGS.replace("\n", "\r\n").encode())
    return file


def test_disable_changes_one_value_and_no_other_byte(
    hookscope: Program, settings: Path, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "session-memory", COMMAND)
    before = settings.read_bytes()
    done = hookscope("disable", "session-memory", "--json")
    assert done.code == 0
    assert settings.read_bytes() == before.replace(b"enabled: true", b"enabled: false")
    assert (done.json["changed"], done.json["written"], done.json["after"]) == (True, True, "off")
    assert "-      'session-memory': { messages: 25, /* keep */ enabled: true, }," in done.json["diff"]
    listed = hookscope("list", "--json", "--bundled", str(bundled)).json
    states = {hook["name"]: hook["state"] for hook in listed["hooks"]}
    assert states == {"session-memory": "off"}
    undone = hookscope("undo", "--json")
    assert (undone.code, undone.json["written"]) == (0, True)
    assert settings.read_bytes() == before
    assert hookscope("undo").code == 1


def test_enable_writes_the_entry_and_the_switch_as_openclaws_command_does(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    assert hookscope("enable", "greet").code == 0
    text = settings.read_text()
    assert "'greet'" in text or '"greet"' in text
    assert "enabled: true" in text.split("load:")[0]
    assert "// and these" in text
    again = hookscope("enable", "greet", "--json")
    assert (again.code, again.json["changed"], again.json["written"]) == (0, False, False)


def test_enable_refuses_a_blocked_hook_as_openclaw_does(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "needy", "{openclaw: {events: [command], requires: {bins: [no-such]}}}")
    before = settings.read_bytes()
    done = hookscope("enable", "needy")
    assert done.code == 1
    assert "needy is blocked: Binary missing: no-such." in done.err
    assert settings.read_bytes() == before
    assert hookscope("disable", "needy").code == 0


def test_a_dry_run_shows_the_edit_and_writes_nothing(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    before = settings.read_bytes()
    done = hookscope("disable", "greet", "--dry-run")
    assert done.code == 0
    assert "greet would be off" in done.out
    assert settings.read_bytes() == before
    assert hookscope("undo", "--dry-run").code == 1


def test_every_other_hook_that_the_edit_changes_is_named(
    hookscope: Program, home: Path, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{hooks: {internal: {enabled: false}}}")
    make_hook(workspace / "hooks", "one", COMMAND)
    make_hook(workspace / "hooks", "two", COMMAND)
    done = hookscope("enable", "one", "--json", "--bundled", str(bundled))
    assert done.json["others"] == [{"hook": "two", "source": "workspace", "from": "off", "to": "untrusted"}]
    assert done.json["after"].startswith("on, but still untrusted")


def test_disable_edits_the_entry_in_miladys_settings(
    hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    file = home / ".milady" / "milady.json"
    file.parent.mkdir()
    file.write_text('{"hooks": {"entries": {"greet": {"env": {"A": "b"}}}}}')
    assert hookscope("--dialect", "milady", "disable", "greet").code == 0
    assert '"entries": {"greet": {"enabled": false, "env": {"A": "b"}}}' in file.read_text()
    file.write_text("{}")
    assert hookscope("--dialect", "milady", "disable", "greet").code == 0
    written = "".join(file.read_text().split())
    assert written == '{"hooks":{"internal":{"entries":{"greet":{"enabled":false}}}}}'


def test_disable_does_not_touch_settings_that_do_not_parse(
    hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{hooks: ")
    done = hookscope("disable", "greet")
    assert done.code == 1
    assert "hooks.internal.entries.greet.enabled: false" in done.err
    assert (home / ".openclaw/openclaw.json").read_text() == "{hooks: "


def test_undo_refuses_if_the_file_changed_at_that_place(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    assert hookscope("disable", "greet").code == 0
    settings.write_text(settings.read_text() + "// mine again\n")
    done = hookscope("undo")
    assert done.code == 1
    assert "has changed since" in done.err
    assert "hookscope undo --keep-later" in done.err


def test_undo_reverts_one_edit_and_keeps_later_ones(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    before = settings.read_bytes()
    assert hookscope("disable", "greet").code == 0
    settings.write_bytes(settings.read_bytes() + b"// later\r\n")
    shown = hookscope("undo", "--dry-run", "--json").json
    assert (shown["alone"], shown["written"]) == (True, False)
    assert hookscope("undo", "--keep-later").code == 0
    assert settings.read_bytes() == before + b"// later\r\n"
    assert "nothing to undo" in hookscope("undo").err


def test_an_edit_already_reverted_by_hand_stays_until_dropped(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    before = settings.read_bytes()
    assert hookscope("disable", "greet").code == 0
    settings.write_bytes(before)
    done = hookscope("undo", "--keep-later")
    assert (done.code, "no longer contains the last change" in done.err) == (1, True)
    assert settings.read_bytes() == before
    assert hookscope("undo", "--forget").code == 0
    assert "nothing to undo" in hookscope("undo").err


def test_a_legacy_handler_has_no_switch(hookscope: Program, home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(
        "{hooks: {internal: {handlers: [{event: 'command', module: 'x.py'}]}}}"
    )
    done = hookscope("disable", "x.py")
    assert done.code == 1
    assert "is listed in hooks.internal.handlers" in done.err


def test_undo_removes_a_saved_event_unless_it_was_edited(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "session-memory", COMMAND)
    events = workspace / ".hookscope/events"
    for name in ("kept", "gone", "now"):
        assert hookscope("fire", "command:new", "--trust", "--save", name).code == 0
    told = hookscope("undo")
    assert "save command:new as now.yaml" in told.out
    assert not (events / "now.yaml").exists()
    (events / "gone.yaml").unlink()
    assert "no longer contains the last change" in hookscope("undo").err
    assert hookscope("undo", "--forget").code == 0
    (events / "kept.yaml").write_text("event: command:new\nexpect: {messages: 1}  # mine\n")
    refused = hookscope("undo")
    assert refused.code == 1
    assert "has changed since it was created" in refused.err
    assert hookscope("undo", "--forget").code == 0
    assert "# mine" in (events / "kept.yaml").read_text()
    assert "There is nothing to undo" in hookscope("undo").err


@pytest.mark.parametrize("command", ["enable", "disable"])
def test_a_switch_in_settings_that_the_host_refuses_says_so(
    hookscope: Program, home: Path, workspace: Path, bundled: Path, make_hook: MakeHook, command: str
) -> None:
    """The edit is right, and its host will not read it: nobody may think that the hook is switched."""
    make_hook(workspace / "hooks", "greet", COMMAND)
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir()
    settings.write_text('{"nonsense": 1}')
    options = ("--bundled", str(bundled), "--dialect", "openclaw@2026.9")
    said = hookscope(command, "greet", *options).out
    assert "OpenClaw rejects these settings, so none of them has effect until you fix them" in said
    assert "notices" not in said
    settings.write_text("{}")
    assert "refuses" not in hookscope(command, "greet", *options).out


def test_concurrent_switches_are_all_written(
    home: Path, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    names = [f"hook-{number}" for number in range(5)]
    for name in names:
        make_hook(workspace / "hooks", name, COMMAND)
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    program = [sys.executable, "-m", "hookscope", "--bundled", str(bundled), "disable"]
    running = [
        subprocess.Popen([*program, name], cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for name in names
    ]
    said = [one.communicate(timeout=120)[0].decode() for one in running]
    assert [one.returncode for one in running] == [0] * len(names), said
    entries = json.loads(settings.read_text())["hooks"]["internal"]["entries"]
    assert entries == {name: {"enabled": False} for name in names}
    undone = [subprocess.run([*program[:-1], "undo"], cwd=workspace).returncode for _ in names]
    assert (undone, settings.read_text()) == ([0] * len(names), "{}")


def test_an_edit_without_undo_record_is_reported(
    hookscope: Program, settings: Path, workspace: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "greet", COMMAND)
    before, undo = settings.read_bytes(), tmp_path / "state/undo"
    undo.mkdir(parents=True)
    with ThreadPoolExecutor() as threads:
        with locked(undo / "stack", 0):  # it waits here, behind its write
            running = threads.submit(hookscope, "disable", "greet")
            while settings.read_bytes() == before:
                assert not running.done()
            settings.write_bytes(settings.read_bytes() + b"// theirs\n")
            undo.rename(tmp_path / "gone")
            undo.touch()
        done = running.result()
    assert done.code == 1
    assert f"{settings} was written, but `undo` cannot revert it: Cannot record the change" in done.err
    assert b"greet" in settings.read_bytes()
    assert settings.read_bytes().endswith(b"// theirs\n")

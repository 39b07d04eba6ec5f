"""A pipe into which nobody writes, in the place of a file: it is said, and nobody waits for it."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Program


@pytest.mark.parametrize("command", ["fire", "test", "sequence"])
def test_a_saved_event_that_is_a_pipe_is_said_to_be_none(
    hookscope: Program, workspace: Path, command: str
) -> None:
    os.mkfifo(workspace / "event.yaml")
    done = hookscope(command, "event.yaml", cwd=workspace)
    assert done.code == (1 if command == "test" else 2)
    said = (done.out + done.err).replace(f"{workspace}/", "")
    assert "Cannot read event.yaml: not a regular file" in said


def test_settings_that_are_a_pipe_are_not_written(hookscope: Program, home: Path) -> None:
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir(exist_ok=True)
    os.mkfifo(settings)
    done = hookscope("enable", "boot-md")
    assert done.code == 1
    assert f"Cannot read {settings}: not a regular file. Nothing was written." in done.err
    assert settings.is_fifo()


def test_a_journal_that_is_a_pipe_is_said_to_be_none(hookscope: Program, tmp_path: Path) -> None:
    state = tmp_path / "of-pipes"
    state.mkdir()
    os.mkfifo(state / "journal.db")
    told = {"HOOKSCOPE_STATE_DIR": str(state)}
    assert "journal.db is no journal of Hookscope" in hookscope("log", env=told).err
    fired = hookscope("fire", "command:new", "--trust", env=told)
    assert (fired.code, "journal.db is no journal of Hookscope" in fired.out) == (0, True)

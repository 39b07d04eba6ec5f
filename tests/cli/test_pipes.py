"""A pipe into which nobody writes, in the place of a file: it is said, and nobody waits for it."""

import os
import socket
from pathlib import Path

import pytest
from tests.cli.conftest import Program

from hookscope.model.regular_file import open_regular, read_regular


@pytest.mark.parametrize("command", ["fire", "test", "sequence"])
def test_a_pipe_is_refused_as_a_saved_event(hookscope: Program, workspace: Path, command: str) -> None:
    os.mkfifo(workspace / "event.yaml")
    done = hookscope(command, "event.yaml", cwd=workspace)
    assert done.code == (1 if command == "test" else 2)
    said = (done.out + done.err).replace(f"{workspace}/", "")
    assert "Cannot read event.yaml: not a regular file" in said


def test_a_settings_file_that_is_a_pipe_is_not_written(hookscope: Program, home: Path) -> None:
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir(exist_ok=True)
    os.mkfifo(settings)
    done = hookscope("enable", "boot-md")
    assert done.code == 1
    assert f"Cannot read {settings}: not a regular file. Nothing was written." in done.err
    assert settings.is_fifo()


def test_a_pipe_is_refused_as_a_journal(hookscope: Program, tmp_path: Path) -> None:
    state = tmp_path / "of-pipes"
    state.mkdir()
    os.mkfifo(state / "journal.db")
    told = {"HOOKSCOPE_STATE_DIR": str(state)}
    assert "journal.db is not a journal of Hookscope" in hookscope("log", env=told).err
    fired = hookscope("fire", "command:new", "--trust", env=told)
    assert (fired.code, "journal.db is not a journal of Hookscope" in fired.out) == (0, True)


def unreadable(place: Path, kind: str) -> None:
    """Something in the place of a file that a careless reader waits for, or reads without end."""
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(place))
    elif kind == "sparse":
        place.touch()
        os.truncate(place, 10 * 2**30)
    else:
        place.symlink_to(kind)


KINDS = ["pipe", "socket", "sparse", "/dev/zero", "/proc/kmsg"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_spool_must_be_a_regular_file(
    hookscope: Program, home: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    spool = home / ".openclaw" / "hookscope"
    spool.mkdir(parents=True)
    monkeypatch.chdir(spool)
    unreadable(spool / "events.jsonl", kind)
    for command in ("events", "status", "lists"):
        done = hookscope("--dialect", "openclaw@2026.9", "tap", command)
        assert (done.code, done.err.count("\n")) == (1, 1), done.err
        assert f"Cannot read {spool}/events.jsonl: " in done.err


@pytest.mark.parametrize("kind", KINDS)
def test_a_dotenv_that_is_not_a_regular_file_is_reported_and_ignored(
    hookscope: Program, workspace: Path, bundled: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(workspace)
    unreadable(workspace / ".env", kind)
    here = ("--bundled", str(bundled))
    (problem,) = hookscope("list", "--json", *here).json["problems"]
    assert problem.startswith(".env cannot be read: ")
    assert hookscope("fire", "command:new", *here).code in (0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_named_files_must_be_regular_files(
    hookscope: Program, workspace: Path, bundled: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(workspace)
    unreadable(workspace / "named", kind)
    for line in (
        ("fire", "command:new", "--context", "@named"),
        ("log", "--from", "named"),
        ("--env-from", "named", "list"),
        ("serve", "--token-file", "named"),
    ):
        done = hookscope(*line, *(("--bundled", str(bundled)) if line[0] != "--env-from" else ()))
        assert done.code in (1, 2), (line, done.err)
        assert "named" in done.err
        assert done.err.count("\n") == 1


def test_a_regular_file_is_read_whole_or_up_to_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one\ntwo\n")
    assert read_regular(file) == b"one\ntwo\n"
    assert read_regular(file, 3) == b"one"
    assert read_regular("/proc/self/status", 5) == b"Name:"  # which has no size
    with open_regular(file) as opened:
        assert list(opened) == [b"one\n", b"two\n"]
    for other, why in ((tmp_path, "s a directory"), (tmp_path / "none", "o such file"), ("a\0b", "o such")):
        with pytest.raises(OSError, match=why):
            read_regular(other)
    os.truncate(file, 2**30)
    with pytest.raises(OSError, match="larger than 64 MiB"):
        read_regular(file)

"""On a terminal a long reason goes on below its own column, and no word is cut; a pipe gets whole lines."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook
from tests.forking import Forks

BINS = ["jq-1.9", "kubectl-convert", "terraform-provider-lint"]
NEEDY = '{"openclaw": {"events": ["command:new"], "requires": {"bins": %s}}}'


@contextmanager
def terminal(width: int) -> Iterator[tuple[int, list[bytes]]]:
    """A terminal of this width, and what it is sent until the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    heard: list[bytes] = []
    reader = threading.Thread(target=_listen, args=(ours, heard))
    reader.start()
    try:
        yield theirs, heard
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def _listen(ours: int, heard: list[bytes]) -> None:
    while True:
        try:
            more = os.read(ours, 65_536)
        except OSError:  # Linux: nobody has the other end any more
            return
        if not more:
            return
        heard.append(more)


def environment() -> dict[str, str]:
    return {**{name: text for name, text in os.environ.items() if name != "COLUMNS"}, "NO_COLOR": "1"}


def on_terminal(arguments: list[str], width: int) -> list[str]:
    """The lines that a terminal of this width is sent, in the current folder."""
    with terminal(width) as (theirs, heard):
        program = subprocess.run(
            [sys.executable, "-m", "hookscope", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            env=environment(),
            timeout=60,
            check=False,
        )
    assert program.returncode in (0, 1)
    return b"".join(heard).decode().splitlines()


def folded(forks: Forks, arguments: list[str], width: int) -> list[str]:
    """The same, without what starting Python costs."""
    with terminal(width) as (theirs, heard):
        done = forks.run(arguments, cwd=Path.cwd(), env=environment(), terminal=os.ttyname(theirs))
    assert done.code in (0, 1), done.err
    return b"".join(heard).decode().splitlines()


@pytest.fixture(autouse=True)
def needy(workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch) -> None:
    make_hook(workspace / "hooks", "deploy-note", NEEDY % json.dumps(BINS))
    monkeypatch.chdir(workspace)


@pytest.mark.parametrize(
    "command",
    [["list"], ["check"], ["info", "deploy-note"], ["plan", "command:new"], ["lint"], ["events"], ["keys"]],
    ids=" ".join,
)
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(
    hookscope: Program, forks: Forks, command: list[str]
) -> None:
    whole = hookscope(*command).out
    for width in (60, 80, 120):
        lines = folded(forks, command, width)
        long = [line for line in lines if len(line) > width]
        assert all(max(map(len, line.split())) >= width / 2 for line in long), (width, long)
        assert " ".join(lines).split() == whole.split(), width


def test_a_reason_starts_below_its_row_if_its_column_is_narrow() -> None:
    lines = on_terminal(["list"], 80)
    row = next(at for at, line in enumerate(lines) if "deploy-note" in line)
    assert lines[row].endswith("command:new")
    assert lines[row + 1].startswith(" " * 17 + "Binary missing: jq-1.9")


def test_commands_to_copy_are_never_wrapped() -> None:
    for width in (40, 60, 72):
        told = "\n".join(on_terminal(["info", "deploy-note"], width))
        assert "`hookscope load deploy-note`" in told


def test_states_under_several_hosts_stay_below_their_hosts_names(hookscope: Program) -> None:
    wide, narrow = on_terminal(["compare"], 120), on_terminal(["compare"], 62)
    row = next(line for line in wide if line.startswith("  deploy-note"))
    slim = next(line for line in narrow if line.startswith("  deploy-note"))
    assert row.split() == ["deploy-note", *["▲", "blocked", "workspace"], *["✗", "broken", "workspace"] * 2]
    assert slim.split() == ["deploy-note", "▲", "blocked", *["✗", "broken"] * 2]
    assert [narrow[0].index(host) for host in ("openclaw", "milady", "eliza")] == [
        at for at, sign in enumerate(slim) if sign in "▲✗"
    ]

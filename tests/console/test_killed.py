"""What outlives a console: the record of its runs, and nothing else, however it ended."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench

LOOPS = """
import os
def handler(event):
    with open("pid", "w") as file: file.write(str(os.getpid()))
    while True: pass
"""


class Terminal:
    """The console in a terminal of its own; what it draws is read and kept."""

    def __init__(self, workspace: Path, *options: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        options = options or ("--bundled", str(workspace / "none"))
        size = {"COLUMNS", "LINES"}  # of whoever runs the tests
        env = {name: value for name, value in os.environ.items() if name not in size}
        program = [sys.executable, "-m", "hookscope", *options]
        self.process = subprocess.Popen(
            program, cwd=workspace, stdin=theirs, stdout=theirs, stderr=theirs, env={**env, "TERM": "xterm"}
        )
        os.close(theirs)
        self._drawn = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while data := os.read(self._ours, 65536):
                self._drawn += data
        except OSError:  # the terminal is gone with its last process
            return

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def grow(self, width: int, height: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def hang_up(self) -> None:
        """The terminal is gone, and no signal says so: it leads no session."""
        os.close(self._ours)

    def shows(self, text: str) -> bool:
        return text.encode() in self._drawn


def until(condition: Callable[[], object], name: str) -> None:
    """Wait for a named condition that another process brings about."""
    for _ in range(2_000):
        if condition():
            return
        threading.Event().wait(0.01)
    pytest.fail(f"waited in vain until {name}")


@contextmanager
def terminal(workspace: Path, *options: str) -> Iterator[Terminal]:
    opened = Terminal(workspace, *options)
    try:
        yield opened
    finally:
        opened.process.kill()
        opened.process.wait()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_workspace_that_cannot_be_opened_ends_the_console_with_an_error(workspace: Path) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope" / "config.yaml").write_text("limits: 3\n")
    with terminal(workspace, "--workspace", str(workspace)) as console:
        assert console.process.wait(60) == 2
        until(lambda: console.shows("`limits:` in .hookscope/config.yaml needs a mapping"), "it is said why")


@contextmanager
def firing(workspace: Path, make_hook: MakeHook) -> Iterator[Terminal]:
    """A console in which a handler runs for ever; whose worker is gone once the console is."""
    make_hook(workspace / "hooks", "loops", "{openclaw: {events: ['command:new']}}", LOOPS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    pid = workspace / "pid"
    with terminal(workspace) as console:
        until(lambda: console.shows("loops"), "the hook is listed")
        console.press(b"f")
        until(lambda: console.shows("sessionId"), "an event is composed")
        console.press(b"\x12")  # ctrl+r
        until(lambda: pid.exists() and pid.read_text(), "the handler runs")
        yield console
    until(lambda: gone(int(pid.read_text())), "its worker is gone")


def outcome(workspace: Path) -> str:
    """What the record has of the only run."""
    bench = Workbench(Options(workspace=workspace))
    with bench.run_record.journal(bench.open()) as journal:
        (run,) = journal.recent()
    assert run.key == "command:new"
    return run.outcome


def test_a_killed_console_leaves_no_process_and_an_interrupted_run(
    workspace: Path, make_hook: MakeHook
) -> None:
    with firing(workspace, make_hook) as console:
        os.kill(console.process.pid, signal.SIGKILL)
    assert outcome(workspace) == "interrupted"


@pytest.mark.environment
def test_a_terminated_console_restores_the_terminal(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    with terminal(workspace) as console:
        until(lambda: console.shows("scanning") and console.shows("┏"), "its first frame is painted")
        console.process.terminate()
        assert console.process.wait(60) == 128 + signal.SIGTERM
        until(
            lambda: console.shows("\x1b[?1049l") and console.shows("\x1b[?1000l"), "the screen is as before"
        )


def test_a_closed_terminal_ends_the_console_and_its_handlers(workspace: Path, make_hook: MakeHook) -> None:
    with firing(workspace, make_hook) as console:
        console.hang_up()
        assert console.process.wait(60) == 0
    assert outcome(workspace) == "cancelled"


async def test_the_last_runs_are_shown_at_the_next_start(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): event.messages.append('[/x] hello')")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console() as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("[/x] hello")
        await story.until(lambda: not story.screen.state.job, "the run is over")
    async with console() as story:
        await story.press("2")
        await story.shows("Run 1", "✓ 1 handler ran", "[/x] hello")
        await story.press("f5")
        await story.shows("Run 2", "compared with run 1: as before")
        await story.press("3")
        await story.shows("run 1 ✓ 1 ok", "run 2 ✓ 1 ok")
        lines = [line for line in story.lines() if "run 1 ✓" in line or "scan " in line or "run 2 ✓" in line]
        assert ["run 1" in lines[0], "scan" in lines[1], "run 2" in lines[2]] == [True] * 3, lines

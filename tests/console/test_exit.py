"""How the console ends: its exit code, and that no scan holds it."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY
from tests.console.test_killed import terminal, until
from textual.drivers.headless_driver import HeadlessDriver

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console import run
from hookscope.console.screens.main_screen import MainScreen
from hookscope.model.host import Dialect
from hookscope.model.machine import ScanStopped, TrackedFiles


def divide() -> float:
    return 1 / int("0")


ROOT = Path(__file__).parents[2]


class Crashing(HeadlessDriver):
    """A terminal in which the console meets an error as soon as it is shown."""

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self._app.call_later(divide)


class Leaving(HeadlessDriver):
    """A terminal whose user leaves at once."""

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self._app.call_later(self._app.exit)


class LeavingWhileFireOpens(HeadlessDriver):
    """A terminal whose user leaves some turns of the event loop after the Fire pane has its first part."""

    turns = 0

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self._app.call_later(self._app.simulate_key, "2")
        self._leave()

    def _leave(self) -> None:
        has_parts = bool(self._app.screen_stack and self._app.screen.query("#fire-top"))
        if self._app.is_running and not (has_parts and self.turns == 0):
            self.turns -= has_parts
            asyncio.get_running_loop().call_soon(self._leave)
        else:
            self._app.exit()


def test_a_console_crash_sets_the_exit_code(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace))
    assert run(bench, driver=Crashing, size=(80, 24)) == 1


def test_quitting_the_console_exits_with_0(workspace: Path) -> None:
    bench = Workbench(Options(workspace=workspace))
    assert run(bench, driver=Leaving, size=(80, 24)) == 0


@pytest.mark.parametrize("turns", range(4))
def test_quitting_while_the_fire_pane_opens_exits_with_0(workspace: Path, turns: int) -> None:
    driver = type("Leaving", (LeavingWhileFireOpens,), {"turns": turns})
    assert run(Workbench(Options(workspace=workspace)), driver=driver, size=(80, 24)) == 0


def test_an_endless_thread_does_not_delay_the_exit() -> None:
    program = (
        "from threading import Event\n"
        "from hookscope.console.process import exit_now, run_in_background\n"
        "run_in_background(Event().wait, 'look')\n"
        "print('flushed', end='')\n"
        "exit_now(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "flushed", "")


def test_a_cancelled_scan_ends_at_the_next_file(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): pass")
    bench = Workbench(Options(workspace=workspace))
    view = bench.scan()
    bench.stop_scans()
    make_hook(workspace / "hooks", "other", READY, "def handler(event): pass")
    with pytest.raises(ScanStopped):
        bench.scan()
    files = view.host.machine.files
    assert isinstance(files, TrackedFiles)
    for ask in (files.read, files.children, files.names, files.real, files.facts):
        with pytest.raises(ScanStopped):
            ask(workspace / "hooks" / "new")


async def test_results_stay_readable_after_a_cancelled_scan(workspace: Path, make_hook: MakeHook) -> None:
    """The console still shows it, and reads of it, while it closes."""
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): pass")
    bench = Workbench(Options(workspace=workspace))
    view = await asyncio.to_thread(bench.scan)
    bench.stop_scans()
    files = view.host.machine.files
    assert "greet" in files.names(workspace / "hooks")
    assert files.facts(workspace / "hooks" / "greet") is not None


def test_the_console_can_be_quit_during_a_scan(workspace: Path, make_hook: MakeHook) -> None:
    for number in range(1_500):
        make_hook(workspace / "hooks", f"hook{number:04}", READY, "def handler(event): pass")
    with terminal(workspace) as console:
        until(lambda: console.shows("┏"), "its first frame is painted")
        console.press(b"\x11")  # ctrl+q
        assert console.process.wait(60) == 0
        assert not console.shows("Traceback")
        assert not console.shows("Exception in thread")


class Comparing(HeadlessDriver):
    """A terminal whose user opens the mode of hosts, and leaves while they are compared."""

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self._app.set_interval(0.01, self._go_on)

    def _go_on(self) -> None:
        screen = self._app.screen
        if isinstance(screen, MainScreen) and screen.state.view is not None and screen.state.mode != "hosts":
            screen.action_mode("hosts")
        if any(thread.name == "hosts" for thread in threading.enumerate()):
            self._app.exit()


class Endless(Workbench):
    """A workbench whose comparison of hosts takes for ever."""

    @property
    def dialect(self) -> Dialect:
        if threading.current_thread().name == "hosts":
            threading.Event().wait()
        return super().dialect


def leave_while_comparing(workspace: Path) -> int:
    return run(Endless(Options(workspace=workspace)), driver=Comparing, size=(80, 24))


def test_the_console_can_be_quit_while_it_compares_hosts(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", READY, "def handler(event): pass")
    program = (
        "import sys\nfrom pathlib import Path\nfrom hookscope.console.process import exit_now\n"
        "from tests.console.test_exit import leave_while_comparing\n"
        "exit_now(leave_while_comparing(Path(sys.argv[1])) + 4)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(workspace)], check=False, timeout=60, cwd=ROOT)
    assert done.returncode == 4

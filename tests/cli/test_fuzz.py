"""`hookscope fuzz` as a script sees it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

RECEIVED = "{openclaw: {events: ['message:received']}}"


def test_fuzz_reports_failures_by_exit_code_report_and_saved_event(
    hookscope: Program, bundled: Path, workspace: Path, make_hook: MakeHook
) -> None:
    fuzz = ("--bundled", str(bundled), "fuzz", "message:received", "--examples", "30", "--seed", "3")
    folder = make_hook(workspace / "hooks", "a", RECEIVED, "def handler(event): pass\n")
    fine = hookscope(*fuzz, "--trust", "--json")
    assert (fine.code, fine.err) == (0, "")
    assert fine.json == {
        "event": "message:received",
        "seed": 3,
        "examples": 30,
        "stopped": False,
        "hooks": [{"hook": "a", "fired": 30, "ended": None, "failures": []}],
    }
    (folder / "handler.py").write_text("def handler(event):\n    event.context['\\x1b[2J']\n")
    failing = hookscope(*fuzz, "--trust", "--save", "mine")
    assert failing.code == 1
    assert failing.out.startswith("a  ")
    assert "\x1b" not in failing.out
    assert "KeyError" in failing.out
    assert "--seed 3 fires the same events again" in failing.out
    kept = workspace / ".hookscope/events/mine.yaml"
    assert kept.read_text() == "event: message:received\nexpect:\n  errors: 0\n"
    (failure,) = hookscope(*fuzz, "--trust", "--save", "mine", "--json").json["hooks"][0]["failures"]
    assert (failure["type"], failure["again"], failure["saved"]) == ("KeyError", True, str(kept))
    assert failure["place"] == {"file": str(folder / "handler.py"), "line": 2}
    assert failure["event"]["context"] == {}
    assert failure["error"]["frames"][-1]["line"] == 2
    assert not (workspace / ".hypothesis").exists()


def test_ctrl_c_of_fuzz_leaves_a_report_and_no_processes(
    workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    pid = workspace / "pid"
    source = f"import os\ndef handler(event): open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
    make_hook(workspace / "hooks", "a", RECEIVED, source)
    program = [sys.executable, "-m", "hookscope", "--bundled", str(bundled), "fuzz", "message:received"]
    running = subprocess.Popen(
        [*program, "--trust", "--examples", "100000", "--seed", "1"],
        cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while running.poll() is None and not (pid.exists() and pid.read_text()):
        os.sched_yield()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (1, "")
    assert "stopped early; --seed 1 fires the same events again" in out
    assert not Path("/proc", pid.read_text()).exists()

"""What handlers do wrong, in real worker processes: each is a result, and the next handler runs."""

import shutil
import subprocess
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.conftest import SHORT

from hookscope.core.event import HookEvent
from hookscope.core.runs import Registration, Result, Step
from hookscope.runtime import Limits, python_lane

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]

FINE = "def handler(event): event.messages.append('fine')"


def body(*lines: str, top: str = "", is_async: bool = False) -> str:
    """A handler of these lines."""
    inside = textwrap.indent("\n".join(lines), "    ")
    return f"{top}\n{'async ' * is_async}def handler(event):\n{inside}\n"


# What each of these comes to: status, a part of what is said, and whether the worker lives on.
FAULTS: dict[str, tuple[str, str, str]] = {
    "loops": (
        body("while True: pass"),
        "timeout",
        "did not answer within 0.6 s (the limit in its HOOK.md) and was stopped",
    ),
    "sleeps": (body("import time; time.sleep(60)"), "timeout", "did not answer"),
    "hangs in async": (
        body("import asyncio; await asyncio.Event().wait()", is_async=True),
        "timeout",
        "did not answer",
    ),
    "ignores SIGTERM": (
        body("import signal, time", "signal.signal(15, signal.SIG_IGN)", "time.sleep(60)"),
        "timeout",
        "did not answer",
    ),
    "stops itself": (body("import os; os.kill(os.getpid(), 19)"), "timeout", "did not answer"),
    "never yields": (body("import re; re.match('(a+)+$', 'a' * 60 + 'b')"), "timeout", "did not answer"),
    "exits hard": (body("import os; os._exit(1)"), "crashed", "exited with status 1 before it answered"),
    "kills itself": (body("import os; os.kill(os.getpid(), 9)"), "crashed", "killed by signal 9 (SIGKILL)"),
    "crashes": (body("import ctypes; ctypes.string_at(0)"), "crashed", "was killed by signal 11 (SIGSEGV)"),
    "aborts": (body("import os; os.abort()"), "crashed", "was killed by signal 6 (SIGABRT)"),
    "closes descriptors": (body("import os; os.closerange(0, 4096)"), "crashed", "closed the line"),
    "writes junk": (
        body(
            "import os",
            "for n in range(3, 1024):",
            "    try: os.write(n, b'junk' * 9)",
            "    except OSError: pass",
        ),
        "crashed",
        "wrote into the line",
    ),
    "exits": (body("import sys; sys.exit(3)"), "error", "3"),
    "interrupts": (body("raise KeyboardInterrupt"), "error", ""),
    "raises BaseException": (body("raise BaseException('odd')"), "error", "odd"),
    "raises StopIteration": (body("raise StopIteration"), "error", ""),
    "is cancelled": (body("import asyncio; raise asyncio.CancelledError", is_async=True), "error", ""),
    "recurses": (body("handler(event)"), "error", "maximum recursion depth exceeded"),
    "cannot say it": (
        body(
            "raise E",
            top="class E(Exception):\n    def __str__(self): raise SystemExit\n    __repr__ = __str__",
        ),
        "error",
        "<E whose text cannot be read>",
    ),
    "import hangs": (
        "import time; time.sleep(60)",
        "timeout",
        "did not load within 0.6 s (the limit in its HOOK.md) and was stopped",
    ),
    "import raises": ("raise KeyError('x')", "error", "'x'"),
    "import exits": ("raise SystemExit(4)", "error", "4"),
    "import exits hard": ("import os; os._exit(5)", "crashed", "exited with status 5"),
    "syntax error": ("def handler(event)\n", "error", "expected ':'"),
    "missing import": ("import no_such_module", "error", "No module named 'no_such_module'"),
    "missing export": ("def other(event): ...", "error", "handler.py has no `handler`; it defines `other`"),
    "class": ("class handler: ...", "error", "`handler` in handler.py is a class"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_next_handler_runs_after(fault: str, hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text, status, said = FAULTS[fault]
    loads = fault.startswith("import")
    short = {} if status != "timeout" else {"load_limit" if loads else "limit": SHORT}
    outcome = await outcome_of(hook("bad", text, **short), hook("good", FINE))
    assert outcome.statuses == {"bad": status, "good": "ok"}
    assert said in outcome["bad"].error.message
    assert outcome["bad"].error.phase == (
        "load" if fault.startswith(("import", "missing", "syntax", "class")) else "run"
    )
    assert outcome["good"].messages == ("fine",)


# What these do is no fault of theirs, or is put right behind them.
AMPLE = 60.0  # seconds for what has to end by itself
MISCHIEF = {
    "prints a lot": body("for _ in range(300): print('x' * 100_000)"),
    "child prints a lot": body(
        "import os",
        "pid = os.fork()",
        "if not pid:",
        "    for _ in range(1000): os.write(1, b'x' * 100_000)",
        "    os._exit(0)",
        "os.waitpid(pid, 0)",
    ),
    "replaces functions": body(
        "import json, os, time, builtins",
        "json.dumps = os.write = os.read = os.getcwd = time.perf_counter = builtins.len = None",
        "json.encoder.c_make_encoder = os.environ = None",
    ),
    "moves away": body("import os", "os.chdir('/')", "os.environ.clear()"),
    "closes stdout": body("import sys", "sys.stdout.close()"),
    "replaces stdout": body("import sys, io", "sys.stdout = sys.stderr = io.StringIO()", "print('lost')"),
    "redirects stdout": body("import os", "os.dup2(os.open('/dev/null', os.O_WRONLY), 1)"),
    "forks and comes back": body("import os", "os.fork()"),
    "leaves a child that keeps stdout": body("import subprocess", "subprocess.Popen(['sleep', '60'])"),
    "leaves a thread": body(
        "import threading, time", "threading.Thread(target=time.sleep, args=(60,)).start()"
    ),
    "changes signals": body("import signal", "signal.signal(2, signal.SIG_IGN)", "signal.alarm(1)"),
    "traces": body("import sys", "sys.settrace(lambda *_: 1 / 0)", "sys.setrecursionlimit(60)"),
    "leaves tasks": body("import asyncio", "asyncio.create_task(asyncio.sleep(60))", is_async=True),
    "closes its loop": body(
        "import asyncio", "asyncio.run(asyncio.sleep(0))", "asyncio.set_event_loop(None)"
    ),
    "leaks descriptors": body(
        "import os", "event.context['fds'] = [os.open('/dev/null', 0) for _ in range(500)]"
    ),
    "spoils the event": body("event.messages = event.context = event.type = event.timestamp = None"),
    "unserialisable": body(
        "c = event.context",
        "c.update(s={1}, o=object(), n=float('nan'), b=b'x', c=c, t='\\udc80', k={1: 2})",
        "return object()",
    ),
}  # fmt: skip

GOOD = """
import asyncio, io, json, os, sys, time, signal
async def handler(event):
    print(f"{len(json.dumps([os.getcwd()]))} {os.environ['PATH']} {time.perf_counter() > 0}")
    assert sys.stdout.writable() and not isinstance(sys.stdout, io.StringIO)
    assert signal.getsignal(2) is signal.default_int_handler
    await asyncio.sleep(0)
    return os.getcwd()
"""


@pytest.mark.parametrize("mischief", MISCHIEF)
async def test_the_next_handler_notices_nothing_of(
    mischief: str, hook: WriteHook, outcome_of: OutcomeOf, tmp_path: Path
) -> None:
    bad, good = hook("bad", MISCHIEF[mischief]), hook("good", GOOD)
    outcome = await outcome_of(replace(bad, limit=AMPLE), replace(good, limit=AMPLE))
    assert outcome.statuses == {"bad": "ok", "good": "ok"}, outcome["good"].error
    assert outcome["good"].returned == str(tmp_path)
    assert outcome["good"].stdout.endswith("True\n")


async def test_a_flood_of_output_is_kept_within_bounds(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    outcome = await outcome_of(replace(hook("bad", MISCHIEF["prints a lot"]), limit=AMPLE))
    (note,) = outcome["bad"].notes
    assert note == f"{300 * 100_001 - 65_536:,} bytes of standard output were left out"
    assert len(outcome["bad"].stdout) < 70_000


async def test_what_json_cannot_hold_is_said_and_the_rest_comes_back(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    event = HookEvent("command", "new", "s", {"kept": 1})
    outcome = await outcome_of(hook("bad", MISCHIEF["unserialisable"]), hook("next", FINE), event=event)
    assert event.context == {
        "kept": 1, "s": [1], "o": "<object>", "n": "<float nan>", "b": "<bytes, 1 bytes>",
        "c": "<cycle: dict>", "t": "?", "k": {"1": 2},
    }  # fmt: skip
    assert outcome["bad"].returned == "<object>"
    assert len(outcome["bad"].notes) == 8
    assert outcome["next"].notes == ()


def interpreter(version: str) -> str:
    """The program itself, where `python3.x` on PATH is some manager's shim; empty where there is none."""
    name = shutil.which(f"python{version}")
    asked = [name or "false", "-I", "-c", "import sys; print(sys.executable)"]
    return subprocess.run(asked, check=False, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13"])
async def test_the_worker_runs_under_other_pythons(version: str, hook: WriteHook, tmp_path: Path) -> None:
    python = interpreter(version)
    if not python:
        pytest.skip(f"no Python {version} here")
    lane = python_lane(env={}, cwd=tmp_path, python=python, limits=Limits(spawn=20.0))
    event, steps = HookEvent("command", "new", "s", {}), list[Step]()
    text = body("event.messages.append(util.X)", "return sys.version", top="import util, sys", is_async=True)
    calls = [
        hook("fails", "def handler(event): raise KeyError(event.key)"),
        hook("messes", MISCHIEF["replaces functions"]),
        hook("works", text, util="X = 'hi'"),
    ]
    await lane.run(calls, event, steps.append)
    await lane.close()
    results = [step for step in steps if isinstance(step, Result)]
    assert [result.status for result in results] == ["error", "ok", "ok"], results[0].error
    assert str(results[2].returned).startswith(version)
    assert event.messages == ["hi"]

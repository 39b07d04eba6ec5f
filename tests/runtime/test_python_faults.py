"""Limits, output and values of failing Python handlers, and workers of other Pythons.

The ways in which a handler can fail are in `tests/faults/python_faults.py`.
"""

import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.python_faults import BY_NAME, coroutine
from tests.runtime.conftest import SHORT

from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Registration, Result, Step
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import python_executor

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]

FINE = "def handler(event): event.messages.append('fine')"
PATCHED = ("json replaced", "os replaced", "time replaced", "builtins replaced")
BEYOND_JSON = """
def handler(event):
    c = event.context
    c.update(s={1}, o=object(), n=float('nan'), b=b'x', c=c, t='\\udc80', k={1: 2})
    return object()
"""


@pytest.mark.parametrize(
    ("fault", "limit", "failed"),
    [("a loop", "limit", "did not answer"), ("an import that sleeps", "load_limit", "did not load")],
)
async def test_a_timeout_names_the_limit_in_hook_md(
    fault: str, limit: str, failed: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    bad = hook("bad", BY_NAME[fault].source, **{limit: SHORT})
    outcome = await outcome_of(bad, hook("good", FINE))
    assert outcome.statuses == {"bad": "timeout", "good": "ok"}
    error = outcome["bad"].error
    assert error.message.startswith(f"{failed} within {SHORT:g} s (the limit in its HOOK.md) and was stopped")
    assert error.phase == BY_NAME[fault].phase


async def test_output_beyond_the_limit_is_dropped_and_counted(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    outcome = await outcome_of(hook("bad", BY_NAME["a hundred megabytes"].source))
    (note,) = outcome["bad"].notes
    assert note == f"{1000 * 100_001 + len('before.') - 65_536:,} bytes of standard output were omitted"
    assert len(outcome["bad"].stdout) < 70_000


async def test_values_beyond_json_are_noted_and_replaced(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    event = HookEvent("command", "new", "s", {"kept": 1})
    outcome = await outcome_of(hook("bad", BEYOND_JSON), hook("next", FINE), event=event)
    assert event.context == {
        "kept": 1, "s": [1], "o": "<object>", "n": "<float nan>", "b": "<bytes, 1 bytes>",
        "c": "<cycle: dict>", "t": "?", "k": {"1": 2},
    }  # fmt: skip
    assert outcome["bad"].returned == "<object>"
    assert len(outcome["bad"].notes) == 8
    assert outcome["next"].notes == ()


def interpreter(version: str) -> str:
    """Return the path of `python3.x` itself, not that of a version manager's shim; empty without one."""
    name = shutil.which(f"python{version}")
    command = [name or "false", "-I", "-c", "import sys; print(sys.executable)"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13"])
async def test_the_worker_runs_under_other_pythons(version: str, hook: WriteHook, tmp_path: Path) -> None:
    python = interpreter(version)
    if not python:
        pytest.skip(f"no Python {version} here")
    lane = python_executor(env={}, cwd=tmp_path, python=python, limits=Limits(spawn=20.0))
    event, steps = HookEvent("command", "new", "s", {}), list[Step]()
    faults = [BY_NAME[name] for name in ("no handler", "StopIteration", *PATCHED)]
    text = coroutine("event.messages.append(util.X); return sys.version", top="import util, sys")
    calls = [hook(f"bad{number}", fault.source) for number, fault in enumerate(faults)]
    await lane.run([*calls, hook("works", text, util="X = 'hi'")], event, steps.append)
    await lane.close()
    results = [step for step in steps if isinstance(step, Result)]
    assert [result.status for result in results] == [*(fault.status for fault in faults), "ok"]
    assert str(results[-1].returned).startswith(version)
    assert event.messages == ["hi"]

"""A lane that is closed while something goes on in it: that ends like all else, and nobody is to blame."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import indent

import pytest
from tests.runtime.conftest import LONG

from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.payload import make_arguments
from hookscope.model.run import Code, Registration, Result, Step
from hookscope.runtime.failures import FaultCounter
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, code_of, python_executor

WriteHook = Callable[..., Registration]

BUSY = "open(__file__ + '.on', 'w').close()\nwhile True: pass\n"
HANDLER = f"def handler(event):\n{indent(BUSY, '    ')}"
PLUGIN = f"""
def handler(event, ctx):
{indent(BUSY, "    ")}
def register(api):
    api.on("x", handler)
    api.on("x", handler)
"""
SAID = "was stopped because its worker was ended"


@pytest.fixture
def fault_counter() -> FaultCounter:
    return FaultCounter()


@pytest.fixture
async def lane(tmp_path: Path, fault_counter: FaultCounter) -> AsyncIterator[ProcessExecutor]:
    limits = Limits(spawn=LONG, load=LONG, run=LONG)
    lane = python_executor(env=dict(os.environ), cwd=tmp_path, limits=limits, fault_counter=fault_counter)
    yield lane
    await lane.close()


async def close_once_busy(lane: ProcessExecutor, code: Code) -> None:
    is_on = Path(f"{code.path}.on").exists
    async with asyncio.timeout(LONG):
        while not is_on():  # noqa: ASYNC110  (another program's doing)
            await asyncio.sleep(0.01)
    await lane.close()


async def test_a_handler_that_runs_is_cancelled(
    lane: ProcessExecutor, fault_counter: FaultCounter, hook: WriteHook
) -> None:
    calls = [hook("busy", HANDLER), hook("next", "def handler(event): pass")]
    steps: list[Step] = []
    running = asyncio.create_task(lane.run(calls, HookEvent("command", "new"), steps.append))
    await close_once_busy(lane, code_of(calls[0]))
    await running
    busy, behind = (step for step in steps if isinstance(step, Result))
    assert (busy.status, busy.error, busy.notes) == ("cancelled", Failure("Cancelled", SAID), ())
    assert behind.error is not None
    assert behind.error.message == "this executor is closed"
    assert fault_counter.is_empty


async def test_so_are_those_of_a_plugin_that_run_beside_each_other(
    lane: ProcessExecutor, fault_counter: FaultCounter, tmp_path: Path
) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    codes = [
        Code(tmp_path / "plugin.py", "default", tmp_path, "python", shape="plugin", member=str(number))
        for number in range(2)
    ]
    calls = [(Registration("x", code.member, code), make_arguments({}, {})) for code in codes]
    steps: list[Step] = []
    running = asyncio.create_task(lane.run_together(calls, steps.append))
    await close_once_busy(lane, codes[0])
    await running
    results = [step for step in steps if isinstance(step, Result)]
    assert [(result.status, result.error and result.error.message) for result in results] == [
        ("cancelled", SAID), ("cancelled", SAID),
    ]  # fmt: skip
    assert fault_counter.is_empty


async def test_what_is_being_loaded_is_not_loaded(
    lane: ProcessExecutor, fault_counter: FaultCounter, hook: WriteHook
) -> None:
    code = code_of(hook("busy", BUSY))
    loading = asyncio.create_task(lane.load(code))
    await close_once_busy(lane, code)
    assert await loading == Failure("Cancelled", SAID, phase="load")
    assert fault_counter.is_empty

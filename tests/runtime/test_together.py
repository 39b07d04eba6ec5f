"""Handlers that run at once: of one plugin in its worker, of several plugins in theirs."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.runtime.conftest import LONG

from hookscope.model.executor import Executor
from hookscope.model.hook_event import HookEvent
from hookscope.model.payload import make_arguments
from hookscope.model.run import Code, Registration, Result, Started, Step
from hookscope.runtime.failures import FaultCounter
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, python_executor

Plugin = Callable[..., list[Registration]]

# Two handlers that wait for each other's sign: neither ends unless both run.
MEETS = """
import asyncio, os
async def meet(event, mine, other):
    os.close(os.open(event.folder + "/" + mine, os.O_CREAT | os.O_WRONLY))
    while not os.path.exists(event.folder + "/" + other):
        await asyncio.sleep(0.001)
    return mine + " met " + other
"""
BOTH = f"""{MEETS}
def register(api):
    api.on("x", lambda event: meet(event, "a", "b"))
    api.on("x", lambda event: meet(event, "b", "a"))
"""


@pytest.fixture
def limits() -> Limits:
    return Limits(spawn=LONG, load=LONG, run=LONG, warn=None)


@pytest.fixture
def fault_counter() -> FaultCounter:
    return FaultCounter()


@pytest.fixture
async def worker_lane(
    tmp_path: Path, limits: Limits, fault_counter: FaultCounter
) -> AsyncIterator[ProcessExecutor]:
    made = python_executor(env=dict(os.environ), cwd=tmp_path, limits=limits, fault_counter=fault_counter)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture(params=["worker", "in process"])
async def lane(request: pytest.FixtureRequest, worker_lane: ProcessExecutor) -> AsyncIterator[Executor]:
    made: Executor = worker_lane if request.param == "worker" else InProcessExecutor(limit=LONG, observe=True)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """Write a plugin; the registrations of its first handlers, named by letters after it."""

    def write(name: str, text: str, count: int = 1, **more: Any) -> list[Registration]:
        root = tmp_path / "plugins" / name
        root.mkdir(parents=True, exist_ok=True)
        (root / "plugin.py").write_text(dedent(text))
        codes = [
            Code(root / "plugin.py", "default", root, "python", shape="plugin", member=str(number))
            for number in range(count)
        ]
        return [
            Registration("x", f"{name}-{'abcdef'[number]}", code, **more) for number, code in enumerate(codes)
        ]

    return write


async def run(
    lane: Executor, calls: Sequence[Registration], step: Any = None, **event: Any
) -> dict[str, Result]:
    """Run them at once, each on a view of its own; the results by name, each exactly once."""
    found: dict[str, Result] = {}

    def noted(news: Step) -> None:
        if isinstance(news, Result):
            assert news.call.name not in found
            found[news.call.name] = news
        if step is not None:
            step(news)

    await lane.run_together([(call, make_arguments({**event}, {})) for call in calls], noted)
    return found


async def test_the_handlers_of_one_plugin_run_beside_each_other(
    lane: Executor, plugin: Plugin, tmp_path: Path
) -> None:
    results = await run(lane, plugin("p", BOTH, 2), folder=str(tmp_path))
    assert {result.returned for result in results.values()} == {"a met b", "b met a"}


async def test_plugins_run_beside_each_other(lane: Executor, plugin: Plugin, tmp_path: Path) -> None:
    texts = [
        f"{MEETS}\ndef register(api): api.on('x', lambda event: meet(event, '{mine}', '{other}'))"
        for mine, other in ("ab", "ba")
    ]
    calls = [*plugin("one", texts[0]), *plugin("two", texts[1])]
    results = await run(lane, calls, folder=str(tmp_path))
    assert {result.returned for result in results.values()} == {"a met b", "b met a"}


async def test_a_plugin_keeps_its_worker_and_shares_it_with_nobody(
    worker_lane: ProcessExecutor, plugin: Plugin
) -> None:
    text = "import os\ndef register(api):\n    for _ in range(2): api.on('x', lambda event: os.getpid())"
    calls = [*plugin("one", text, 2), *plugin("two", text, 2)]
    first, second = await run(worker_lane, calls), await run(worker_lane, calls)
    pids = [result.returned for result in first.values()]
    assert {name: result.returned for name, result in first.items()} == {
        name: result.returned for name, result in second.items()
    }
    assert len(set(pids)) == 2
    assert {facts.role for facts in worker_lane.workers()} == {"one", "two"}
    alone: list[Step] = []
    await worker_lane.run(calls[:1], make_arguments({}, {}), alone.append)
    (result,) = (step for step in alone if isinstance(step, Result))
    assert result.returned == first["one-a"].returned


async def test_each_has_its_own_view_answer_and_time(lane: Executor, plugin: Plugin) -> None:
    text = """
    def sync(event):
        event.n = "sync"
        return event.n
    async def later(event, ctx):
        event.n = "later"
        return [event.n]
    def bad(event):
        event.n = "bad"
        raise KeyError("n")
    def register(api):
        for handler in (sync, later, bad):
            api.on("x", handler)
    """
    steps: list[Step] = []
    results = await run(lane, plugin("p", text, 3), steps.append, n=0)
    assert {name: (result.status, result.returned) for name, result in results.items()} == {
        "p-a": ("ok", "sync"),
        "p-b": ("ok", ["later"]),
        "p-c": ("error", None),
    }
    assert {name: result.patch[0]["value"] for name, result in results.items()} == {
        "p-a": "sync",
        "p-b": "later",
        "p-c": "bad",
    }
    assert [step.call.name for step in steps if isinstance(step, Started)] == ["p-a", "p-b", "p-c"]


async def test_what_they_print_is_charged_to_the_plugin(worker_lane: ProcessExecutor, plugin: Plugin) -> None:
    text = "def register(api):\n    for n in range(2): api.on('x', lambda event, n=n: print('handler'))"
    results = await run(worker_lane, plugin("p", text, 2))
    assert [result.stdout for result in results.values()] == ["handler\n", "handler\n"]
    note = "it ran concurrently with other handlers of its plugin: some of its output may be theirs"
    assert [result.notes for result in results.values()] == [(note,), (note,)]
    (alone,) = (await run(worker_lane, plugin("p", text, 1))).values()
    assert (alone.stdout, alone.notes) == ("handler\n", ())


# What brings a worker down while others of its plugin still run.
HARM = """
import asyncio, os, threading
async def waits(event):
    await asyncio.Event().wait()
def blocks(event):
    threading.Event().wait()
def crashes(event):
    os._exit(3)
async def swallows(event):
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
def fine(event):
    return "fine"
def register(api):
    for handler in ({}):
        api.on("x", handler)
"""


@pytest.mark.parametrize(
    ("handlers", "statuses", "messages"),
    [
        # One that ends when it is asked to takes nobody with it.
        ("waits, fine", ["timeout", "ok"], ["did not answer within 0.1 s (the limit in its HOOK.md)", ""]),
        (
            "swallows, waits_longer",
            ["timeout", "crashed"],
            [
                "did not answer within 0.1 s (the limit in its HOOK.md)",
                "ended with its plugin's worker, which was stopped because p-a did not answer within 0.1 s",
            ],
        ),
        # Who is late as well is told so.
        ("swallows, swallows", ["timeout", "timeout"], ["did not answer within 0.1 s"] * 2),
        # What had not begun runs in the next worker.
        ("blocks, fine", ["timeout", "ok"], ["did not answer within 0.1 s (the limit in its HOOK.md)", ""]),
        ("crashes, fine", ["crashed", "ok"], ["exited with status 3 before it answered", ""]),
        (
            "waits_longer, crashes",
            ["crashed", "crashed"],
            ["ended with its plugin's worker, which exited with status 3"] * 2,
        ),
        (
            "waits_longer, waits_longer, waits_longer, crashes",
            ["crashed"] * 4,
            ["ended with its plugin's worker, which exited with status 3"] * 4,
        ),
    ],
)
async def test_what_brings_the_worker_down_ends_those_that_run_and_no_others(
    handlers: str,
    statuses: list[str],
    messages: list[str],
    worker_lane: ProcessExecutor,
    plugin: Plugin,
    fault_counter: FaultCounter,
    patience: Callable[[], None],
) -> None:
    if handlers == "waits, fine":
        patience()
    text = HARM.format(handlers.replace("waits_longer", "waits"))
    limits = [0.1 if name in ("waits", "swallows", "blocks") else LONG for name in handlers.split(", ")]
    calls = [
        Registration(call.key, call.name, call.target, limit=limit)
        for call, limit in zip(plugin("p", text, len(limits)), limits, strict=True)
    ]
    results = await run(worker_lane, calls)
    found = [results[call.name] for call in calls]
    assert [result.status for result in found] == statuses
    for result, message in zip(found, messages, strict=True):
        said = result.error.message if result.error is not None else ""
        assert said.startswith(message) if message else said == ""
    path = calls[0].target.path if isinstance(calls[0].target, Code) else Path()
    assert not fault_counter.is_quarantined(path)  # one fault, however many ended with it
    again = await run(worker_lane, plugin("p", HARM.format("fine, fine"), 2))
    assert [result.returned for result in again.values()] == ["fine", "fine"]


async def test_one_plugins_crash_is_nothing_to_another(
    worker_lane: ProcessExecutor, plugin: Plugin, tmp_path: Path
) -> None:
    meets = f"{MEETS}\ndef register(api): api.on('x', lambda event: meet(event, 'a', 'b'))"
    crash = "import os\ndef f(event):\n    open(event.folder + '/b', 'w').close()\n    os._exit(3)\n"
    crash += "def register(api): api.on('x', f)"
    calls = [*plugin("one", meets), *plugin("two", crash)]
    results = await run(worker_lane, calls, folder=str(tmp_path))
    assert (results["one-a"].returned, results["two-a"].status) == ("a met b", "crashed")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise KeyError('x')", "'x'"),
        ("import os; os._exit(3)", "exited with status 3 before it answered"),
        ("import threading; threading.Event().wait()", "did not load within 0.2 s and was stopped"),
    ],
)
async def test_a_plugin_that_does_not_load_fails_for_all_its_handlers(
    text: str, message: str, plugin: Plugin, tmp_path: Path
) -> None:
    limits = Limits(spawn=LONG, load=0.2 if "did not load" in message else LONG, run=LONG)
    lane = python_executor(env=dict(os.environ), cwd=tmp_path, limits=limits)
    results = await run(lane, plugin("p", text, 2))
    await lane.close()
    errors = [result.error for result in results.values() if result.error is not None]
    assert [error.phase for error in errors] == ["load", "load"]
    assert errors[0].message == message
    assert errors[1].message == message or errors[1].message.startswith(
        "ended with its plugin's worker, which "
    )


@pytest.mark.parametrize("begun", [False, True])
async def test_a_cancelled_run_ends_every_call_once(begun: bool, lane: Executor, plugin: Plugin) -> None:
    texts = [HARM.format("fine, waits, waits"), HARM.format("waits, fine")]
    calls = [*plugin("one", texts[0], 3), *plugin("two", texts[1], 2)]
    found: list[Result] = []
    started = asyncio.Event()

    def step(news: Step) -> None:
        if isinstance(news, Result):
            found.append(news)
        if isinstance(news, Started) and news.call.name == "one-c":
            started.set()

    views = [(call, make_arguments({}, {})) for call in calls]
    task = asyncio.create_task(lane.run_together(views, step))
    if begun:
        await started.wait()
    else:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    names = [result.call.name for result in found]
    assert len(names) == len(set(names))
    if begun or isinstance(lane, ProcessExecutor):
        assert set(names) == {call.name for call in calls}
    assert {result.status for result in found if result.call.name in ("one-b", "one-c", "two-a")} <= {
        "cancelled"
    }


HARMS_THE_LOOP = """
async def harms(event):
    await asyncio.sleep(0)
    {harm}
    await asyncio.sleep(0)
    return await meet(event, "a", "b")
def register(api):
    api.on("x", harms)
    api.on("x", lambda event: meet(event, "b", "b"))
"""


@pytest.mark.parametrize(
    ("harm", "statuses"),
    [
        ("asyncio.get_running_loop().stop()", ["ok", "ok"]),
        ("asyncio.get_running_loop().call_soon(exit)", ["ok", "ok"]),
        ("raise SystemExit", ["error", "ok"]),
        ("asyncio.get_running_loop().close()", ["error", "ok"]),
    ],
)
async def test_what_a_handler_does_to_the_loop_is_not_the_end_of_those_beside_it(
    harm: str, statuses: list[str], worker_lane: ProcessExecutor, plugin: Plugin, tmp_path: Path
) -> None:
    text = MEETS + HARMS_THE_LOOP.format(harm=harm)
    results = await run(worker_lane, plugin("p", text, 2), folder=str(tmp_path))
    assert [results[name].status for name in ("p-a", "p-b")] == statuses


async def test_tasks_threads_and_variables_left_behind_are_said_once(
    worker_lane: ProcessExecutor, plugin: Plugin
) -> None:
    text = """
    import asyncio, os
    kept = []  # a task that nothing refers to may be collected
    async def leaves(event):
        os.environ["LEFT"] = "1"
        kept.append(asyncio.create_task(asyncio.Event().wait()))
    def register(api):
        for handler in (leaves, leaves):
            api.on("x", handler)
    """
    results = await run(worker_lane, plugin("p", text, 2))
    notes = [note for result in results.values() for note in result.notes]
    who = "one of the handlers that ran concurrently"
    assert notes == [
        f"{who} changed: the environment (LEFT). Hookscope restored it",
        f"{who} left 2 asyncio tasks unfinished, which Hookscope cancelled: `await` tasks that must finish",
    ]
    look = "import os\ndef register(api): api.on('x', lambda event: os.environ.get('LEFT'))"
    (result,) = (await run(worker_lane, plugin("p", look))).values()
    assert (result.status, result.returned) == ("ok", None)


async def test_folder_hooks_of_a_group_that_runs_at_once_take_turns_in_their_worker(
    worker_lane: ProcessExecutor, tmp_path: Path
) -> None:
    root = tmp_path / "hook"
    root.mkdir()
    (root / "handler.py").write_text("def handler(event): event.messages.append(event.key)")
    code = Code(root / "handler.py", "default", root, "python")
    calls = [(Registration("k", name, code), HookEvent("command", name)) for name in "ab"]
    steps: list[Step] = []
    await worker_lane.run_together(calls, steps.append)
    assert [step.messages for step in steps if isinstance(step, Result)] == [("command:a",), ("command:b",)]


async def test_views_too_large_for_one_message_run_all_the_same(
    worker_lane: ProcessExecutor, plugin: Plugin
) -> None:
    text = "def register(api):\n    for n in range(4): api.on('x', lambda event: len(event.text))"
    results = await run(worker_lane, plugin("p", text, 4), text="y" * 3_000_000)
    assert [result.returned for result in results.values()] == [3_000_000] * 4

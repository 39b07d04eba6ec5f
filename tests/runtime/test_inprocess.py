import asyncio
import types
from collections.abc import Awaitable, Callable, Iterator

import pytest

from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Handler, Registration, Result, Started, Step
from hookscope.runtime.in_process_executor import (
    WATCH_INTERVAL,
    BatchControl,
    CallRecord,
    InProcessExecutor,
    call_handlers,
)

CallOf = Callable[..., Registration]
WriteHook = Callable[..., Registration]


async def fine(_: object) -> str:
    return "fine"


async def hangs(_: object) -> None:
    await asyncio.Event().wait()


def leaves(_: object) -> None:
    raise SystemExit(3)


def interrupts(_: object) -> None:
    raise KeyboardInterrupt


async def cancels_itself(_: object) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def pretends_to_be_cancelled(_: object) -> None:
    raise asyncio.CancelledError


class Odd(BaseException):
    """No Exception at all."""


def is_odd(_: object) -> None:
    raise Odd


@pytest.mark.parametrize(
    "bad",
    [leaves, interrupts, cancels_itself, pretends_to_be_cancelled, is_odd],
    ids=lambda handler: handler.__name__,
)
async def test_the_next_handler_runs_whatever_the_first_raises(bad: Handler) -> None:
    records: list[CallRecord] = []
    cell = BatchControl()
    cell.task = asyncio.create_task(call_handlers((bad, fine), None, cell, records.append))
    await cell.task
    told = [record[1:] for record in records if isinstance(record, tuple)]
    assert [(returned, error is None) for returned, error in told] == [(None, False), ("fine", True)]


class Answer:
    """Of a class of somebody's own."""


class Later:
    def __await__(self) -> Iterator[None]:
        yield from asyncio.sleep(0).__await__()
        raise TypeError("later")


@types.coroutine
def as_of_old() -> Iterator[None]:
    yield


async def a_type_error() -> None:
    raise TypeError("mine")


def raises_at_once(_: object) -> None:
    raise TypeError("at once")


@pytest.mark.parametrize("value", [{"block": True}, "text", 0, False, [], (), Answer(), Answer, TypeError])
async def test_what_is_no_promise_is_returned_as_it_is(call_of: CallOf, value: object) -> None:
    """Also behind a handler that was awaited: what that returned is nobody else's."""
    before, after = call_of(fine), call_of(raises_at_once)
    _, result, failed = await results_of(InProcessExecutor(), before, call_of(lambda _: value), after)
    assert (result.status, result.error) == ("ok", None)
    assert result.returned is value
    assert failed.status == "error"


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (raises_at_once, "at once"),
        (lambda _: a_type_error(), "mine"),
        (lambda _: Later(), "later"),
        (lambda _: as_of_old(), None),  # awaited, and done
    ],
    ids=["at once", "awaited", "an object", "a generator"],
)
async def test_a_type_error_of_its_own_is_a_handlers_error(
    call_of: CallOf, handler: Handler, said: str | None
) -> None:
    (result,) = await results_of(InProcessExecutor(), call_of(handler))
    assert (result.error.message if result.error else None) == said
    assert result.returned is None


async def results_of(
    lane: InProcessExecutor, *calls: Registration, event: HookEvent | None = None
) -> list[Result]:
    steps: list[Step] = []
    await lane.run(calls, HookEvent("command", "new") if event is None else event, steps.append)
    return [step for step in steps if isinstance(step, Result)]


@pytest.mark.parametrize("observe", [False, True])
async def test_a_handler_over_its_limit_is_stopped_and_the_next_one_runs(
    call_of: CallOf, observe: bool
) -> None:
    lane = InProcessExecutor(limit=0.01, observe=observe)
    first, second = await results_of(lane, call_of(hangs), call_of(fine))
    assert (first.status, second.status) == ("timeout", "ok")
    assert first.error is not None
    assert first.error.message == "did not answer within 0.01 s and was stopped"


async def test_a_registrations_own_limit_comes_before_the_lanes(call_of: CallOf) -> None:
    lane = InProcessExecutor()
    results = await results_of(lane, call_of(fine), call_of(hangs, limit=0.01), call_of(fine))
    assert [result.status for result in results] == ["ok", "timeout", "ok"]


async def test_after_a_stop_asyncios_own_timeouts_still_work(call_of: CallOf) -> None:
    async def uses_timeout(_: object) -> str:
        try:
            async with asyncio.timeout(0.001):
                await hangs(None)
        except TimeoutError:
            return "timed out"
        return "no"

    lane = InProcessExecutor(limit=0.05)
    _, second = await results_of(lane, call_of(hangs), call_of(uses_timeout, limit=20.0))
    assert second.returned == "timed out"


async def test_a_call_whose_limit_is_none_may_take_longer_than_its_lane_allows(call_of: CallOf) -> None:
    lane = InProcessExecutor(limit=0.01)
    hanging = asyncio.create_task(results_of(lane, call_of(hangs, limit=0)))
    await results_of(lane, call_of(hangs))  # this one is stopped, later than the first would have been
    assert not hanging.done()
    hanging.cancel()
    await asyncio.wait({hanging})


async def test_a_limit_counts_from_the_call_of_its_handler_in_a_loop_that_is_behind(call_of: CallOf) -> None:
    """A beat that is due falls between the begin of a lane's work and its handler's first step."""
    lane = InProcessExecutor(limit=20.0)
    watched = asyncio.create_task(results_of(lane, call_of(hangs)))
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    behind = loop.time() + 2 * WATCH_INTERVAL
    while loop.time() < behind:
        pass
    results = await asyncio.create_task(results_of(lane, call_of(fine)))
    assert [result.status for result in results] == ["ok"]
    watched.cancel()
    await asyncio.wait({watched})


async def test_a_handler_that_answers_after_its_limit_is_ok_with_a_note(call_of: CallOf) -> None:
    async def late(_: object) -> str:
        try:
            await hangs(None)
        except asyncio.CancelledError:
            return "all the same"
        return "never"

    (result,) = await results_of(InProcessExecutor(limit=0.01), call_of(late))
    assert (result.status, result.returned) == ("ok", "all the same")
    assert result.notes == ("it was asked to stop, but returned normally",)


async def test_cancelling_the_lane_stops_the_running_handler_only(call_of: CallOf) -> None:
    running = asyncio.Event()

    async def waits(_: object) -> None:
        running.set()
        await hangs(None)

    steps: list[Step] = []
    run = InProcessExecutor().run([call_of(fine), call_of(waits), call_of(fine, "last")], None, steps.append)
    task = asyncio.create_task(run)
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(step.call.name, step.status) for step in steps if isinstance(step, Result)] == [
        ("fine", "ok"),
        ("waits", "cancelled"),
    ]


async def test_every_result_has_the_messages_of_its_own_handler(call_of: CallOf) -> None:
    def replaces(event: HookEvent) -> None:
        event.messages = [*event.messages, "two"]

    def clears(event: HookEvent) -> None:
        event.messages.clear()

    calls = [
        call_of(lambda event: event.messages.append("one"), "appends"),
        call_of(replaces),
        call_of(clears),
        call_of(lambda event: event.messages.append("one"), "again"),
    ]
    results = await results_of(InProcessExecutor(), *calls)
    assert [result.messages for result in results] == [("one",), ("two",), (), ("one",)]
    assert all(result.patch == () for result in results)


async def test_observed_handlers_have_a_start_and_a_patch_each(call_of: CallOf) -> None:
    def changes(event: HookEvent) -> None:
        event.context["files"] = {"a/b"}

    steps: list[Step] = []
    await InProcessExecutor(observe=True).run(
        [call_of(changes), call_of(fine)], HookEvent("command", "new"), steps.append
    )
    assert [type(step) for step in steps] == [Started, Result, Started, Result]
    first, second = (step for step in steps if isinstance(step, Result))
    assert first.patch == ({"op": "add", "path": "/context/files", "value": ["a/b"]},)
    assert second.patch == ()


async def test_anything_that_can_be_awaited_is_awaited(call_of: CallOf) -> None:
    def future(_: object) -> Awaitable[str]:
        made: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        made.set_result("done")
        return made

    (result,) = await results_of(InProcessExecutor(), call_of(future))
    assert result.returned == "done"


async def test_an_exception_whose_text_raises_is_a_result(call_of: CallOf) -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise SystemExit

        __repr__ = __str__

    def speaks(_: object) -> None:
        raise Unspeakable

    (result,) = await results_of(InProcessExecutor(), call_of(speaks))
    assert result.error is not None
    assert result.error.message == "<Unspeakable whose text cannot be read>"


async def test_code_is_imported_and_imported_again_when_its_folder_changed(hook: WriteHook) -> None:
    text = "import util\ndef handler(event): return util.X"
    lane = InProcessExecutor()
    before = hook("one", text, util="X = 1")
    assert isinstance(before.target, Code)
    loaded = await lane.load(before.target)
    (first,) = await results_of(lane, before)
    (second,) = await results_of(lane, hook("one", text, util="X = 22"))
    assert (first.returned, second.returned) == (1, 22)
    assert callable(loaded)
    assert loaded(None) == 1  # what was loaded stays what it was
    await lane.close()


async def test_code_that_cannot_be_loaded_is_a_result_of_phase_load(hook: WriteHook, call_of: CallOf) -> None:
    lane = InProcessExecutor()
    broken = hook("broken", "def handler(event)\n    pass\n")
    first, second = await results_of(lane, broken, call_of(fine))
    assert first.error is not None
    assert (first.status, first.error.type, first.error.phase) == ("error", "SyntaxError", "load")
    (frame,) = first.error.frames
    assert (frame.file.endswith("handler.py"), frame.line, frame.source) == (True, 1, "def handler(event)")
    assert second.status == "ok"
    assert isinstance(broken.target, Code)
    assert await lane.load(broken.target) == first.error
    await lane.close()


async def test_in_turn_a_view_is_made_when_the_result_before_it_is_there() -> None:
    seen: list[object] = []
    steps: list[Step] = []

    def views() -> Iterator[object]:
        for number in range(3):
            yield number
            seen.append(steps[-1].call.name)

    async def notes(view: object) -> None:
        await asyncio.sleep(0)
        seen.append(view)

    calls = [Registration("k", name, notes) for name in "abcd"]
    await InProcessExecutor().run_one_by_one(calls, views(), steps.append)
    assert seen == [0, "a", 1, "b", 2, "c"]  # nobody made a view for d


async def test_in_turn_each_handler_has_its_own_limit_and_its_own_error() -> None:
    steps: list[Step] = []

    async def waits(_: object) -> None:
        await asyncio.Event().wait()

    async def takes_its_time(_: object) -> None:
        await asyncio.sleep(0.06)

    def fails(_: object) -> None:
        raise RuntimeError("no")

    limited = Registration("k", "waits", waits, limit=0.01)
    calls = [limited, *(Registration("k", handler.__name__, handler) for handler in (takes_its_time, fails))]
    await InProcessExecutor().run_one_by_one(calls, iter("abc"), steps.append)
    assert [(step.call.name, step.status) for step in steps if isinstance(step, Result)] == [
        ("waits", "timeout"),
        ("takes_its_time", "ok"),
        ("fails", "error"),
    ]


async def test_in_turn_a_cancel_stops_the_running_handler_and_all_after_it() -> None:
    steps: list[Step] = []
    reached = asyncio.Event()

    async def waits(_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    calls = [Registration("k", name, waits) for name in "ab"]
    lane = asyncio.create_task(InProcessExecutor().run_one_by_one(calls, iter("ab"), steps.append))
    await reached.wait()
    lane.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lane
    assert [(step.call.name, step.status) for step in steps if isinstance(step, Result)] == [
        ("a", "cancelled")
    ]


async def test_in_turn_what_the_maker_of_views_raises_comes_out() -> None:
    def views() -> Iterator[object]:
        yield "a"
        raise ZeroDivisionError

    steps: list[Step] = []
    calls = [Registration("k", name, fine) for name in "ab"]
    with pytest.raises(ZeroDivisionError):
        await InProcessExecutor().run_one_by_one(calls, views(), steps.append)
    assert [step.call.name for step in steps] == ["a"]

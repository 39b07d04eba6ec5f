import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.model.hook_event import HookEvent
from hookscope.model.run import CallGroup, Event, Handler, Plan, Registration, Result, Run, Step
from hookscope.runtime.firing import MAX_DEPTH, Firing
from hookscope.runtime.in_process_executor import InProcessExecutor

PlanOf = Callable[..., Plan]
CallOf = Callable[..., Registration]

LANE = InProcessExecutor(limit=60.0)


class Book:
    """A recorder in memory that can be made to fail."""

    def __init__(self, *, fails_at: str = "") -> None:
        self.begun: list[Event] = []
        self.ended: list[Run] = []
        self.fails_at = fails_at
        self.begin_written, self.end_written = asyncio.Event(), asyncio.Event()

    async def begin(self, event: Event) -> int:
        await asyncio.sleep(0)
        if self.fails_at == "begin":
            raise OSError("the disk is full")
        self.begun.append(event)
        self.begin_written.set()
        return 100 + len(self.begun)

    async def end(self, run: Run) -> None:
        await asyncio.sleep(0)
        if self.fails_at == "end":
            raise OSError("the disk is full")
        self.ended.append(run)
        self.end_written.set()


def pushes(event: HookEvent) -> None:
    event.messages.append("hi")


def breaks(_: object) -> None:
    raise KeyError("x")


async def hangs(_: object) -> None:
    await asyncio.Event().wait()


def stops(_: object) -> str:
    return "stop"


def executor_of(_: Registration) -> InProcessExecutor:
    return LANE


async def test_awaiting_gives_the_run(plan_of: PlanOf, call_of: CallOf) -> None:
    plan = plan_of(call_of(pushes), call_of(breaks), event=Event("command", "new", context={"a": 1}))
    firing = Firing(plan, executor_of)
    run = await firing
    assert firing.done
    assert [result.status for result in run.results] == ["ok", "error"]
    assert (run.messages, run.context, run.not_run, run.cancelled) == (("hi",), {"a": 1}, (), False)
    assert await firing is run


async def test_runs_that_nobody_records_count_up(plan_of: PlanOf) -> None:
    first, second = await Firing(plan_of(), executor_of), await Firing(plan_of(), executor_of)
    assert second.id == first.id + 1


async def test_every_listener_sees_all_steps_from_the_beginning(plan_of: PlanOf, call_of: CallOf) -> None:
    firing = Firing(plan_of(call_of(pushes), call_of(breaks)), executor_of)

    async def listen() -> list[Step]:
        return [step async for step in firing]

    early = await asyncio.gather(listen(), listen())
    await firing
    assert early[0] == early[1] == list((await firing).results)
    assert await listen() == early[0]


async def test_leaving_the_loop_cancels_nothing(plan_of: PlanOf, call_of: CallOf) -> None:
    firing = Firing(plan_of(call_of(pushes), call_of(pushes)), executor_of)
    async for _ in firing:
        break
    assert len((await firing).results) == 2


async def test_a_firing_that_nobody_keeps_still_ends(plan_of: PlanOf, call_of: CallOf) -> None:
    book = Book()
    Firing(plan_of(call_of(pushes)), executor_of, recorder=book)
    await book.end_written.wait()
    assert book.ended[0].messages == ("hi",)


async def test_cancel_stops_the_handler_and_writes_the_end(plan_of: PlanOf, call_of: CallOf) -> None:
    running = asyncio.Event()

    async def waits(_: object) -> None:
        running.set()
        await hangs(None)

    book = Book()
    firing = Firing(
        plan_of(call_of(pushes), call_of(waits), call_of(pushes, "last")), executor_of, recorder=book
    )
    await running.wait()
    firing.cancel()
    firing.cancel()
    run = await firing
    assert [(result.call.name, result.status) for result in run.results] == [
        ("pushes", "ok"),
        ("waits", "cancelled"),
    ]
    assert [(left.name, left.reason) for left in run.not_run] == [("last", "the run was cancelled")]
    assert run.cancelled
    assert run.messages == ("hi",)
    assert book.ended == [run]


async def test_a_cancelled_awaiter_cancels_the_firing_and_leaves_when_it_is_recorded(
    plan_of: PlanOf, call_of: CallOf
) -> None:
    running = asyncio.Event()

    async def waits(_: object) -> None:
        running.set()
        await hangs(None)

    book = Book()
    firing = Firing(plan_of(call_of(waits)), executor_of, recorder=book)

    async def awaits() -> Run:
        return await firing

    awaiter = asyncio.create_task(awaits())
    await running.wait()
    awaiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await awaiter
    assert book.ended[0].cancelled


async def test_a_firing_cancelled_before_it_began_is_recorded_too(plan_of: PlanOf, call_of: CallOf) -> None:
    book = Book()
    firing = Firing(plan_of(call_of(pushes)), executor_of, recorder=book)
    firing.cancel()
    run = await firing
    assert (run.results, run.cancelled, book.ended) == ((), True, [run])
    assert [left.name for left in run.not_run] == ["pushes"]


async def test_a_handler_that_shrugs_off_a_cancel_can_be_cancelled_again(
    plan_of: PlanOf, call_of: CallOf
) -> None:
    asked = [asyncio.Event(), asyncio.Event()]

    async def stubborn(_: object) -> None:
        asked[0].set()
        try:
            await hangs(None)
        except asyncio.CancelledError:
            asked[1].set()
            await hangs(None)

    firing = Firing(plan_of(call_of(stubborn)), executor_of)
    for event in asked:
        await event.wait()
        firing.cancel()
    assert [result.status for result in (await firing).results] == ["cancelled"]


async def test_the_number_of_a_run_is_known_while_its_handlers_run(plan_of: PlanOf, call_of: CallOf) -> None:
    recorded = Firing(plan_of(call_of(hangs)), executor_of, recorder=Book())
    number = await recorded.number()
    assert not recorded.done
    recorded.cancel()
    assert number == (await recorded).id == await recorded.number()
    for book in (None, Book(fails_at="begin")):
        assert await Firing(plan_of(call_of(pushes)), executor_of, recorder=book).number() is None
    early = Firing(plan_of(call_of(pushes)), executor_of, recorder=Book())
    early.cancel()
    assert await early.number() == (await early).id


async def test_a_record_that_cannot_begin_is_said_in_the_log(plan_of: PlanOf, call_of: CallOf) -> None:
    book = Book(fails_at="begin")
    run = await Firing(plan_of(call_of(pushes)), executor_of, recorder=book)
    assert [line.text for line in run.ending.log] == ["This run could not be recorded: the disk is full"]
    assert (len(run.results), run.id, book.ended) == (1, 0, [])


async def test_a_stream_that_cannot_be_recorded_runs_nothing(plan_of: PlanOf, call_of: CallOf) -> None:
    event = Event("turn.started", kind="stream")
    run = await Firing(plan_of(call_of(pushes), event=event), executor_of, recorder=Book(fails_at="begin"))
    assert [(left.name, left.reason) for left in run.not_run] == [
        ("pushes", "the event could not be recorded")
    ]


async def test_an_end_that_cannot_be_recorded_is_a_note(plan_of: PlanOf, call_of: CallOf) -> None:
    run = await Firing(plan_of(call_of(pushes)), executor_of, recorder=Book(fails_at="end"))
    assert run.notes == ("The end of this run could not be recorded: the disk is full",)


async def test_what_an_event_causes_is_part_of_its_run(
    plan_of: PlanOf, call_of: CallOf, policy_of: Any
) -> None:
    def follow(event: Event) -> Plan:
        return plan_of(call_of(pushes, event.type), event=event)

    book = Book()
    policy = policy_of(follow_ups=(Event("turn.failed"), Event("session.failed")))
    firing = Firing(plan_of(call_of(breaks), policy=policy), executor_of, recorder=book, follow=follow)
    run = await firing
    assert [caused.event.type for caused in run.caused] == ["turn.failed", "session.failed"]
    assert [caused.id for caused in book.ended] == [102, 103, 101]
    assert [step.call.name async for step in firing] == ["breaks", "turn.failed", "session.failed"]


async def test_events_that_cause_each_other_in_a_circle_come_to_an_end(
    plan_of: PlanOf, policy_of: Any
) -> None:
    policy = policy_of(follow_ups=(Event("again"),))

    def follow(event: Event) -> Plan:
        return plan_of(event=event, policy=policy)

    run, depth = await Firing(plan_of(policy=policy), executor_of, follow=follow), 0
    while run.caused:
        run, depth = run.caused[0], depth + 1
    assert depth == MAX_DEPTH
    assert run.notes == ("`again` was not fired: events caused each other 16 levels deep",)


async def test_a_run_that_was_cancelled_causes_nothing_and_does_not_say_it_would(
    plan_of: PlanOf, call_of: CallOf, policy_of: Any
) -> None:
    running = asyncio.Event()

    async def waits(_: object) -> None:
        running.set()
        await hangs(None)

    policy = policy_of(follow_ups=(Event("again"),))
    firing = Firing(plan_of(call_of(pushes), call_of(waits), policy=policy), executor_of, follow=plan_of)
    await running.wait()
    firing.cancel()
    run = await firing
    assert (run.cancelled, run.caused, run.ending.follow_ups) == (True, (), ())


async def test_a_follow_up_that_cannot_be_planned_is_a_note(plan_of: PlanOf, policy_of: Any) -> None:
    def follow(event: Event) -> Plan:
        raise LookupError("no such event")

    policy = policy_of(follow_ups=(Event("again"),))
    run = await Firing(plan_of(policy=policy), executor_of, follow=follow)
    assert run.notes == ("`again` was not fired: no such event",)


async def test_a_fault_of_ours_ends_the_run_and_is_said(plan_of: PlanOf, call_of: CallOf) -> None:
    def lost(_: Registration) -> InProcessExecutor:
        raise LookupError("no lane")

    book = Book()
    run = await Firing(plan_of(call_of(pushes)), lost, recorder=book)
    assert run.ending.failure == "Hookscope failed: LookupError: no lane"
    assert [left.name for left in run.not_run] == ["pushes"]
    assert book.ended == [run]


async def test_a_forced_call_is_marked(plan_of: PlanOf, call_of: CallOf) -> None:
    call = call_of(pushes)
    run = await Firing(plan_of(call, forced=frozenset({call})), executor_of)
    assert run.results[0].forced


async def test_times_count_from_the_start_of_the_run(plan_of: PlanOf, call_of: CallOf) -> None:
    run = await Firing(plan_of(call_of(pushes)), executor_of)
    assert 0 <= run.results[0].started <= run.took < 60


def test_a_loop_that_closes_ends_a_firing_whatever_its_handlers_do(plan_of: PlanOf, call_of: CallOf) -> None:
    book = Book()

    async def leaves() -> None:
        Firing(plan_of(call_of(hangs), call_of(hangs), call_of(hangs)), executor_of, recorder=book)
        await book.begin_written.wait()

    asyncio.run(leaves())
    assert book.ended[0].cancelled


async def cancels_itself(_: object) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


def leaves(_: object) -> None:
    raise SystemExit(1)


HANDLERS: dict[str, Handler] = {
    handler.__name__: handler for handler in (pushes, breaks, hangs, stops, cancels_itself, leaves)
}


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # they are pure factories
)
@given(
    names=st.lists(st.sampled_from(sorted(HANDLERS)), max_size=6),
    together=st.booleans(),
    batched=st.booleans(),
    cancel_after=st.none() | st.integers(0, 12),
    fails_at=st.sampled_from(["", "begin", "end"]),
    kind=st.sampled_from(["folder", "stream"]),
    observe=st.booleans(),
)
def test_every_planned_call_ends_as_one_result_or_one_not_run(
    plan_of: PlanOf,
    call_of: CallOf,
    policy_of: Any,
    names: list[str],
    together: bool,
    batched: bool,
    cancel_after: int | None,
    fails_at: str,
    kind: Any,
    observe: bool,
) -> None:
    calls = tuple(call_of(HANDLERS[name]) for name in names)
    event = Event("command", "new", kind=kind)
    plan = plan_of(CallGroup(calls, concurrent=together), event=event, policy=policy_of(batched=batched))
    lane = InProcessExecutor(limit=0.001, observe=observe)

    async def fire() -> Run:
        firing = Firing(plan, lambda _: lane, recorder=Book(fails_at=fails_at))
        if cancel_after is not None:
            for _ in range(cancel_after):
                await asyncio.sleep(0)
            firing.cancel()
        return await firing

    run = asyncio.run(fire())
    have = [result.call for result in run.results]
    assert len(have) == len(set(have))
    assert sorted([call.name for call in have] + [left.name for left in run.not_run]) == sorted(names)
    assert all(isinstance(result, Result) for result in run.results)


async def test_a_cancel_while_a_follow_up_runs_fires_none_of_those_behind_it(
    plan_of: PlanOf, policy_of: Any, call_of: CallOf
) -> None:
    events = tuple(Event("after", name) for name in ("one", "two"))
    began, book = asyncio.Event(), Book()

    async def waits(_: object) -> None:
        began.set()
        await asyncio.Event().wait()

    def follow(event: Event) -> Plan:
        return plan_of(call_of(waits), event=event)

    plan = plan_of(call_of(pushes), policy=policy_of(follow_ups=events))
    firing = Firing(plan, executor_of, recorder=book, follow=follow)
    await began.wait()
    firing.cancel()
    run = await firing
    assert [caused.event.action for caused in run.caused] == ["one"]
    assert run.caused[0].cancelled
    assert run.cancelled
    assert [event.action for event in book.begun] == ["new", "one"]


@pytest.mark.parametrize("kind", ["folder", "plugin"])
async def test_a_run_on_no_record_says_of_the_rest_what_ended_it(
    plan_of: PlanOf, policy_of: Any, call_of: CallOf, kind: Any
) -> None:
    event = Event("command", "new", kind=kind)
    plan = plan_of(call_of(stops), call_of(pushes), event=event, policy=policy_of(batched=False))
    run = await Firing(plan, executor_of, recorder=Book(fails_at="begin"))
    assert [(item.name, item.reason) for item in run.not_run] == [
        ("pushes", "an earlier handler ended the event")
    ]


async def test_results_of_handlers_that_run_side_by_side_are_in_plan_order(
    plan_of: PlanOf, call_of: CallOf
) -> None:
    ended = asyncio.Event()

    async def first(_: object) -> None:
        await ended.wait()

    async def second(_: object) -> None:
        ended.set()

    run = await Firing(plan_of(CallGroup((call_of(first), call_of(second)), concurrent=True)), executor_of)
    assert [result.call.name for result in run.results] == ["first", "second"]

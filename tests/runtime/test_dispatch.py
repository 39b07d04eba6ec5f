import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from hookscope.model.executor import Executor
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.run import CallGroup, Code, Ending, Event, Fold, OnStep, Plan, Registration, Result, Step
from hookscope.runtime.dispatch import dispatch
from hookscope.runtime.in_process_executor import InProcessExecutor

PlanOf = Callable[..., Plan]


class Scripted:
    """A lane that remembers its batches and answers with the handlers' names."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        self.batches.append([call.name for call in batch])
        for call in batch:
            step(Result(call, "ok", returned=call.target(view)))  # type: ignore[operator]  # a function

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        for view, call in zip(views, calls, strict=False):
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        for call, view in calls:
            await self.run((call,), view, step)

    async def load(self, code: Code) -> Failure | Code:
        return code

    async def close(self) -> None:
        return None


def named(name: str, returned: object = None) -> Registration:
    return Registration("command:new", name, lambda _: returned)


@pytest.fixture
def steps() -> list[Step]:
    return []


async def test_neighbours_that_share_a_lane_go_as_one_batch(plan_of: PlanOf, steps: list[Step]) -> None:
    left, right = Scripted(), Scripted()
    of: dict[str, Executor] = {"a": left, "b": left, "c": right, "d": left}
    plan = plan_of(*map(named, "abcd"))
    await dispatch(plan, lambda call: of[call.name], steps.append)
    assert (left.batches, right.batches) == ([["a", "b"], ["d"]], [["c"]])
    assert [step.call.name for step in steps] == list("abcd")


async def test_without_batching_each_call_goes_alone(
    plan_of: PlanOf, policy_of: Any, steps: list[Step]
) -> None:
    lane = Scripted()
    await dispatch(plan_of(*map(named, "ab"), policy=policy_of(batched=False)), lambda _: lane, steps.append)
    assert lane.batches == [["a"], ["b"]]


@pytest.mark.parametrize(("answer", "failure"), [("stop", None), ("fail", "a said no")])
async def test_a_handler_can_end_the_event(
    plan_of: PlanOf, policy_of: Any, steps: list[Step], answer: str, failure: str | None
) -> None:
    lane = Scripted()
    plan = plan_of(
        CallGroup((named("a", answer), named("b"))), CallGroup((named("c"),)), policy=policy_of(batched=False)
    )
    ending = await dispatch(plan, lambda _: lane, steps.append)
    assert lane.batches == [["a"]]
    assert ending.failure == failure


async def test_calls_that_belong_together_start_at_once_and_are_folded_in_plan_order(
    plan_of: PlanOf, steps: list[Step]
) -> None:
    second_began = asyncio.Event()

    async def first(_: object) -> None:
        await second_began.wait()

    async def second(_: object) -> None:
        second_began.set()

    lane = InProcessExecutor()
    folds: list[Fold] = []
    calls = tuple(Registration("k", handler.__name__, handler) for handler in (first, second))
    await dispatch(
        plan_of(CallGroup(calls, concurrent=True)), lambda _: lane, steps.append, None, folds.append
    )
    assert [step.call.name for step in steps] == ["second", "first"]
    assert list(folds[-1].answer) == ["first", "second"]


async def test_who_ends_an_event_before_its_record_ends_it_for_all(
    plan_of: PlanOf, policy_of: Any, steps: list[Step]
) -> None:
    first, second = (CallGroup((call,), after_record=False) for call in (named("a", "stop"), named("b")))
    lane = Scripted()
    plan = plan_of(first, second, CallGroup((named("c"),)), policy=policy_of(batched=False))
    await dispatch(plan, lambda _: lane, steps.append)
    assert lane.batches == [["a"]]


@pytest.mark.parametrize("with_groups", [True, False])
async def test_the_record_comes_once_and_behind_the_groups_before_it(
    plan_of: PlanOf, with_groups: bool
) -> None:
    order: list[str] = []

    async def record() -> None:
        order.append("record")

    groups = [
        CallGroup((named("a"),)),
        CallGroup((named("channel"),), after_record=False),
        CallGroup((named("b"),)),
    ]
    lane = Scripted()
    plan = plan_of(*groups) if with_groups else plan_of()
    await dispatch(plan, lambda _: lane, lambda step: order.append(step.call.name), record)
    assert order == (["channel", "record", "a", "b"] if with_groups else ["record"])


@pytest.mark.parametrize(("kind", "ran"), [("stream", []), ("folder", [["a"]]), ("plugin", [["a"]])])
async def test_what_cannot_be_recorded_is_said_and_a_stream_goes_no_further(
    plan_of: PlanOf, steps: list[Step], kind: Any, ran: list[list[str]]
) -> None:
    async def record() -> None:
        raise OSError(28, "No space left on device")

    lane = Scripted()
    plan = plan_of(named("a"), event=Event("command", "new", kind=kind))
    ending = await dispatch(plan, lambda _: lane, steps.append, record)
    assert lane.batches == ran
    (line,) = ending.log
    assert (line.level, line.text) == (
        "warn",
        "This run could not be recorded: [Errno 28] No space left on device",
    )


async def test_who_ends_an_event_ends_it_for_handlers_of_other_lanes_too(
    plan_of: PlanOf, policy_of: Any, steps: list[Step]
) -> None:
    left, right = Scripted(), Scripted()
    calls = (named("a"), named("b", "stop"), named("c"))
    plan = plan_of(CallGroup(calls), policy=policy_of(batched=False))
    await dispatch(plan, lambda call: right if call.name == "c" else left, steps.append)
    assert (left.batches, right.batches) == ([["a"], ["b"]], [])


@pytest.mark.parametrize("answer", ["stop", "fail"])
async def test_of_calls_that_start_together_none_counts_behind_the_one_that_ends_the_event(
    plan_of: PlanOf, policy_of: Any, steps: list[Step], answer: str
) -> None:
    folds: list[Fold] = []
    calls = (named("a", 1), named("b", answer), named("c", 3))
    plan = plan_of(
        CallGroup(calls, concurrent=True), CallGroup((named("d"),)), policy=policy_of(batched=False)
    )
    lane = Scripted()
    await dispatch(plan, lambda _: lane, steps.append, None, folds.append)
    assert lane.batches == [["a"], ["b"], ["c"]]
    assert "c" not in folds[-1].answer
    assert len(folds) == 3, "the first, then those of a and b"


async def test_that_a_run_is_on_no_record_is_told_before_what_its_handlers_come_to(
    plan_of: PlanOf, policy_of: Any, steps: list[Step]
) -> None:
    async def record() -> None:
        raise OSError(28, "full")

    def finish(self: object, fold: Fold) -> Ending:
        return Ending(log=(LogLine("error", "of a handler"),))

    policy = type("Loud", (policy_of,), {"finish": finish})(batched=True)
    ending = await dispatch(plan_of(named("a"), policy=policy), lambda _: Scripted(), steps.append, record)
    assert [line.level for line in ending.log] == ["warn", "error"]

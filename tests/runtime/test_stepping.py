"""A run that waits before each handler until somebody says a word."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope import HookEngine, embedded_host
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.run import SKIPPED_BY_HAND, CallGroup, Event, Paused, Plan, Result, Run, Skipped
from hookscope.runtime.debugger import Stepper
from hookscope.runtime.firing import Firing
from hookscope.runtime.in_process_executor import InProcessExecutor

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import MakeHook

WORDS = {"run": Stepper.run_it, "skip": Stepper.pass_over, "all": Stepper.run_all}


async def stepped(engine: HookEngine, event: Event, words: list[str]) -> tuple[Run, list[str]]:
    """The run, and whom it waited before. Behind the last word all that follows runs."""
    stepper, said, waited = Stepper(), iter(words), list[str]()
    firing = engine.fire(event, stepper=stepper)
    async for step in firing:
        if isinstance(step, Paused):
            waited.append("+".join(call.name for call in (step.call, *step.starting_together)))
            assert stepper.is_waiting
            assert WORDS[next(said, "all")](stepper)
    return await firing, waited


@given(
    words=st.lists(st.sampled_from(["run", "skip", "all"]), max_size=6),
    key=st.sampled_from(["command:new", "before_tool_call", "message_sent"]),
)
def test_who_is_not_passed_over_runs_in_order(words: list[str], key: str) -> None:
    names = ["a", "b", "c", "d"]
    ran: list[str] = []
    engine = HookEngine(embedded_host(host_config={}))
    for name in names:
        engine.register(key, lambda *_, name=name: ran.append(name), name)
    kind = engine.host.dialect.kind_of_event(key)
    kind_, _, action = key.partition(":")
    run, waited = asyncio.run(stepped(engine, Event(kind_, action, kind=kind), words))
    if key == "message_sent":  # observers begin together, so one word is for all
        assert waited == ["a+b+c+d"]
        expected = [] if words[:1] == ["skip"] else names
    else:
        upto = words.index("all") + 1 if "all" in words else min(len(words) + 1, 4)
        assert waited == names[: min(upto, 4)]
        before = words[: upto - 1] if "all" in words else words
        skipped = {name for name, word in zip(names, before, strict=False) if word == "skip"}
        expected = [name for name in names if name not in skipped]
    assert ran == expected
    assert [result.call.name for result in run.results] == expected
    passed = [item.name for item in run.not_run if item.reason == SKIPPED_BY_HAND]
    assert passed == [name for name in names if name not in expected]
    assert not run.cancelled


async def test_what_waits_sees_the_event_as_those_before_it_have_left_it(
    workspace: Path, make_hook: MakeHook
) -> None:
    body = "def handler(event):\n    event.context['n'] = event.context.get('n', 0) + 1"
    for name in ("a", "b", "c"):
        make_hook(workspace / "hooks", name, '{openclaw: {events: ["command:new"]}}', body)
    engine = HookEngine(embedded_host(workspace, host_config={}))
    engine.look()
    stepper, seen = Stepper(), list[Any]()
    firing = engine.fire(Event("command", "new"), stepper=stepper)
    async for step in firing:
        if isinstance(step, Paused):
            assert isinstance(step.event, dict)
            seen.append(step.event["context"].get("n", 0))
            assert stepper.pass_over() if step.call.name == "b" else stepper.run_it()
    run = await firing
    await engine.close()
    assert seen == [0, 1, 1]
    assert run.context["n"] == 2


async def test_an_answer_that_ends_the_event_leaves_nobody_waiting() -> None:
    engine = HookEngine(embedded_host(host_config={}))
    engine.register("before_tool_call", lambda *_: {"block": True, "blockReason": "no"}, "guard", priority=-9)
    engine.register("before_tool_call", lambda *_: None, "later")
    event = Event("before_tool_call", kind="plugin", context={"toolName": "exec", "params": {}})
    run, waited = await stepped(engine, event, ["run", "run"])
    assert waited == ["guard"]
    assert run.ending.verdict.startswith("blocked by guard")
    run, waited = await stepped(engine, event, ["skip", "run"])
    assert waited == ["guard", "later"]
    assert not run.ending.verdict.startswith("blocked")


async def test_a_cancel_ends_the_waiting_and_words_in_vain_do_nothing() -> None:
    engine = HookEngine(embedded_host(host_config={}))
    engine.register("command:new", lambda _: None, "first")
    engine.register("command:new", lambda _: None, "second")
    stepper = Stepper()
    assert not stepper.run_it(), "nothing waits yet"
    firing = engine.fire(Event("command", "new"), stepper=stepper)
    async for step in firing:
        if isinstance(step, Paused) and step.call.name == "first":
            assert stepper.run_it()
            assert not stepper.pass_over(), "a second word is in vain"
        elif isinstance(step, Paused):
            firing.cancel()
    run = await firing
    assert run.cancelled
    assert [(item.name, item.reason) for item in run.not_run] == [("second", "the run was cancelled")]
    assert not stepper.is_waiting


@pytest.mark.parametrize("name", ["handler.py", "handler.js"])
async def test_workers_are_stepped_through_too(workspace: Path, make_hook: MakeHook, name: str) -> None:
    body = "def handler(event): event.messages.append('ran')"
    if name == "handler.js":
        body = "export default (event) => { event.messages.push('ran'); };"
    for hook in ("a", "b", "c"):
        make_hook(workspace / "hooks", hook, '{openclaw: {events: ["command:new"]}}', body, file=name)
    bench = Workbench(Options(workspace=workspace, bundled=workspace), trust_all=True)
    view, stepper = bench.scan(), Stepper()
    firing = bench.fire(view, bench.plan(view, bench.template(view, "command:new")), stepper)
    told: list[str] = []
    try:
        async for step in firing:
            told.append(f"{type(step).__name__} {step.call.name}")
            if isinstance(step, Paused):
                assert stepper.pass_over() if step.call.name == "a" else stepper.run_all()
        run = await firing
    finally:
        await bench.close()
    assert told[:3] == ["Paused a", "Skipped a", "Paused b"]
    assert [one for one in told if one.startswith(Result.__name__)] == ["Result b", "Result c"]
    assert run.messages == ("ran", "ran")
    assert Skipped.__name__ not in told[3:]


class Record:
    """On record once it is asked."""

    async def begin(self, event: Event) -> int:
        return 7

    async def end(self, run: Run) -> None:
        return None


async def test_a_run_has_a_number_once_it_is_on_record_and_nobody_waits_for_that() -> None:
    """A stream's channel is called before its event is on record: it may be what waits."""
    engine = HookEngine(embedded_host(host_config={}))
    calls = [engine.register("command:new", lambda _: None, name) for name in ("channel", "hook")]
    made = engine.plan(Event("command", "new"))
    groups = (CallGroup((calls[0],), after_record=False), CallGroup((calls[1],)))
    plan = Plan(made.event, 1, groups, (), made.policy)
    stepper, lane = Stepper(), InProcessExecutor()
    firing = Firing(plan, stepper.executors(lambda _: lane), recorder=Record())
    async with asyncio.timeout(60):
        assert await firing.number() is None
        assert stepper.run_it()
        async for step in firing:
            if isinstance(step, Paused) and step.call.name == "hook":
                assert await firing.number() == 7
                stepper.run_it()
    assert (await firing).id == 7

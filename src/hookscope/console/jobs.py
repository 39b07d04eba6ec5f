"""What a runner can be asked to do with events: fire one, otherwise, again; play, look for faults, test.

Each is awaited by the runner that it gets, one at a time. Between what it prepares and what it fires it asks
whether that is still wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING

from hookscope.console.messages import Answered, DebugOver, FiringOver, HandlerStopped, PlayOver, Said
from hookscope.console.posting import post, said
from hookscope.core.breakage import breakage_of
from hookscope.core.runs import Event, Plan, Run
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.console.fire.otherwise import Otherwise
    from hookscope.console.runner import Runner
    from hookscope.console.state import Composed
    from hookscope.core.orders.findings import Findings
    from hookscope.core.repeated import Repetition
    from hookscope.workbench import PastRun, View
    from hookscope.workbench.fuzzing import Fuzzed
    from hookscope.workbench.sequences import EventSequence
    from hookscope.workbench.sequencing import Stepped
    from hookscope.workbench.testing import Verified

NOT_FIRED = "Cancelled before anything was fired."


@dataclass(frozen=True, slots=True)
class Stopped:
    """What ends by another word than `cancel`."""

    cancel: Callable[[], object]


async def fire(
    runner: Runner, view: View, plan: Plan, again: Callable[[View], Plan], asked: Composed
) -> None:
    """Run a plan; on copies if that was asked for.

    `again` plans anew for a view in which modules were loaded that tell more.
    """
    bench = runner.bench
    try:
        if asked.guarded or plan.event.kind != "folder":
            ready = await bench.ready(view, plan.event.kind)
            if ready is not view:
                view, plan = ready, again(ready)
                runner.bridge.look()  # the rows show what the load has found out
        if _unwanted(runner):
            return
        firing = await bench.fire_guarded(view, plan) if asked.guarded else bench.fire(view, plan)
    except Exception as error:
        post(runner.screen, FiringOver(0, None, said(error)))
    else:
        await runner.follow(plan, firing, asked)


def _unwanted(runner: Runner) -> bool:
    """Was it cancelled while it was prepared; which is said."""
    if runner.cancelled:
        post(runner.screen, Said(NOT_FIRED))
    return runner.cancelled


async def fire_otherwise(
    runner: Runner,
    view: View,
    event: Event,
    asked: Composed,
    told: Callable[[Repetition | Findings], object],
) -> None:
    """Fire as it was chosen: forced, with a fault, several times, in other orders, on copies. `told` hears
    what several runs did again, or what came of other orders."""
    from hookscope.workbench.repeating import firings, repetition  # here, and below: few ask for it

    way, bench = asked.way, runner.bench
    assert way is not None, "an event that is simply fired goes the other way"
    ready = await bench.ready(view, event.kind)
    if ready is not view:
        runner.bridge.look()
    plan = await _otherwise(runner, ready, event, asked.only, way)
    if _unwanted(runner):
        return
    if way.stepped:
        await _by_steps(runner, ready, plan, asked)
        return
    if way.shuffled:
        await _in_orders(runner, ready, plan, asked, told)
        return
    if way.debugged:
        await _by_lines(runner, ready, plan, asked)
        return
    runs: list[Run] = []
    async with aclosing(firings(bench, ready, plan, way.times, sandbox=way.guarded)) as fired:
        async for firing in fired:
            _, run = await runner.follow(plan, firing, asked)
            runs += [run] if run is not None else []
    if len(runs) > 1:
        post(runner.screen, Answered(partial(told, repetition(runs))))


async def _in_orders(
    runner: Runner, view: View, plan: Plan, asked: Composed, told: Callable[[Findings], object]
) -> None:
    from hookscope.workbench.shuffling import Shuffling

    way = asked.way
    assert way is not None, "as it is in fire_otherwise"
    seed = int.from_bytes(token_bytes(4))
    shuffling = Shuffling(runner.bench, view, plan, way.times, seed=seed, sandbox=way.guarded)
    async with aclosing(shuffling.firings()) as fired:
        async for firing in fired:
            await runner.follow(shuffling.plan, firing, asked)
    post(runner.screen, Answered(partial(told, shuffling.told())))


async def _by_steps(runner: Runner, view: View, plan: Plan, asked: Composed) -> None:
    from hookscope.workbench import Stepper

    stepper = runner.stepper = Stepper()
    bench = runner.bench
    guarded = asked.way is not None and asked.way.guarded
    firing = await bench.fire_guarded(view, plan, stepper) if guarded else bench.fire(view, plan, stepper)
    await runner.follow(plan, firing, asked)


async def _by_lines(runner: Runner, view: View, plan: Plan, asked: Composed) -> None:
    from hookscope.workbench import Debugger

    debugger, bench = Debugger(), runner.bench
    guarded = asked.way is not None and asked.way.guarded
    firing = await bench.fire_debugged(view, plan, debugger, sandbox=guarded)

    async def watch() -> None:
        stop = None
        while True:
            stop = await debugger.stopped(after=stop)
            post(runner.screen, HandlerStopped(debugger, stop))

    watching = asyncio.create_task(watch())
    try:
        await runner.follow(plan, firing, asked)
    finally:
        watching.cancel()
        post(runner.screen, DebugOver())


async def _otherwise(runner: Runner, view: View, event: Event, only: str | None, way: Otherwise) -> Plan:
    from hookscope.workbench.breaking import broken_plan
    from hookscope.workbench.forcing import forced_plan

    if way.forced and only is not None:
        plan = await forced_plan(runner.bench, view, event, only)
    else:
        plan = runner.bench.plan(view, event, only=only)
    return broken_plan(view, plan, {way.broken: breakage_of(way.fault)}) if way.broken else plan


async def replay(runner: Runner, past: PastRun, start: str | None, told: Callable[[int], object]) -> None:
    """Fire an earlier run again, from a handler on where `start` names one; `told` hears the number of
    the new run when it has ended."""
    from hookscope.workbench.replay import prepared

    bench = runner.bench
    ready = await prepared(bench, past, start=start)
    if _unwanted(runner):
        return
    plan, view = ready.plan, ready.view
    firing = await bench.fire_guarded(view, plan) if ready.guarded else bench.fire(view, plan)
    number, run = await runner.follow(plan, firing)
    if run is not None:
        post(runner.screen, Answered(partial(told, number)))


async def play(runner: Runner, message: str) -> None:
    """Play a session that begins with this message."""
    from hookscope.workbench.loads import staged
    from hookscope.workbench.play import Playing, Wanted

    try:
        engine, _ = await staged(runner.bench)
        if _unwanted(runner):
            return
        playing = Playing(engine, Wanted((message,), token_hex(8)))
        runner.goes(playing)
        async for scene in playing:
            runner.tell(scene.plan, scene.run)
        played = await playing
    except Exception as error:
        post(runner.screen, PlayOver(None, said(error)))
    else:
        post(runner.screen, PlayOver(played))


async def fuzz(
    runner: Runner, view: View, event: Event, only: str | None, told: Callable[[Fuzzed], object]
) -> None:
    """Look for the smallest events that hooks fail at, on copies; `told` hears what was found."""
    from hookscope.workbench.fuzzing import Fuzz, kept

    bench = runner.bench
    ready = await bench.ready(view, event.kind)
    if _unwanted(runner):
        return
    fuzz = Fuzz(bench, ready, event, only=only, seed=int.from_bytes(token_bytes(4)), sandbox=True)
    runner.goes(Stopped(fuzz.stop))
    fuzzed = await fuzz.run()
    found = await asyncio.to_thread(kept, bench, ready, fuzzed)
    post(runner.screen, Answered(partial(told, found)))


async def sequence(
    runner: Runner,
    sequence: EventSequence,
    told: Callable[[int, Stepped], object],
    over: Callable[[bool], object],
) -> None:
    """Fire a sequence; `told` hears of each step with the number of its run, `over` whether all passed."""
    from hookscope.workbench.sequencing import Sequencing

    passed, number = True, 0
    sequencing = Sequencing(runner.bench, sequence)
    runner.goes(sequencing)
    async for stepped in sequencing.steps():
        passed = passed and stepped.done.passed
        if stepped.plan is not None and stepped.done.run is not None:
            number = runner.tell(stepped.plan, stepped.done.run)
        post(runner.screen, Answered(partial(told, number, stepped)))
    post(runner.screen, Answered(partial(over, passed and not sequencing.cancelled)))


async def test(
    runner: Runner,
    files: Sequence[Path],
    begins: Callable[[Path], object],
    told: Callable[[Verified], object],
) -> None:
    """Fire saved events one after another, each compared with its file."""
    from hookscope.workbench.sequencing import checked_file

    for file in files:
        if runner.cancelled:
            return
        post(runner.screen, Answered(partial(begins, file)))
        done = await checked_file(runner.bench, file, runner.goes)
        post(runner.screen, Answered(partial(told, done)))

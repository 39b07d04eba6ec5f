"""One event on its way at a time: fired, on copies, otherwise, again, played; the screen is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING, Any, Protocol

from textual.message_pump import MessagePump
from textual.widget import Widget

from hookscope.console.messages import (
    Answered,
    Failed,
    FiringOver,
    FiringStarted,
    PastRuns,
    PlayOver,
    Said,
    StepsCame,
)
from hookscope.console.posting import post, said
from hookscope.core.breakage import breakage_of
from hookscope.core.runs import Event, Plan, Run, Step
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.console.bridge import Bridge
    from hookscope.console.fire.otherwise import Otherwise
    from hookscope.core.repeated import Repetition
    from hookscope.workbench import PastRun, View, Workbench
    from hookscope.workbench.fuzzing import Fuzzed
    from hookscope.workbench.play import Playing
    from hookscope.workbench.sequences import EventSequence
    from hookscope.workbench.sequencing import Sequencing, Stepped
    from hookscope.workbench.testing import Checked

FRAME = 0.1  # seconds between two reports of a run's steps


class Firing(Protocol):
    """One event on its way, as the workbench hands it out."""

    def cancel(self) -> None: ...

    def __aiter__(self) -> AsyncIterator[Step]: ...

    def __await__(self) -> Generator[Any, None, Run]: ...


@dataclass(frozen=True, slots=True)
class Stopped:
    """What is no run, and can be cancelled as one."""

    cancel: Callable[[], object]


class Runner:
    """Fires what it is asked to, one after another, and posts what comes of it. A failure is a message."""

    def __init__(self, screen: Widget, bridge: Bridge) -> None:
        self.screen, self.bridge = screen, bridge
        self._runs = 0
        self._firing: Firing | Playing | Sequencing | Stopped | None = None
        self._preparing = False  # copies are made, modules loaded, or another run of several follows

    @property
    def bench(self) -> Workbench:
        return self.bridge.bench

    @property
    def busy(self) -> bool:
        """Is an event on its way, or about to be."""
        return self._firing is not None or self._preparing

    def remember(self, view: View) -> None:
        """Find out what was fired here before this sitting. New runs are numbered behind it."""

        def remembering() -> None:
            try:
                past = self.bench.past_runs(view)
            except Exception as error:
                post(self.screen, Failed("the journal", said(error)))
                past = ()
            self._runs = max(self._runs, *(run.id for run in past), 0)
            post(self.screen, PastRuns(past))

        self.screen.run_worker(remembering, name="journal", group="journal", thread=True, exit_on_error=False)

    def fire(self, view: View, plan: Plan, again: Callable[[View], Plan], guarded: bool = False) -> bool:
        """Run a plan; on copies if `guarded`. False where one is running already.

        `again` plans anew for a view in which modules were loaded that tell more.
        """
        if self._firing is not None or self._preparing:
            return False
        self._runs += 1
        number = self._runs
        if guarded or plan.event.kind != "folder":
            self._preparing = True
            self.screen.run_worker(
                self._fire_prepared(number, view, plan, again, guarded),
                name=f"run {number}",
                group="fire",
                exit_on_error=False,
            )
            return True
        try:
            self._firing = self.bench.fire(view, plan)
        except Exception as error:
            post(self.screen, FiringOver(number, None, said(error)))
            return True
        post(self.screen, FiringStarted(number, plan))
        self.screen.run_worker(
            self._follow(number, self._firing), name=f"run {number}", group="fire", exit_on_error=False
        )
        return True

    async def _fire_prepared(
        self, number: int, view: View, plan: Plan, again: Callable[[View], Plan], guarded: bool
    ) -> None:
        try:
            ready = await self.bench.ready(view, plan.event.kind)
            if ready is not view:
                view, plan = ready, again(ready)
                self.bridge.look()  # the rows show what the load has found out
            fire = self.bench.fire_guarded
            self._firing = await fire(view, plan) if guarded else self.bench.fire(view, plan)
        except Exception as error:
            post(self.screen, FiringOver(number, None, said(error)))
            return
        finally:
            self._preparing = False
        post(self.screen, FiringStarted(number, plan))
        await self._follow(number, self._firing)

    def fire_otherwise(
        self, view: View, event: Event, only: str | None, way: Otherwise, told: Callable[[Repetition], object]
    ) -> bool:
        """Fire as it was chosen: forced, with a fault, several times, on copies. `told` hears what several
        runs did again. False where a run is going on already."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        work = self._fire_otherwise(view, event, only, way, told)
        self.screen.run_worker(work, name="fire otherwise", group="fire", exit_on_error=False)
        return True

    async def _fire_otherwise(
        self, view: View, event: Event, only: str | None, way: Otherwise, told: Callable[[Repetition], object]
    ) -> None:
        from hookscope.workbench.repeating import firings, repetition  # here: few repeat

        runs: list[Run] = []
        try:
            ready = await self.bench.ready(view, event.kind)
            if ready is not view:
                self.bridge.look()
            plan = await self._otherwise(ready, event, only, way)
            async with aclosing(firings(self.bench, ready, plan, way.times, sandbox=way.guarded)) as fired:
                async for firing in fired:
                    self._runs += 1
                    self._firing = firing
                    post(self.screen, FiringStarted(self._runs, plan))
                    run = await self._follow(self._runs, firing)
                    runs += [run] if run is not None else []
        except Exception as error:
            post(self.screen, Said(said(error), "warning"))
        finally:
            self._firing, self._preparing = None, False
        if len(runs) > 1:
            post(self.screen, Answered(partial(told, repetition(runs))))

    async def _otherwise(self, view: View, event: Event, only: str | None, way: Otherwise) -> Plan:
        from hookscope.workbench.breaking import broken_plan
        from hookscope.workbench.forcing import forced_plan

        if way.forced and only is not None:
            plan = await forced_plan(self.bench, view, event, only)
        else:
            plan = self.bench.plan(view, event, only=only)
        return broken_plan(view, plan, {way.broken: breakage_of(way.fault)}) if way.broken else plan

    def replay(self, past: PastRun, start: str | None, told: Callable[[int], object]) -> bool:
        """Fire an earlier run again, from a handler on where `start` names one; `told` hears the number of
        the new run when it has ended. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        work = self._replay(past, start, told)
        self.screen.run_worker(work, name="replay", group="fire", exit_on_error=False)
        return True

    async def _replay(self, past: PastRun, start: str | None, told: Callable[[int], object]) -> None:
        from hookscope.workbench.replay import prepared  # here: few replay

        try:
            ready = await prepared(self.bench, past, start=start)
            fire = self.bench.fire_guarded
            plan, view = ready.plan, ready.view
            self._firing = await fire(view, plan) if ready.guarded else self.bench.fire(view, plan)
            self._runs += 1
            number = self._runs
            post(self.screen, FiringStarted(number, plan))
            if await self._follow(number, self._firing) is not None:
                post(self.screen, Answered(partial(told, number)))
        except Exception as error:
            post(self.screen, Said(said(error), "warning"))
        finally:
            self._firing, self._preparing = None, False

    def play(self, message: str) -> bool:
        """Play a session that begins with this message. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        self.screen.run_worker(self._play(message), name="play", group="fire", exit_on_error=False)
        return True

    async def _play(self, message: str) -> None:
        from hookscope.workbench.play import Playing, Wanted  # here: few play

        try:
            engine, _ = await self.bench.stage()
            self._firing = playing = Playing(engine, Wanted((message,), token_hex(8)))
            async for scene in playing:
                self._runs += 1
                post(self.screen, FiringStarted(self._runs, scene.plan))
                post(self.screen, FiringOver(self._runs, scene.run))
            played = await playing
        except Exception as error:
            post(self.screen, PlayOver(None, said(error)))
        else:
            post(self.screen, PlayOver(played))
        finally:
            self._firing, self._preparing = None, False

    def fuzz(
        self, view: View, event: Event, only: str | None, told: Callable[[Fuzzed | None], object]
    ) -> bool:
        """Look for the smallest events that hooks fail at, on copies; `told` hears what was found, None where
        nothing could be looked for. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        work = self._fuzz(view, event, only, told)
        self.screen.run_worker(work, name="fuzz", group="fire", exit_on_error=False)
        return True

    async def _fuzz(
        self, view: View, event: Event, only: str | None, told: Callable[[Fuzzed | None], object]
    ) -> None:
        from hookscope.workbench.fuzzing import Fuzz, kept  # here: few fuzz

        found: Fuzzed | None = None
        try:
            ready = await self.bench.ready(view, event.kind)
            seed = int.from_bytes(token_bytes(4))
            fuzz = Fuzz(self.bench, ready, event, only=only, seed=seed, sandbox=True)
            self._firing = Stopped(fuzz.stop)
            fuzzed = await fuzz.run()
            found = await asyncio.to_thread(kept, self.bench, ready, fuzzed)
        except Exception as error:
            post(self.screen, Said(said(error), "warning"))
        finally:
            self._firing, self._preparing = None, False
        post(self.screen, Answered(partial(told, found)))

    def sequence(
        self,
        sequence: EventSequence,
        told: Callable[[int, Stepped], object],
        over: Callable[[bool], object],
    ) -> bool:
        """Fire a sequence; `told` hears of each step with the number of its run, `over` whether all passed.
        False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        work = self._sequence(sequence, told, over)
        self.screen.run_worker(work, name="sequence", group="fire", exit_on_error=False)
        return True

    async def _sequence(
        self,
        sequence: EventSequence,
        told: Callable[[int, Stepped], object],
        over: Callable[[bool], object],
    ) -> None:
        from hookscope.workbench.sequencing import Sequencing  # here: few fire sequences

        passed = True
        try:
            self._firing = sequencing = Sequencing(self.bench, sequence)
            async for stepped in sequencing.steps():
                passed = passed and stepped.done.passed
                if stepped.plan is not None and stepped.done.run is not None:
                    self._runs += 1
                    post(self.screen, FiringStarted(self._runs, stepped.plan))
                    post(self.screen, FiringOver(self._runs, stepped.done.run))
                post(self.screen, Answered(partial(told, self._runs, stepped)))
            post(self.screen, Answered(partial(over, passed and not sequencing.cancelled)))
        except Exception as error:
            post(self.screen, Said(said(error), "warning"))
        finally:
            self._firing, self._preparing = None, False

    def cancel(self) -> bool:
        """Stop the run on its way. False where there is none."""
        if self._firing is None:
            return False
        self._firing.cancel()
        return True

    async def _follow(self, number: int, firing: Firing) -> Run | None:
        """The run, once the screen has been told of it; None where there is none."""
        try:
            await _report(self.screen, number, firing)
            run = await firing
        except Exception as error:
            post(self.screen, FiringOver(number, None, said(error)))
            return None
        else:
            post(self.screen, FiringOver(number, run))
            return run
        finally:
            self._firing = None

    def test(self, files: Sequence[Path], told: Callable[[Checked], object]) -> bool:
        """Fire saved events one after another, each compared with its file. False where a run is going on."""
        if self._firing is not None or self._preparing:
            return False
        self._preparing = True
        self.screen.run_worker(self._test(files, told), name="test", group="fire", exit_on_error=False)
        return True

    async def _test(self, files: Sequence[Path], told: Callable[[Checked], object]) -> None:
        from hookscope.workbench.sequencing import checked_file  # here: few test

        try:
            for file in files:
                done = await checked_file(self.bench, file)
                post(self.screen, Answered(partial(told, done)))
        except Exception as error:
            post(self.screen, Said(said(error), "warning"))
        finally:
            self._preparing = False


async def _report(screen: MessagePump, number: int, firing: Firing) -> None:
    """All steps in order, gathered so that the screen hears of them ten times a second at most."""
    gathered: list[Step] = []

    def flush() -> None:
        if gathered:
            post(screen, StepsCame(number, tuple(gathered)))
            gathered.clear()

    loop = asyncio.get_running_loop()
    due: asyncio.TimerHandle | None = None
    try:
        async for step in firing:
            gathered.append(step)
            if due is None or due.when() <= loop.time():
                due = loop.call_later(FRAME, flush)
    finally:
        if due is not None:
            due.cancel()
        flush()

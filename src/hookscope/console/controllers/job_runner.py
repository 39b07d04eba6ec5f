"""Runs one job at a time (fire, replay, session, fuzz, sequence, test), reports its steps, and cancels it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING, Any, Protocol

from textual.message_pump import MessagePump
from textual.widget import Widget

from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.state.messages import (
    ConsoleTaskFailed,
    DebugEnded,
    FiringEnded,
    FiringStarted,
    HandlerStopped,
    JobEnded,
    JobStarted,
    NoticeShown,
    PastRunsLoaded,
    SessionEnded,
    StepsReported,
    ThreadAnswered,
    error_text,
    post_to,
)
from hookscope.model.failure import parse_fault
from hookscope.model.run import Event, Plan, Run, Step
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.analysis.fuzzing import FuzzResult
    from hookscope.analysis.order_findings import OrderFindings
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.authoring.testing.sequences import EventSequence, SequenceStepRun
    from hookscope.authoring.testing.test_runs import SavedEventResult
    from hookscope.console.controllers.bridge import Bridge
    from hookscope.console.state.console_state import ComposedEvent
    from hookscope.console.state.fire_requests import FireOptions
    from hookscope.model.run_comparison import Repetition
    from hookscope.runtime.debugger import Stepper


REPORT_SECONDS = 0.1  # seconds between two reports of a run's steps


class Stoppable(Protocol):
    """Something that can be stopped."""

    def cancel(self) -> object: ...


class FiringHandle(Stoppable, Protocol):
    """One event on its way, as the workbench hands it out."""

    async def number(self) -> int | None: ...

    def __aiter__(self) -> AsyncIterator[Step]: ...

    def __await__(self) -> Generator[Any, None, Run]: ...


class JobRunner:
    """Runs one job at a time, and posts its result. A failure is a message.

    A run has the number that it has in the journal: the command line means the same one by it.
    """

    def __init__(self, screen: Widget, bridge: Bridge) -> None:
        self.screen, self.bridge = screen, bridge
        self.job = ""  # what goes on, as the beginning of a sentence
        self.cancelled = False  # its user wants it no more
        self.stepper: Stepper | None = None  # of the run that waits before each handler
        self._goes: Stoppable | None = None  # the part of it that can be asked to end
        self._last = 0  # the highest number of a run

    @property
    def bench(self) -> Workbench:
        return self.bridge.bench

    @property
    def busy(self) -> bool:
        """Is an event on its way, or about to be."""
        return bool(self.job)

    def remember(self, view: Snapshot) -> None:
        """Find out what was fired here before this sitting."""

        def remembering() -> None:
            try:
                past, others = (
                    self.bench.run_record.runs(view),
                    self.bench.run_record.hidden_run_dialects(view),
                )
            except Exception as error:
                post_to(self.screen, ConsoleTaskFailed("the journal", error_text(error)))
                past, others = (), ()
            self._last = max(self._last, *(run.id for run in past), 0)
            post_to(self.screen, PastRunsLoaded(past, others))

        self.screen.run_worker(remembering, name="journal", group="journal", thread=True, exit_on_error=False)

    # One job.

    def start(self, job: str, work: Callable[[], Coroutine[Any, Any, object]]) -> bool:
        """Start the job. If another one runs, say so and return False."""
        if self.busy:
            told = with_keys("{fire.leave} cancels it.")
            post_to(self.screen, NoticeShown(f"{self.job} is still going on; {told}", "warning"))
            return False
        self.job, self.cancelled = job, False
        post_to(self.screen, JobStarted(job))
        self.screen.run_worker(self._do(work), name=job, group="fire", exit_on_error=False)
        return True

    async def _do(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        try:
            await work()
        except Exception as error:
            post_to(self.screen, NoticeShown(error_text(error), "warning"))
        finally:
            self.job, self._goes, self.stepper = "", None, None
            post_to(self.screen, JobEnded())

    def cancel(self) -> bool:
        """Stop the running or prepared job. Return False if there is none."""
        if not self.busy:
            return False
        self.cancelled = True
        if self._goes is not None:
            self._goes.cancel()
        return True

    def goes(self, part: Stoppable) -> None:
        """This is what a cancel means now; it is asked to end at once where that was wanted before."""
        self._goes = part
        if self.cancelled:
            part.cancel()

    # One run of it.

    async def follow(
        self, plan: Plan, firing: FiringHandle, asked: ComposedEvent | None = None
    ) -> tuple[int, Run | None]:
        """Its number, and the run once the screen has been told of it; None where there is none."""
        self.goes(firing)
        number = 0
        try:
            number = self.numbered(await firing.number())
            post_to(self.screen, FiringStarted(number, plan, asked))
            await _report_steps(self.screen, number, firing)
            run = await firing
        except Exception as error:
            post_to(self.screen, FiringEnded(number, None, error_text(error)))
            return number, None
        finally:
            self._goes = None
        post_to(self.screen, FiringEnded(number, run))
        return number, run

    def tell(self, plan: Plan, run: Run) -> int:
        """A run that is over already, as though it had been followed; its number."""
        number = self.numbered(run.id)
        post_to(self.screen, FiringStarted(number, plan))
        post_to(self.screen, FiringEnded(number, run))
        return number

    def numbered(self, recorded: int | None) -> int:
        """The number of a run: the journal's; of one that is on no record, one behind all others."""
        number = recorded or self._last + 1
        self._last = max(self._last, number)
        return number


async def _report_steps(screen: MessagePump, number: int, firing: FiringHandle) -> None:
    """Report all steps in order, gathered: the screen is updated ten times a second at most."""
    gathered: list[Step] = []

    def flush() -> None:
        if gathered:
            post_to(screen, StepsReported(number, tuple(gathered)))
            gathered.clear()

    loop = asyncio.get_running_loop()
    due: asyncio.TimerHandle | None = None
    try:
        async for step in firing:
            gathered.append(step)
            if due is None or due.when() <= loop.time():
                due = loop.call_later(REPORT_SECONDS, flush)
    finally:
        if due is not None:
            due.cancel()
        flush()


CANCELLED_BEFORE_FIRING = "Cancelled before anything was fired."


@dataclass(frozen=True, slots=True)
class StopByCallback:
    """Something that ends by another call than `cancel`."""

    cancel: Callable[[], object]


async def fire_job(
    runner: JobRunner, view: Snapshot, plan: Plan, again: Callable[[Snapshot], Plan], asked: ComposedEvent
) -> None:
    """Run a plan; on copies if that was asked for.

    `again` plans anew for a view in which modules were loaded that tell more.
    """
    bench = runner.bench
    try:
        if asked.guarded or plan.event.kind != "folder":
            ready = await bench.load_modules(view, plan.event.kind)
            if ready is not view:
                view, plan = ready, again(ready)
                runner.bridge.look()  # the rows show what the load has found out
        if _is_cancelled(runner):
            return
        firing = await bench.fire_sandboxed(view, plan) if asked.guarded else bench.fire(view, plan)
    except Exception as error:
        post_to(runner.screen, FiringEnded(0, None, error_text(error)))
    else:
        await runner.follow(plan, firing, asked)


def _is_cancelled(runner: JobRunner) -> bool:
    """Return whether the job was cancelled while it was prepared, and report it."""
    if runner.cancelled:
        post_to(runner.screen, NoticeShown(CANCELLED_BEFORE_FIRING))
    return runner.cancelled


async def fire_with_options(
    runner: JobRunner,
    view: Snapshot,
    event: Event,
    asked: ComposedEvent,
    told: Callable[[Repetition | OrderFindings], object],
) -> None:
    """Fire as it was chosen: forced, with a fault, several times, in other orders, on copies. `told` hears
    what several runs did again, or what came of other orders."""
    from hookscope.analysis.repeated_runs import repeated_firings
    from hookscope.model.run_comparison import summarize_repetition  # here, and below: few ask for it

    way, bench = asked.way, runner.bench
    assert way is not None, "an event that is simply fired goes the other way"
    ready = await bench.load_modules(view, event.kind)
    if ready is not view:
        runner.bridge.look()
    plan = await _plan_with_options(runner, ready, event, asked.only, way)
    if _is_cancelled(runner):
        return
    if way.stepped:
        await _fire_by_steps(runner, ready, plan, asked)
        return
    if way.shuffled:
        await _fire_in_orders(runner, ready, plan, asked, told)
        return
    if way.debugged:
        await _fire_by_lines(runner, ready, plan, asked)
        return
    runs: list[Run] = []
    async with aclosing(repeated_firings(bench, ready, plan, way.times, sandbox=way.guarded)) as fired:
        async for firing in fired:
            _, run = await runner.follow(plan, firing, asked)
            runs += [run] if run is not None else []
    if len(runs) > 1:
        post_to(runner.screen, ThreadAnswered(partial(told, summarize_repetition(runs))))


async def _fire_in_orders(
    runner: JobRunner,
    view: Snapshot,
    plan: Plan,
    asked: ComposedEvent,
    told: Callable[[OrderFindings], object],
) -> None:
    from hookscope.analysis.order_search import OrderRuns

    way = asked.way
    assert way is not None, "as it is in fire_otherwise"
    seed = int.from_bytes(token_bytes(4))
    shuffling = OrderRuns(runner.bench, view, plan, way.times, seed=seed, sandbox=way.guarded)
    async with aclosing(shuffling.firings()) as fired:
        async for firing in fired:
            await runner.follow(shuffling.plan, firing, asked)
    post_to(runner.screen, ThreadAnswered(partial(told, shuffling.findings())))


async def _fire_by_steps(runner: JobRunner, view: Snapshot, plan: Plan, asked: ComposedEvent) -> None:
    from hookscope.runtime.debugger import Stepper

    stepper = runner.stepper = Stepper()
    bench = runner.bench
    guarded = asked.way is not None and asked.way.guarded
    firing = await bench.fire_sandboxed(view, plan, stepper) if guarded else bench.fire(view, plan, stepper)
    await runner.follow(plan, firing, asked)


async def _fire_by_lines(runner: JobRunner, view: Snapshot, plan: Plan, asked: ComposedEvent) -> None:
    from hookscope.runtime.debugger import Debugger

    debugger, bench = Debugger(), runner.bench
    guarded = asked.way is not None and asked.way.guarded
    firing = await bench.fire_debugged(view, plan, debugger, sandbox=guarded)

    async def watch() -> None:
        stop = None
        while True:
            stop = await debugger.stopped(after=stop)
            post_to(runner.screen, HandlerStopped(debugger, stop))

    watching = asyncio.create_task(watch())
    try:
        await runner.follow(plan, firing, asked)
    finally:
        watching.cancel()
        post_to(runner.screen, DebugEnded())


async def _plan_with_options(
    runner: JobRunner, view: Snapshot, event: Event, only: str | None, way: FireOptions
) -> Plan:
    from hookscope.authoring.testing.fire_request import forced_plan, plan_with_faults

    if way.forced and only is not None:
        plan = await forced_plan(runner.bench, view, event, only)
    else:
        plan = runner.bench.plan(view, event, only=only)
    return plan_with_faults(view, plan, {way.broken: parse_fault(way.fault)}) if way.broken else plan


async def replay_job(
    runner: JobRunner, past: PastRun, start: str | None, told: Callable[[int], object]
) -> None:
    """Fire an earlier run again, from a handler on where `start` names one; `told` hears the number of
    the new run when it has ended."""
    from hookscope.authoring.testing.replay import prepare_replay

    bench = runner.bench
    ready = await prepare_replay(bench, past, start=start)
    if _is_cancelled(runner):
        return
    plan, view = ready.plan, ready.view
    firing = await bench.fire_sandboxed(view, plan) if ready.sandboxed else bench.fire(view, plan)
    number, run = await runner.follow(plan, firing)
    if run is not None:
        post_to(runner.screen, ThreadAnswered(partial(told, number)))


async def session_job(runner: JobRunner, message: str) -> None:
    """Play a session that begins with this message."""
    from hookscope.sessions.session_agents import session_engine
    from hookscope.sessions.session_runner import SessionRequest
    from hookscope.sessions.simulation import Simulation

    try:
        engine, _ = await session_engine(runner.bench)
        if _is_cancelled(runner):
            return
        playing = Simulation(engine, SessionRequest((message,), token_hex(8)))
        runner.goes(playing)
        async for scene in playing:
            runner.tell(scene.plan, scene.run)
        played = await playing
    except Exception as error:
        post_to(runner.screen, SessionEnded(None, error_text(error)))
    else:
        post_to(runner.screen, SessionEnded(played))


async def fuzz_job(
    runner: JobRunner, view: Snapshot, event: Event, only: str | None, told: Callable[[FuzzResult], object]
) -> None:
    """Look for the smallest events that hooks fail at, on copies; `told` hears what was found."""
    from hookscope.analysis.fuzzing import Fuzzer, save_failures

    bench = runner.bench
    ready = await bench.load_modules(view, event.kind)
    if _is_cancelled(runner):
        return
    fuzz = Fuzzer(bench, ready, event, only=only, seed=int.from_bytes(token_bytes(4)), sandbox=True)
    runner.goes(StopByCallback(fuzz.stop))
    fuzzed = await fuzz.run()
    found = await asyncio.to_thread(save_failures, bench, ready, fuzzed)
    post_to(runner.screen, ThreadAnswered(partial(told, found)))


async def sequence_job(
    runner: JobRunner,
    sequence: EventSequence,
    told: Callable[[int, SequenceStepRun], object],
    over: Callable[[bool], object],
) -> None:
    """Fire a sequence; `told` hears of each step with the number of its run, `over` whether all passed."""
    from hookscope.authoring.testing.sequences import SequenceRun

    passed, number = True, 0
    sequencing = SequenceRun(runner.bench, sequence)
    runner.goes(sequencing)
    async for stepped in sequencing.steps():
        passed = passed and stepped.result.passed
        if stepped.plan is not None and stepped.result.run is not None:
            number = runner.tell(stepped.plan, stepped.result.run)
        post_to(runner.screen, ThreadAnswered(partial(told, number, stepped)))
    post_to(runner.screen, ThreadAnswered(partial(over, passed and not sequencing.cancelled)))


async def saved_events_job(
    runner: JobRunner,
    files: Sequence[Path],
    begins: Callable[[Path], object],
    told: Callable[[SavedEventResult], object],
) -> None:
    """Fire saved events one after another, each compared with its file."""
    from hookscope.authoring.testing.sequences import run_test_file

    for file in files:
        if runner.cancelled:
            return
        post_to(runner.screen, ThreadAnswered(partial(begins, file)))
        done = await run_test_file(runner.bench, file, runner.goes)
        post_to(runner.screen, ThreadAnswered(partial(told, done)))

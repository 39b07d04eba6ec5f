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
    """A running event, as the workbench returns it."""

    async def number(self) -> int | None: ...

    def __aiter__(self) -> AsyncIterator[Step]: ...

    def __await__(self) -> Generator[Any, None, Run]: ...


class JobRunner:
    """Runs one job at a time, and posts its result. A failure is a message.

    Runs have the numbers of the journal, so that the command line uses the same ones.
    """

    def __init__(self, screen: Widget, bridge: Bridge) -> None:
        self.screen, self.bridge = screen, bridge
        self.job = ""  # the running job, as the beginning of a sentence
        self.cancelled = False  # by the user
        self.stepper: Stepper | None = None  # of a run that pauses before each handler
        self._cancellable: Stoppable | None = None  # the part of the job that can be cancelled
        self._last = 0  # the highest number of a run

    @property
    def bench(self) -> Workbench:
        return self.bridge.bench

    @property
    def busy(self) -> bool:
        """True if an event is being fired, or is about to be."""
        return bool(self.job)

    def remember(self, view: Snapshot) -> None:
        """Load the runs before this session from the journal."""

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
        """Start a job. If another one runs, report that and return False."""
        if self.busy:
            hint = with_keys("{fire.leave} cancels it.")
            post_to(self.screen, NoticeShown(f"{self.job} is still running; {hint}", "warning"))
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
            self.job, self._cancellable, self.stepper = "", None, None
            post_to(self.screen, JobEnded())

    def cancel(self) -> bool:
        """Stop the running or prepared job. Return False if there is none."""
        if not self.busy:
            return False
        self.cancelled = True
        if self._cancellable is not None:
            self._cancellable.cancel()
        return True

    def set_cancellable(self, part: Stoppable) -> None:
        """Set the part to cancel with the job; cancel it at once if the job is already cancelled."""
        self._cancellable = part
        if self.cancelled:
            part.cancel()

    # One run of a job.

    async def follow(
        self, plan: Plan, firing: FiringHandle, composed: ComposedEvent | None = None
    ) -> tuple[int, Run | None]:
        """Report a run's steps to the screen. Return its number, and the run or None if it failed."""
        self.set_cancellable(firing)
        number = 0
        try:
            number = self.numbered(await firing.number())
            post_to(self.screen, FiringStarted(number, plan, composed))
            await _report_steps(self.screen, number, firing)
            run = await firing
        except Exception as error:
            post_to(self.screen, FiringEnded(number, None, error_text(error)))
            return number, None
        finally:
            self._cancellable = None
        post_to(self.screen, FiringEnded(number, run))
        return number, run

    def report_finished(self, plan: Plan, run: Run) -> int:
        """Report the start and the end of a finished run. Return its number."""
        number = self.numbered(run.id)
        post_to(self.screen, FiringStarted(number, plan))
        post_to(self.screen, FiringEnded(number, run))
        return number

    def numbered(self, recorded: int | None) -> int:
        """Return the number of a run: the journal's, or the next free one for an unrecorded run."""
        number = recorded or self._last + 1
        self._last = max(self._last, number)
        return number


async def _report_steps(screen: MessagePump, number: int, firing: FiringHandle) -> None:
    """Report all steps in order, in batches: the screen is updated ten times a second at most."""
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
    """Adapts a stop function to `Stoppable`."""

    cancel: Callable[[], object]


async def fire_job(
    runner: JobRunner, view: Snapshot, plan: Plan, replan: Callable[[Snapshot], Plan], composed: ComposedEvent
) -> None:
    """Run a plan, on copies if requested. `replan` plans again after modules were loaded."""
    bench = runner.bench
    try:
        if composed.guarded or plan.event.kind != "folder":
            loaded = await bench.load_modules(view, plan.event.kind)
            if loaded is not view:
                view, plan = loaded, replan(loaded)
                runner.bridge.scan()  # so that the rows show the results of the load
        if _is_cancelled(runner):
            return
        firing = await bench.fire_sandboxed(view, plan) if composed.guarded else bench.fire(view, plan)
    except Exception as error:
        post_to(runner.screen, FiringEnded(0, None, error_text(error)))
    else:
        await runner.follow(plan, firing, composed)


def _is_cancelled(runner: JobRunner) -> bool:
    """Return whether the job was cancelled before it fired, and report it."""
    if runner.cancelled:
        post_to(runner.screen, NoticeShown(CANCELLED_BEFORE_FIRING))
    return runner.cancelled


async def fire_with_options(
    runner: JobRunner,
    view: Snapshot,
    event: Event,
    composed: ComposedEvent,
    on_result: Callable[[Repetition | OrderFindings], object],
) -> None:
    """Fire with options: forced, with a fault, repeated, in other orders, on copies, by step or by line.

    `on_result` receives the comparison of several runs, or the findings of other orders.
    """
    from hookscope.app.runs.active_runs import repeated_firings
    from hookscope.model.run_comparison import summarize_repetition  # rarely needed, like those below

    options, bench = composed.options, runner.bench
    assert options is not None, "fire_job fires events without options"
    loaded = await bench.load_modules(view, event.kind)
    if loaded is not view:
        runner.bridge.scan()
    plan = await _plan_with_options(runner, loaded, event, composed.only, options)
    if _is_cancelled(runner):
        return
    if options.stepped:
        await _fire_by_steps(runner, loaded, plan, composed)
        return
    if options.shuffled:
        await _fire_in_orders(runner, loaded, plan, composed, on_result)
        return
    if options.debugged:
        await _fire_by_lines(runner, loaded, plan, composed)
        return
    runs: list[Run] = []
    async with aclosing(
        repeated_firings(bench, loaded, plan, options.times, sandbox=options.guarded)
    ) as fired:
        async for firing in fired:
            _, run = await runner.follow(plan, firing, composed)
            runs += [run] if run is not None else []
    if len(runs) > 1:
        post_to(runner.screen, ThreadAnswered(partial(on_result, summarize_repetition(runs))))


async def _fire_in_orders(
    runner: JobRunner,
    view: Snapshot,
    plan: Plan,
    composed: ComposedEvent,
    on_result: Callable[[OrderFindings], object],
) -> None:
    from hookscope.analysis.order_search import OrderRuns

    options = composed.options
    assert options is not None, "fire_with_options has checked it"
    seed = int.from_bytes(token_bytes(4))
    order_runs = OrderRuns(runner.bench, view, plan, options.times, seed=seed, sandbox=options.guarded)
    async with aclosing(order_runs.firings()) as fired:
        async for firing in fired:
            await runner.follow(order_runs.plan, firing, composed)
    post_to(runner.screen, ThreadAnswered(partial(on_result, order_runs.findings())))


async def _fire_by_steps(runner: JobRunner, view: Snapshot, plan: Plan, composed: ComposedEvent) -> None:
    from hookscope.runtime.debugger import Stepper

    stepper = runner.stepper = Stepper()
    bench = runner.bench
    guarded = composed.options is not None and composed.options.guarded
    firing = await bench.fire_sandboxed(view, plan, stepper) if guarded else bench.fire(view, plan, stepper)
    await runner.follow(plan, firing, composed)


async def _fire_by_lines(runner: JobRunner, view: Snapshot, plan: Plan, composed: ComposedEvent) -> None:
    from hookscope.runtime.debugger import Debugger

    debugger, bench = Debugger(), runner.bench
    guarded = composed.options is not None and composed.options.guarded
    firing = await bench.fire_debugged(view, plan, debugger, sandbox=guarded)

    async def watch() -> None:
        stop = None
        while True:
            stop = await debugger.stopped(after=stop)
            post_to(runner.screen, HandlerStopped(debugger, stop))

    watcher = asyncio.create_task(watch())
    try:
        await runner.follow(plan, firing, composed)
    finally:
        watcher.cancel()
        post_to(runner.screen, DebugEnded())


async def _plan_with_options(
    runner: JobRunner, view: Snapshot, event: Event, only: str | None, options: FireOptions
) -> Plan:
    from hookscope.authoring.testing.fire_request import forced_plan, plan_with_faults

    if options.forced and only is not None:
        plan = await forced_plan(runner.bench, view, event, only)
    else:
        plan = runner.bench.plan(view, event, only=only)
    return (
        plan_with_faults(view, plan, {options.broken: parse_fault(options.fault)}) if options.broken else plan
    )


async def replay_job(
    runner: JobRunner, past: PastRun, start: str | None, on_result: Callable[[int], object]
) -> None:
    """Replay a run, from the handler `start` on if given. `on_result` receives the new run's number."""
    from hookscope.authoring.testing.replay import prepare_replay

    bench = runner.bench
    loaded = await prepare_replay(bench, past, start=start)
    if _is_cancelled(runner):
        return
    plan, view = loaded.plan, loaded.view
    firing = await bench.fire_sandboxed(view, plan) if loaded.sandboxed else bench.fire(view, plan)
    number, run = await runner.follow(plan, firing)
    if run is not None:
        post_to(runner.screen, ThreadAnswered(partial(on_result, number)))


async def session_job(runner: JobRunner, message: str) -> None:
    """Simulate a session that starts with this message."""
    from hookscope.sessions.session_agents import session_engine
    from hookscope.sessions.session_runner import SessionRequest, Simulation

    try:
        engine, _ = await session_engine(runner.bench)
        if _is_cancelled(runner):
            return
        simulation = Simulation(engine, SessionRequest((message,), token_hex(8)))
        runner.set_cancellable(simulation)
        async for played_run in simulation:
            runner.report_finished(played_run.plan, played_run.run)
        result = await simulation
    except Exception as error:
        post_to(runner.screen, SessionEnded(None, error_text(error)))
    else:
        post_to(runner.screen, SessionEnded(result))


async def fuzz_job(
    runner: JobRunner,
    view: Snapshot,
    event: Event,
    only: str | None,
    on_result: Callable[[FuzzResult], object],
) -> None:
    """Search on copies for the smallest events that make hooks fail. `on_result` receives the result."""
    from hookscope.analysis.fuzzing import Fuzzer, save_failures

    bench = runner.bench
    loaded = await bench.load_modules(view, event.kind)
    if _is_cancelled(runner):
        return
    fuzz = Fuzzer(bench, loaded, event, only=only, seed=int.from_bytes(token_bytes(4)), sandbox=True)
    runner.set_cancellable(StopByCallback(fuzz.stop))
    fuzzed = await fuzz.run()
    found = await asyncio.to_thread(save_failures, bench, loaded, fuzzed)
    post_to(runner.screen, ThreadAnswered(partial(on_result, found)))


async def sequence_job(
    runner: JobRunner,
    sequence: EventSequence,
    on_result: Callable[[int, SequenceStepRun], object],
    on_end: Callable[[bool], object],
) -> None:
    """Fire a sequence. `on_result` receives each step with its run's number; `on_end`, whether all passed."""
    from hookscope.authoring.testing.sequences import SequenceRun

    passed, number = True, 0
    sequencing = SequenceRun(runner.bench, sequence)
    runner.set_cancellable(sequencing)
    async for stepped in sequencing.steps():
        passed = passed and stepped.result.passed
        if stepped.plan is not None and stepped.result.run is not None:
            number = runner.report_finished(stepped.plan, stepped.result.run)
        post_to(runner.screen, ThreadAnswered(partial(on_result, number, stepped)))
    post_to(runner.screen, ThreadAnswered(partial(on_end, passed and not sequencing.cancelled)))


async def saved_events_job(
    runner: JobRunner,
    files: Sequence[Path],
    on_start: Callable[[Path], object],
    on_result: Callable[[SavedEventResult], object],
) -> None:
    """Fire saved events one after another, and compare each with its expectations."""
    from hookscope.authoring.testing.sequences import run_test_file

    for file in files:
        if runner.cancelled:
            return
        post_to(runner.screen, ThreadAnswered(partial(on_start, file)))
        outcome = await run_test_file(runner.bench, file, runner.set_cancellable)
        post_to(runner.screen, ThreadAnswered(partial(on_result, outcome)))

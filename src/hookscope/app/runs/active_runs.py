"""Active runs of a workbench: started as planned, awaited, repeated, and cancelled before it closes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from time import time
from typing import TYPE_CHECKING

from hookscope.app.load_record import load_attempts_in
from hookscope.app.options import LINGER
from hookscope.app.snapshot import PastRun, Snapshot
from hookscope.model.host import Host
from hookscope.model.run import Event, Plan, Run
from hookscope.storage.state_files import JOURNAL, state_folder

if TYPE_CHECKING:
    from hookscope.app.runs.sandboxed_run import RunWorkers
    from hookscope.app.workbench import Workbench
    from hookscope.engine.hook_engine import HookEngine
    from hookscope.runtime.debugger import Stepper
    from hookscope.runtime.firing import Firing
    from hookscope.storage.journal.journal import Journal
    from hookscope.storage.journal.redaction import Redaction
    from hookscope.storage.state_files import Retention

SHOWN_RUNS = 20  # of the last runs


class RunRecord:
    """Opens the journal for its workbench. Reading and writing it blocks and raises OSError."""

    def __init__(self, retention: Callable[[], Retention], redaction_of: Callable[[Host], Redaction]) -> None:
        """`redaction_of` returns the redaction of a host, without its settings: the journal has those."""
        self._retention, self._redaction_of = retention, redaction_of
        self._journal: Journal | None = None

    def journal(self, host: Host) -> Journal:
        """Return the journal of this workspace. This touches no disk."""
        from hookscope.app.runs.past_runs import workspace_key  # a scan needs no database

        workspace = workspace_key(host)
        if self._journal is None:
            from hookscope.storage.journal.journal import Journal

            file = state_folder() / JOURNAL
            self._journal = Journal(file, workspace, host.dialect.name, self._retention())
        self._journal = self._journal.for_host(host.dialect, host.settings).for_workspace(workspace)
        hidden = self._redaction_of(host)
        self._journal.mask_also(hidden.secrets, hidden.keys)
        return self._journal

    def runs(self, view: Snapshot, limit: int = SHOWN_RUNS) -> tuple[PastRun, ...]:
        """Return the last runs of this workspace, oldest first."""
        from hookscope.app.runs.past_runs import past_run

        stored = reversed(self.journal(view.host).recent(limit))
        return tuple(past for one in stored if (past := past_run(one, view.host)) is not None)

    def hidden_run_dialects(self, view: Snapshot) -> tuple[str, ...]:
        """Return the dialect of each run that `runs` skips: the current one has no events of its kind."""
        from hookscope.storage.journal.records import run_of

        recent = (one for one in self.journal(view.host).recent(SHOWN_RUNS) if one.outcome != "running")
        kinds = ((one.dialect, run_of(one.document).event.kind) for one in recent)
        return tuple(dialect for dialect, kind in kinds if kind not in view.host.dialect.kinds)

    def run(self, view: Snapshot, number: int) -> PastRun:
        """Return the run with this number. Raises Refusal if it does not exist or cannot be fired."""
        from hookscope.app.runs.past_runs import past_run_numbered

        return past_run_numbered(number, self.journal(view.host).run(number), view.host)

    async def close(self) -> None:
        """Wait until all pending journal writes are done."""
        if self._journal is not None:
            import asyncio  # reading the journal needs no event loop

            journal, self._journal = self._journal, None
            await asyncio.to_thread(journal.close)


class ActiveRuns:
    """Owns the active runs until `cancel`.

    Args:
        linger_seconds: see Workbench.
    """

    def __init__(self, bench: Workbench, linger_seconds: float | None) -> None:
        self._bench, self._linger_seconds = bench, linger_seconds
        self._firings: list[Firing] = []  # may include firings that have ended

    def start(
        self,
        view: Snapshot,
        plan: Plan,
        workers: RunWorkers | None = None,
        *,
        keeps_copies: bool = False,
        recorded: bool = True,
        stepper: Stepper | None = None,
    ) -> Firing:
        """Start a plan of this snapshot in `workers`, by default those of the workbench.

        Passed `workers` end with the run; with `keeps_copies` they and their sandbox stay.
        """
        engine = self._engine(view, workers, recorded=recorded)
        if not recorded:
            return self._start(engine, plan, None, stepper)
        if workers is None:
            executors, seconds, complete = (
                self._bench.worker_pools.process_executors,
                self._linger_seconds,
                None,
            )
        elif keeps_copies:
            return self._start(
                engine, plan, self._recording_loads(engine, workers.with_sandbox_result), stepper
            )
        else:
            executors, complete = workers.process_executors, workers.complete
            seconds = LINGER if self._linger_seconds is None else self._linger_seconds
        ended = self._recording_loads(engine, complete)

        async def lingering(run: Run) -> Run:
            if seconds:
                from hookscope.app.runs.sandboxed_run import with_background_work
                from hookscope.runtime.background_work import wait_time

                run = await with_background_work(
                    run, executors(), wait_time(seconds, lambda: firing.is_cancelled)
                )
            return await ended(run)

        firing = self._start(engine, plan, lingering, stepper)  # `lingering` refers to it
        return firing

    def _recording_loads(
        self, engine: HookEngine, complete: Callable[[Run], Awaitable[Run]] | None
    ) -> Callable[[Run], Awaitable[Run]]:
        """Return `complete`, extended to record the loads of the run."""
        started = time()

        async def ended(run: Run) -> Run:
            run = await complete(run) if complete is not None else run
            await self._bench.record_loads(engine.host, load_attempts_in(run), started)
            return run

        return ended

    def _start(
        self,
        engine: HookEngine,
        plan: Plan,
        complete: Callable[[Run], Awaitable[Run]] | None,
        stepper: Stepper | None,
    ) -> Firing:
        """Start a plan. Events that it causes go to the same target: one hook, or all hooks except taps."""
        from hookscope.recording.taps import without_taps

        def follow(caused: Event) -> Plan:
            then = engine.plan(caused, only=plan.only)
            return then if plan.only is not None else without_taps(then)

        engine.executors.expect(plan)
        firing = engine.fire(plan, complete=complete, follow=follow, stepper=stepper)
        self._firings = [*(one for one in self._firings if not one.done), firing]
        return firing

    def _engine(self, view: Snapshot, workers: RunWorkers | None, *, recorded: bool) -> HookEngine:
        from hookscope.engine.hook_engine import HookEngine

        bench = self._bench
        executors = (
            workers.executors
            if workers is not None
            else bench.worker_pools.executors(view.host, view.languages)
        )
        engine = HookEngine(view.host, executors, bench.run_record.journal(view.host) if recorded else None)
        engine.inventory, engine.registry = view.inventory, view.registry
        return engine

    async def wait_for_background_work(self, seconds: float) -> tuple[str, ...]:
        """See Workbench.wait_for_background_work."""
        from hookscope.app.runs.sandboxed_run import background_work_done, background_work_messages
        from hookscope.runtime.background_work import wait_time

        return tuple(
            background_work_messages(
                await background_work_done(self._bench.worker_pools.process_executors(), wait_time(seconds)),
                seconds,
            )
        )

    async def cancel(self) -> None:
        """Cancel the active runs and wait until they are recorded.

        This happens before workers end: a handler whose worker is gone would be reported as crashed.
        """
        running, self._firings = [one for one in self._firings if not one.done], []
        for firing in running:
            firing.cancel()
        for firing in running:
            await firing


MOST_REPETITIONS = 1_000  # fires


async def repeated_firings(
    bench: Workbench, view: Snapshot, plan: Plan, times: int, *, sandbox: bool
) -> AsyncGenerator[Firing]:
    """Fire the plan several times in sequence; `summarize_repetition` reports what the runs repeated.

    Each firing is yielded when it has started; the next starts when it has ended, and none after a
    cancelled one. Every fire has a new event with the current time. All run in the same workers, so what a
    handler keeps in memory stays, as in its host.

    With `sandbox` all run on the same copies, which are removed at the end; each Run reports what has
    changed since they were made. Close the generator (`contextlib.aclosing`) to remove them. Raises OSError
    if the copies cannot be made.
    """
    guard = await bench.open_sandbox(view) if sandbox else None
    try:
        for _ in range(times):
            now = replace(plan, event=replace(plan.event, timestamp=datetime.now(UTC)))
            firing = bench.fire(view, now) if guard is None else bench.fire_in_sandbox(view, now, guard)
            yield firing
            if (await firing).cancelled:
                return
    finally:
        if guard is not None:
            await guard.close()

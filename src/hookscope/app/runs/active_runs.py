"""Active runs of a workbench: started as planned, awaited, and cancelled before it closes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import time
from typing import TYPE_CHECKING

from hookscope.app.failed_loads import load_attempts_in
from hookscope.app.options import LINGER
from hookscope.app.snapshot import Snapshot
from hookscope.model.run import Event, Plan, Run

if TYPE_CHECKING:  # a scan fires nothing
    from hookscope.app.runs.sandboxed_run import RunWorkers, SandboxedWorkers
    from hookscope.app.workbench import Workbench
    from hookscope.engine.hook_engine import HookEngine
    from hookscope.runtime.firing import Firing
    from hookscope.runtime.stepper import Stepper


class ActiveRuns:
    """Owns the active runs until `cancel`.

    Args:
        linger_seconds: see Workbench.
    """

    def __init__(self, bench: Workbench, lingers: float | None) -> None:
        self._bench, self._lingers = bench, lingers
        self._going: list[Firing] = []  # may include firings that have ended

    def begin(
        self,
        view: Snapshot,
        plan: Plan,
        guard: SandboxedWorkers | RunWorkers | None = None,
        *,
        stays: bool = False,
        recorded: bool = True,
        stepper: Stepper | None = None,
    ) -> Firing:
        """Start a plan of this snapshot: in the given workers, else in those of the workbench.

        The given workers end with the run; with `keeps_copies` the sandbox stays.
        """
        engine = self._engine(view, guard, recorded=recorded)
        if not recorded:
            return self._begin(engine, plan, None, stepper)
        if guard is None:
            lanes, seconds, complete = self._bench.crew.running, self._lingers, None
        elif stays:
            return self._begin(engine, plan, self._learning(engine, guard.tell), stepper)
        else:
            lanes, complete = guard.running, guard.complete
            seconds = LINGER if self._lingers is None else self._lingers
        ended = self._learning(engine, complete)

        async def lingering(run: Run) -> Run:
            if seconds:
                from hookscope.app.runs.sandboxed_run import with_background_work
                from hookscope.runtime.background_work import wait_time

                run = await with_background_work(
                    run, lanes(), wait_time(seconds, lambda: firing.is_cancelled)
                )
            return await ended(run)

        firing = self._begin(engine, plan, lingering, stepper)  # `lingering` reads whether it is cancelled
        return firing

    def _learning(
        self, engine: HookEngine, complete: Callable[[Run], Awaitable[Run]] | None
    ) -> Callable[[Run], Awaitable[Run]]:
        """Return `complete`, extended to record the loads of the run."""
        begun = time()

        async def ended(run: Run) -> Run:
            run = await complete(run) if complete is not None else run
            await self._bench.learn(engine.host, load_attempts_in(run), begun)
            return run

        return ended

    def _begin(
        self,
        engine: HookEngine,
        plan: Plan,
        complete: Callable[[Run], Awaitable[Run]] | None,
        stepper: Stepper | None,
    ) -> Firing:
        """Start a plan. Events that it causes go to the same target: one hook, or all hooks except taps."""
        from hookscope.recording.installed_taps import without_taps

        def follow(caused: Event) -> Plan:
            then = engine.plan(caused, only=plan.only)
            return then if plan.only is not None else without_taps(then)

        engine.lanes.expect(plan)
        firing = engine.fire(plan, complete=complete, follow=follow, stepper=stepper)
        self._going = [*(one for one in self._going if not one.done), firing]
        return firing

    def _engine(
        self, view: Snapshot, guard: SandboxedWorkers | RunWorkers | None, *, recorded: bool
    ) -> HookEngine:
        from hookscope.engine.hook_engine import HookEngine

        bench = self._bench
        lanes = guard.lanes if guard is not None else bench.crew.lanes(view.host, view.languages)
        engine = HookEngine(view.host, lanes, bench.record.journal(view.host) if recorded else None)
        engine.inventory, engine.registry = view.inventory, view.registry
        return engine

    async def settled(self, seconds: float) -> tuple[str, ...]:
        """See Workbench.wait_for_background_work."""
        from hookscope.app.runs.sandboxed_run import background_work_done, background_work_messages
        from hookscope.runtime.background_work import wait_time

        return tuple(
            background_work_messages(
                await background_work_done(self._bench.crew.running(), wait_time(seconds)), seconds
            )
        )

    async def cancel(self) -> None:
        """Cancel the active runs and wait until they are recorded.

        This happens before workers end: a handler whose worker is gone would be reported as crashed.
        """
        going, self._going = [one for one in self._going if not one.done], []
        for firing in going:
            firing.cancel()
        for firing in going:
            await firing

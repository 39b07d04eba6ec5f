"""Who runs handlers and who records runs: executors, recorders, listeners. Protocols only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from hookscope.model.failure import Failure
from hookscope.model.run import (
    Code,
    Declared,
    Event,
    Handler,
    Module,
    OnStep,
    Plan,
    Registration,
    Run,
)


class Executor(Protocol):
    """Where handlers run. Owns what it starts; `close` ends it and waits until it is gone."""

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """Run the batch in order on one view of the event.

        Results travel by `step` alone, so that they survive a cancel: every call of the batch
        that was begun gets exactly one Result, also when this is cancelled.
        """
        ...

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """Run calls one after another, each on a view of its own; otherwise as `run`.

        `views` makes each view when its call's turn comes, when the call before has given its result, and
        ends where the rest is not asked. It is asked once more behind the last call.
        """
        ...

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """Start all calls at once, in order, each on its own view; otherwise as `run`.

        Steps of several calls come in between each other. Calls that cannot run beside each other here run
        one after another.
        """
        ...

    async def load(self, code: Code) -> Handler | Code | Module | Failure:
        """Load a handler without running it: what to register for it, or why it cannot be.

        A Module for the shapes `stream` and `plugin`, whose declared targets can be registered and run.
        What comes back stands for the code as it was loaded: a later edit of the file, even one that
        breaks it, does not change what a registration calls.
        """
        ...

    async def close(self) -> None:
        """End what runs handlers here, and wait until it is gone."""
        ...


@runtime_checkable
class LateExecutor(Executor, Protocol):
    """A Lane whose plugins may register handlers after they were loaded."""

    @property
    def late_count(self) -> int:
        """How many such handlers there are now: another number means that something has changed."""
        ...

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        """What this plugin has registered since it was loaded, as its file stands now; nothing any more once
        its worker is another one."""
        ...


@runtime_checkable
class RetainingExecutor(Executor, Protocol):
    """A Lane that keeps what it has loaded, until it is told what is still called."""

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Nothing but these is called from now on, except by what runs already."""
        ...


@runtime_checkable
class PrestartExecutor(Executor, Protocol):
    """A Lane that can begin to start what will run handlers."""

    def expect(self, calls: Sequence[Registration]) -> None:
        """These will be run soon. In a running event loop; runs and loads nothing yet."""
        ...


ExecutorOf: TypeAlias = Callable[[Registration], Executor]


class Recorder(Protocol):
    """The durable record of runs."""

    async def begin(self, event: Event) -> int:
        """The run's id, given once the event is on disk. Raises OSError where it cannot be."""
        ...

    async def end(self, run: Run) -> None:
        """Keep what came of a run that was begun. Raises OSError where it cannot be kept."""
        ...


@runtime_checkable
class PlanRecorder(Recorder, Protocol):
    """A Recorder that keeps too who was to run."""

    async def begin_plan(self, plan: Plan) -> int:
        """As `begin`, of the plan's event."""
        ...


class RunListener(Protocol):
    """Hears of every run of an engine, and of those that it causes. It is not to raise."""

    def begins(self, plan: Plan, dialect: str) -> Callable[[Run], object]:
        """Called in the run's own task before anything runs; what it returns, with the Run at the end."""
        ...

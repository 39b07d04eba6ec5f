"""Protocols: executors run handlers, recorders record runs, listeners observe them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias, runtime_checkable

from hookscope.model.failure import Failure
from hookscope.model.run import Code, Declared, Event, Handler, Module, OnStep, Plan, Registration, Run


class Executor(Protocol):
    """Runs handlers. Owns the processes that it starts; `close` ends them and waits."""

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """Run the batch in order on one shared payload.

        Results are delivered through `step` only, so they survive cancellation: every call that was
        started gets exactly one Result, also if this coroutine is cancelled.
        """
        ...

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """Run calls one after another, each with its own payload; otherwise as `run`.

        `views` makes each payload when its call is due, after the previous result, and ends when
        the remaining calls are not to run. It is advanced again after the last call.
        """
        ...

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """Start all calls at once, in order, each with its own payload; otherwise as `run`.

        Steps of different calls interleave. Calls that cannot run concurrently run one after
        another.
        """
        ...

    async def load(self, code: Code) -> Handler | Code | Module | Failure:
        """Load a handler without running it; return what to register, or the failure.

        A Module for the shapes `stream` and `plugin`; its declared targets can be registered and
        run. The result belongs to the code as loaded: a later edit of the file, even one that
        breaks it, does not change what a registration calls.
        """
        ...

    async def close(self) -> None:
        """End everything that runs handlers here, and wait for it."""
        ...


@runtime_checkable
class LateExecutor(Executor, Protocol):
    """An executor whose plugins may register handlers after they were loaded."""

    @property
    def late_count(self) -> int:
        """The number of late handlers; it changes when one is added or removed."""
        ...

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        """Return the handlers that a plugin registered since its load; empty once its worker was replaced."""
        ...


@runtime_checkable
class RetainingExecutor(Executor, Protocol):
    """An executor that keeps what it loaded until `keep_only` names what is still in use."""

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Release all targets but these, once no run uses them."""
        ...


@runtime_checkable
class PrestartExecutor(Executor, Protocol):
    """An executor that can start its workers in advance."""

    def expect(self, calls: Sequence[Registration]) -> None:
        """Start the workers for these calls. Needs a running event loop; runs and loads nothing."""
        ...


ExecutorOf: TypeAlias = Callable[[Registration], Executor]


class Recorder(Protocol):
    """The durable record of runs."""

    async def begin(self, event: Event) -> int:
        """Record an event and return the id of its run. Raises OSError if it cannot be written."""
        ...

    async def end(self, run: Run) -> None:
        """Record the outcome of a run that was begun. Raises OSError if it cannot be written."""
        ...


@runtime_checkable
class PlanRecorder(Recorder, Protocol):
    """A Recorder that also records the plan."""

    async def begin_plan(self, plan: Plan) -> int:
        """Record the plan's event as `begin` does, with its plan."""
        ...


# Set by a RunListener in the run's task: called in the task of each function of this process, before it runs.
HANDLER_STARTS: ContextVar[Callable[[Registration], object] | None] = ContextVar(
    "hookscope_handler_starts", default=None
)


class RunListener(Protocol):
    """Observes every run of an engine and the runs that it causes. It must not raise."""

    def begins(self, plan: Plan, dialect: str) -> Callable[[Run], object]:
        """Called in the run's task before anything runs. The returned function gets the Run at its end."""
        ...

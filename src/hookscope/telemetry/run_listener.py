"""A span for each run with one for each handler below it, and what is counted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, TypeAlias

from opentelemetry import context, metrics, trace
from opentelemetry.trace import Status, StatusCode

from hookscope.model.run import Plan, Result, Run
from hookscope.telemetry.attributes import (
    Attributes,
    call_attributes,
    event_attributes,
    failure_attributes,
    plan_attributes,
    read_environment,
    result_attributes,
    run_attributes,
    run_outcome,
    short_name,
    stop_reason,
)

if TYPE_CHECKING:
    from contextvars import Token

NAME = "hookscope"
NANO = 1_000_000_000
SECONDS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30)

HOOK = "hookscope.hook.name"
COUNTED_ATTRIBUTES = (HOOK, "hookscope.hook.source", "hookscope.handler.outcome", "error.type")

Handled: TypeAlias = Sequence[tuple[Result, Attributes]]

log = logging.getLogger("hookscope.otel")


@dataclass(frozen=True, slots=True)
class _StartedRun:
    """A run that goes on."""

    plan: Plan
    dialect: str
    span: trace.Span
    token: Token[context.Context] | None  # of its being the current span; None: it is not
    at: int  # nanoseconds of the wall's clock
    clock: float  # the same moment in seconds of perf_counter

    def end(self) -> int:
        """Now. The wall's clock may be set meanwhile; a run lasts as long as it lasts."""
        return self.at + int((perf_counter() - self.clock) * NANO)


class Telemetry:
    """Tells the providers of a program what its hooks do. A RunListener.

    The run's span is a child of whatever span is the current one where the event is fired, and the current
    one itself while it lasts: spans that handlers of this process make are below it. Without arguments the
    providers are the process's own, also where it sets them later.
    """

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        read_environment()
        own = version(NAME)
        self._tracer = trace.get_tracer(NAME, own, tracer_provider)
        meter = metrics.get_meter(NAME, own, meter_provider)
        self._runs = meter.create_counter("hookscope.runs", "{run}", "Events that were fired.")
        self._handlers = meter.create_counter("hookscope.handlers", "{handler}", "Handlers that were called.")
        self._durations = meter.create_histogram(
            "hookscope.handler.duration",
            "s",
            "How long handlers took.",
            explicit_bucket_boundaries_advisory=SECONDS,
        )
        self._stopped = meter.create_counter(
            "hookscope.stopped",
            "{event}",
            "Events that a handler blocked or cancelled, or that failed closed.",
        )

    def begins(self, plan: Plan, dialect: str) -> Callable[[Run], object]:
        """See RunListener. What a provider raises is logged and harms no run."""
        try:
            begun = self._begin(plan, dialect)
        except Exception:  # of somebody else's provider
            log.debug("a run could not be told", exc_info=True)
            return _ignore_end
        return lambda run: self._ends(begun, run)

    def _begin(self, plan: Plan, dialect: str) -> _StartedRun:
        at, clock = time_ns(), perf_counter()
        span = self._tracer.start_span(
            f"hook.run {short_name(plan.event.key)}", attributes=plan_attributes(plan, dialect), start_time=at
        )
        known = span.get_span_context().is_valid
        token = context.attach(trace.set_span_in_context(span)) if known else None
        return _StartedRun(plan, dialect, span, token, at, clock)

    def _ends(self, begun: _StartedRun, run: Run) -> None:
        end = begun.end()
        try:
            if begun.token is not None:
                context.detach(begun.token)
            handled = [(one, {**call_attributes(one.call), **result_attributes(one)}) for one in run.results]
            self._finish(begun, run, handled, end)
            self._count(begun, run, handled)
        except Exception:  # as above
            log.debug("the end of a run could not be told", exc_info=True)

    def _finish(self, begun: _StartedRun, run: Run, handled: Handled, end: int) -> None:
        span = begun.span
        if span.is_recording():
            below = trace.set_span_in_context(span)
            for result, about in handled:
                self._handler(begun, result, about, below, end)
            span.set_attributes(run_attributes(run))
            if run.ending.failure is not None:
                span.set_status(Status(StatusCode.ERROR))
        span.end(end)

    def _handler(
        self, begun: _StartedRun, result: Result, about: Attributes, below: context.Context, end: int
    ) -> None:
        """A handler's span, within its run's: the run's end has been read after the handler's."""
        began = min(begun.at + int(max(result.started, 0.0) * NANO), end)
        ended = min(began + int(result.took * NANO), end)
        name = f"hook.handler {about[HOOK]}"
        span = self._tracer.start_span(name, below, attributes=about, start_time=began)
        if result.error is not None:
            span.add_event("exception", failure_attributes(result.error), ended)
        if result.status != "ok":
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def _count(self, begun: _StartedRun, run: Run, handled: Handled) -> None:
        event = event_attributes(begun.plan, begun.dialect)
        self._runs.add(1, {**event, "hookscope.run.outcome": run_outcome(run)})
        how = stop_reason(run)
        if how is not None:
            self._stopped.add(1, {**event, "hookscope.stopped": how})
        for result, about in handled:
            told = {**event, **{name: about[name] for name in COUNTED_ATTRIBUTES if name in about}}
            self._handlers.add(1, told)
            self._durations.record(result.took, told)


def _ignore_end(run: Run) -> None:
    """Nobody hears of its end."""

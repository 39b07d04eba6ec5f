"""A span for each run, with a child span for each handler, and the metrics."""

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
    """A run in progress."""

    plan: Plan
    dialect: str
    span: trace.Span
    token: Token[context.Context] | None  # from making it the current span; None: it is not
    started_at: int  # wall-clock nanoseconds
    started_clock: float  # the same time in perf_counter seconds

    def end_time(self) -> int:
        """Return the current time by the monotonic clock: the wall clock may have been set."""
        return self.started_at + int((perf_counter() - self.started_clock) * NANO)


class Telemetry:
    """Reports hooks to the OpenTelemetry providers of a program. A RunListener.

    A run's span is a child of the current span where the event is fired, and is the current span
    while the run lasts: spans of handlers in this process are its children. Without arguments it
    uses the process's own providers, also if they are set later.
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
        """See RunListener. Exceptions of a provider are logged and do not affect the run."""
        try:
            started = self._begin(plan, dialect)
        except Exception:  # raised by a foreign provider
            log.debug("a run could not be told", exc_info=True)
            return _ignore_end
        return lambda run: self._end(started, run)

    def _begin(self, plan: Plan, dialect: str) -> _StartedRun:
        at, clock = time_ns(), perf_counter()
        span = self._tracer.start_span(
            f"hook.run {short_name(plan.event.key)}", attributes=plan_attributes(plan, dialect), start_time=at
        )
        known = span.get_span_context().is_valid
        token = context.attach(trace.set_span_in_context(span)) if known else None
        return _StartedRun(plan, dialect, span, token, at, clock)

    def _end(self, started: _StartedRun, run: Run) -> None:
        end = started.end_time()
        try:
            if started.token is not None:
                context.detach(started.token)
            handled = [(one, {**call_attributes(one.call), **result_attributes(one)}) for one in run.results]
            self._finish(started, run, handled, end)
            self._count(started, run, handled)
        except Exception:  # as above
            log.debug("the end of a run could not be told", exc_info=True)

    def _finish(self, started: _StartedRun, run: Run, handled: Handled, end: int) -> None:
        span = started.span
        if span.is_recording():
            parent = trace.set_span_in_context(span)
            for result, attributes in handled:
                self._add_handler_span(started, result, attributes, parent, end)
            span.set_attributes(run_attributes(run))
            if run.ending.failure is not None:
                span.set_status(Status(StatusCode.ERROR))
        span.end(end)

    def _add_handler_span(
        self,
        started: _StartedRun,
        result: Result,
        handler_attributes: Attributes,
        parent: context.Context,
        end: int,
    ) -> None:
        """Add a handler's span inside its run's span, whose end was measured later."""
        began = min(started.started_at + int(max(result.started, 0.0) * NANO), end)
        ended = min(began + int(result.took * NANO), end)
        name = f"hook.handler {handler_attributes[HOOK]}"
        span = self._tracer.start_span(name, parent, attributes=handler_attributes, start_time=began)
        if result.error is not None:
            span.add_event("exception", failure_attributes(result.error), ended)
        if result.status != "ok":
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def _count(self, started: _StartedRun, run: Run, handled: Handled) -> None:
        event = event_attributes(started.plan, started.dialect)
        self._runs.add(1, {**event, "hookscope.run.outcome": run_outcome(run)})
        reason = stop_reason(run)
        if reason is not None:
            self._stopped.add(1, {**event, "hookscope.stopped": reason})
        for result, attributes in handled:
            counted = {
                **event,
                **{name: attributes[name] for name in COUNTED_ATTRIBUTES if name in attributes},
            }
            self._handlers.add(1, counted)
            self._durations.record(result.took, counted)


def _ignore_end(run: Run) -> None:
    """Do nothing at the end of a run whose span could not be started."""

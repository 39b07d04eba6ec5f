"""A span for each run, with a child span for each handler, and the metrics."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from hashlib import sha256
from importlib.metadata import version
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, Literal, TypeAlias

from opentelemetry import context, metrics, trace
from opentelemetry.trace import Status, StatusCode

from hookscope.model.executor import HANDLER_STARTS
from hookscope.model.failure import Failure
from hookscope.model.run import Code, Plan, Registration, Result, Run
from hookscope.storage.journal.redaction import Redaction, secrets_of_variables

if TYPE_CHECKING:
    from contextvars import Token


Value: TypeAlias = str | int | bool
Attributes: TypeAlias = dict[str, Value]
StopReason = Literal["blocked", "cancelled", "failed_closed"]

MAX_NAME_LENGTH = 200  # characters of a name or type, which authors choose


def plan_attributes(plan: Plan, dialect: str) -> Attributes:
    """Return the attributes that are known when a run begins."""
    event = plan.event
    found: Attributes = {
        **event_attributes(plan, dialect),
        "hookscope.handlers.planned": len(plan.calls),
        "hookscope.handlers.not_run": sum(one.subscribed for one in plan.not_run),
    }
    if event.session_key:
        found["hookscope.session.hash"] = sha256(event.session_key.encode("utf-8", "replace")).hexdigest()[
            :16
        ]
    if plan.assumed:
        found["hookscope.assumed"] = True
    return found


def event_attributes(plan: Plan, dialect: str) -> Attributes:
    """Return the attributes that all counters have."""
    event = plan.event
    return {
        "hookscope.dialect": dialect,
        "hookscope.event.key": short_name(event.key),
        "hookscope.event.kind": event.kind,
    }


def run_attributes(run: Run) -> Attributes:
    """Return the attributes of a run's outcome."""
    found: Attributes = {"hookscope.run.outcome": run_outcome(run)}
    reason = stop_reason(run)
    if reason is not None:
        found["hookscope.stopped"] = reason
        if reason != "failed_closed":
            found["hookscope.stopped.by"] = short_name(_stopping_handler(run))
    if run.ending.failure is not None:
        found["error.type"] = short_name(next((_type(one.error) for one in run.failed), "failed_closed"))
    return found


def run_outcome(run: Run) -> str:
    """Return `ok`, `failed` (a handler), `failed_closed` (the event) or `cancelled`."""
    if run.cancelled:
        return "cancelled"
    if run.ending.failure is not None:
        return "failed_closed"
    return "failed" if run.failed else "ok"


def stop_reason(run: Run) -> StopReason | None:
    """Return what stopped the tool call or message; None if nothing did."""
    ending = run.ending
    if ending.failure is not None:
        return "failed_closed" if run.event.kind == "plugin" else None
    if "action" in (ending.answer or {}):  # a handler's own text, which may resemble these
        return None
    if ending.verdict.startswith("blocked by "):
        return "blocked"
    return "cancelled" if ending.verdict.startswith("cancelled by ") else None


def _stopping_handler(run: Run) -> str:
    return run.ending.verdict.partition(" by ")[2].partition(": ")[0]


def call_attributes(call: Registration) -> Attributes:
    """Return the attributes that identify a handler."""
    hook = call.hook
    return {
        "hookscope.hook.name": short_name(call.name),
        "hookscope.hook.source": hook.folder.source if hook is not None else "code",
        "hookscope.handler.language": language_of(call),
        "hookscope.handler.key": short_name(call.key),
    }


def language_of(call: Registration) -> str:
    """Return the language of a handler; functions of this process are Python."""
    if isinstance(call.target, Code):
        return call.target.language
    return "python"


def result_attributes(result: Result) -> Attributes:
    """Return the attributes of a handler's result."""
    found: Attributes = {"hookscope.handler.outcome": result.status}
    if result.loaded:
        found["hookscope.handler.loaded"] = True
    if result.forced:
        found["hookscope.handler.forced"] = True
    if result.error is not None:
        found["error.type"] = short_name(_type(result.error))
        found["hookscope.handler.phase"] = result.error.phase
    return found


def failure_attributes(error: Failure) -> Mapping[str, str]:
    """Return an exception's type and stack trace, innermost frame last, without its message."""
    places = (
        (_redaction().masked_text(one.file), one.line, short_name(one.function)) for one in error.frames
    )
    lines = (f'  File "{file}", line {line}, in {function}' for file, line, function in places)
    trace = "\n".join(lines)
    return {"exception.type": short_name(_type(error)), **({"exception.stacktrace": trace} if trace else {})}


def _type(error: Failure | None) -> str:
    return error.type if error is not None else "_OTHER"


def read_environment() -> None:
    """Read the secrets of this process's environment again, to mask them."""
    _redaction.cache_clear()
    short_name.cache_clear()


@lru_cache(maxsize=4096)  # few names, sent with every run
def short_name(text: str) -> str:
    """Return a name as valid UTF-8, with secrets masked, truncated to `MAX_NAME_LENGTH`."""
    return _redaction().masked_text(text)[:MAX_NAME_LENGTH].encode("utf-8", "replace").decode("utf-8")


@cache
def _redaction() -> Redaction:
    """Return the redaction of the environment's secrets, as of the last `read_environment`."""
    return Redaction(tuple(dict.fromkeys(secrets_of_variables(os.environ))))


NAME = "hookscope"
NANO = 1_000_000_000
SECONDS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30)

HOOK = "hookscope.hook.name"
COUNTED_ATTRIBUTES = (HOOK, "hookscope.hook.source", "hookscope.handler.outcome", "error.type")

Handled: TypeAlias = Sequence[tuple[Result, Attributes]]

log = logging.getLogger("hookscope.otel")


@dataclass(frozen=True, slots=True)
class _StartedRun:
    plan: Plan
    dialect: str
    span: trace.Span
    token: Token[context.Context] | None  # to restore the previous current span, if it was replaced
    started_at: int  # wall-clock nanoseconds
    started_clock: float  # the same time in perf_counter seconds
    handlers: dict[Registration, tuple[trace.Span, int]]  # started in this process, with their start

    def end_time(self) -> int:
        """Return the current time by the monotonic clock: the wall clock may have been set."""
        return self.started_at + int((perf_counter() - self.started_clock) * NANO)

    def start_handler(self, tracer: trace.Tracer, call: Registration) -> None:
        """Start a handler's span and make it the current span of the handler's task."""
        if call not in self.plan.calls:  # of an event that a handler fired at another engine
            return
        try:
            parent, began = trace.set_span_in_context(self.span), self.end_time()
            attributes = call_attributes(call)
            span = tracer.start_span(_span_name(attributes), parent, attributes=attributes, start_time=began)
            self.handlers[call] = span, began
            context.attach(trace.set_span_in_context(span, parent))  # ends with the handler's task
        except Exception:  # raised by a foreign provider
            log.debug("the start of a handler could not be reported", exc_info=True)


class Telemetry:
    """Reports hooks to the OpenTelemetry providers of a program. A RunListener.

    A run's span is a child of the current span where the event is fired, and is the current span
    while the run lasts. The span of a handler in this process is current while that handler runs:
    its own spans are children. Without arguments it uses the process's own providers, also if they
    are set later.
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
            log.debug("a run could not be reported", exc_info=True)
            return _ignore_end
        return lambda run: self._end(started, run)

    def _begin(self, plan: Plan, dialect: str) -> _StartedRun:
        at, clock = time_ns(), perf_counter()
        span = self._tracer.start_span(
            f"hook.run {short_name(plan.event.key)}", attributes=plan_attributes(plan, dialect), start_time=at
        )
        known = span.get_span_context().is_valid
        token = context.attach(trace.set_span_in_context(span)) if known else None
        started = _StartedRun(plan, dialect, span, token, at, clock, {})
        HANDLER_STARTS.set(partial(started.start_handler, self._tracer) if known else None)
        return started

    def _end(self, started: _StartedRun, run: Run) -> None:
        end = started.end_time()
        try:
            if started.token is not None:
                context.detach(started.token)
            handled = [(one, {**call_attributes(one.call), **result_attributes(one)}) for one in run.results]
            self._finish(started, run, handled, end)
            self._count(started, run, handled)
        except Exception:  # as above
            log.debug("the end of a run could not be reported", exc_info=True)

    def _finish(self, started: _StartedRun, run: Run, handled: Handled, end: int) -> None:
        span = started.span
        if span.is_recording():
            parent = trace.set_span_in_context(span)
            for result, attributes in handled:
                self._add_handler_span(started, result, attributes, parent, end)
            span.set_attributes(run_attributes(run))
            if run.failed or run.ending.failure is not None:
                span.set_status(Status(StatusCode.ERROR))
        for unfinished, _ in started.handlers.values():  # of handlers without a result
            unfinished.end(end)
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
        open_span = started.handlers.pop(result.call, None)
        if open_span is not None:
            span, began = open_span
            span.set_attributes(handler_attributes)
        else:
            began = min(started.started_at + int(max(result.started, 0.0) * NANO), end)
            name = _span_name(handler_attributes)
            span = self._tracer.start_span(name, parent, attributes=handler_attributes, start_time=began)
        ended = min(began + int(result.took * NANO), end)
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


def _span_name(attributes: Attributes) -> str:
    return f"hook.handler {attributes[HOOK]}"


def _ignore_end(run: Run) -> None:
    """Do nothing at the end of a run whose span could not be started."""

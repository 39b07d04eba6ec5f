"""Span and metric attributes of runs and results.

They hold no text of messages, answers or errors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias

from hookscope.model.failure import Failure
from hookscope.model.run import Code, Plan, Registration, Result, Run
from hookscope.storage.journal.redaction import Redaction, secrets_of_variables

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
    """Return the attributes by which counters are split."""
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
    if "action" in (ending.answer or {}):  # the verdict starts with a handler's own text
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
    """Return a name with its secrets masked, cut to `MAX_NAME_LENGTH` and valid UTF-8."""
    return _redaction().masked_text(text)[:MAX_NAME_LENGTH].encode("utf-8", "replace").decode("utf-8")


@cache
def _redaction() -> Redaction:
    """Return the redaction of the environment's secrets, as of the last `read_environment`."""
    return Redaction(tuple(dict.fromkeys(secrets_of_variables(os.environ))))

"""What a run and its results are called. No text of a message, an answer or an error is among it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias

from hookscope.core.failure import Failure
from hookscope.core.runs import Code, Plan, Registration, Result, Run
from hookscope.journal.environment import secrets_of_variables
from hookscope.journal.redaction import Redaction

Value: TypeAlias = str | int | bool
Attributes: TypeAlias = dict[str, Value]
Stopped = Literal["blocked", "cancelled", "failed_closed"]

LONGEST = 200  # characters of a name or type, which a handler's author chooses


def of_plan(plan: Plan, dialect: str) -> Attributes:
    """What is known when a run begins."""
    event = plan.event
    found: Attributes = {
        **of_event(plan, dialect),
        "hookscope.handlers.planned": len(plan.calls),
        "hookscope.handlers.not_run": sum(one.listens for one in plan.not_run),
    }
    if event.session_key:
        found["hookscope.session.hash"] = sha256(event.session_key.encode("utf-8", "replace")).hexdigest()[
            :16
        ]
    if plan.assumed:
        found["hookscope.assumed"] = True
    return found


def of_event(plan: Plan, dialect: str) -> Attributes:
    """What counters are told apart by."""
    event = plan.event
    return {
        "hookscope.dialect": dialect,
        "hookscope.event.key": short(event.key),
        "hookscope.event.kind": event.kind,
    }


def of_run(run: Run) -> Attributes:
    """What a run came to."""
    found: Attributes = {"hookscope.run.outcome": outcome(run)}
    how = stopped(run)
    if how is not None:
        found["hookscope.stopped"] = how
        if how != "failed_closed":
            found["hookscope.stopped.by"] = short(_by(run))
    if run.ending.failure is not None:
        found["error.type"] = short(next((_type(one.error) for one in run.failed), "failed_closed"))
    return found


def outcome(run: Run) -> str:
    """`ok`; `failed`: a handler did; `failed_closed`: and so did the event; `cancelled`."""
    if run.cancelled:
        return "cancelled"
    if run.ending.failure is not None:
        return "failed_closed"
    return "failed" if run.failed else "ok"


def stopped(run: Run) -> Stopped | None:
    """What kept the tool from running, or the message from being sent; None: nothing."""
    ending = run.ending
    if ending.failure is not None:
        return "failed_closed" if run.event.kind == "plugin" else None
    if "action" in (ending.answer or {}):  # then the verdict begins with a handler's own word
        return None
    if ending.verdict.startswith("blocked by "):
        return "blocked"
    return "cancelled" if ending.verdict.startswith("cancelled by ") else None


def _by(run: Run) -> str:
    return run.ending.verdict.partition(" by ")[2].partition(": ")[0]


def of_call(call: Registration) -> Attributes:
    """Which handler it is."""
    hook = call.hook
    return {
        "hookscope.hook.name": short(call.name),
        "hookscope.hook.source": hook.folder.source if hook is not None else "code",
        "hookscope.handler.language": language_of(call),
        "hookscope.handler.key": short(call.key),
    }


def language_of(call: Registration) -> str:
    """What it is written in; functions of this process are Python."""
    if isinstance(call.target, Code):
        return call.target.language
    return "python"


def of_result(result: Result) -> Attributes:
    """What a handler did."""
    found: Attributes = {"hookscope.handler.outcome": result.status}
    if result.loaded:
        found["hookscope.handler.loaded"] = True
    if result.forced:
        found["hookscope.handler.forced"] = True
    if result.error is not None:
        found["error.type"] = short(_type(result.error))
        found["hookscope.handler.phase"] = result.error.phase
    return found


def of_failure(error: Failure) -> Mapping[str, str]:
    """An exception without its message: its type, and where it came from, innermost last."""
    places = ((_redaction().text(one.file), one.line, short(one.function)) for one in error.frames)
    lines = (f'  File "{file}", line {line}, in {function}' for file, line, function in places)
    trace = "\n".join(lines)
    return {"exception.type": short(_type(error)), **({"exception.stacktrace": trace} if trace else {})}


def _type(error: Failure | None) -> str:
    return error.type if error is not None else "_OTHER"


def read_environment() -> None:
    """Mask the secrets that this process's environment has now."""
    _redaction.cache_clear()
    short.cache_clear()


@lru_cache(maxsize=4096)  # a program has few names, and sends them with every run
def short(text: str) -> str:
    """A name that is no longer than it needs to be, and can be sent: secrets in it are masked."""
    return _redaction().text(text)[:LONGEST].encode("utf-8", "replace").decode("utf-8")


@cache
def _redaction() -> Redaction:
    """What hides the secrets of this process's environment, as it was when `read_environment` was called."""
    return Redaction(tuple(dict.fromkeys(secrets_of_variables(os.environ))))

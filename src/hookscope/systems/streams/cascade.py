"""The events that a host sends after a handler's throw or its `ctx.cancel()`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hookscope.core.runs import Event
from hookscope.systems.streams.arranging import OUTSIDE
from hookscope.systems.streams.stamping import turn_of

FAILURE_CASCADE = ("step.failed", "turn.failed")


def following(event: Event, kind: str, data: Mapping[str, Any], **meta: Any) -> Event:
    """The next event of the same session."""
    ended = Event(kind, session_key=event.session_key, context=dict(data), kind="stream", ctx=event.ctx)
    return replace(ended, meta=meta) if meta else ended


def step_failed(event: Event, code: str, message: str) -> Event:
    """The event that says so of the step that `event` belongs to."""
    index = event.context.get("stepIndex")
    data = {**_turn(event), "stepIndex": 0 if index is None else index, "code": code, "message": message}
    return following(event, "step.failed", data)


def turn_failed(event: Event, code: str, message: str) -> Event:
    """The event that says so of the turn that `event` belongs to."""
    return following(event, "turn.failed", {**_turn(event), "code": code, "message": message})


def turn_cancelled(event: Event) -> Event:
    """The event that says so of the turn that `event` belongs to."""
    return following(event, "turn.cancelled", _turn(event))


def session_failed(event: Event, code: str, message: str, *, outside: bool = False) -> Event:
    """`outside`: written by nobody's turn, so that no hook sees it."""
    data = {"sessionId": _session_id(event), "code": code, "message": message}
    return following(event, "session.failed", data, **({OUTSIDE: True} if outside else {}))


def session_waiting(event: Event, *, token: bool) -> Event:
    """`token`: says how the session is continued, which older versions do not."""
    data = {"wait": "next-user-message"}
    if token:
        channel = event.ctx.get("channel")
        given = channel.get("continuationToken") if isinstance(channel, Mapping) else None
        data["continuationToken"] = given if isinstance(given, str) else _session_id(event)
    return following(event, "session.waiting", data)


def _turn(event: Event) -> dict[str, Any]:
    turn = turn_of(event)
    return {"turnId": turn["id"], "sequence": turn["sequence"]}


def _session_id(event: Event) -> str:
    session = event.ctx.get("session")
    known = session.get("id") if isinstance(session, Mapping) else None
    return known if isinstance(known, str) else event.session_key

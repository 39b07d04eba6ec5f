"""How a turn ends: it is closed, it fails, a hook's throw decides, or it is cancelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hookscope.systems.streams import session_data as data
from hookscope.systems.streams.session_acts import Act, For, Rest, Say, Session, SettleOne, error_id
from hookscope.systems.streams.session_children import announced, stopped
from hookscope.systems.streams.session_rules import Delegation
from hookscope.systems.streams.session_words import Thrown


def closed(session: Session) -> Session:
    """The model has spoken: the turn ends, or waits for its tasks."""
    if session.tasks:
        held = Say("turn.waiting", {"on": "tasks"}, "turn")
        tasks = tuple(replace(task, announced=True) for task in session.tasks)
        return session.with_agenda(held, *announced(session, For.SETTLE), SettleOne(), tasks=tasks)
    done = Say("turn.completed", level="turn")
    if _is_awaited(session):
        return session.with_agenda(done, Say("session.completed", level="session"), Rest(ended=True))
    return session.with_agenda(done, waiting(session), Rest())


def _is_awaited(session: Session) -> bool:
    return session.agent.delegated and session.rules.delegation is Delegation.AWAITED


def waiting(session: Session) -> Say:
    """That the session waits for its user."""
    token = {"continuationToken": session.token} if session.rules.tells_token else {}
    return Say("session.waiting", {**token, "wait": "next-user-message"}, "session")


def failed(session: Session, thrown: Thrown, name: str = "") -> Session:
    """The model's step has failed, by the model or by a hook. What the step had brought is undone."""
    assert session.mark is not None
    kept = session.mark.session.history
    session, digits = session.number()
    told = data.failure_data(data.MODEL_FAILED, thrown.message, error_id(digits), thrown.text, name)
    terminal = {"terminal": False} if session.rules.tells_terminal else {}
    cascade = Say("step.failed", told), Say("turn.failed", {**told, **terminal}, "turn")
    ending = _after_failure(session, told, thrown.message)
    return session.with_agenda(*cascade, *ending, history=kept, falling=True, tasks=())


def surfaced(session: Session, thrown: Thrown) -> Session:
    """A hook's throw fails its turn (seed 002)."""
    told = {"code": session.rules.hook_failed, "message": thrown.message}
    ending = _after_failure(session, told, thrown.message)
    return session.with_agenda(Say("turn.failed", told, "turn"), *ending, falling=True)


def _after_failure(session: Session, told: Mapping[str, Any], message: str) -> tuple[Act, ...]:
    if _is_awaited(session):
        return _session_failed(session, told), Rest(ended=True, failure=message)
    cancelled_tasks = stopped(session, "turn_ended")
    return (waiting(session), *cancelled_tasks, *announced(session, For.NOTHING), Rest(failure=message))


def _session_failed(session: Session, told: Mapping[str, Any], *, heard: bool = True) -> Say:
    return Say("session.failed", {**told, "sessionId": session.id}, "session", heard=heard)


def escalated(session: Session, thrown: Thrown) -> Session:
    """A hook's throw in the cascade fails the session (seed 002)."""
    told = {"code": session.rules.hook_failed, "message": thrown.message}
    rest = Rest(ended=True, failure=thrown.message)
    return session.with_agenda(_session_failed(session, told), rest)


def repeated(session: Session, thrown: Thrown) -> Session:
    """The step is run from its beginning; after its last attempt the session fails, and no hook hears it."""
    mark, rules = session.mark, session.rules
    assert mark is not None
    tries = mark.tries + 1
    if tries < rules.attempts:
        return replace(mark.session, mark=replace(mark, tries=tries), made=session.made)
    session, digits = session.number()
    message = rules.repeated.format(error=thrown.message)
    told = data.failure_data(rules.hook_failed, message, error_id(digits), message, rules.hook_failed)
    rest = Rest(ended=True, failure=message)
    return session.with_agenda(_session_failed(session, told, heard=False), rest)


def cancelled(session: Session) -> Session:
    """A hook has cancelled the turn: what its step had brought is undone, the message stays (eve 14)."""
    assert session.mark is not None
    cancel = (Say("turn.cancelled", level="turn"),) if session.in_turn else ()
    kept = (*session.mark.session.history, *session.mark.keeps)
    return session.with_agenda(
        *stopped(session, "turn_cancelled"),
        *cancel,
        waiting(session),
        *announced(session, For.NOTHING),
        Rest(),
        history=kept,
        tasks=(),
        said="",
    )

"""One session as a conversation: its real and its fired events in time, and the hooks that ran on each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from hookscope.app.runs.past_runs import past_run
from hookscope.model.failure import Refusal
from hookscope.model.run import Event, Result, Run
from hookscope.model.text import one_line
from hookscope.recording.spool import RecordedEvent, newest_events
from hookscope.recording.taps import spool_path
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.app.workbench import Workbench

MOST_READ_RUNS = 1_000  # newest runs of the workspace that are searched
MOST_READ_EVENTS = 5_000  # newest real events that are searched
MOST_TURNS = 500  # newest events of a session that are shown
MOST_SUMMARY = 400  # characters
TEXT_MEMBERS = ("content", "text", "message", "prompt", "command", "output", "result")
SENDER_MEMBERS = ("from", "senderId", "toolName", "role", "to")

TurnKind = Literal["in", "out", "command", "tool", "event"]


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """One event of a session. `run` is set if it was fired, or if it is real and was replayed."""

    at: datetime
    key: str
    summary: str  # on one line; untrusted
    real: str = ""  # the id of the real event; empty: it was fired
    number: int | None = None  # of the run
    run: Run | None = None
    would_run: tuple[str, ...] = ()  # hooks that a replay of a real event would call

    @property
    def kind(self) -> TurnKind:
        """The kind of turn, from the words of the event's key."""
        return turn_kind(self.key)


@dataclass(frozen=True, slots=True)
class SessionLog:
    """A session's newest events, oldest first. `dropped` counts earlier ones that are not shown."""

    session: str
    turns: tuple[SessionTurn, ...]
    dropped: int = 0
    sessions: tuple[str, ...] = ()  # all of the workspace, the last used one last

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of all handlers that ran."""
        return tuple(result for turn in self.turns if turn.run is not None for result in turn.run.results)

    @property
    def failed(self) -> int:
        """How many handlers failed."""
        return sum(result.status != "ok" for result in self.results)

    @property
    def hook_time(self) -> float:
        """Seconds in all handlers together."""
        return sum(result.took for result in self.results)

    @property
    def real(self) -> int:
        """How many events are real."""
        return sum(bool(turn.real) for turn in self.turns)


def turn_kind(key: str) -> TurnKind:
    """Return the kind of turn of an event, from the words of its key."""
    words = key.replace(".", " ").replace(":", " ").replace("_", " ").lower().split()
    if "tool" in words or "actions" in words or "action" in words:
        return "tool"
    if words[:1] == ["command"]:
        return "command"
    if "message" in words:
        return "in" if "received" in words else "out"
    return "event"


def session_of(event: Event | RecordedEvent) -> str:
    """Return the session key of an event; for plugins and streams, from their second argument."""
    named = event.session_key if isinstance(event, Event) else event.session
    session = event.ctx.get("session")
    inner = session.get("id") if isinstance(session, Mapping) else session
    return next((str(name) for name in (named, event.ctx.get("sessionKey"), inner) if _is_text(name)), "")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def event_summary(context: Mapping[str, Any]) -> str:
    """Return a payload on one line: sender and text of a message, name and arguments of a call."""
    data = context.get("data")
    context = data if isinstance(data, Mapping) else context
    member = next((name for name in SENDER_MEMBERS if _is_text(context.get(name))), "")
    sender = f"to {context[member]}" if member == "to" else str(context.get(member, ""))
    content = next((context[name] for name in TEXT_MEMBERS if _is_text(context.get(name))), "")
    text = " ".join(content.split())
    if not text:
        inner = context.get("params")
        if isinstance(inner, Mapping):
            rest = inner
        else:  # short values only: the host's settings and objects would fill the line
            omitted = (*SENDER_MEMBERS, "replayed")
            rest = {
                name: value
                for name, value in context.items()
                if name not in omitted and not isinstance(value, Mapping | list)
            }
        text = " ".join(f"{name}={_short(value)}" for name, value in rest.items())
    return one_line(f"{sender}: {text}" if sender and text else sender or text, MOST_SUMMARY)


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def session_log(bench: Workbench, view: Snapshot, session: str) -> SessionLog:
    """Return a session of this workspace; without a name, the last used one. Runs nothing.

    Raises Refusal if there is none; OSError.
    """
    stored = bench.run_record.journal(view.host).recent(MOST_READ_RUNS)
    runs = [past for one in stored if (past := past_run(one, view.host)) is not None]
    recorded, _ = newest_events(spool_path(view.host), MOST_READ_EVENTS)
    used: dict[str, datetime] = {}
    for name, at in [(session_of(past.plan.event), past.at) for past in runs] + [
        (session_of(event), event.at) for event in recorded
    ]:
        used[name] = max(at, used.get(name, at))
    used.pop("", None)
    names = tuple(sorted(used, key=lambda name: used[name]))
    if not names:
        raise Refusal("No event with a session was recorded here yet.", "Fire one, or install the tap.")
    name = session or names[-1]
    turns = _turns(
        bench,
        view,
        [past for past in runs if session_of(past.plan.event) == name],
        [event for event in recorded if session_of(event) == name],
    )
    return SessionLog(name, turns[-MOST_TURNS:], max(len(turns) - MOST_TURNS, 0), names)


def _turns(
    bench: Workbench, view: Snapshot, runs: Iterable[PastRun], recorded: Iterable[RecordedEvent]
) -> tuple[SessionTurn, ...]:
    """Return the events in time. A replay is shown at its real event: the last one, if there are several."""
    real = {
        event.id: SessionTurn(event.at, event.key, event_summary(event.context or event.ctx), real=event.id)
        for event in recorded
    }
    fired = []
    for past in sorted(runs, key=lambda past: past.id):
        event = past.plan.event
        mark = event.context.get("replayed") or event.meta.get("replayed")
        of = real.get(mark.get("real", "")) if isinstance(mark, Mapping) else None
        if of is not None:
            real[of.real] = replace(of, number=past.id, run=past.run)
        else:
            summary = event_summary(event.context or event.ctx)
            fired.append(SessionTurn(past.at, event.key, summary, number=past.id, run=past.run))
    waiting = {event.id: event for event in recorded if real[event.id].run is None}
    would = _would_run(bench, view, waiting.values())
    turns = [replace(turn, would_run=would.get(turn.real, ())) for turn in real.values()]
    return tuple(sorted([*turns, *fired], key=lambda turn: _in_utc(turn.at)))


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo is not None else at.astimezone(UTC)


def _would_run(
    bench: Workbench, view: Snapshot, recorded: Iterable[RecordedEvent]
) -> dict[str, tuple[str, ...]]:
    """Return the hooks that a replay of each event would call, by id; events of one key share a plan."""
    by_key: dict[str, tuple[str, ...]] = {}
    found = {}
    for event in recorded:
        if event.key not in by_key:
            by_key[event.key] = planned_hooks(bench, view, event)
        found[event.id] = by_key[event.key]
    return found


def planned_hooks(bench: Workbench, view: Snapshot, recorded: RecordedEvent) -> tuple[str, ...]:
    """Return the hooks that a replay of a real event would call, in order."""
    kind, _, action = recorded.key.partition(":") if recorded.kind == "folder" else (recorded.key, "", "")
    if recorded.kind == "loaded":
        return ()
    event = Event(kind, action, recorded.session, recorded.context, kind=recorded.kind, ctx=recorded.ctx)
    try:
        plan = bench.plan(view, event)
    except Refusal:  # the current dialect has no such events
        return ()
    return tuple(dict.fromkeys(call.name for call in plan.calls))

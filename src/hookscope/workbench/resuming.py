"""A recorded run fired again from one of its handlers on, with the event as it was when its turn came."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hookscope.core.event import HookEvent, from_iso, to_document
from hookscope.core.runs import Event, Group, NotRun, Plan, Registration, Result, Run
from hookscope.core.text import nearest
from hookscope.runtime.patch import NoPatch, applied
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal

AS_RECORDED = "replayed as recorded"
WHOLE = "A replay without --from fires all of it."


@dataclass(frozen=True, slots=True)
class Start:
    """Where a replay begins: behind `done`, with `rest` to be compared with what comes."""

    event: Event  # as it was then, with the words by which its handlers were found
    changed: tuple[str, str]  # type and action as handlers had left them
    done: tuple[Result, ...]
    rest: tuple[Result, ...]


def start_of(run: Run, wanted: str) -> Start:
    """The run from its handler of that number on, counted from 1, or from the first of that name.

    The event is the recorded one with what the handlers before it changed, as the journal has it.

    Raises Refusal where there is no such handler, where handlers of this kind share no event, or where
    what was recorded cannot be laid on.
    """
    if run.event.kind != "folder":
        raise Refusal(
            f"Run {run.id} was a {run.event.kind} event, whose handlers share no event to go on with.",
            WHOLE,
        )
    place = _place(run, wanted)
    done, rest = run.results[:place], run.results[place:]
    event = run.event
    document = to_document(
        HookEvent(
            event.type,
            event.action,
            event.session_key,
            dict(event.context),
            event.timestamp,
            list(event.messages),
        )
    )
    for result in done:
        try:
            document = applied(document, result.patch)
        except NoPatch as error:
            what = f"What {result.call.name} changed in run {run.id} cannot be laid on its event"
            raise Refusal(f"{what}: {error}.", WHOLE) from None
    return Start(_event(event, document, run.id), (document["type"], document["action"]), done, rest)


def _place(run: Run, wanted: str) -> int:
    names = [result.call.name for result in run.results]
    if wanted in names:
        return names.index(wanted)
    if wanted.isascii() and wanted.isdigit() and 0 < int(wanted) <= len(names):
        return int(wanted) - 1
    near = nearest(wanted, names)
    then = f"Did you mean {near}?" if near else f"It called {', '.join(names) or 'nobody'}."
    raise Refusal(f"Run {run.id} has no handler {wanted}.", then)


def _event(event: Event, document: dict[str, Any], run: int) -> Event:
    if not isinstance(document["context"], dict) or not isinstance(document["messages"], list):
        what = f"In run {run} a handler left an event without a context or messages to go on with."
        raise Refusal(what, WHOLE)
    moment = event.timestamp
    if document["timestamp"] != to_document(HookEvent("", "", timestamp=moment))["timestamp"]:
        with suppress(AttributeError, TypeError, ValueError):  # if it is no moment, the event kept its own
            moment = from_iso(document["timestamp"])
    return replace(
        event,
        session_key=document["sessionKey"],
        context=document["context"],
        messages=tuple(document["messages"]),
        timestamp=moment,
    )


def resumed(plan: Plan, start: Start) -> Plan:
    """The plan of now without the calls before the place to start at; those stay as they were recorded.

    Raises Refusal where that handler is not called any more.
    """
    first = start.rest[0].call
    place = _nth(plan.calls, first, sum(_same(result.call, first) for result in start.done))
    if place is None:
        why = next((item.reason for item in plan.not_run if item.name == first.name), "it is gone")
        raise Refusal(f"{first.name} is not called for {plan.event.key} any more: {why}.", WHOLE)
    left_out = tuple(NotRun(call.name, AS_RECORDED, call.hook) for call in plan.calls[:place])
    type_, action = start.changed
    return replace(
        plan,
        event=replace(plan.event, type=type_, action=action),
        groups=(Group(plan.calls[place:]),),
        not_run=(*left_out, *plan.not_run),
    )


def _nth(calls: Sequence[Registration], wanted: Registration, number: int) -> int | None:
    places = [place for place, call in enumerate(calls) if _same(call, wanted)]
    return places[number] if number < len(places) else None


def _same(one: Registration, other: Registration) -> bool:
    return (one.name, one.key) == (other.name, other.key)

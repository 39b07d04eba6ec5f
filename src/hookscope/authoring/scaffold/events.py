"""Events of a new hook: the requested ones, or a suitable default. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.authoring.scaffold.request import EVENT
from hookscope.authoring.scaffold.target_hosts import TargetHost, TargetHosts
from hookscope.model.event_catalogue import ALL_EVENTS, DEFAULT_SESSION, EventType
from hookscope.model.failure import Refusal
from hookscope.model.run import EventKind
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass

GUARDED_EVENTS = "before_tool_call"  # the event of a first plugin hook
FIRST_EVENTS: Mapping[EventKind, tuple[str, ...]] = {
    "folder": (),
    "plugin": (GUARDED_EVENTS,),
    "stream": ("message.received", "turn.started"),
}
TELLING_FIELDS = (
    "senderId",
    "content",
    "message",
    "from",
    "to",
    "toolName",
)  # the most telling fields, best first


@dataclass(frozen=True, slots=True)
class HandledEvent:
    """One event that the new hook subscribes to, and what the generated handler reads from it."""

    key: str
    when: str
    example_key: str  # the event to fire: for a family or all events, one of them
    field: str  # the context field that the handler reads; empty: no text field that all hosts send
    context: Mapping[str, Any]  # the context of the saved event: the whole example, as in `fire KEY`
    session: str
    delivers: bool  # every host that sends it shows pushed messages

    @property
    def value(self) -> str:
        """The value that the handler reads from the saved event."""
        return str(self.context[self.field])


def default_event(kind: EventKind, targets: TargetHosts) -> str:
    """Return the event that most target hosts send, and whose messages they show."""
    catalogue = targets.first.catalogue
    known = [one.key for one in catalogue.events if one.kind == kind and not one.family]
    for key in FIRST_EVENTS[kind]:
        if key in known:
            return key

    def worth(key: str) -> tuple[int, int]:
        sent = [one for one in targets.all if one.catalogue.sends(key, kind)]
        return len(sent), sum(_delivers(one, key) for one in sent)

    return max(known, key=worth)


def check_events(keys: Sequence[str], kind: EventKind, targets: TargetHosts) -> tuple[str, ...]:
    """Return the keys in the hosts' spelling. Raises Refusal for one that no chosen host sends."""
    found = []
    for key in keys:
        key = targets.first.catalogue.canonical(key)
        if not EVENT.fullmatch(key) or (key == ALL_EVENTS and kind != "stream"):
            raise Refusal(f"{one_line(key, 60)!r} is not an event.", _listing(), code=2)
        if not any(one.catalogue.sends(key, kind) for one in targets.chosen):
            raise _never_sent(key, kind, targets)
        found.append(key)
    return tuple(dict.fromkeys(found))


def _listing() -> str:
    return "`hookscope events` lists them."


def _never_sent(key: str, kind: EventKind, targets: TargetHosts) -> Refusal:
    host_names = " nor ".join(one.name for one in targets.chosen)
    catalogue = targets.first.catalogue
    known = catalogue.find(key)
    if known is not None and known.kind != kind:
        forms = {"folder": "a HOOK.md", "plugin": "a plugin (`--plugin`)", "stream": "a module"}
        return Refusal(f"Only {forms[known.kind]} can receive {key}.", _listing(), code=2)
    sent = [one.key for one in catalogue.events if one.kind == kind and one.emitted and not one.family]
    closest = catalogue.nearest(key, kind)
    if closest in sent and closest != key:
        return Refusal(f"{host_names} never sends {key}.", f"Did you mean {closest}?", code=2)
    examples = ", ".join(sent[:4])
    return Refusal(f"{host_names} never sends {key}.", f"It sends {examples}; {_listing()}", code=2)


def unsent_notes(keys: Sequence[str], kind: EventKind, targets: TargetHosts) -> tuple[str, ...]:
    """Return a note for each unlisted event, and for each host that never sends one of them."""
    notes = []
    for key in keys:
        catalogue = targets.first.catalogue
        if kind == "folder" and key not in catalogue.by_key and catalogue.sends(key, kind):
            single = [one.key for one in catalogue.events if one.kind == kind and not one.family]
            closest = nearest_word(key, single)
            suggestion = f"; did you mean {closest}?" if closest else ": your own code must send it."
            notes.append(f"{targets.first.name} does not list {key}{suggestion}")
    for one in targets.all:
        lost = [key for key in keys if not one.catalogue.sends(key, kind)]
        if lost:
            notes.append(f"{one.name} never sends {' and '.join(lost)}: the hook is never called there.")
    return tuple(notes)


def handled_event(key: str, kind: EventKind, targets: TargetHosts) -> HandledEvent:
    """Return what the generated handler can read from this event under every host that sends it."""
    sending = [one for one in targets.all if one.catalogue.sends(key, kind)]
    example_key = _example_event(key, kind, sending[0])
    known = [event for one in sending if (event := one.catalogue.find(example_key)) is not None]
    first = known[0] if known else EventType(example_key, "")
    exact = sending[0].catalogue.find(key)
    return HandledEvent(
        key=key,
        when="any event of the stream" if exact is None else exact.when,
        example_key=example_key,
        field=_field(known),
        context=first.context,
        session=first.session or DEFAULT_SESSION,
        delivers=all(_delivers(one, example_key) for one in sending),
    )


def _delivers(target: TargetHost, key: str) -> bool:
    known = target.catalogue.find(key)
    return known is not None and known.delivers


def _example_event(key: str, kind: EventKind, target: TargetHost) -> str:
    """Return the event itself; for a family or all events, one that is sent."""
    catalogue = target.catalogue
    if key == ALL_EVENTS:
        return next(one for one in FIRST_EVENTS[kind] if catalogue.sends(one, kind))
    if kind != "folder" or ":" in key:
        return key
    sent = (one.key for one in catalogue.events if one.key.startswith(f"{key}:") and one.emitted)
    return next(sent, f"{key}:example")


def _field(known: Sequence[EventType]) -> str:
    """Return the most telling text field that every sender's example has."""
    texts = [{name for name, value in one.context.items() if isinstance(value, str)} for one in known]
    both = set.intersection(*texts) if texts else set()
    ranked = [name for name in TELLING_FIELDS if name in both]
    return ranked[0] if ranked else ""

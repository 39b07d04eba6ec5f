"""What is odd about an event beside its host's catalogue. Notes, never a refusal. Pure.

A check of our own and not a library's: the schemas know types, values and members only, and what people
want to read is which field was meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from hookscope.core.differences import MARK
from hookscope.core.event_types import Catalogue, EventType, Field, json_type
from hookscope.core.runs import Event
from hookscope.core.text import nearest, one_line
from hookscope.values import dataclass

FREE = frozenset({"cfg", MARK})  # ours to add to any context
MOST = 20  # notes on one event
ITEMS = 100  # of a list that are looked at
LARGEST = 10**15  # a number that is shown
LONGEST = 80  # letters of a name that may be another one misspelt
WORDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "a boolean",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that is odd, and the value that it is about, which may be missing."""

    text: str
    path: tuple[str | int, ...]  # in the context, or in `ctx`
    in_ctx: bool = False


def notes_on_event(event: Event, catalogue: Catalogue) -> tuple[str, ...]:
    """The notes on an event as sentences alone."""
    return tuple(note.text for note in placed_notes(event, catalogue))


def placed_notes(event: Event, catalogue: Catalogue) -> tuple[Note, ...]:
    """A note for each field that no source describes, that has another type, or that is missing.

    None for an event that the catalogue does not list; of one that is the user's own, only fields that its
    family has are looked at. `cfg` and the mark of a replay are never noted. At most 20.
    """
    known = catalogue.find(event.key)
    own = known is not None and known.key != catalogue.canonical(event.key)
    if known is None or (own and not known.open):
        return ()
    return tuple(islice(_notes(event, known, own), MOST))


def _notes(event: Event, known: EventType, own: bool) -> Iterator[Note]:
    context, ctx = NotePlace(), NotePlace(in_ctx=True)
    if known.described and not own:
        yield from _strangers(event.context, known.fields, context)
    unheard = [name for name in event.ctx if name not in FREE] if event.kind == "folder" else []
    for name in unheard[:1]:  # once is enough
        then = "handlers of this event get the event alone; put it in the context"
        yield ctx.at(name).note(f"is heard by nobody: {then}")
    if known.ctx_fields:
        yield from _strangers(event.ctx, known.ctx_fields, ctx)
    for name in known.required:
        if name not in event.context:
            yield context.at(name).note(f"is missing, which every {known.key} has")
    yield from _misfits(event.context, known.fields, context)
    yield from _misfits(event.ctx, known.ctx_fields, ctx)


@dataclass(frozen=True, slots=True)
class NotePlace:
    """Where a value stands, and the notes on it."""

    path: tuple[str | int, ...] = ()
    in_ctx: bool = False

    def at(self, step: str | int) -> NotePlace:
        """The place one step further in."""
        return NotePlace((*self.path, step), self.in_ctx)

    def note(self, what: str, joined: str = " ") -> Note:
        """A sentence about this place: the place as a path, `joined`, and what there is to say of it."""
        return Note(f"{self}{joined}{what}", self.path, self.in_ctx)

    def __str__(self) -> str:
        steps = (f"[{step}]" if isinstance(step, int) else f".{one_line(step, 60)}" for step in self.path)
        shown = "".join(steps)
        return f"ctx{shown}" if self.in_ctx else shown[1:]


def _strangers(given: Mapping[str, Any], fields: Mapping[str, Field], place: NotePlace) -> Iterator[Note]:
    for name in given:
        if name not in fields and name not in FREE:
            near = _meant(str(name), fields)
            hint = f"; did you mean {place.at(near)}?" if near else ""
            yield place.at(str(name)).note(f"is no known field{hint}")


def _meant(name: str, fields: Mapping[str, Field]) -> str | None:
    """The field that was perhaps meant: but for letter case, or nearly."""
    if len(name) > LONGEST:
        return None
    alike = next((other for other in fields if other.lower() == name.lower()), None)
    return alike or nearest(name, fields)


def _misfits(given: Mapping[str, Any], fields: Mapping[str, Field], place: NotePlace) -> Iterator[Note]:
    for name, field in fields.items():
        if name in given and name not in FREE:
            yield from _misfit(given[name], field, place.at(name))


def _misfit(value: Any, field: Field, place: NotePlace) -> Iterator[Note]:
    kind = json_type(value)
    if kind is None:
        return
    if field.types and not any(is_of(value, kind, wanted) for wanted in field.types):
        described = " or ".join(WORDS[wanted] for wanted in field.types)
        yield place.note(f"{described} is described, {_shown(value, kind)}", ": ")
    elif field.values and not any(value == one and kind == json_type(one) for one in field.values):
        yield place.note(f"one of {', '.join(map(str, field.values))} is described, this is another", ": ")
    elif isinstance(value, Mapping):
        yield from _misfits(value, field.members, place)
    elif field.members and isinstance(value, list | tuple):
        for index, item in enumerate(value[:ITEMS]):
            yield from _misfit_of_item(item, field.members, place.at(index))


def _misfit_of_item(item: Any, members: Mapping[str, Field], place: NotePlace) -> Iterator[Note]:
    kind = json_type(item)
    if isinstance(item, Mapping):
        yield from _misfits(item, members, place)
    elif kind is not None:
        yield place.note(f"an object is described, {_shown(item, kind)}", ": ")


def is_of(value: Any, kind: str, wanted: str) -> bool:
    """Is a value of a JSON type? `kind` is what `json_type` says of it."""
    return kind == wanted or (wanted == "integer" and kind == "number" and float(value).is_integer())


def _shown(value: Any, kind: str | None) -> str:
    """Numbers as they are; never a text, which may be a secret."""
    shown = value if kind == "number" and abs(value) < LARGEST else "this"
    return f"{shown} is {WORDS[kind or 'null']}"

"""What an event may contain, as JSON Schema and in words, and notes on an event that deviates from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from hookscope.model.event_catalogue import Catalogue, EventField, EventType, json_type
from hookscope.model.run import Event
from hookscope.model.run_comparison import REPLAY_MARK
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass

TYPE_WORDS = {"string": "text", "array": "list"}  # where JSON Schema's own word is not the plain one
SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def context_schema(event: EventType) -> dict[str, Any]:
    """The schema of the event's context, `data` of a stream's event: an object of its fields.

    Each property has a description, the types that are known, and examples. No object is closed, for a
    host may send more than its sources say; where they do not describe the context the schema says so.
    """
    return _object_schema(
        f"context of {event.key}", event.when, event.fields, event.required, event.described
    )


def ctx_schema(event: EventType) -> dict[str, Any] | None:
    """The schema of what handlers get beside the event; None where they get nothing."""
    if event.kind == "folder":
        return None
    return _object_schema(f"ctx of {event.key}", event.when, event.ctx_fields, (), bool(event.ctx_fields))


def field_schema(field: EventField) -> dict[str, Any]:
    """A field of the catalogue as JSON Schema, with its members; without `type` where it may be of any."""
    schema: dict[str, Any] = {"description": field.text}
    if field.types:
        schema["type"] = field.types[0] if len(field.types) == 1 else list(field.types)
    if field.values:
        schema["enum"] = list(field.values)
    if field.members:
        schema |= {"items": _members_schema(field)} if "array" in field.types else _members_schema(field)
    if field.examples:
        schema["examples"] = list(field.examples)
    return schema


def _members_schema(field: EventField) -> dict[str, Any]:
    properties = {name: field_schema(member) for name, member in field.members.items()}
    kind = {"type": "object"} if "array" in field.types else {}
    return {**kind, "properties": properties, "additionalProperties": True}


def _object_schema(
    title: str, when: str, fields: Mapping[str, EventField], required: tuple[str, ...], described: bool
) -> dict[str, Any]:
    part = "all of the" if fields else "the"
    return {
        "$schema": SCHEMA_DRAFT,
        "title": title,
        "description": when if described else f"open: no source describes {part} {title}",
        "type": "object",
        "properties": {name: field_schema(field) for name, field in fields.items()},
        "required": list(required),
        "additionalProperties": True,
    }


def type_words(field: EventField) -> str:
    """The types of a field in a word or two: `text or null`; `any` where none is known."""
    return " or ".join(TYPE_WORDS.get(name, name) for name in field.types) or "any"


def field_summary(field: EventField) -> str:
    """What a field is, with all that it can be, or with an example: one line."""
    if field.values:
        return f"{field.text} ({', '.join(map(_short_value, field.values))})"
    plain = field.examples and not isinstance(field.examples[0], Mapping | list | None)
    return f"{field.text}; such as {_short_value(field.examples[0])}" if plain else field.text


def _short_value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value), 60)


UNCHECKED_FIELDS = frozenset({"cfg", REPLAY_MARK})  # ours to add to any context
MOST_NOTES = 20  # notes on one event
CHECKED_ITEMS = 100  # of a list that are looked at
LARGEST_SHOWN = 10**15  # a number that is shown
LONGEST_NAME = 80  # letters of a name that may be another one misspelt
TYPE_PHRASES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "a boolean",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class EventNote:
    """One thing that is odd, and the value that it is about, which may be missing."""

    text: str
    path: tuple[str | int, ...]  # in the context, or in `ctx`
    in_ctx: bool = False


def event_note_texts(event: Event, catalogue: Catalogue) -> tuple[str, ...]:
    """The notes on an event as sentences alone."""
    return tuple(note.text for note in event_notes(event, catalogue))


def event_notes(event: Event, catalogue: Catalogue) -> tuple[EventNote, ...]:
    """A note for each field that no source describes, that has another type, or that is missing.

    None for an event that the catalogue does not list; of one that is the user's own, only fields that its
    family has are looked at. `cfg` and the mark of a replay are never noted. At most 20.
    """
    known = catalogue.find(event.key)
    own = known is not None and known.key != catalogue.canonical(event.key)
    if known is None or (own and not known.open):
        return ()
    return tuple(islice(_find_notes(event, known, own), MOST_NOTES))


def _find_notes(event: Event, known: EventType, own: bool) -> Iterator[EventNote]:
    context, ctx = NotePosition(), NotePosition(in_ctx=True)
    if known.described and not own:
        yield from _unknown_fields(event.context, known.fields, context)
    unheard = [name for name in event.ctx if name not in UNCHECKED_FIELDS] if event.kind == "folder" else []
    for name in unheard[:1]:  # once is enough
        then = "handlers of this event get the event alone; put it in the context"
        yield ctx.at(name).note(f"is heard by nobody: {then}")
    if known.ctx_fields:
        yield from _unknown_fields(event.ctx, known.ctx_fields, ctx)
    for name in known.required:
        if name not in event.context:
            yield context.at(name).note(f"is missing, which every {known.key} has")
    yield from _type_notes(event.context, known.fields, context)
    yield from _type_notes(event.ctx, known.ctx_fields, ctx)


@dataclass(frozen=True, slots=True)
class NotePosition:
    """Where a value stands, and the notes on it."""

    path: tuple[str | int, ...] = ()
    in_ctx: bool = False

    def at(self, step: str | int) -> NotePosition:
        """The place one step further in."""
        return NotePosition((*self.path, step), self.in_ctx)

    def note(self, what: str, joined: str = " ") -> EventNote:
        """A sentence about this place: the place as a path, `joined`, and what there is to say of it."""
        return EventNote(f"{self}{joined}{what}", self.path, self.in_ctx)

    def __str__(self) -> str:
        steps = (f"[{step}]" if isinstance(step, int) else f".{one_line(step, 60)}" for step in self.path)
        shown = "".join(steps)
        return f"ctx{shown}" if self.in_ctx else shown[1:]


def _unknown_fields(
    given: Mapping[str, Any], fields: Mapping[str, EventField], place: NotePosition
) -> Iterator[EventNote]:
    for name in given:
        if name not in fields and name not in UNCHECKED_FIELDS:
            near = _closest_field(str(name), fields)
            hint = f"; did you mean {place.at(near)}?" if near else ""
            yield place.at(str(name)).note(f"is no known field{hint}")


def _closest_field(name: str, fields: Mapping[str, EventField]) -> str | None:
    """The field that was perhaps meant: but for letter case, or nearly."""
    if len(name) > LONGEST_NAME:
        return None
    alike = next((other for other in fields if other.lower() == name.lower()), None)
    return alike or nearest_word(name, fields)


def _type_notes(
    given: Mapping[str, Any], fields: Mapping[str, EventField], place: NotePosition
) -> Iterator[EventNote]:
    for name, field in fields.items():
        if name in given and name not in UNCHECKED_FIELDS:
            yield from _type_note(given[name], field, place.at(name))


def _type_note(value: Any, field: EventField, place: NotePosition) -> Iterator[EventNote]:
    kind = json_type(value)
    if kind is None:
        return
    if field.types and not any(has_json_type(value, kind, wanted) for wanted in field.types):
        described = " or ".join(TYPE_PHRASES[wanted] for wanted in field.types)
        yield place.note(f"{described} is described, {_value_phrase(value, kind)}", ": ")
    elif field.values and not any(value == one and kind == json_type(one) for one in field.values):
        yield place.note(f"one of {', '.join(map(str, field.values))} is described, this is another", ": ")
    elif isinstance(value, Mapping):
        yield from _type_notes(value, field.members, place)
    elif field.members and isinstance(value, list | tuple):
        for index, item in enumerate(value[:CHECKED_ITEMS]):
            yield from _item_type_notes(item, field.members, place.at(index))


def _item_type_notes(
    item: Any, members: Mapping[str, EventField], place: NotePosition
) -> Iterator[EventNote]:
    kind = json_type(item)
    if isinstance(item, Mapping):
        yield from _type_notes(item, members, place)
    elif kind is not None:
        yield place.note(f"an object is described, {_value_phrase(item, kind)}", ": ")


def has_json_type(value: Any, kind: str, wanted: str) -> bool:
    """Is a value of a JSON type? `kind` is what `json_type` says of it."""
    return kind == wanted or (wanted == "integer" and kind == "number" and float(value).is_integer())


def _value_phrase(value: Any, kind: str | None) -> str:
    """Numbers as they are; never a text, which may be a secret."""
    shown = value if kind == "number" and abs(value) < LARGEST_SHOWN else "this"
    return f"{shown} is {TYPE_PHRASES[kind or 'null']}"

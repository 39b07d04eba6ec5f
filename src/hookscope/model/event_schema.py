"""The contents of an event as JSON Schema and in words, and notes on deviating events."""

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

TYPE_WORDS = {"string": "text", "array": "list"}  # where JSON Schema's word differs from ours
SCHEMA_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def context_schema(event: EventType) -> dict[str, Any]:
    """Return the schema of an event's context (`data` of a stream event).

    Each property has a description, known types and examples. Objects stay open, since a host may
    send more than its sources describe. If no source describes the context, the description says so.
    """
    return _object_schema(
        f"context of {event.key}", event.when, event.fields, event.required, event.described
    )


def ctx_schema(event: EventType) -> dict[str, Any] | None:
    """Return the schema of the handlers' second argument; None if they get none."""
    if event.kind == "folder":
        return None
    return _object_schema(f"ctx of {event.key}", event.when, event.ctx_fields, (), bool(event.ctx_fields))


def field_schema(field: EventField) -> dict[str, Any]:
    """Return a field as JSON Schema, with its members; without `type` if any type is allowed."""
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
    """Return the types of a field in words: `text or null`, or `any` if none is known."""
    return " or ".join(TYPE_WORDS.get(name, name) for name in field.types) or "any"


def field_summary(field: EventField) -> str:
    """Return one line on a field: its meaning, and all its values or an example."""
    if field.values:
        return f"{field.text} ({', '.join(map(_short_value, field.values))})"
    plain = field.examples and not isinstance(field.examples[0], Mapping | list | None)
    return f"{field.text}; such as {_short_value(field.examples[0])}" if plain else field.text


def _short_value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value), 60)


UNCHECKED_FIELDS = frozenset({"cfg", REPLAY_MARK})  # added by Hookscope to any context
MOST_NOTES = 20  # notes on one event
CHECKED_ITEMS = 100  # items checked per list
LARGEST_SHOWN = 10**15  # numbers above this are not shown
LONGEST_NAME = 80  # letters; longer names are not compared
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
    """One deviation, and the path of the value, which may be missing."""

    text: str
    path: tuple[str | int, ...]  # in the context, or in `ctx`
    in_ctx: bool = False


def event_note_texts(event: Event, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the notes on an event as sentences."""
    return tuple(note.text for note in event_notes(event, catalogue))


def event_notes(event: Event, catalogue: Catalogue) -> tuple[EventNote, ...]:
    """Return a note for each field that is undescribed, of another type, or missing.

    Events that are not in the catalogue have no notes; for an event of the user's own, only the
    fields of its family are checked. `cfg` and the mark of a replay are never noted. At most 20
    notes.
    """
    known = catalogue.find(event.key)
    is_user_event = known is not None and known.key != catalogue.canonical(event.key)
    if known is None or (is_user_event and not known.open):
        return ()
    return tuple(islice(_find_notes(event, known, is_user_event), MOST_NOTES))


def _find_notes(event: Event, known: EventType, is_user_event: bool) -> Iterator[EventNote]:
    context, ctx = NotePosition(), NotePosition(in_ctx=True)
    if known.described and not is_user_event:
        yield from _unknown_fields(event.context, known.fields, context)
    ignored = [name for name in event.ctx if name not in UNCHECKED_FIELDS] if event.kind == "folder" else []
    for name in ignored[:1]:  # one note is enough
        advice = "handlers of this event get only the event; put it in the context"
        yield ctx.at(name).note(f"reaches no handler: {advice}")
    if known.ctx_fields:
        yield from _unknown_fields(event.ctx, known.ctx_fields, ctx)
    for name in known.required:
        if name not in event.context:
            yield context.at(name).note(f"is missing, and every {known.key} has it")
    yield from _type_notes(event.context, known.fields, context)
    yield from _type_notes(event.ctx, known.ctx_fields, ctx)


@dataclass(frozen=True, slots=True)
class NotePosition:
    """The position of a value in an event; makes the notes on it."""

    path: tuple[str | int, ...] = ()
    in_ctx: bool = False

    def at(self, step: str | int) -> NotePosition:
        """Return the position one step deeper."""
        return NotePosition((*self.path, step), self.in_ctx)

    def note(self, statement: str, separator: str = " ") -> EventNote:
        """Return a note: the position as a path, `separator`, and the statement."""
        return EventNote(f"{self}{separator}{statement}", self.path, self.in_ctx)

    def __str__(self) -> str:
        steps = (f"[{step}]" if isinstance(step, int) else f".{one_line(step, 60)}" for step in self.path)
        path_text = "".join(steps)
        return f"ctx{path_text}" if self.in_ctx else path_text[1:]


def _unknown_fields(
    values: Mapping[str, Any], fields: Mapping[str, EventField], position: NotePosition
) -> Iterator[EventNote]:
    for name in values:
        if name not in fields and name not in UNCHECKED_FIELDS:
            closest = _closest_field(str(name), fields)
            hint = f"; did you mean {position.at(closest)}?" if closest else ""
            yield position.at(str(name)).note(f"is not a known field{hint}")


def _closest_field(name: str, fields: Mapping[str, EventField]) -> str | None:
    """Return the closest field: the same letters in another case, or a similar name."""
    if len(name) > LONGEST_NAME:
        return None
    same_letters = next((other for other in fields if other.lower() == name.lower()), None)
    return same_letters or nearest_word(name, fields)


def _type_notes(
    values: Mapping[str, Any], fields: Mapping[str, EventField], position: NotePosition
) -> Iterator[EventNote]:
    for name, field in fields.items():
        if name in values and name not in UNCHECKED_FIELDS:
            yield from _type_note(values[name], field, position.at(name))


def _type_note(value: Any, field: EventField, position: NotePosition) -> Iterator[EventNote]:
    kind = json_type(value)
    if kind is None:
        return
    if field.types and not any(has_json_type(value, kind, wanted) for wanted in field.types):
        expected = " or ".join(TYPE_PHRASES[wanted] for wanted in field.types)
        yield position.note(f"expected {expected}, but {_value_phrase(value, kind)}", ": ")
    elif field.values and not any(value == one and kind == json_type(one) for one in field.values):
        yield position.note(f"expected one of {', '.join(map(str, field.values))}", ": ")
    elif isinstance(value, Mapping):
        yield from _type_notes(value, field.members, position)
    elif field.members and isinstance(value, list | tuple):
        for index, item in enumerate(value[:CHECKED_ITEMS]):
            yield from _item_type_notes(item, field.members, position.at(index))


def _item_type_notes(
    item: Any, members: Mapping[str, EventField], position: NotePosition
) -> Iterator[EventNote]:
    kind = json_type(item)
    if isinstance(item, Mapping):
        yield from _type_notes(item, members, position)
    elif kind is not None:
        yield position.note(f"expected an object, but {_value_phrase(item, kind)}", ": ")


def has_json_type(value: Any, kind: str, expected: str) -> bool:
    """Return whether a value has a JSON type. `kind` is the result of `json_type`."""
    return kind == expected or (expected == "integer" and kind == "number" and float(value).is_integer())


def _value_phrase(value: Any, kind: str | None) -> str:
    """Return the value's type in words. Shows numbers, but no texts, since they may be secrets."""
    shown = value if kind == "number" and abs(value) < LARGEST_SHOWN else "this"
    return f"{shown} is {TYPE_PHRASES[kind or 'null']}"

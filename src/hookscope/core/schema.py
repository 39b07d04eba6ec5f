"""What an event may hold: as JSON Schema (draft 2020-12), and in words. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from hookscope.core.event_types import EventType, Field
from hookscope.core.text import one_line

WORDS = {"string": "text", "array": "list"}  # where JSON Schema's own word is not the plain one
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def context_schema(event: EventType) -> dict[str, Any]:
    """The schema of the event's context, `data` of a stream's event: an object of its fields.

    Each property has a description, the types that are known, and examples. No object is closed, for a
    host may send more than its sources say; where they do not describe the context the schema says so.
    """
    return _schema(f"context of {event.key}", event.when, event.fields, event.required, event.described)


def ctx_schema(event: EventType) -> dict[str, Any] | None:
    """The schema of what handlers get beside the event; None where they get nothing."""
    if event.kind == "folder":
        return None
    return _schema(f"ctx of {event.key}", event.when, event.ctx_fields, (), bool(event.ctx_fields))


def field_schema(field: Field) -> dict[str, Any]:
    """A field of the catalogue as JSON Schema, with its members; without `type` where it may be of any."""
    schema: dict[str, Any] = {"description": field.text}
    if field.types:
        schema["type"] = field.types[0] if len(field.types) == 1 else list(field.types)
    if field.values:
        schema["enum"] = list(field.values)
    if field.members:
        schema |= {"items": _members(field)} if "array" in field.types else _members(field)
    if field.examples:
        schema["examples"] = list(field.examples)
    return schema


def _members(field: Field) -> dict[str, Any]:
    properties = {name: field_schema(member) for name, member in field.members.items()}
    kind = {"type": "object"} if "array" in field.types else {}
    return {**kind, "properties": properties, "additionalProperties": True}


def _schema(
    title: str, when: str, fields: Mapping[str, Field], required: tuple[str, ...], described: bool
) -> dict[str, Any]:
    part = "all of the" if fields else "the"
    return {
        "$schema": DRAFT,
        "title": title,
        "description": when if described else f"open: no source describes {part} {title}",
        "type": "object",
        "properties": {name: field_schema(field) for name, field in fields.items()},
        "required": list(required),
        "additionalProperties": True,
    }


def typed(field: Field) -> str:
    """The types of a field in a word or two: `text or null`; `any` where none is known."""
    return " or ".join(WORDS.get(name, name) for name in field.types) or "any"


def told(field: Field) -> str:
    """What a field is, with all that it can be, or with an example: one line."""
    if field.values:
        return f"{field.text} ({', '.join(map(_brief, field.values))})"
    plain = field.examples and not isinstance(field.examples[0], Mapping | list | None)
    return f"{field.text}; such as {_brief(field.examples[0])}" if plain else field.text


def _brief(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value), 60)

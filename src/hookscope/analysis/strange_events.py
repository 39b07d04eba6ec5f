"""Malformed events as Hypothesis strategies: fields dropped, null, of the wrong type, or huge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from hookscope.model.event_catalogue import EventType, json_type
from hookscope.model.event_schema import context_schema, ctx_schema
from hookscope.model.run import Event
from hookscope.values import dataclass

Schema = Mapping[str, Any]
Kind = Literal["absent", "null", "example", "inside", "wrong"]

LONG = "x" * 50_000  # short enough for a saved event
TEXTS = (
    "", "0", " ", "null", "../../x", "${HOME}", "%s{}", "[/x]", "e\u0301", "שלום \u202eabc",
    "👩\u200d👩\u200d👧", "\0", "\x1b[2J", "\ud800", LONG,
)  # fmt: skip
NUMBERS = (0, 1, -1, 0.5, 2**31, 2**53 + 1, -(2**63), 1e308, 1e-7)
DEEP = json.loads("[" * 60 + "]" * 60)
NESTED_VALUES: tuple[Any, ...] = ([], {}, [None], {"": None}, {"a": {"b": []}}, list(range(1_000)), DEEP)
UNKNOWN = ("extra", "", "a b", "__proto__", "constructor")  # undocumented field names
SESSION_KEYS = (
    "", "main", "agent:main:subagent:7f3c", "agent:main:subagent:a:subagent:b", "agent:main:cron:daily",
    "agent:main:telegram:group:-100123:topic:7", "agent:other:main", "::", "é\u202e👩", LONG,
)  # fmt: skip

texts = st.sampled_from(TEXTS)
numbers = st.sampled_from(NUMBERS)
unknown_names = st.sampled_from(UNKNOWN)
anything = st.none() | st.booleans() | numbers | texts | st.sampled_from(NESTED_VALUES)


@dataclass(frozen=True, slots=True)
class _FieldStrategy:
    """The possible values of one member. Simple kinds come first, likely ones are repeated."""

    name: str
    kinds: SearchStrategy[Kind]
    example: Any
    inside: SearchStrategy[Any]


def events_like(template: Event, known: EventType | None) -> SearchStrategy[Event]:
    """Return a strategy of events with the template's key, most of them wrong in one or two places.

    `cfg`, the current settings, is as in the template or missing. The second argument (`ctx`) keeps its
    members, because a saved event cannot omit one.
    """
    schema: Schema = context_schema(known) if known is not None else {}
    second_schema: Schema = (ctx_schema(known) if known is not None else None) or {}
    # required by the runtime
    required = frozenset(schema.get("required", ()) if template.kind == "stream" else ())
    whole = {name: value for name, value in template.context.items() if name == "cfg"}
    rest = {name: value for name, value in template.context.items() if name not in whole}
    own = {name: field for name, field in schema.get("properties", {}).items() if name != "cfg"}
    contexts = _object(rest, {"properties": own}, lambda name: name not in required, unknown=True)
    with_settings = st.sampled_from([False, True, True, True])
    arguments = _object(template.ctx, second_schema, lambda name: False)
    sessions = st.sampled_from([template.session_key] * 3 * len(SESSION_KEYS) + list(SESSION_KEYS))

    @st.composite
    def event(draw: DrawFn) -> Event:
        context: dict[str, Any] = draw(contexts)
        if whole and bool(draw(with_settings)):
            context |= whole
        return replace(template, context=context, session_key=draw(sessions), ctx=draw(arguments))

    return event()


def _object(
    example: Mapping[str, Any], schema: Schema, may_miss: Callable[[str], bool], *, unknown: bool = False
) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects. Their members: the example's, and those of the schema that `may_miss`
    allows to be absent.
    """
    properties: Mapping[str, Schema] = schema.get("properties", {})
    names = [*example, *(name for name in properties if name not in example and may_miss(name))]
    fields = [_field(name, example, properties.get(name, {}), may_miss(name), len(names)) for name in names]

    surprises = st.sampled_from([False] * 7 + [unknown])

    @st.composite
    def built(draw: DrawFn) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for field in fields:
            match draw(field.kinds):
                case "null":
                    made[field.name] = None
                case "example":
                    made[field.name] = field.example
                case "inside":
                    made[field.name] = draw(field.inside)
                case "wrong":
                    made[field.name] = draw(anything)
        if unknown and draw(surprises):
            made[draw(unknown_names)] = draw(anything)
        return made

    return built()


def _field(
    name: str, example: Mapping[str, Any], schema: Schema, may_miss: bool, member_count: int
) -> _FieldStrategy:
    examples = [example[name]] if name in example else list(schema.get("examples", ()))
    often = max(4, min(2 * member_count, 40))  # so that one or two members are wrong
    kinds = _kinds(often, is_present=name in example, may_miss=may_miss, has_example=bool(examples))
    value = examples[0] if examples else None
    return _FieldStrategy(name, st.sampled_from(list(kinds)), value, _right_type_values(value, schema))


def _kinds(often: int, *, is_present: bool, may_miss: bool, has_example: bool) -> Iterator[Kind]:
    """Yield the kinds of a member, simple ones first. Repeats make the template's kind the most frequent."""
    if may_miss:
        yield from repeat("absent", 1 if is_present else often)
        yield "null"
    if has_example:
        yield from repeat("example", often if is_present else 1)
    if not may_miss:
        yield "null"
    yield from ("inside", "inside", "wrong", "wrong", "wrong")


def _right_type_values(example: Any, schema: Schema) -> SearchStrategy[Any]:
    if schema.get("enum"):
        return st.sampled_from(list(schema["enum"]))
    types = schema.get("type", [])
    type_name = json_type(example) or "" if example is not None else [types, *types][0] if types else ""
    return _of_type(type_name if isinstance(type_name, str) else "", example, schema)


def _of_type(type_name: str, example: Any, schema: Schema) -> SearchStrategy[Any]:
    match type_name:
        case "object":
            return _object(example or {}, schema, lambda name: True)
        case "array":
            items = list(example or ())
            item = _right_type_values(items[0] if items else None, schema.get("items", {}))
            return st.lists(item | anything, max_size=3) | st.just(list(items) * 500)
        case "boolean":
            return st.booleans()
        case "number":
            return numbers
        case "string":
            return texts
        case _:
            return anything

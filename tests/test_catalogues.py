"""Every event of every dialect: what its catalogue says of it, its schema, its template."""

from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hookscope.core.catalogue import read_catalogue
from hookscope.core.dialect import Choices, Host
from hookscope.core.event_types import EventType
from hookscope.core.schema import context_schema, ctx_schema
from hookscope.core.surroundings import Surroundings
from hookscope.dialects import DIALECTS
from hookscope.settings import open_host
from hookscope.workbench.compose import template

EVENTS = [
    pytest.param(name, event, id=f"{name} {event.key}")
    for name, dialect in DIALECTS.items()
    for event in dialect.catalogue().events
]
HostOf = Callable[[str], Host]
TURN = b"""
defaults: {source: a guide, kind: stream}
groups:
  turn:
    required: [turnId]
    context: {turnId: turn_0}
    fields: {turnId: the turn's id, usage: {text: tokens, example: {input: 12}, members: {input: those read}}}
events:
  a.b:
    with: [turn]
    when: now and then
    required: [why]
    context: {why: idle, items: [{id: 1}, {id: 2, name: x}]}
    fields:
      why: {text: the reason, values: [daily, idle]}
      items: {text: what is in it, members: {id: its number, name: its name}}
      answer: {text: what came back, type: [string, "null"], example: null}
"""


@pytest.fixture
def host_of(tmp_path: Path) -> HostOf:
    """host_of("eve@0.80") → a host of that dialect with nothing on its disk."""
    here = Surroundings("linux", {}, tmp_path, tmp_path)
    return lambda dialect: open_host(DIALECTS[dialect], here, Choices(workspace=tmp_path))


def test_a_catalogue_adds_up_defaults_groups_and_what_the_event_says() -> None:
    (event,) = read_catalogue(TURN).events
    assert (event.source, event.kind, event.required) == ("a guide", "stream", ("turnId", "why"))
    assert event.context == {"turnId": "turn_0", "why": "idle", "items": [{"id": 1}, {"id": 2, "name": "x"}]}
    assert list(event.fields) == ["turnId", "usage", "why", "items", "answer"]
    assert event.fields["why"].values == ("daily", "idle")
    assert event.fields["answer"].types == ("string", "null")
    assert event.fields["items"].members["name"].examples == ("x",)


def test_the_schema_of_an_event() -> None:
    (event,) = read_catalogue(TURN).events
    schema = context_schema(event)
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["turnId", "why"]
    assert schema["properties"]["usage"] == {
        "description": "tokens",
        "type": "object",
        "properties": {"input": {"description": "those read", "type": "number", "examples": [12]}},
        "additionalProperties": True,
        "examples": [{"input": 12}],
    }
    assert schema["properties"]["items"]["items"]["properties"]["name"]["type"] == "string"
    assert schema["properties"]["why"]["enum"] == ["daily", "idle"]
    assert (ctx_schema(event) or {})["description"] == "open: no source describes the ctx of a.b"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (b"[]", "a mapping"),
        (b"events: {a: {whn: x}}", "a: an event has no whn"),
        (b"events: {a: {with: [b], when: x}}", "a: there is no group b"),
        (b"events: {a: {when: x, fields: {b: {text: y, tpe: z}}}}", "a, b: a field has no tpe"),
    ],
)
def test_a_catalogue_with_a_mistake_is_refused(source: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_catalogue(source)


@pytest.mark.parametrize(("dialect", "event"), EVENTS)
def test_an_event_has_a_template_that_fits_its_schema(
    host_of: HostOf, dialect: str, event: EventType
) -> None:
    made = template(event.key, host_of(dialect))
    for schema, value in ((context_schema(event), made.context), (ctx_schema(event), made.ctx)):
        if schema is not None:
            Draft202012Validator.check_schema(schema)
            Draft202012Validator(schema).validate(value)

"""Every event of every dialect: what its catalogue says of it, its schema, its template."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hookscope.app.event_templates import template_event
from hookscope.formats.yaml12 import read_own_yaml, read_yaml
from hookscope.hosts.dialects import DIALECTS, catalogues
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.event_catalogue import EventField, read_catalogue
from hookscope.model.event_schema import context_schema, ctx_schema, field_schema
from hookscope.model.host import Host, Overrides
from hookscope.model.machine import Machine

RECORDED = Path(__file__).parents[2] / "conformance/cases/eve"
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
    here = Machine("linux", {}, tmp_path, tmp_path)
    return lambda dialect: open_host(DIALECTS[dialect], here, Overrides(workspace=tmp_path))


def test_catalogue_merges_defaults_groups_and_event() -> None:
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


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_event_is_described_and_its_template_fits_its_schema(host_of: HostOf, dialect: str) -> None:
    host = host_of(dialect)
    for event in host.dialect.catalogue().events:
        assert event.when, event.key
        assert event.by, event.key
        assert event.source, event.key
        made = template_event(event.key, host)
        for schema, value in ((context_schema(event), made.context), (ctx_schema(event), made.ctx)):
            if schema is not None:
                Draft202012Validator.check_schema(schema)
                Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_field_has_a_description_and_an_example_of_its_type(dialect: str) -> None:
    for event in DIALECTS[dialect].catalogue().events:
        for place, field in (*walked(event.key, event.fields), *walked(f"{event.key} ctx", event.ctx_fields)):
            assert field.text, place
            assert field.examples, place
            for example in field.examples:
                Draft202012Validator(field_schema(field)).validate(example)


def test_schema_marks_undocumented_contexts_as_open() -> None:
    for name in ("milady", "eliza"):
        for event in DIALECTS[name].catalogue().events:
            schema = context_schema(event)
            assert schema["description"] == f"open: no source describes the context of {event.key}"
            assert (schema["properties"], schema["required"]) == ({}, [])


def test_catalogue_marks_events_that_the_host_never_sends() -> None:
    silent = {
        (name, event.key)
        for name, dialect in DIALECTS.items()
        for event in dialect.catalogue().events
        if not event.emitted
    }
    assert ("milady@2.0.0-alpha.76", "command:new") in silent
    assert ("eliza@2.0.0-beta.2", "session:end") in silent
    assert ("openclaw", "session") in silent
    assert ("milady@2.0.0-alpha.76", "gateway:startup") not in silent
    for name, key in silent:
        assert DIALECTS[name].catalogue().by_key[key].when_not, (name, key)


def test_recorded_streams_fit_the_schemas() -> None:
    """What Eve wrote, against what its catalogues say; session.started was recorded by names only."""
    seen = 0
    for path in sorted(RECORDED.glob("*/expected.json")):
        for version, answer in json.loads(path.read_text()).get("versions", {}).items():
            catalogue = DIALECTS[f"eve@{version.rpartition('.')[0]}"].catalogue()
            for written in answer.get("stream", ()):
                event = catalogue.by_key[written["type"]]
                if event.key != "session.started":
                    Draft202012Validator(context_schema(event)).validate(written["data"])
                    assert written["data"].keys() <= event.fields.keys()
                    seen += 1
    assert seen > 100


def walked(place: str, fields: Mapping[str, EventField]) -> Iterator[tuple[str, EventField]]:
    """Every field and member, with where it stands."""
    for name, field in fields.items():
        yield f"{place}, {name}", field
        yield from walked(f"{place}, {name}", field.members)


def test_shipped_catalogues_are_valid_without_duplicates() -> None:
    """They are read without a look for it, and a part at a time: the first part that has a key decides."""
    for file in Path(catalogues.__file__).parent.glob("*.yaml"):
        assert read_own_yaml(file.read_bytes()) == read_yaml(file.read_bytes()), file.name
    for dialect in DIALECTS.values():
        keys = list(dialect.catalogue().by_key)
        assert len(keys) == len(set(keys)), dialect.name

"""What is said of an event that does not fit its catalogue: by example, and against a JSON Schema library."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hookscope.hosts.dialects import DIALECTS
from hookscope.model.event_catalogue import EventType
from hookscope.model.event_schema import MOST_NOTES, context_schema, event_note_texts
from hookscope.model.run import Event

SHIPPED = "openclaw@2026.9"


def noted(key: str, context: dict[str, Any], dialect: str = "openclaw", **more: Any) -> list[str]:
    host = DIALECTS[dialect]
    known = host.catalogue().find(key)
    whole = {**(known.context if known else {}), **context}
    bare = host.event_of(key)
    event = Event(bare.type, bare.action, kind=bare.kind, context=whole, **more)
    return list(event_note_texts(event, host.catalogue()))


@pytest.mark.parametrize(
    ("key", "context", "note"),
    [
        ("command:new", {"x": "dev"}, "x is not a known field"),
        ("command:stop", {"sessionID": "s"}, "sessionID is not a known field; did you mean sessionId?"),
        ("command:stop", {"SENDERID": "s"}, "SENDERID is not a known field; did you mean senderId?"),
        ("command:new", {"sessionId": 42}, "sessionId: expected a text, but 42 is a number"),
        ("command:new", {"sessionEntry": [1]}, "sessionEntry: expected an object, but this is a list"),
        ("command:new", {"senderId": None}, "senderId: expected a text, but this is null"),
        ("message:received", {"metadata": {"to": 1}}, "metadata.to: expected a text, but 1 is a number"),
        (
            "agent:bootstrap",
            {"bootstrapFiles": [{"name": "A"}, {"name": True}]},
            "bootstrapFiles[1].name: expected a text, but this is a boolean",
        ),
        (
            "agent:bootstrap",
            {"bootstrapFiles": ["A"]},
            "bootstrapFiles[0]: expected an object, but this is a text",
        ),
    ],
)
def test_a_mismatch_is_noted(key: str, context: dict[str, Any], note: str) -> None:
    assert noted(key, context) == [note]


def test_unknown_field_suggests_the_closest_match() -> None:
    event = Event("command", "new", context={"senderID": "dev", "sessionid": "s"})
    assert event_note_texts(event, DIALECTS["openclaw"].catalogue()) == (
        "senderID is not a known field; did you mean senderId?",
        "sessionid is not a known field; did you mean sessionId?",
    )


def test_value_outside_of_an_enumeration_is_noted() -> None:
    (note,) = noted("session:auto-reset", {"reason": "weekly"}, SHIPPED)
    assert note == "reason: expected one of daily, idle"


def test_missing_required_field_is_noted() -> None:
    event = Event("message", "received", context={"from": "a", "content": "b"})
    assert event_note_texts(event, DIALECTS[SHIPPED].catalogue()) == (
        "channelId is missing, and every message:received has it",
    )


def test_ctx_is_checked_too() -> None:
    ctx = {"senderID": "dev", "channelId": 7}
    assert noted("message_received", {}, SHIPPED, ctx=ctx) == [
        "ctx.senderID is not a known field; did you mean ctx.senderId?",
        "ctx.channelId: expected a text, but 7 is a number",
    ]


@pytest.mark.parametrize(
    ("dialect", "key", "context"),
    [
        ("openclaw", "command:new", {"cfg": 1, "replayed": {"run": "x"}}),  # ours to add
        ("openclaw", "command:deploy", {"target": "prod"}),  # the user's own action
        ("milady", "command:new", {"anything": [1]}),  # no source describes it
        ("eliza", "session:start", {"senderID": "dev"}),
        ("openclaw", "message:sent", {"success": 1}),
        ("openclaw", "nobody:knows", {"x": 1}),  # that the event is unknown is said elsewhere
        ("eve@0.80", "message.completed", {"message": None}),
        ("eve@0.80", "result.completed", {"result": 7}),
    ],
)
def test_acceptable_values_have_no_note(dialect: str, key: str, context: dict[str, Any]) -> None:
    assert noted(key, context, dialect) == []


def test_number_of_notes_is_limited() -> None:
    wild = {f"key{number}": number for number in range(100_000)}
    wild["x" * 1_000_000 + "\x1b[2J"] = 1
    odd = {"\x1b[2J\nsenderId": "a" * 1_000_000, "senderId": 10**9_999, "commandSource": float("nan")}
    event = Event("command", "new", context={**odd, **wild})
    notes = event_note_texts(event, DIALECTS["openclaw"].catalogue())
    assert len(notes) == MOST_NOTES
    assert all(len(note) < 200 and note.isprintable() for note in notes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "daily", "ok", "observe", "éß"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["kind", "name", "id", "to"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
EVENTS = [
    (name, event)
    for name, dialect in DIALECTS.items()
    for event in dialect.catalogue().events
    if event.fields
]


@given(st.data(), st.sampled_from(EVENTS))
def test_notes_agree_with_schema_errors_except_for_unknown_fields(
    data: st.DataObject, known: tuple[str, EventType]
) -> None:
    dialect, event = known
    changed = data.draw(st.dictionaries(st.sampled_from([*event.fields, "stranger"]), JSON, max_size=4))
    dropped = data.draw(st.sets(st.sampled_from(list(event.fields)), max_size=2))
    context = {name: value for name, value in {**event.context, **changed}.items() if name not in dropped}
    context.pop("cfg", None)
    bare = DIALECTS[dialect].event_of(event.key)
    fired = Event(bare.type, bare.action, kind=bare.kind, context=context)
    notes = [
        note
        for note in event_note_texts(fired, DIALECTS[dialect].catalogue())
        if not note.startswith("stranger is not a known field")
    ]
    errors = list(Draft202012Validator(context_schema(event)).iter_errors(context))
    assert bool(notes) is bool(errors), (notes, errors)


def test_notes_show_no_possible_secret() -> None:
    event = Event("command", "new", context={"sessionEntry": "sk-secret", "cfg": "sk-secret"})
    assert not any("sk-secret" in note for note in event_note_texts(event, DIALECTS["openclaw"].catalogue()))

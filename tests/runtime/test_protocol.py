from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.runtime.python_worker.protocol import (
    BEGUN,
    ENDED,
    LENGTH,
    MAX_BODY,
    NEXT,
    Message,
    ProtocolError,
    Unpacker,
    pack,
    short_frame,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
messages = st.lists(st.dictionaries(st.text(), values, max_size=4), max_size=4)


@given(messages, st.data())
def test_any_messages_survive_any_cutting(sent: list[Message], data: st.DataObject) -> None:
    wire = b"".join(map(pack, sent))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=8)))
    unpacker = Unpacker()
    pieces = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]
    assert [message for piece in pieces for message in unpacker.feed(piece)] == sent


@given(st.integers(0, 2**32 - 1), st.floats(allow_nan=False), st.integers(0, 40))
def test_a_short_message_says_what_json_says_in_words(number: int, seconds: float, cut: int) -> None:
    run = "0123456789abcdef"
    wire = (
        short_frame(BEGUN, run, number, seconds)
        + short_frame(NEXT, run, number, seconds)
        + short_frame(ENDED, run, 0, 0.0)
    )
    unpacker = Unpacker()
    heard = [message for piece in (wire[:cut], wire[cut:]) for message in unpacker.feed(piece)]
    assert heard == [
        {"id": run, "started": number, "loaded": seconds},
        {"id": run, "result": number, "took": seconds, "next": True},
        {"id": run, "result": 0, "took": 0.0},
    ]


def test_half_characters_survive() -> None:
    assert list(Unpacker().feed(pack({"text": "\udc80"}))) == [{"text": "\udc80"}]


@pytest.mark.parametrize(
    "body",
    [
        b"[1]",
        b"{",
        b"\xff",
        b'{"a": NaN}',
        b'{"a": 1} 2',
        b"[" * 5000,
        b'"text"',
        b"",
        b"\2",
        b"\2" + bytes(12) + b"\xff",
        b"\4",
    ],
)
def test_what_is_no_object_is_garbled(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(Unpacker().feed(LENGTH.pack(len(body)) + body))


def test_what_was_said_before_the_junk_is_heard() -> None:
    heard: list[Message] = []
    with pytest.raises(ProtocolError):
        heard.extend(Unpacker().feed(pack({"started": 0}) + b"junkjunk"))
    assert heard == [{"started": 0}]


def test_a_frame_that_says_it_is_huge_is_refused_before_it_is_read() -> None:
    with pytest.raises(ProtocolError, match="the limit is 8,388,608"):
        list(Unpacker().feed(LENGTH.pack(MAX_BODY + 1)))


@pytest.mark.parametrize("value", [float("nan"), "x" * MAX_BODY])
def test_what_no_frame_can_hold_is_not_sent(value: Any) -> None:
    with pytest.raises(ValueError, match=r"limit|JSON"):
        pack({"value": value})

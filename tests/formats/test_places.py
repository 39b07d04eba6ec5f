"""Places: what people are told and what edits cut by are the same place."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.formats.positions import FormatError, Span, span_at, text_of


def test_an_error_names_its_position() -> None:
    error = FormatError("`a` appears twice", Span(3, 9, 40, 41))
    assert str(error) == "line 3, column 9: `a` appears twice"
    assert (error.problem, error.span) == ("`a` appears twice", Span(3, 9, 40, 41))


def test_an_error_survives_copies_and_pickles() -> None:
    error = FormatError("bad", Span(1, 2, 1, 1))
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(twin), twin.span) == (str(error), error.span)


@given(st.text())
def test_decoded_text_keeps_every_byte(text: str) -> None:
    assert text_of(text.encode()).encode() == text.encode()
    assert text_of(b"\xef\xbb\xbf" + text.encode()) == "\ufeff" + text


def test_invalid_utf8_is_refused_with_its_position() -> None:
    with pytest.raises(FormatError, match="line 2, column 3: byte 0xFF is not UTF-8") as caught:
        text_of("é\n💾a".encode() + b"\xff")
    assert caught.value.span == Span(2, 3, 4, 4)


def test_a_byte_order_mark_has_an_offset_and_no_column() -> None:
    assert span_at("\ufeffa: 1", 1, 2) == Span(1, 1, 1, 2)
    assert span_at("\ufeffa: 1", 0, 0) == Span(1, 1, 0, 0)
    assert span_at("\ufeffa\nb", 3, 4) == Span(2, 1, 3, 4)

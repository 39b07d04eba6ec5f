"""JSON5 is read as the hosts read it, and each value's place is exactly its text."""

import json
import math
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import pyjson5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.formats import json5
from hookscope.formats.json5 import locate_json5, read_json5
from hookscope.formats.positions import FormatError, KeyPath, text_of

VALUES: list[tuple[str, object]] = [
    *(("1", 1), ("-0x10", -16), ("+.5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("true", True), ("null", None)),
    *(("Infinity", math.inf), ("-Infinity", -math.inf), ("12345678901234567890", 12345678901234567890)),
    *(("'a'", "a"), ("'it\\'s'", "it's"), ('"a\\\nb"', "ab"), ("'\\x41\\u0042\\0'", "AB\0"), ('"\t"', "\t")),
    *(
        ("'\u2028'", "\u2028"),
        ('"\\ud83d\\udd27"', "🔧"),
        ('"\\ud83d"', "\ufffd"),
        ('"\\\\ud83d"', "\\ud83d"),
    ),
    ('"\\ud83d\\ud83d\\udd27"', "\ufffd🔧"),
    *(("{a:1,}", {"a": 1}), ("{a:1,a:2}", {"a": 2}), ("{$_é1:1, 'b c':2}", {"$_é1": 1, "b c": 2})),
    *(("{\\u0061:1}", {"a": 1}), ("{true:1}", {"true": 1}), ("[1,]", [1]), ("[]", []), ("{}", {})),
    *(("\ufeff{a:1}", {"a": 1}), ("// c\n1 /* d */ // e", 1), ("\u00a0\u20281", 1)),
]

REFUSED: list[tuple[str, int, int, str]] = [
    ("", 1, 1, "no JSON data found"),
    ("[1,,2]", 1, 4, "stray `,`"),
    ('{\n  "a": 1\n  "b": 2}', 3, 3, 'expected `,` or `}`, found `"`'),
    ("{'a' 1}", 1, 6, "expected `:`, found `1`"),
    ("{a: b}", 1, 5, "expected a value, found `b`"),
    ("{1: 2}", 1, 2, "expected a key, found `1`"),
    ("[1,\n {", 2, 2, "unclosed object"),
    ("'a", 1, 1, "unclosed string"),
    ("{a:1} /*x*/ x", 1, 13, "more text after the end of the document"),
    ("{a:1}}", 1, 6, "more text after the end of the document"),
    ("01", 1, 2, "more text after the end of the document"),
    ("\0", 1, 1, "expected a value, found U+0000"),
    ("[1, 1_0]", 1, 5, "`1_0` is not read as a number"),
    ("[+-1]", 1, 2, "`+-1` is not read as a number"),
    ("5.5.", 1, 1, "`5.5.` is not read as a number"),
    ("['\\01']", 1, 2, "a digit after `\\0` in a string"),
    ("0x" + "f" * 2000, 1, 1, "is not read as a number"),
    ("0x" + "f" * 9000, 1, 1, ""),
    ("9" * 9000, 1, 1, ""),
    ("\ufeff[1 2]", 1, 4, "expected `,` or `]`, found `2`"),
    ("[" * 200_000, 1, 65, "lists and objects nested more than 64 deep"),
    ("{a:" * 200_000, 1, 193, "lists and objects nested more than 64 deep"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_json5_values_equal_those_of_javascript(text: str, value: object) -> None:
    assert repr(read_json5(text.encode())) == repr(value)


def test_nan_is_a_number() -> None:
    value = read_json5(b"-NaN")
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(("text", "line", "column", "problem"), REFUSED, ids=lambda part: str(part)[:20])
def test_json5_errors_have_a_position(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_json5(text.encode())
    assert problem in caught.value.problem
    assert (caught.value.span.line, caught.value.span.column) == (line, column)
    assert locate_json5(text.encode(), ()) is None


@pytest.mark.parametrize("error", [ValueError("too many digits"), RecursionError("no stack left")])
def test_every_library_error_becomes_a_format_error(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> object:
        raise error

    monkeypatch.setattr(pyjson5, "decode", failing)
    with pytest.raises(FormatError, match=f"line 1, column 1: {error}"):
        read_json5(b"+1")


def test_ordinary_nesting_is_read() -> None:
    deep = b"[" * 64 + b"]" * 64
    read_json5(deep)
    span = locate_json5(deep, (0,) * 63)
    assert span is not None
    assert (span.start, span.end) == (63, 65)


PLACES: list[tuple[str, KeyPath, str]] = [
    ("{a: {b: [1, 'x']}}", ("a", "b", 1), "'x'"),
    ("{a: {b: [1, 'x']}}", ("a", "b"), "[1, 'x']"),
    ("{a: 1, 'a': 2 , \"a\" : 3 }", ("a",), "3"),
    ("{a: {b: 1}, a: {c: 2}}", ("a", "c"), "2"),
    ("/* { */ {a /* : 1 */ : // }\n 'x}' /* , */, }", ("a",), "'x}'"),
    ("{'//': \"/*\", '*/': '\\'}'}", ("*/",), "'\\'}'"),
    ("{\\u0061b: 1}", ("ab",), "1"),
    ("{'\\ud83d\\udd27': 1}", ("🔧",), "1"),
    ("{'\\ud83d': 1}", ("\ufffd",), "1"),
    ("\ufeff // c\r\n{a: '💾', b: -0x1F}\r\n", ("b",), "-0x1F"),
    ("\ufeff // c\r\n{a: '💾'}\r\n", (), "{a: '💾'}"),
    ("// a\u2028[1]", (0,), "1"),
    ("[[], {}, ]", (1,), "{}"),
]


@pytest.mark.parametrize(("text", "path", "found"), PLACES)
def test_a_position_covers_exactly_the_text_of_its_value(text: str, path: KeyPath, found: str) -> None:
    span = locate_json5(text.encode(), path)
    assert span is not None
    assert text_of(text.encode())[span.start : span.end] == found


@pytest.mark.parametrize("path", [("b",), ("a", 2), ("a", -1), ("a", "0"), (0,), ("a", 0, "x"), ("c", "d")])
def test_an_unknown_path_has_no_position(path: KeyPath) -> None:
    assert locate_json5(b"{a: [1, 2], c: {d: 1}, c: {}}", path) is None


def test_invalid_utf8_has_no_positions() -> None:
    assert locate_json5(b"[\xff]", ()) is None


# Properties

GAPS = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "\ufeff", "/* } ' */", '// ] "\n', "/**/"])
SCALARS = st.sampled_from(
    ["1", "-2.5", "0x1F", "null", "true", "'x}'", '"{//"', "'\\'['", '"/*"', "'💾'", '"\\ud83d\\udd27"', "''"]
)
KEYS = st.sampled_from(["a", "b", "'a'", '"b"', "\\u0061", "'c,'", '"d:"', "'\\''"])


@st.composite
def documents(draw: st.DrawFn, depth: int = 3) -> str:
    """JSON5 with brackets and quotes in all the places where they mean nothing."""
    shape = draw(st.sampled_from(["scalar", "list", "object"])) if depth else "scalar"
    if shape == "scalar":
        return draw(SCALARS)
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        part = draw(GAPS) + draw(documents(depth - 1)) + draw(GAPS)
        if shape == "object":
            part = draw(GAPS) + draw(KEYS) + draw(GAPS) + ":" + part
        parts.append(part)
    last = draw(st.sampled_from(["", ","])) if parts else ""
    inner = ",".join(parts) + last + draw(GAPS)
    return f"[{inner}]" if shape == "list" else f"{{{inner}}}"


@given(GAPS, documents(), GAPS)
def test_each_value_is_at_its_position(before: str, document: str, after: str) -> None:
    text = before + document + after
    source = text.encode()

    def check(path: KeyPath, value: object) -> None:
        span = locate_json5(source, path)
        assert span is not None
        part = text[span.start : span.end]
        assert repr(read_json5(part.encode())) == repr(value)
        assert part == part.strip("\ufeff \r\n\t")
        spliced = text[: span.start] + '"new"' + text[span.end :]
        assert at(read_json5(spliced.encode()), path) == "new"

    each_value(read_json5(source), (), check)


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(TREES, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_read_as_by_the_standard_library(tree: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(tree, ensure_ascii=ascii_only, indent=indent)
    assert repr(read_json5(text.encode())) == repr(json.loads(text))


WORDS = st.sampled_from(
    ["0x", "NaN", "Infinity", "//", "/*", "*/", "'b'", '"c"', "\\u0061", "\\ud83d", "\\0"]
)
MARKS = st.sampled_from("{}[],:a1-+._e'\" \n\ufeff\\\0\x85é💾")
PIECES = st.lists(WORDS | MARKS, max_size=12).map("".join)


@given(st.binary(max_size=100) | PIECES.map(str.encode))
def test_any_json5_bytes_are_read_or_refused_with_a_position(source: bytes) -> None:
    error = refusal(source)
    if error:
        assert error.problem
        assert 1 <= error.span.line <= source.count(b"\n") + 1
        assert 0 <= error.span.start <= error.span.end <= len(source)


ODD = st.sampled_from(
    [
        *("0", "-1", "1.5", "01", "1_0", "5.", "5.5.", ".5", "+1", "+-1", "0e", "1e5", "1é", "0x1F", "NaN"),
        *("'\\0'", "'\\01'", "'\\''", "//", "/*'*/", "a"),
    ]
)


@given(st.lists(ODD, max_size=4).map(lambda parts: f"[{', '.join(parts)}\n]") | PIECES)
def test_the_quick_check_accepts_only_valid_documents(text: str) -> None:
    try:
        pyjson5.decode(text)
    except (pyjson5.Json5DecoderException, ValueError):
        return
    assert not json5._is_clearly_valid(text) or json5._valid_until(text) == len(text)


ESCAPED = st.sampled_from(
    [
        *("\\", "\\\\", '\\"', "\\'", "\\\n", "\\0", "\\01", "\\*", "*", "/", "a", '"', "'", "\n"),
        "//",
        "/*",
        "*/",
    ]
)


@given(st.lists(ESCAPED, max_size=10).map("".join))
def test_tokens_are_found_as_if_escapes_were_read_one_by_one(inside: str) -> None:
    text = f"{{a: '{inside}', /* {inside} */ b: \"{inside}\" // {inside}\n}}"
    try:
        pyjson5.decode(text)
    except (pyjson5.Json5DecoderException, ValueError):
        return
    spans = [match.span() for match in re.finditer(json5.JSON5_TOKEN, text) if text[match.start()] != "/"]
    assert json5.json5_tokens(text) == spans
    assert json5._valid_until(json5._without_escapes(text)) == json5._valid_until(text)


@pytest.mark.parametrize("escape", ["\\\\", "\\\\\\ud800", "\\0", "\\\n", "\\*", "\\ud83d\\ude00"])
def test_a_string_of_escapes_takes_little_memory(escape: str) -> None:
    source = ('{a: "' + escape * (400_000 // len(escape)) + '"}').encode()
    tracemalloc.start()
    read_json5(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(source)


def refusal(source: bytes) -> FormatError | None:
    try:
        read_json5(source)
    except FormatError as error:
        return error
    return None


def each_value(value: object, path: KeyPath, check: Callable[[KeyPath, object], None]) -> None:
    check(path, value)
    if isinstance(value, dict):
        for key, part in value.items():
            each_value(part, (*path, key), check)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            each_value(part, (*path, index), check)


def at(value: Any, path: KeyPath) -> object:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("rest", ['"' + '\\"' * 400_000, "x " + "/*" * 400_000], ids=["quote", "comment"])
def test_what_follows_the_document_is_not_read(rest: str) -> None:
    with pytest.raises(FormatError, match="more text after the end of the document"):
        read_json5(f"{{a: 1}} {rest}".encode())


@pytest.mark.parametrize("item", ["{}", "{a: []}", "'x'"])
def test_a_document_of_too_many_values_is_refused(item: str) -> None:
    with pytest.raises(FormatError, match="more than 100,000 values"):
        read_json5(f"[{','.join([item] * 100_002)}]".encode())
    assert len(read_json5(f"[{','.join([item] * 100_000)}]".encode())) == 100_000  # type: ignore[arg-type]

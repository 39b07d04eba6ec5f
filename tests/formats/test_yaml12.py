"""YAML is read as the hosts' JavaScript reads it, and no document takes the program down."""

import json
import math
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.call_counting import calls_made

from hookscope.formats import yaml_nodes
from hookscope.formats.positions import FormatError, KeyPath, text_of
from hookscope.formats.yaml12 import locate_yaml, read_yaml

INF = math.inf

# What stands after `a: ` and what we make of it. JavaScript's `yaml` 2 says the same, but for long integers.
SCALARS: list[tuple[str, object]] = [
    *((text, text) for text in ("on", "off", "yes", "no", "y", "n", "NO", "Yes", "tRUE", "nULL", "None")),
    *((text, text) for text in ("1:30", "12:30:45", "190:20:30", "2026-11-20", "2026-11-20T10:00:00Z", "=")),
    *((text, text) for text in ("1_000", "0b11", "0o18", "0o", "-0o7", "0X1F", "+0x1", "0x", "1e", ".", "+")),
    *((text, text) for text in ("1.2.3", "v1", "-.nan", "nan", "inf", "1 2", "٣", "1e3x", "~a", "a~")),
    *((text, None) for text in ("", "~", "null", "Null", "NULL", "# only a comment")),
    *((text, True) for text in ("true", "True", "TRUE")),
    *((text, False) for text in ("false", "False", "FALSE")),
    *(("0", 0), ("012", 12), ("0o14", 12), ("0x1F", 31), ("+1", 1), ("-7", -7), ("-0", 0)),
    ("123456789012345678901234567890", 123456789012345678901234567890),
    *(
        ("1e3", 1000.0),
        ("1.5e3", 1500.0),
        ("1.10", 1.1),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1.e3", 1e3),
    ),
    *(("1E-2", 0.01), (".5e+1", 5.0), ("1e999", INF), (".inf", INF), ("+.INF", INF), ("-.Inf", -INF)),
    *(("9" * 500, int("9" * 500)), ("9" * 501, INF), ("-" + "9" * 9000, -INF), ("0" * 600 + "7", 7.0)),
    *(("0x" + "f" * 5000, INF), ("0x" + "0" * 600 + "f", 15.0), ("0o" + "7" * 501, INF)),
    *(('"1"', "1"), ("'true'", "true"), ('""', ""), ("''", ""), ('"~"', "~"), ('"a\\x07b"', "a\x07b")),
    *(("[1, on, '1', ]", [1, "on", "1"]), ("{b: 1e3, c}", {"b": 1000.0, "c": None}), ('{"b":1}', {"b": 1})),
    *(("a#b", "a#b"), ("1 # c", 1), ("save & load", "save & load"), ("Hi!", "Hi!"), ("a * b!", "a * b!")),
    *(("x !y", "x !y"), ("x &y", "x &y"), ("x *y", "x *y"), ('"!x"', "!x"), ("'*'", "*")),
    *(("\ta", "a"), ("a\t# c", "a"), ("{b: 1,\n\tc: 2}", {"b": 1, "c": 2})),
    *(("x\n  y", "x y"), ("|\n  x\n  y\n", "x\ny\n"), (">-\n  x\n  y\n", "x y"), ("|-\n  1\n", "1")),
    *(("💾", "💾"), ('"\\ud83d\\udd27"', "🔧"), ('"\\uD83D\\uDD27!"', "🔧!"), ('"\\U0001f527"', "🔧")),
    *(('"\\ud83d"', "\ufffd"), ('"\\udd27\\ud83d"', "\ufffd\ufffd"), ('"\\ud83d\\\n  \\udd27"', "🔧")),
    *(("'\\ud83d\\udd27'", "\\ud83d\\udd27"), ("\\ud83d", "\\ud83d"), ('"\\\\ud83d"', "\\ud83d")),
    *(('"\\\\\\ud83d\\udd27"', "\\🔧"), ('"\\u00e9"', "é")),
    *((f"x{c}y", f"x{c}y") for c in "\x00\x07\x7f\x80\x85\x9d\u2028\u2029\ufeff\ufffe\uffff\r\U0010ffff"),
    *((f'"x{c}y"', f"x{c}y") for c in "\x00\x07\x85\u2028\r"),
    ("x\u2028 # c", "x\u2028"),
    ("\x07 \U000f0007 \U00100007", "\x07 \U000f0007 \U00100007"),  # the first block for stand-ins is taken
]

DOCUMENTS: list[tuple[str, object]] = [
    *(("", None), ("\ufeff", None), ("# c\n", None), ("---\n", None), ("a", "a"), ("--- a", "a"), ("[]", [])),
    *(("on: 1", {"on": 1}), ("1: a", {"1": "a"}), ("true: a", {"true": "a"}), ("~: a", {"~": "a"})),
    *(("<<: {a: 1}", {"<<": {"a": 1}}), ("? a\n: - b", {"a": ["b"]}), ("- - - a", [[["a"]]])),
    *(("\ufeffa: 1", {"a": 1}), ("a: 1\r\nb:\r\n  - x\r\n", {"a": 1, "b": ["x"]}), ("a: 1\n...\n", {"a": 1})),
    *(("%YAML 1.2\n---\na: on", {"a": "on"}), ("%YAML 1.1\n---\na: on", {"a": "on"})),
    ('"\\ud83d\\udd27": 1', {"🔧": 1}),
    ("a:\n- b: 1\n  c:\n  - 2\n-\nd: ", {"a": [{"b": 1, "c": [2]}, None], "d": None}),
]

REFUSED: list[tuple[str, int, int, str]] = [
    ("a: 1\nb: 2\na: 3", 3, 1, "the key `a` appears twice"),
    ("x:\n  1: a\n  '1': b", 3, 3, "the key `1` appears twice"),
    ("<<: {a: 1}\n<<: {b: 1}", 2, 1, "the key `<<` appears twice"),
    ("a: 1\nb: &x 1", 2, 4, "the anchor `&x`"),
    ("a: *x", 1, 4, "the alias `*x`"),
    ("a: [1,*x]", 1, 7, "the alias `*x`"),
    ("&x a: 1", 1, 1, "the anchor `&x`"),
    ("- &x\n  a: 1", 1, 3, "the anchor `&x`"),
    ("a: !!python/object:os.system x", 1, 4, "the tag `tag:yaml.org,2002:python/object:os.system`"),
    ("a: !foo b", 1, 4, "the tag `!foo`"),
    ("a: !!str 12", 1, 4, "the tag `tag:yaml.org,2002:str`"),
    ("a: ! 12", 1, 4, "the tag `!`"),
    ("a: !!binary aGk=", 1, 4, "the tag"),
    ("a: !!set {b}", 1, 4, "the tag"),
    ("a:\n  !!map\n  b: 1", 2, 3, "the tag"),
    ("? [a, b]\n: c", 1, 3, "a key is text"),
    ("x: {{a: 1}: b}", 1, 5, "a key is text"),
    ("a:\n\tb: 1", 2, 1, "a tab is used where YAML needs spaces"),
    ("a: @x", 1, 4, "`@` cannot start a value; put the value in quotes"),
    ("a: `x`", 1, 4, "cannot start a value"),
    ("a: %x", 1, 4, "cannot start a value"),
    ("a: 1\n---\nb: 2", 2, 1, "a second document starts here"),
    ("a: 1\n---\n", 2, 1, "a second document starts here"),
    ("a: b: c", 1, 5, "mapping values are not allowed in this context: quote the value"),
    ("a: [1", 2, 1, "did not find expected"),
    ('a: "x', 1, 7, "unexpected end of stream"),
    ('a: "\\z"', 1, 5, "unknown escape"),
    ("\ufeffa: b: c", 1, 5, "mapping values are not allowed"),
    ("a: \x07\n💾: b: d", 2, 5, "mapping values are not allowed"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_yaml_scalars_equal_those_of_javascript(text: str, value: object) -> None:
    assert same(read_yaml(f"a: {text}".encode()), {"a": value})


def test_nan_is_a_number() -> None:
    for text in (b".nan", b".NaN", b".NAN"):
        value = read_yaml(text)
        assert isinstance(value, float)
        assert math.isnan(value)


@pytest.mark.parametrize(("text", "value"), DOCUMENTS)
def test_yaml_documents_equal_those_of_javascript(text: str, value: object) -> None:
    assert same(read_yaml(text.encode()), value)


@pytest.mark.parametrize(("text", "line", "column", "problem"), REFUSED)
def test_yaml_errors_have_a_position(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_yaml(text.encode())
    assert problem in caught.value.problem
    place = (caught.value.span.line, caught.value.span.column)
    # libyaml sees the end of the stream a line further on, so only what is in the text has one right place
    assert place == (line, column) or caught.value.span.start == len(text)
    assert locate_yaml(text.encode(), ()) is None


DEEP = {
    "brackets": "[" * 50_000,
    "closed brackets": "[" * 30_000 + "]" * 30_000,
    "braces": "{a: " * 12_000,
    "single pairs": "[a: " * 12_000,
    "dashes": "- " * 30_000,
    "dashes far apart": "-      " * 9_000,
    "questions": "? " * 30_000,
    "mixed": "- ? " * 15_000,
    "lines": "".join(" " * n + "a:\n" for n in range(300)),
    "listed lines": "".join(" " * n + "-\n" for n in range(300)),
    "just too deep": "[" * 65 + "]" * 65,
    "too deep by lines": "".join(" " * n + "a:\n" for n in range(66)),
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting_is_refused_before_the_parser_crashes(text: str) -> None:
    with pytest.raises(FormatError, match="lists and mappings nested more than 64 deep"):
        read_yaml(f"a: 1\nb:\n {text}".encode() if text[0] in "[{" else text.encode())
    assert locate_yaml(text.encode(), (0,)) is None


def test_ordinary_nesting_is_read() -> None:
    value = read_yaml(b"[" * 64 + b"1" + b"]" * 64)
    for _ in range(64):
        assert isinstance(value, list)
        (value,) = value
    assert value == 1
    assert read_yaml(b"- [{a: [[]]}]\n" * 100) == [[{"a": [[]]}]] * 100  # many brackets, and not deep


def test_a_text_over_the_limit_is_refused_and_the_limit_is_the_callers() -> None:
    long = b"a: " + b"x" * 65_536
    with pytest.raises(FormatError, match="65,539 characters of YAML; the limit is 65,536"):
        read_yaml(long)
    assert read_yaml(long, limit=70_000) == {"a": "x" * 65_536}
    assert locate_yaml(long, ("a",)) is None


def test_a_text_of_all_private_characters_is_refused_only_if_it_needs_one() -> None:
    every = "".join(chr(block << 8) for block in range(0xF00, 0x1100))
    assert read_yaml(every.encode()) == every
    with pytest.raises(FormatError, match="private"):
        read_yaml(f"{every}\x07".encode())


def test_both_yaml_parsers_read_and_refuse_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_nodes, "_NODES", yaml_nodes._PureNodes)
    for text, value in SCALARS:
        if "\t" not in text:  # the Python parser takes fewer tabs
            assert same(read_yaml(f"a: {text}".encode()), {"a": value})
    for text, value in DOCUMENTS:
        assert same(read_yaml(text.encode()), value)
    for text in [*(text for text, *_ in REFUSED), *DEEP.values()]:
        with pytest.raises(FormatError):
            read_yaml(text.encode())
    assert located("a: [1, {b: c}]\nd:\n- e\n", ("a", 1, "b")) == "c"
    assert located("a: [1, {b: c}]\nd:\n- e\n\nf: 1", ("d",)) == "- e"


PLACES: list[tuple[str, KeyPath, str]] = [
    ("a: [1, {b: 'c d'}]  # x", ("a", 1, "b"), "'c d'"),
    ("a: [1, {b: 'c d'}]  # x", ("a",), "[1, {b: 'c d'}]"),
    ("a:\n  b: 1\n  c: 2\n\n# about d\nd: 3", ("a",), "b: 1\n  c: 2"),
    ("a:\n- 1\n- x: y\n\nd: 3", ("a",), "- 1\n- x: y"),
    ("a:\nb: 1", ("a",), ""),
    ("\ufeffa: '💾'\r\nb: 2\r\n", ("b",), "2"),
    ('a: "\\ud83d\\udd27"\nb: "\x07"\nc: x\u2028', ("b",), '"\x07"'),
    ('a: "\\ud83d\\udd27"\nb: "\x07"\nc: x\u2028', ("c",), "x\u2028"),
    ("a: |\n  x\n\nb: 1", ("a",), "|\n  x\n\n"),
    ("a: 1", (), "a: 1"),
    ("1: a", ("1",), "a"),
]


@pytest.mark.parametrize(("text", "path", "found"), PLACES)
def test_a_position_covers_the_text_of_its_value(text: str, path: KeyPath, found: str) -> None:
    assert located(text, path) == found


@pytest.mark.parametrize("path", [("b",), ("a", 2), ("a", -1), ("a", "0"), (0,), ("a", 0, "x"), ("c", 0)])
def test_an_unknown_path_has_no_position(path: KeyPath) -> None:
    assert locate_yaml(b"a: [1, 2]\nc: text", path) is None


@pytest.mark.parametrize("source", [b"", b"\xff", b"a: [", b"a: 1\na: 2", b"# c"])
def test_empty_documents_have_no_positions(source: bytes) -> None:
    assert locate_yaml(source, ()) is None


# Properties

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
MARKUP = st.sampled_from(
    ["b: ", "- ", "? ", ": ", ", ", "&x ", "*x ", "!t ", "! ", "\n  ", "|\n", ">-\n", " # c"]
)
WORDS = st.sampled_from(["key: ", "0x1f", "1e3", "true", "---", "...", "<<", '"\\ud83d\\udd27"', "\\ud83d"])
MARKS = st.sampled_from("a[]{}'\"#1~%@=\\\n\t\r\u2028\x85\x07\ufeff\0é💾")
PIECES = st.lists(MARKUP | WORDS | MARKS, max_size=14).map("".join)


@given(st.binary(max_size=200) | PIECES.map(str.encode))
def test_any_yaml_bytes_are_read_or_refused_with_a_position(source: bytes) -> None:
    error = refusal(source)
    if error:
        lines = source.split(b"\n")
        assert error.problem
        assert 1 <= error.span.line <= len(lines)
        assert 1 <= error.span.column <= len(lines[error.span.line - 1]) + 1
        assert 0 <= error.span.start <= error.span.end <= len(source)


def refusal(source: bytes) -> FormatError | None:
    try:
        read_yaml(source)
    except FormatError as error:
        return error
    return None


@given(PIECES)
def test_the_quick_check_finds_every_tag_and_anchor(text: str) -> None:
    try:
        read_yaml(text.encode())
        plain = text.translate(dict.fromkeys(range(0x7F, 0xA0), "x")).replace("\\", "x")
        events = list(yaml.parse("".join(c if c.isprintable() or c == "\n" else "x" for c in plain)))
    except (FormatError, yaml.YAMLError):
        return
    for event in events:
        assert not isinstance(event, yaml.AliasEvent)
        assert getattr(event, "anchor", None) is None
        assert getattr(event, "tag", None) is None


@given(PIECES)
def test_a_positions_text_reads_back_as_its_value(text: str) -> None:
    if "\ufeff" in text or "? " in text:  # one means something else at the start, the other without its line
        return
    try:
        value = read_yaml(text.encode())
    except FormatError:
        return
    each_value(value, (), lambda path, part: reads_back(text, path, part))


@given(TREES, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_read_as_by_the_standard_library(tree: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(tree, ensure_ascii=ascii_only, indent=indent)
    assert same(read_yaml(text.encode()), json.loads(text))


@given(TREES, st.booleans())
def test_dumped_yaml_is_read_back_with_positions(tree: object, flow: bool) -> None:
    text = yaml.safe_dump(
        quoted(tree), default_flow_style=flow, allow_unicode=True, default_style='"', sort_keys=False
    )
    if "!!" in text:  # the dumper tags what it cannot write without
        return
    assert same(read_yaml(text.encode()), quoted(tree))
    each_value(quoted(tree), (), lambda path, part: reads_back(text, path, part))


def quoted(tree: object) -> object:
    """The same tree, in text: what stands in quotes needs no tag."""
    if isinstance(tree, dict):
        return {key: quoted(value) for key, value in tree.items()}
    return [quoted(item) for item in tree] if isinstance(tree, list) else str(tree)


def same(one: object, other: object) -> bool:
    """Equal, with types told apart as JSON tells them: 1, 1.0 and true are three things."""
    return repr(one) == repr(other)


def located(text: str, path: KeyPath) -> str:
    span = locate_yaml(text.encode(), path)
    assert span is not None
    return text_of(text.encode())[span.start : span.end]


def reads_back(text: str, path: KeyPath, value: object) -> None:
    span = locate_yaml(text.encode(), path)
    if span is None:
        assert (value, path) == (None, ())  # an empty document
        return
    again = " " * (span.column - 1) + text[span.start : span.end]  # its first line gets its indentation back
    assert same(read_yaml(again.encode()), value)


def each_value(value: object, path: KeyPath, check: Callable[[KeyPath, object], None]) -> None:
    check(path, value)
    if isinstance(value, dict):
        for key, part in value.items():
            each_value(part, (*path, key), check)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            each_value(part, (*path, index), check)


def test_locating_twice_as_many_values_of_a_document_takes_about_twice_the_work() -> None:
    first, second = (calls_for_locating(count) for count in (100, 200))
    assert second <= 2.5 * first


def calls_for_locating(count: int) -> int:
    """How many functions are called to locate all items of a list."""
    document = ("events:\n" + "".join(f"- e{number}\n" for number in range(count))).encode()
    lines: list[int] = []

    def locate_all() -> None:
        lines.extend(
            span.line for number in range(count) if (span := locate_yaml(document, ("events", number)))
        )

    calls = calls_made(locate_all)
    assert lines == list(range(2, count + 2))
    return calls

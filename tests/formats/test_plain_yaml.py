"""What the quick reader of headers reads, the full reader reads alike; all else is left to that one."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookscope.formats import yaml12
from hookscope.formats.frontmatter import cut_header
from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_part_from_nodes, read_plain_yaml

READ = [
    "name: a\ndescription: Tells of it, and more\non: true\nsize: 0x1F\nratio: 1e3\nnothing:\nempty: ''\n",
    "# first\n\nname: a#b\nhomepage: https://docs.example.org/hooks#a   \n",
    'metadata: {"openclaw": {"events": ["command:new"], "always": false}}\n',
    'metadata:\n  {\n    "a":\n      {\n        "emoji": "💾",\n        "b": ["a", "b",],\n      },\n  }\n',
    "metadata:\n  openclaw:\n    events: [command:new, gateway:startup]\n    os: []\n    emoji: 💾\n",
    "a:\n- b: 1\n  c:\n    - x\n    - 'y'\n- z\nd:\n  - 1\n",
    "a: 1\r\nb:\r\n  c: on\r\n",
]
BEYOND = [
    *("", "a", "- a\n", "a: &x 1\n", "a: *x\n", "a: !b c\n", "a: |\n  text\n", "a: b: c\n", "a: b\n  c\n"),
    *(" a: 1\n", "a: 1\na: 2\n", 'a: {"b": 1, "b": 2}\n', "a: {b: 1}\n", 'a: "\\n"\n', "a: 'it''s'\n"),
    *("a:\t1\n", "a: 1 # c\n", "a: [NaN]\n", "a: [,]\n", "a: b\n- c\n", "a:\n  b: 1\n c: 2\n", "a: -\n"),
    *("a: x\u2028y\n", '"a": 1\n', "a: 1\n---\n", 'a: {"b"\n : 1}\n', "a:\n-  \n", "a:\n  {\n  'b': 1\n"),
    *(f"a: [{'9' * 600}]\n", f"a: {'[' * 70}{']' * 70}\n"),
]


@pytest.mark.parametrize("text", READ)
def test_the_quick_reader_reads_ordinary_headers(text: str) -> None:
    assert read_plain_yaml(text) == in_full(text) != {}


@pytest.mark.parametrize("text", BEYOND)
def test_the_quick_reader_leaves_other_yaml_to_the_full_reader(text: str) -> None:
    assert read_plain_yaml(text) is None


WORDS = """
1|x|on|true|null|~|-1|.5|1_0|1:30|a:b|a: b|a #c|a#b|it's|"q: #"|'s'|'s''t'|"|"a\\nb"|--|...|?x|:x|x:|=|a, b]
[a, b]|[a,b]|[c:new, c:*]|["a", "b"]|["a","b",]|["a" , 1]|[true, 1.5, -0]|[a b]|[a: b]|[,]|[]|{}|{ }|{"a":1}
{"a": {"b": [1,2]}}|{"a":1,"a":2}|{"a" :-1}|{a: 1}|{"a"}|[1e400]|[NaN]|{"":1}|["]"]|["},",]|[[],{}]|💾|é
&a|*a|!a|a & b|%x|@x|>|99999999999999999999|[0x1F]|[a:b:c]|[a::b]|2026-01-01
"""
ON_SEVERAL_LINES = [
    '{\n "a": 1\n}',
    '{\n "a":\n  {\n "b": [1,],\n },\n}',
    '{"a"\n :1}',
    '["a",\n "b"]',
    '["a\n b"]',
]
VALUES = st.sampled_from(
    [*WORDS.strip().replace("\n", "|").split("|"), *ON_SEVERAL_LINES, "|", "a\tb", "x\u200d", "\u00a0"]
)
LINES = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "", " ", "  ", "  ", "    "]),
    st.sampled_from(["", "", "", "", "- ", "-  ", "- - ", "# "]),
    st.sampled_from(["a: ", "b: ", "c-d: ", "on:  ", "e:", "e:", "f:\n  ", "", "a : "]),
    st.just("") | VALUES,
    st.sampled_from(["", "", "", " ", " # c"]),
)
Block = list[str]  # its lines, the first of them being what stands behind its key


def mapping(members: dict[str, Block]) -> Block:
    lines = [""]
    for key, (first, *more) in members.items():
        lines += [f"  {key}:{first}", *(f"  {line}" for line in more)]
    return lines


def sequence(items: list[Block]) -> Block:
    lines = [""]
    for first, *more in items:
        begin, *rest = [first, *more] if first else more
        lines += [f"  - {begin.strip()}", *(f"  {line}" for line in rest)]
    return lines


BLOCKS = st.recursive(
    VALUES.map(lambda value: [f" {value}"]),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(["a", "b", "null", "c-d"]), inner, min_size=1).map(mapping),
        st.lists(inner, min_size=1, max_size=3).map(sequence),
    ),
    max_leaves=8,
)
TEXTS = st.one_of(
    st.lists(LINES, max_size=6).map("\n".join),
    BLOCKS.map(lambda lines: "\n".join(line[2:] for line in lines[1:])),
)


@given(TEXTS, st.sampled_from(["", "\n"]), st.booleans())
@example("a:\n  - ", "", False)
def test_the_quick_reader_agrees_with_the_full_reader(text: str, end: str, windows: bool) -> None:
    text = (text + end).replace("\n", "\r\n") if windows else text + end
    found = read_plain_yaml(text)
    assert found is None or repr(found) == repr(in_full(text))


def test_both_readers_agree_on_all_recorded_headers() -> None:
    files = [path for path in Path(__file__).parents[1].rglob("HOOK.md") if path.is_file()]
    read = 0
    for path in files:
        try:
            header = cut_header(path.read_bytes())
        except FormatError:
            continue
        found = read_plain_yaml(header.text) if header is not None else None
        if header is not None and found is not None:
            assert repr(found) == repr(in_full(header.text)), path
            read += 1
    assert read > len(files) / 2


def in_full(text: str) -> object:
    try:
        return read_part_from_nodes(text, 0, len(text))
    except FormatError as error:
        return error


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        *[
            (before, " ", after)
            for before in ("", "-", "a:", "a: x", "a: [", "- x")
            for after in ("-", "?", "# c")
        ],
        *[("a: ", piece, "#") for piece in ("x:", "x#", ": ", " #", "] ", "'", '"', "[", "[]", "a b ")],
        *[("", piece, "?") for piece in ("a:\n ", "- ", "-\n", " \n", "a: [\n ")],
    ],
)
def test_a_long_scalar_is_read_in_one_pass(
    before: str, piece: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that tries each character again would not end before the run's timeout."""
    monkeypatch.setattr(yaml12, "_LONGEST", 1_000_000)
    short, long = (before + (piece * length)[:length] + after for length in (60, 900_000))
    assert type(read_plain_yaml(long)) is type(read_plain_yaml(short))

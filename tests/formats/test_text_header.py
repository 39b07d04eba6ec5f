"""A header as texts: YAML where it reads, the lines as they stand where it does not."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookscope.formats.environment_files import read_dotenv
from hookscope.formats.script_values import script_number
from hookscope.formats.text_header import HeaderRules, header_block, read_text_header


def header(*lines: str) -> dict[str, str]:
    return read_text_header("\n".join(("---", *lines, "---", "")).encode())


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"---\n{text}\n---\n".encode()))
@example(b"---\na: {\n---\n")
@example(b'---\na: ["\n---\n')
@example(b"---\n" + b"a: " + b"[" * 5000 + b"\n---\n")
@example(b"---\na: " + b"9" * 400 + b"\nb:\n  c: " + b"9" * 400 + b"\n---\n")
@example(b"---\na: 1e999\nb: [.nan, -.inf]\n---\n")
def test_any_bytes_give_texts_or_nothing(source: bytes) -> None:
    read = read_text_header(source)
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in read.items())
    assert header_block(source) is not None or read == {}


def test_values_are_printed_as_javascript_prints_them() -> None:
    read = header("a: 1e21", "b: 1e-7", "c: 0.10", "d: -0", "e: {x: 1.0, y: [~, true, .inf]}")
    assert read == {
        "a": "1e+21", "b": "1e-7", "c": "0.1", "d": "0", "e": "{x: 1.0, y: [~, true, .inf]}",
    }  # fmt: skip
    assert header("e:", "  x: 1.0", "  y: [~, true, .inf]") == {"e": '{"x":1,"y":[null,true,null]}'}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (1e20, "100000000000000000000"), (float("nan"), "NaN"), (-0.5, "-0.5"),
        (123456789012345678901, "123456789012345680000"), (-1.5e17, "-150000000000000000"),
        (1.5e-5, "0.000015"), (-1e-6, "-0.000001"), (1e-7, "1e-7"),
    ],
)  # fmt: skip
def test_numbers_are_printed_as_javascript_prints_them(value: float, text: str) -> None:
    assert script_number(value) == text


def test_headers_are_read_as_openclaw_2026_9_reads_them() -> None:
    """Each row: a header, and the texts that the program made of it."""
    rows = json.loads(Path(__file__).with_name("recorded_headers.json").read_text(encoding="utf-8"))
    read = [[text, header(*text.split("\n"))] for text, _ in rows]
    assert read == rows


def test_headers_are_read_as_each_version_of_openclaw_reads_them() -> None:
    """Each row: a file, and the texts that 2026.9.6, 2026.7.35 and 2026.3.31 made of it."""
    file = Path(__file__).with_name("recorded_headers_of_versions.json")
    rules = [HeaderRules(), HeaderRules(repairs=False), HeaderRules(repairs=False, exact_marks=False)]
    rows = json.loads(file.read_text(encoding="utf-8"))
    read = [[text, *(read_text_header(text.encode(), one) for one in rules)] for text, *_ in rows]
    assert read == rows


def test_an_empty_key_hides_no_other() -> None:
    assert header("a:", "  : 1", "  b: 2", "name: x") == {"a": '{"":1,"b":2}', "name": "x"}


def test_nested_and_circular_aliases_fall_back_to_lines() -> None:
    doubling = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 9)]
    assert header("a0: &a0 x", *doubling)["a8"].startswith("&a8 [*a7, *a7")
    assert header("a: &a [*a]") == {"a": "&a [*a]"}


def test_line_values_fill_empty_yaml_values() -> None:
    assert header("a: null", "b:", "c: ~") == {"a": "null", "c": "~"}


def test_invalid_yaml_falls_back_to_lines_and_the_last_key() -> None:
    assert header("a: 'one'", "a: two", "b:", "\tx: 1", "", "  y", "not a line", "c: {", "d:e") == {
        "a": "two", "b": "x: 1\n\n  y", "c": "{", "d": "e",
    }  # fmt: skip


def test_a_key_may_span_lines_in_braces() -> None:
    assert header("a:", "  {", "    one # why", "      two: [1,", "    2],", "  }") == {
        "a": '{"one two":[1,2]}'
    }


def test_only_broken_descriptions_are_put_in_quotes() -> None:
    assert header("description: 'a: b'", "summary: c: d", "read_when: e") == {
        "description": "a: b", "summary": "c: d", "read_when": "e",
    }  # fmt: skip


def test_dotenv_files_are_read() -> None:
    source = b"\xef\xbb\xbfA=1\r\nexport B=\"x\\ny\" # c\nC='a # b'\nD = 5 # no\nE=\nnothing\nA=2\nF=`q`\n"
    assert read_dotenv(source) == {"A": "2", "B": "x\ny", "C": "a # b", "D": "5", "E": "", "F": "q"}


@given(st.binary(max_size=200))
def test_any_dotenv_bytes_give_variables_or_nothing(source: bytes) -> None:
    assert all(isinstance(value, str) for value in read_dotenv(source).values())


@pytest.mark.parametrize("quotes", ['\\"' * 200_000, "'" + '\\"' * 200_000], ids=["double", "both"])
def test_a_quote_that_never_ends_is_searched_once(quotes: str) -> None:
    header = f'---\nname: h\nmetadata: {{"a": "{quotes}\n---\n'
    assert read_text_header(header.encode())["name"] == "h"

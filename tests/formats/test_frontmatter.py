"""Headers of Markdown files: found, read, and placed in the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.formats.frontmatter import (
    MarkdownHeader,
    cut_header,
    locate_frontmatter,
    read_frontmatter,
    repair_mojibake,
)
from hookscope.formats.positions import FormatError, KeyPath, text_of


def test_a_header_is_the_text_between_the_dashes() -> None:
    header = cut_header(b"---\nname: tidy\n---\n\n# Tidy\n")
    assert header == MarkdownHeader(text="name: tidy\n", line=2, start=4, body="\n# Tidy\n")


@pytest.mark.parametrize(
    ("text", "yaml", "body"),
    [
        ("---\n---\n", "", ""),
        ("---\n---", "", ""),
        ("--- \t\na: 1\n---\t \nx", "a: 1\n", "x"),
        ("---\r\na: 1\r\n---\r\nx", "a: 1\r\n", "x"),
        ("\ufeff---\na: 1\n---\n", "a: 1\n", ""),
        ("---\na: |\n  ---\n ---\n----\n---\n---\n", "a: |\n  ---\n ---\n----\n", "---\n"),
        ("---\na: 1\n---x\n---\n", "a: 1\n---x\n", ""),
    ],
)
def test_a_header_is_found_with_blanks_and_any_line_ending(text: str, yaml: str, body: str) -> None:
    header = cut_header(text.encode())
    assert header is not None
    assert (header.text, header.body) == (yaml, body)
    assert text_of(text.encode())[header.start :].startswith(yaml)


@pytest.mark.parametrize(
    "source", [b"", b"# Title\n", b"\n---\na: 1\n---\n", b" ---\n---\n", b"----\n---\n", b"--"]
)
def test_a_file_without_a_header_has_none(source: bytes) -> None:
    assert cut_header(source) is None
    assert read_frontmatter(source) is None
    assert locate_frontmatter(source, ()) is None


@pytest.mark.parametrize("source", [b"---", b"---\n", b"---\na: 1\n", b"\xef\xbb\xbf--- \r\na: 1\n--- x\n"])
def test_a_header_without_an_end_is_refused(source: bytes) -> None:
    with pytest.raises(
        FormatError, match="line 1, column 1: the header opened on line 1 has no closing `---`"
    ):
        read_frontmatter(source)
    assert locate_frontmatter(source, ("a",)) is None


def test_an_empty_header_has_no_values() -> None:
    assert read_frontmatter(b"---\n---\n") == {}
    assert read_frontmatter(b"---\n# nothing yet\n\n---\n") == {}


@pytest.mark.parametrize(("yaml", "what"), [("- a\n- b", "a list"), ("just text", "one plain value")])
def test_a_header_must_be_a_mapping(yaml: str, what: str) -> None:
    with pytest.raises(
        FormatError, match=f"line 3, column 1: the header must be `key: value` lines, not {what}"
    ):
        read_frontmatter(f"---\n\n{yaml}\n---\n".encode())


def test_positions_in_a_header_count_from_the_start_of_the_file() -> None:
    with pytest.raises(FormatError, match="line 4, column 1: the key `a` appears twice") as caught:
        read_frontmatter("\ufeff---\r\na: 💾\r\nb: 1\r\na: 2\r\n---\r\n".encode())
    assert caught.value.span.start == 18
    source = "\ufeff---\r\na: 💾\r\nb: {c: [x, yes]}\r\n---\r\nb: no\r\n".encode()
    span = locate_frontmatter(source, ("b", "c", 1))
    assert span is not None
    assert (span.line, span.column, text_of(source)[span.start : span.end]) == (3, 12, "yes")


@pytest.mark.parametrize("path", [("c",), ("b", 0), (0,)])
def test_an_unknown_path_has_no_position(path: KeyPath) -> None:
    assert locate_frontmatter(b"---\na: 1\nb: {c: 1}\n---\nc: 2\n", path) is None


def test_only_the_header_counts_for_the_limit() -> None:
    assert read_frontmatter(b"---\na: 1\n---\n" + b"x" * 100_000) == {"a": 1}
    with pytest.raises(FormatError, match="limit"):
        read_frontmatter(b"---\na: " + b"x" * 65_536 + b"\n---\n")


def test_invalid_utf8_is_refused_anywhere_in_the_file() -> None:
    with pytest.raises(FormatError, match="line 4, column 2: byte 0xFF"):
        read_frontmatter(b"---\na: 1\n---\nx\xff")
    assert locate_frontmatter(b"---\na: 1\n---\nx\xff", ("a",)) is None


DASHED = st.lists(
    st.sampled_from(["---", "a: 1", "b: [", "\n", "\r\n", " ", "\ufeff", "- x", "💾", "\xff"]), max_size=9
)


@given(
    st.binary(max_size=100) | DASHED.map(lambda parts: "---\n" + "".join(parts) + "\n---\n").map(str.encode)
)
def test_any_header_bytes_are_read_or_refused_with_a_position(source: bytes) -> None:
    error = refusal(source)
    if error:
        assert error.problem
        assert 1 <= error.span.line <= source.count(b"\n") + 1
        assert 0 <= error.span.start <= error.span.end <= len(source)


def refusal(source: bytes) -> FormatError | None:
    try:
        read_frontmatter(source)
    except FormatError as error:
        return error
    return None


@pytest.mark.parametrize("emoji", ["💾", "🔧", "📝", "→", "├──", "⚠️", "🎉 é", "”", "🏳️‍🌈"])
def test_a_wrongly_decoded_emoji_is_repaired(emoji: str) -> None:
    garbled = "".join(bytes([byte]).decode("cp1252", "replace") for byte in emoji.encode())
    if "\ufffd" in garbled:  # a byte that Windows-1252 leaves open is read as the C1 control of its number
        garbled = "".join(
            bytes([byte]).decode("latin-1" if byte in b"\x81\x8d\x8f\x90\x9d" else "cp1252")
            for byte in emoji.encode()
        )
    assert repair_mojibake(garbled) == emoji


@pytest.mark.parametrize(
    "text", ["", "save", "💾", "é", "É®", "Ã©", "naïve café", "ð", "â†", "💾 â€¢", "\ud800"]
)
def test_correctly_decoded_text_is_not_changed(text: str) -> None:
    assert repair_mojibake(text) is None

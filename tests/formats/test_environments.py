"""Environments as people and service managers write them."""

import plistlib
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookscope.formats.environment_files import read_block, read_environment
from hookscope.formats.positions import FormatError
from hookscope.formats.service_units import (
    UnitSetting,
    expand_specifiers,
    read_environment_file,
    read_launchd,
    read_unit,
    unit_word,
    unit_words,
)

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@given(st.binary(max_size=120), st.sampled_from([read_environment, read_environment_file, read_unit]))
@example(b'A="x\\', read_environment_file)
@example(b"# x\\\n", read_environment_file)
@example(b"A=\\", read_unit)
def test_any_bytes_are_read_as_an_environment(source: bytes, read: Callable[[bytes], object]) -> None:
    assert read(source) is not None
    with pytest.raises(FormatError):
        read_launchd(b"?" + source)


@given(st.dictionaries(NAMES, TEXTS, min_size=1))
def test_a_kernel_environment_is_read_back(variables: dict[str, str]) -> None:
    block = b"".join(f"{name}={text}\0".encode() for name, text in variables.items())
    assert read_block(block) == variables
    assert read_environment(block) == variables


@given(st.lists(TEXTS, max_size=4))
def test_a_quoted_word_of_a_unit_is_read_back(texts: list[str]) -> None:
    line = " ".join(map(unit_word, texts))
    written = read_unit(f"[Service]\nEnvironment={line}\n".encode())
    words, problem = unit_words(written[0].value)
    assert problem == ""
    assert [expand_specifiers(word, {})[0] for word in words] == texts


@pytest.mark.parametrize(
    ("source", "variables"),
    [
        (b"PATH=/bin\nA=x # y\nB=one\ntwo=\n  three\n", {"PATH": "/bin", "A": "x # y", "B": "one",
                                                          "two": "\n  three"}),
        (b"# mine\nexport A='x y'\nB=1 # one\n", {"A": "x y", "B": "1"}),
        (b'PATH="/a:/b"\nA="x"\n', {"PATH": "/a:/b", "A": "x"}),
        (b"\xef\xbb\xbfA=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        (b"nothing here", {}),
    ],
)  # fmt: skip
def test_the_format_of_an_environment_file_is_detected(source: bytes, variables: dict[str, str]) -> None:
    assert read_environment(source) == variables


@pytest.mark.parametrize(
    ("value", "words", "problem"),
    [
        (r'A=1 "B=two words" C="x"y', ("A=1", "B=two words", "C=xy"), ""),
        (r"A=a\sb 'B=\x41\101\u00e9' C=\\", ("A=a b", "B=AAé", "C=\\"), ""),
        ('A=1 "B=', ("A=1",), 'a " is never closed'),
        (r"A=1 B=\q C=2", ("A=1",), r"`\q` is not an escape"),
    ],
)
def test_unit_values_are_split_into_words(value: str, words: tuple[str, ...], problem: str) -> None:
    assert unit_words(value) == (words, problem)


def test_a_unit_has_sections_continued_lines_and_comments() -> None:
    source = b"\n[Unit]\nA=0\n[Service]\n# no\nA=1 \\\n; not this\n  2\nnothing\nB=x\\\\\nC=\n"
    assert read_unit(source) == (
        UnitSetting("Unit", "A", "0", 3),
        UnitSetting("Service", "A", "1  2", 6),
        UnitSetting("Service", "B", "x\\\\", 10),
        UnitSetting("Service", "C", "", 11),
    )


def test_a_unit_line_continues_after_a_final_backslash() -> None:
    source = b"[Service]\r\nA=1 \\\r\n  2 \r\nB=x \\ \nC=y\n"
    found = [(one.key, one.value) for one in read_unit(source)]
    assert found == [("A", "1  2"), ("B", "x \\"), ("C", "y")]


def test_a_systemd_environment_file_is_not_read_as_shell() -> None:
    source = (
        b"# c \\\nHIDDEN=1\nA=x # y \nB='it''s'\nC=\"q\\\"\\n\\$\"\n"
        b"export D=1\n E = f \nF=a\\\nb\\ \n;G=1\nA=2\nH\n"
    )
    assert read_environment_file(source) == {
        "A": "2", "B": "its", "C": 'q"\\n$', "E": "f", "F": "ab ",
    }  # fmt: skip


@pytest.mark.parametrize("form", [plistlib.FMT_XML, plistlib.FMT_BINARY])
def test_the_environment_of_a_launchd_job_is_read(form: plistlib.PlistFormat) -> None:
    job = {"Label": "ai.gateway", "EnvironmentVariables": {"A": "1", "B": 2}, "WorkingDirectory": "/w"}
    read = read_launchd(plistlib.dumps(job, fmt=form))
    assert (read.label, dict(read.variables), read.user, read.folder) == ("ai.gateway", {"A": "1"}, "", "/w")
    with pytest.raises(FormatError, match="not a dictionary"):
        read_launchd(plistlib.dumps([1]))


@pytest.mark.parametrize("line", ["A=", "A='", 'A="'])
def test_a_long_value_is_put_together_once(line: str) -> None:
    value = "${A" * 1_000_000
    assert read_environment_file(f"{line}{value}".encode()) == {"A": value}
    assert unit_words(f"A={value}") == ((f"A={value}",), "")

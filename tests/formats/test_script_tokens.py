"""Any text gives tokens, in time that grows with its length alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.formats.script_tokens import TokenizedScript, read_script, string_value
from hookscope.formats.script_values import LONGEST_SCRIPT

TABLE: list[tuple[str, list[tuple[str, str]]]] = [
    ("", []),
    ("#!/usr/bin/env node\n1", [("number", "1")]),
    ("a // b\nc /* d */ e", [("name", "a"), ("name", "c"), ("name", "e")]),
    ("'a' \"b\" `c`", [("string", "'a'"), ("string", '"b"'), ("string", "`c`")]),
    (r"'it\'s'", [("string", r"'it\'s'")]),
    ("'// no comment'", [("string", "'// no comment'")]),
    ("'never ends\nnext", [("string", "'never ends"), ("name", "next")]),
    ("/* never ends", []),
    ("a = /['/]/g", [("name", "a"), ("mark", "="), ("regex", "/['/]/g")]),
    ("a / b / c", [("name", "a"), ("mark", "/"), ("name", "b"), ("mark", "/"), ("name", "c")]),
    (
        "(a) / b / c",
        [
            ("open", "("),
            ("name", "a"),
            ("close", ")"),
            ("mark", "/"),
            ("name", "b"),
            ("mark", "/"),
            ("name", "c"),
        ],
    ),
    (
        "if (a) /b/.test(c)",
        [
            ("name", "if"),
            ("open", "("),
            ("name", "a"),
            ("close", ")"),
            ("regex", "/b/"),
            ("mark", "."),
            ("name", "test"),
            ("open", "("),
            ("name", "c"),
            ("close", ")"),
        ],
    ),
    ("return /a/", [("name", "return"), ("regex", "/a/")]),
    (
        "x.return /a/ 2",
        [
            ("name", "x"),
            ("mark", "."),
            ("name", "return"),
            ("mark", "/"),
            ("name", "a"),
            ("mark", "/"),
            ("number", "2"),
        ],
    ),
    ("= / a", [("mark", "="), ("mark", "/"), ("name", "a")]),
    (
        "`a${ {b: `c${d}`} }e` f",
        [
            ("open", "`a${"),
            ("open", "{"),
            ("name", "b"),
            ("mark", ":"),
            ("open", "`c${"),
            ("name", "d"),
            ("close", "}"),
            ("template", "`"),
            ("close", "}"),
            ("close", "}"),
            ("template", "e`"),
            ("name", "f"),
        ],
    ),
    (r"`\${a}`", [("string", r"`\${a}`")]),
    ("a?.b ?? (...c) => #d", [
        ("name", "a"), ("mark", "?."), ("name", "b"), ("mark", "?"), ("mark", "?"), ("open", "("),
        ("mark", "..."), ("name", "c"), ("close", ")"), ("mark", "=>"), ("name", "#d"),
    ]),
]  # fmt: skip


def read(text: str) -> TokenizedScript:
    script = read_script(text.encode("utf-8", "surrogatepass"))
    assert script is not None
    return script


@pytest.mark.parametrize(("text", "tokens"), TABLE)
def test_scripts_are_split_into_tokens(text: str, tokens: list[tuple[str, str]]) -> None:
    assert [(token.kind, token.text) for token in read(text).tokens] == tokens


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ('"a\\nb"', "a\nb"),
        ("'\\x41\\u0042\\u{1f527}\\q'", "AB🔧q"),
        ("'\\ud83d\\udd27'", "🔧"),
        ("'\\ud83d'", "\ufffd"),
        ("'a\\\nb'", "ab"),
        ("`a`", "a"),
        ("'a", None),
        ("'a\\'", None),
        ("'\\u{ffffff}'", None),
        ("a", None),
        ("`a${b}`", None),
    ],
)
def test_string_tokens_are_decoded(text: str, value: str | None) -> None:
    assert string_value(read(text).tokens[0]) == value


def test_a_token_knows_its_line() -> None:
    script = read("a\n'b\\\nc' /*\n*/ `d\n${e}\n` f")
    assert [(token.text, token.line) for token in script.tokens if token.kind == "name"] == [
        ("a", 1),
        ("e", 5),
        ("f", 6),
    ]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [("([{}])", {0: 5, 1: 4, 2: 3}), ("(]", {}), (")(", {}), ("{(}", {}), ("`${a}${b}`", {0: 2, 3: 5})],
)
def test_matching_brackets_are_paired(text: str, pairs: dict[int, int]) -> None:
    assert read(text).partner == pairs | {close: opened for opened, close in pairs.items()}


PIECES = st.sampled_from(
    [
        "'",
        '"',
        "`",
        "\\",
        "/",
        "*",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "${",
        "$",
        "\n",
        " ",
        "a",
        "1",
        ".",
        "//",
        "/*",
    ]
)


@given(st.binary(max_size=300) | st.lists(PIECES, max_size=120).map("".join).map(str.encode))
def test_tokens_of_any_bytes_add_up_to_the_text(source: bytes) -> None:
    script = read_script(source)
    assert script is not None
    text = source.decode("utf-8", "replace").removeprefix("\ufeff")
    end = 0
    for token in script.tokens:
        assert text[token.start :].startswith(token.text)
        assert token.start >= end
        end = token.start + len(token.text)
    for opened, close in script.partner.items():
        assert script.partner[close] == opened


@pytest.mark.parametrize(
    "piece",
    [
        *("'", '"', "`", "/", "\\", "{", "(", "[", "}", "#", "a", "1", " ", "\n", "=/", "/[", "/*", '"\\'),
        *("`${", "`${}", "=/[\n", "'\\\n"),
    ],
)
def test_the_longest_token_is_read_in_one_pass(piece: str) -> None:
    """A reader that looks back from each character would not end before the run's timeout."""
    assert read_script((piece * LONGEST_SCRIPT)[:LONGEST_SCRIPT].encode()) is not None


def test_a_whole_bundle_is_not_read() -> None:
    assert read_script(b" " * LONGEST_SCRIPT) is not None
    assert read_script(b" " * (LONGEST_SCRIPT + 1)) is None

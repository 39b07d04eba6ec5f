"""A known value is found however it is written, and what only resembles it is not."""

import base64
import html
import json
import shlex
import urllib.parse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookscope.storage.journal.encodings import find_values, occurring_values
from hookscope.storage.journal.redaction import Masker, secrets_occurring_in
from hookscope.storage.journal.secrets import Secret

VALUES = {
    "plain": "correct-horse-battery-77",
    "signs": "pa\"ss\\w<o>rd&it's=so",
    "spaces": "plain words with spaces in them",
    "wide": "tøken-äöü-ß-日本-🔑-end",
    "escape-like": "percent%41and&amp;plus\\u0041/slash?",
    "slashes": "Zx9/q~Wv/7r+T4m2K8sL0dN3",
    "lines": "first line of it\nsecond=line;of it",
}
SPELLINGS = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON in JSON": lambda value: json.dumps({"inner": json.dumps([value])}),
    "JSON with letters": lambda value: json.dumps(value, ensure_ascii=False),
    "ascii": ascii,
    "repr": repr,
    "HTML": html.escape,
    "HTML without quotes": lambda value: html.escape(value, quote=False),
    "HTML numbers": lambda value: "".join(f"&#{ord(char)};" for char in value),
    "HTML of JSON": lambda value: html.escape(json.dumps(value)),
    "JSON pointer": lambda value: "/context/" + value.replace("~", "~0").replace("/", "~1"),
    "JSON of a JSON pointer": lambda value: json.dumps(value.replace("~", "~0").replace("/", "~1")),
    "URL": urllib.parse.quote,
    "URL component": lambda value: urllib.parse.quote(value, safe=""),
    "URL form": urllib.parse.quote_plus,
    "every byte": lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
    "JSON of a URL": lambda value: json.dumps("https://x.example/?q=" + urllib.parse.quote(value)),
    "every unit": lambda value: "".join(f"\\u{ord(char):04x}" for char in value if ord(char) < 0x10000),
    "shell": shlex.quote,
    "shell with a backslash": lambda value: "'" + value.replace("'", "'\\''") + "'",
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 of a URL": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "user and password": lambda value: "Basic " + base64.b64encode(b"user:" + value.encode()).decode(),
    "name and password": lambda value: base64.b64encode(b"somebody:" + value.encode() + b"\n").decode(),
    "wrapped base64": lambda value: base64.encodebytes(b"x" * 55 + value.encode()).decode(),
    "hexadecimal": lambda value: value.encode().hex(),
    "capital hexadecimal": lambda value: value.encode().hex().upper(),
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_secret_is_masked_in_every_encoding(value: str, spell: object) -> None:
    assert callable(spell)
    if spell is SPELLINGS["every unit"] and any(ord(char) >= 0x10000 for char in value):
        return
    spelled = spell(value)
    secret = Secret("KEY", value)
    for text in (spelled, f"before {spelled} behind", f"a\n{spelled}\nb"):
        masked = Masker.for_secrets([secret]).masked_text(text)
        assert "${SECRET:KEY" in masked
        assert spelled not in masked
        assert occurring_values(masked, [value]) == []
    assert secrets_occurring_in({"deep": [{"text": spelled}]}, [secret]) == (secret,)
    assert Masker.for_secrets([secret]).masked_value({"deep": [{"text": spelled}]}) != {
        "deep": [{"text": spelled}]
    }


@pytest.mark.parametrize(
    "text", ["correct-horse", "correct horse battery 77", "Y29ycmVjdA==", "636f7272656374", "%63%6f", ""]
)
def test_similar_values_are_not_masked(text: str) -> None:
    assert Masker.for_secrets([Secret("KEY", VALUES["plain"])]).masked_text(text) == text


@pytest.mark.parametrize("line", ["first line of it", "second=line;of it"])
def test_each_line_of_a_secret_is_masked(line: str) -> None:
    veil = Masker.for_secrets([Secret("KEY", VALUES["lines"])])
    assert veil.masked_text(f"> {line} <") == "> ${SECRET:KEY_PART} <"


def test_escaped_lines_of_a_secret_are_masked() -> None:
    veil = Masker.for_secrets([Secret("KEY", "-----BEGIN X-----\\nMIIEowIBAAKCAQEA\\nQUJDREVGR0hJSktM\\n")])
    assert (
        veil.masked_text("MIIEowIBAAKCAQEA\n  QUJDREVGR0hJSktM") == "${SECRET:KEY_PART}\n  ${SECRET:KEY_PART}"
    )


def test_key_markers_and_short_lines_are_not_masked() -> None:
    begin = "-----BEGIN " + "RSA PRIVATE KEY-----"
    veil = Masker.for_secrets([Secret("KEY", f"{begin}\nMIIEowIBAAKCAQEA\nabc\n")])
    assert veil.masked_text(begin) == begin
    assert veil.masked_text("abc") == "abc"
    assert veil.masked_text("MIIEowIBAAKCAQEA") == "${SECRET:KEY_PART}"


@pytest.mark.parametrize("at", [1, 5, 12, 23])
def test_a_secret_split_over_two_texts_is_masked(at: int) -> None:
    value = VALUES["plain"]
    pieces = {"chunks": ["out: ", value[:at], value[at:], " end"]}
    masked = Masker.for_secrets([Secret("KEY", value)]).masked_value(pieces)
    assert masked["chunks"][0] == "out: "
    assert masked["chunks"][3] == " end"
    assert value not in "".join(masked["chunks"])
    assert value[:at] not in masked["chunks"]
    assert secrets_occurring_in(pieces, [Secret("KEY", value)]) != ()


@pytest.mark.parametrize("kept", [7, 12, 20])
def test_the_rest_of_a_truncated_secret_is_masked(kept: int) -> None:
    value, cut = VALUES["plain"], "\n… 1,234 bytes are left out here …\n"
    veil = Masker.for_secrets([Secret("KEY", value)])
    assert veil.masked_text(f"say {value[:kept]}{cut}more") == f"say ${{SECRET:KEY_PART}}{cut}more"
    assert veil.masked_text(f"say{cut}{value[-kept:]} more") == f"say{cut}${{SECRET:KEY_PART}} more"
    assert secrets_occurring_in([f"say {value[:kept]}{cut}more"], [Secret("KEY", value)]) != ()


@pytest.mark.parametrize("word", ["true", "localhost", "8080", "production", "none"])
def test_an_ordinary_word_is_masked_under_its_own_key_only(word: str) -> None:
    veil = Masker.for_secrets([Secret("PASSWORD", word)])
    document = {"password": word, "said": f"it is {word} here"}
    assert veil.masked_value(document) == {"password": "${SECRET:PASSWORD}", "said": f"it is {word} here"}


def test_a_mask_is_never_masked_again() -> None:
    veil = Masker.for_secrets(
        [Secret("A", "SECRET"), Secret("B", "TOKEN_OF_MINE"), Secret("TOKEN_OF_MINE", "value-99")]
    )
    assert veil.masked_text("${SECRET:TOKEN_OF_MINE}") == "${SECRET:TOKEN_OF_MINE}"
    assert veil.masked_text("value-99") == "${SECRET:TOKEN_OF_MINE}"


def test_overlapping_secrets_are_masked_completely() -> None:
    veil = Masker.for_secrets([Secret("A", "abcdefgh-1234"), Secret("B", "1234-ijklmnop")])
    assert veil.masked_text("x abcdefgh-1234-ijklmnop y").count("${SECRET:") == 1
    assert veil.masked_text("x abcdefgh-1234-ijklmnop y").startswith("x ${SECRET:")
    assert veil.masked_text("x abcdefgh-1234-ijklmnop y").endswith("} y")


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=8, max_size=60).filter(
        lambda text: text.strip() == text and any(map(str.isalnum, text)) and "SECRET" not in text
    ),
    st.sampled_from([str, json.dumps, ascii, html.escape, urllib.parse.quote, urllib.parse.quote_plus]),
)
def test_any_secret_is_found_at_its_position(value: str, spell: object) -> None:
    assert callable(spell)
    spelled = spell(value)
    found = find_values(f"<<{spelled}>>", {value: "KEY"})
    assert found
    assert found[0].start <= 2 + len(spelled)
    assert found[-1].end <= 2 + len(spelled)


@pytest.mark.parametrize("kept", [7, 12, 20])
def test_a_secret_in_a_truncated_line_is_masked(kept: int) -> None:
    veil = Masker.for_secrets([Secret("KEY", VALUES["plain"])])
    assert veil.masked_text(f"say {VALUES['plain'][:kept]}…\nmore…") == "say ${SECRET:KEY_PART}…\nmore…"


@pytest.mark.parametrize(
    "spell",
    [
        lambda source: source.decode("utf-8", "surrogateescape"),
        lambda source: source.decode("utf-8", "replace"),
        urllib.parse.quote,
        bytes.hex,
        lambda source: base64.b64encode(source).decode(),
        lambda source: base64.urlsafe_b64encode(b"user:" + source).decode(),
        repr,
    ],
    ids=["as it is", "printed", "URL", "hexadecimal", "base64", "inside base64", "repr"],
)
def test_a_secret_that_is_not_utf_8_is_masked_in_every_encoding(spell: object) -> None:
    source = b"se\xffcret-of-\xe9-bytes"
    veil = Masker.for_secrets([Secret("OURS", source.decode("utf-8", "surrogateescape"))])
    masked = veil.masked_text(f"it is {spell(source)} here")  # type: ignore[operator]
    assert "${SECRET:OURS" in masked
    assert "bytes" not in masked


@pytest.mark.parametrize("text", ["aB3+" * 120_000, "aB3_" * 14 + "\r" + "x" * 480_000], ids=["line", "tail"])
def test_a_long_line_of_code_is_searched_in_one_pass(text: str) -> None:
    """So long that a search from each character would not end before the run's timeout."""
    assert find_values(f"{text} correct-horse-battery-77", {"correct-horse-battery-77": "OURS"})


@pytest.mark.parametrize("end", ["\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\r\n"], ids=ascii)
def test_lines_with_any_separator_are_masked(end: str) -> None:
    veil = Masker.for_secrets([Secret("OURS", f"first-line-of-it{end}second-line-of-it")])
    assert veil.masked_text("a first-line-of-it b") == "a ${SECRET:OURS_PART} b"

"""JSON5 in full: pyjson5 says what a text means; what it takes and JSON5 does not have is refused here."""

from __future__ import annotations

import re

import pyjson5

from .json5_places import TOKEN, closing_of, tokens_of
from .places import DEPTH, FormatError, span_at


def read_in_full(text: str) -> object:
    """As `read_json5`, of a text that the json module does not read, or reads otherwise."""
    try:
        value: object = pyjson5.decode(_mend_halves(text), DEPTH)
    except pyjson5.Json5NestingTooDeep as error:
        raise _wrong(text, f"more than {DEPTH} lists and objects in one another", _near(error)) from None
    except pyjson5.Json5ExtraData as error:
        raise _wrong(text, "the document has ended before this", _second(text) or _near(error)) from None
    except pyjson5.Json5DecoderException as error:
        raise _wrong(text, _sentence(error), _near(error)) from None
    except (ValueError, RecursionError) as error:  # an integer with too many digits; no stack left
        raise _wrong(text, str(error), 0) from None
    if not _plainly_sound(text):
        sound = _sound_until(text)
        if sound < len(text):
            raise _unsound(text, sound)
    return value


def read_key(token: str) -> str:
    """The name that a key with escapes spells."""
    (key,) = pyjson5.decode(f"{{{_mend_halves(token)}:0}}")
    return str(key)


# Errors, in the words of this house


def _wrong(text: str, problem: str, at: int) -> FormatError:
    at = min(max(at, 0), len(text))
    return FormatError(problem, span_at(text, at, at))


def _near(error: pyjson5.Json5DecoderException) -> int:
    """The offset in pyjson5's sentence, which counts the character it names as read."""
    near = re.search(r"near (\d+)", error.args[0])  # not str(error), which fails on deep results
    return int(near[1]) - 1 if near else 0


def _sentence(error: pyjson5.Json5DecoderException) -> str:
    """`Expected b'comma' or U+005d near 3, found U+0031` → expected comma or `]`, found `1`"""
    message = re.sub(r" (?:starting )?near \d+", "", error.args[0])
    message = re.sub(r"b'(.*?)'", lambda name: _NAMES.get(name[1], name[1]), message)
    message = re.sub(r"U\+([0-9A-Fa-f]{4,6})", lambda code: _shown(chr(int(code[1], 16))), message)
    return message[:1].lower() + message[1:]


_NAMES = {
    "JSON5Value": "a value",
    "IdentifierStart": "a key",
    "NumericLiteral": "number",
    "comma": "`,`",
    "colon": "`:`",
}


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"


def _second(text: str) -> int | None:
    """Where a second value starts. The first one is whole, or pyjson5 would have said something else."""
    tokens = tokens_of(text)
    after = closing_of(text, tokens).get(0, 0) + 1
    return tokens[after][0] if after < len(tokens) else None


# What pyjson5 and JSON5 disagree on

_HALF = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u[dD](?:([89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[89a-fA-F][0-9a-fA-F]{2})"
)


def _mend_halves(text: str) -> str:
    """Replace each escape of half a pair, which pyjson5 refuses, by one of U+FFFD, which is as long."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _HALF.sub(lambda match: match[0] if match[2] else match[1] + "\\ufffd", text)


# pyjson5 also takes `1_0`, `5.5.`, `+-1`, `0e` and '\01'. Of a sound document these matches touch one
# another. Nothing in them can be read in two ways, so that nothing is tried twice. (Possessive repetition
# would say the same, and is at fault in the first releases of Python 3.11.)
_SOUND = re.compile(
    r"""
    [\s\ufeff{}\[\]:,]+
  | "[^"\\]*(?:\\(?!0[0-9])[\s\S][^"\\]*)*"
  | '[^'\\]*(?:\\(?!0[0-9])[\s\S][^'\\]*)*'
  | //[^\n\r\u2028\u2029]*
  | /\*[\s\S]*?\*/
  | [+\-]? (?:
        0[xX][0-9a-fA-F]{1,1000}   # Python refuses to print an integer of more than 4,300 digits
      | (?: (?:0|[1-9][0-9]*) (?:\.[0-9]*)? | \.[0-9]+ ) (?:[eE][+\-]?[0-9]+)?
      | Infinity | NaN
    ) (?=[\s\ufeff{}\[\]:,/]|\Z)
  | [^\s\ufeff{}\[\]:,"'/+\-.0-9][^\s\ufeff{}\[\]:,"'/]*
    """,
    re.VERBOSE,
)


# What nearly all documents are made of, in fewer matches and simpler ones.
_PLAIN = re.compile(
    r"""(?:(?:
    [A-Za-z_$][A-Za-z0-9_$]*
  | "[^"\\]*(?:\\[^0][^"\\]*)*"
  | '[^'\\]*(?:\\[^0][^'\\]*)*'
  | //[^\n\r\u2028\u2029]*
  | /\*[^*]*\*+(?:[^*/][^*]*\*+)*/
  | -?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]+)?(?![A-Za-z0-9_$.+\-])
  | [{\[\ \t\r\n]
    )[ \t\r\n{}\[\]:,]*){1,64}   # many at once: each match is an object
    """,
    re.VERBOSE,
)


def _plainly_sound(text: str) -> bool:
    """Whether a sound text is seen to be so at once; False decides nothing."""
    return sum(map(len, _PLAIN.findall(text))) == len(text)


def _sound_until(text: str) -> int:
    """Where the first such thing stands; the length of the text where there is none."""
    at = 0
    for match in _SOUND.finditer(text):
        if match.start() != at:
            break
        at = match.end()
    return at


def _unsound(text: str, at: int) -> FormatError:
    token = TOKEN.match(text, at)
    end = token.end() if token else at
    if text[at] in "\"'":
        return FormatError("a digit after `\\0` in a string", span_at(text, at, end))
    return FormatError(f"`{text[at:end][:40]}` is not read as a number", span_at(text, at, end))

"""Read systemd unit files and launchd property lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from hookscope.formats.environment_files import VARIABLE_NAME
from hookscope.formats.positions import BYTE_ORDER_MARK, FormatError, Span
from hookscope.values import dataclass

_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " ",
            "\\": "\\", '"': '"', "'": "'"}  # fmt: skip
_NUMBERED = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})")
_SPACES = " \t\n\r"
_SPECIFIER = re.compile(r"%(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class UnitSetting:
    """One assignment of a unit file."""

    section: str
    key: str
    value: str
    line: int  # where it begins


def read_unit(source: bytes) -> tuple[UnitSetting, ...]:
    """Return all assignments in order. Other lines are skipped. Never raises."""
    text = source.decode("utf-8", "replace").removeprefix(BYTE_ORDER_MARK)
    section, found = "", []
    for number, line in _joined(text):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        key, sign, value = line.partition("=")
        if sign and key.strip(_SPACES):
            found.append(UnitSetting(section, key.strip(_SPACES), value.strip(_SPACES), number))
    return tuple(found)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    first_line, parts = 0, list[str]()
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r").lstrip(_SPACES)
        if line.startswith(("#", ";")) or (not line and not parts):
            continue
        first_line = first_line if parts else number
        if (len(line) - len(line.rstrip("\\"))) % 2:  # an even number are escaped backslashes
            parts.append(line[:-1])
            continue
        yield first_line, " ".join([*parts, line]).strip(_SPACES)
        parts = []
    if parts:
        yield first_line, " ".join(parts).strip(_SPACES)


def unit_words(text: str) -> tuple[tuple[str, ...], str]:
    """Return the unquoted and unescaped words of a value; if the rest is ignored, also the reason."""
    words, quote, at = list[str](), "", 0
    word: list[str] | None = None  # in pieces
    while at < len(text):
        sign = text[at]
        at += 1
        if sign == "\\":
            unescaped = _unescaped(text, at)
            if unescaped is None:
                return tuple(words), f"`\\{text[at : at + 1]}` is not an escape"
            at, sign = unescaped
        elif quote or sign in "'\"":
            word = [] if word is None else word
            if sign == quote or not quote:
                quote = "" if quote else sign
                continue
        elif sign in _SPACES:
            words += ["".join(word)] if word is not None else []
            word = None
            continue
        word = [] if word is None else word
        word.append(sign)
    if quote:
        return tuple(words), f"a {quote} is never closed"
    return (*words, *(["".join(word)] if word is not None else [])), ""


def _unescaped(text: str, at: int) -> tuple[int, str] | None:
    """Return the end and the character of an escape sequence, or None if it is invalid."""
    if text[at : at + 1] in _ESCAPED:
        return at + 1, _ESCAPED[text[at]]
    match = _NUMBERED.match(text, at)
    if match is None:
        return None
    digits = next(group for group in match.groups() if group is not None)
    value = int(digits, 8 if match[4] is not None else 16)
    return (match.end(), chr(value)) if 0 < value < 0x110000 and not 0xD800 <= value < 0xE000 else None


def unit_word(text: str) -> str:
    """Return a text as one word of a unit: the inverse of `unit_words`, with `%` escaped."""
    escaped = text.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{escaped}"' if " " in text or not text else escaped


def expand_specifiers(text: str, specifiers: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the text with `%h` and the like expanded, and the unknown ones, left as written."""
    unknown: dict[str, None] = {}

    def filled(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        if match[1] not in specifiers:
            unknown[match[0]] = None
            return match[0]
        return specifiers[match[1]]

    return _SPECIFIER.sub(filled, text), tuple(unknown)


def parse_assignment(word: str) -> tuple[str, str] | None:
    """Parse `NAME=value` of Environment=; None if the name is not a variable name."""
    name, sign, value = word.partition("=")
    return (name, value) if sign and re.fullmatch(VARIABLE_NAME, name) and "\0" not in value else None


_COMMENT = re.compile(r"[ \t]*[#;]")
_ENV_LINE = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=")


def read_environment_file(source: bytes) -> dict[str, str]:
    """Read an EnvironmentFile=: no `export`, no `$NAME`; `#` is a comment only at line start.

    Values may be quoted, also in several quoted parts; the last value of a repeated name counts. Never
    raises.
    """
    text = source.decode("utf-8", "replace").removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        head = _ENV_LINE.match(text, at)
        if head is None:
            at = _line_end(text, at)
            continue
        at, found[head[1]] = _setting_value(text, head.end())
    return found


def _line_end(text: str, at: int) -> int:
    """Return the end of this line; a comment continues after a backslash."""
    comment = _COMMENT.match(text, at) is not None
    while True:
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        if not (comment and text[at:end].endswith("\\")):
            return end + 1
        at = end + 1


def _setting_value(text: str, at: int) -> tuple[int, str]:
    """Return the start of the next line and the value after `=`."""
    value: list[str] = []  # in pieces
    quote, bare = "", False  # bare: trailing blanks are trimmed
    kept = 0  # pieces of the value that must not be trimmed
    while at < len(text):
        sign = text[at]
        at += 1
        if quote == "'":
            if sign == "'":
                quote = ""
            else:
                value.append(sign)
        elif quote:
            if sign == '"':
                quote = ""
            elif sign == "\\" and at < len(text):
                value.append(_in_quotes(text[at]))
                at += 1
            else:
                value.append(sign)
        elif sign == "\n":
            break
        elif sign in "'\"" and not bare:
            quote = sign
        elif sign == "\\" and at < len(text):
            bare = True
            value.append(text[at].replace("\n", ""))
            at += 1
        elif bare or sign not in _SPACES:
            bare = True
            value.append(sign)
            continue
        else:
            continue
        kept = len(value)
    return at, "".join(value[:kept]) + "".join(value[kept:]).rstrip(_SPACES)


def _in_quotes(sign: str) -> str:
    """Return the meaning of a backslash and this character between double quotes."""
    return "" if sign == "\n" else sign if sign in '"\\`$' else f"\\{sign}"


@dataclass(frozen=True, slots=True)
class LaunchdJob:
    """The parts of a property list that affect the program. Values of another type are ignored."""

    label: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)  # values may be secrets
    user: str = ""
    folder: str = ""


def read_launchd(source: bytes) -> LaunchdJob:
    """Read a property list, XML or binary.

    Raises:
        FormatError: it is not a property list, or no dictionary.
    """
    import plistlib  # imported late: rarely needed

    try:
        value = plistlib.loads(source)
    except Exception as error:  # plistlib documents no error type
        raise FormatError(f"no property list: {str(error) or type(error).__name__}", _PLIST_HEAD) from None
    if not isinstance(value, Mapping):
        raise FormatError("the property list is not a dictionary", _PLIST_HEAD)
    listed = value.get("EnvironmentVariables")
    pairs = listed.items() if isinstance(listed, Mapping) else ()
    return LaunchdJob(
        _plist_text(value.get("Label")),
        {name: text for name, text in pairs if isinstance(name, str) and isinstance(text, str)},
        _plist_text(value.get("UserName")),
        _plist_text(value.get("WorkingDirectory")),
    )


_PLIST_HEAD = Span(1, 1, 0, 0)


def _plist_text(value: object) -> str:
    return value if isinstance(value, str) else ""

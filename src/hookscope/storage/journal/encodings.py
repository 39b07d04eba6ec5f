"""Compact run documents, and known values found in a text in any encoding (escapes, base64, hex). Pure."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import Any, Literal

from hookscope.values import dataclass

Document = dict[str, Any]

# The default members of a run and a result, in the order of `records`.
RUN_DEFAULTS: Mapping[str, Any] = {
    "results": [],
    "not_run": [],
    "messages": [],
    "result": None,
    "failure": None,
    "verdict": "",
    "log": [],
    "follow_ups": [],
    "caused": [],
    "cancelled": False,
    "delivers": False,
    "notes": [],
    "assumed": [],
    "guarded": None,
    "masked": [],
}
RESULT_DEFAULTS: Mapping[str, Any] = {
    "handler": None,
    "code": None,
    "status": "ok",
    "messages": [],
    "delivered": False,
    "returned": None,
    "stdout": "",
    "stderr": "",
    "error": None,
    "patch": [],
    "notes": [],
    "forced": False,
    "broken": None,
    "stale": None,
    "asked": [],
}


def compact_document(run: Mapping[str, Any], event: Mapping[str, Any]) -> Document:
    """Return a run's document without defaults, and without a context that equals that of `event`."""
    compact = _without_defaults(run, RUN_DEFAULTS)
    if _equal_as_json(compact["context"], event["context"]):
        del compact["context"]
    if "results" in compact:
        compact["results"] = [_without_defaults(result, RESULT_DEFAULTS) for result in compact["results"]]
    if "caused" in compact:
        compact["caused"] = [compact_document(caused, caused["event"]) for caused in compact["caused"]]
    return compact


def complete_document(compact: Mapping[str, Any], event: Mapping[str, Any]) -> Document:
    """Return the full document; one that is not compact is returned unchanged."""
    run = {**RUN_DEFAULTS, "context": event["context"], **compact}
    run["results"] = [
        {"hook": result["hook"], "key": result["key"], **RESULT_DEFAULTS, **result}
        for result in run["results"]
    ]
    run["caused"] = [complete_document(caused, caused["event"]) for caused in run["caused"]]
    return run


def _without_defaults(document: Mapping[str, Any], usual: Mapping[str, Any]) -> Document:
    return {
        name: value
        for name, value in document.items()
        if name not in usual or type(value) is not type(usual[name]) or value != usual[name]
    }


def _equal_as_json(value: Any, other: Any) -> bool:
    """Return True if both have the same JSON: in Python alone `True` equals 1."""
    return bool(value == other) and json.dumps(value) == json.dumps(other)


EncodingForm = Literal["", "PART", "BASE64", "HEX"]  # empty: the whole value, perhaps with escapes

SHORTEST_ANYWHERE = 8  # characters; a shorter value is found only as a separate word
SHORTEST_SEARCHED = 4  # characters; a shorter value is never searched for
SHORTEST_CODE = 8  # characters of base64; shorter ones match by chance
LEVELS = 4  # of nested escapes
ESCAPE = re.compile(
    r"\\u\{(?P<braced>[0-9a-fA-F]{1,6})\}|\\u(?P<unit>[0-9a-fA-F]{4})|\\U(?P<wide>[0-9a-fA-F]{8})"
    r"|\\x(?P<byte>[0-9a-fA-F]{2})|\\(?P<char>[\\\"'/bfnrt])|(?P<percents>(?:%[0-9a-fA-F]{2})+)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
SIGNS = ("\\", "%", "&")
CHARS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CODE = re.compile(r"[A-Za-z0-9+/_=-]{8,}")  # the characters of base64 and hexadecimal
CODE_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=")
WRAPPED = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{48,}\r?\n")
MARKER = re.compile(r"-{3,}[A-Z ]*-{3,}|[^0-9A-Za-z]*")  # `-----BEGIN …-----`: a line that is not a secret
CUT = re.compile(r"\n… [\d,]+ bytes are left out here …\n|…")  # marks of truncated output and truncated lines
SHELL_QUOTES = ("'\\''", "'\"'\"'", "'" * 3)  # the last one: the first with its escape undone
CUT_HINT = "…"
SHORTEST_PIECE = 6  # characters of a value before or after such a mark
URL_SAFE = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class Needle:
    """A text to search for: the value itself, a part of it, or its Base64 or hex form."""

    text: str
    form: EncodingForm = ""


@dataclass(frozen=True, slots=True)
class SecretMatch:
    """The position of a value in a text. `exact`: it occurs literally."""

    start: int
    end: int
    name: str
    form: EncodingForm
    exact: bool


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text with some escapes decoded. `positions`: the original position of each character."""

    text: str
    positions: Sequence[int] | None = None  # None: the original text; else one more than there are characters
    unwrapped: bool = False  # line breaks are removed: only codes are searched

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the corresponding span in the original text."""
        return (start, end) if self.positions is None else (self.positions[start], self.positions[end])


@lru_cache(maxsize=4096)
def needles_of(value: str) -> tuple[Needle, ...]:
    """Return the spellings to search for to find a value; none for a value that is too short."""
    if len(value) < SHORTEST_SEARCHED:
        return ()
    texts = dict.fromkeys((value, value.strip(), *_as_decoded(value)))
    for text in tuple(texts):
        for _ in range(2):  # a value may contain what looks like an escape
            reading = _unescaped(text)
            if reading is None:
                break
            text = reading.text
            texts[text] = None
    # `\\n` may be two characters
    lines = dict.fromkeys(line for text in texts for line in _lines(text, value))
    for char, written in (
        (" ", ("+",)),
        ("'", SHELL_QUOTES),
        ("~", ("~0",)),
        ("/", ("~1",)),
    ):  # JSON pointers
        for text in tuple(texts):
            if char in text:
                texts |= dict.fromkeys(text.replace(char, one) for one in written)
    needles = [Needle(text) for text in texts if len(text) >= SHORTEST_SEARCHED]
    needles += (Needle(line, "PART") for line in lines if line not in texts)
    return (*needles, *_codes(value))


def _lines(text: str, value: str) -> Iterator[str]:
    """Yield the lines of a multi-line secret that are secret themselves: in a JSON secret, only base64."""
    if len(text.strip().splitlines()) < 2:
        return
    of_json = _is_json(value)
    for line in map(str.strip, text.splitlines()):
        telling = CODE.fullmatch(line) if of_json else not MARKER.fullmatch(line)
        if len(line) >= SHORTEST_ANYWHERE and telling:
            yield line


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _bytes(value: str) -> bytes:
    """Return a value's bytes; variables that are not UTF-8 contain lone surrogates."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # other surrogates
        return value.encode("utf-8", "surrogatepass")


def _as_decoded(value: str) -> Iterator[str]:
    """Yield how a value that is not UTF-8 appears when it is printed, or read byte by byte."""
    if not value.isascii() and SURROGATE.search(value):
        yield from (_bytes(value).decode("utf-8", "replace"), _bytes(value).decode("latin-1"))


def _codes(value: str) -> Iterator[Needle]:
    source = _bytes(value)
    yield from (Needle(text, "HEX") for text in dict.fromkeys((source.hex(), source.hex().upper())))
    whole = b64encode(source).decode()
    if len(whole) >= SHORTEST_CODE:
        yield from (Needle(text, "BASE64") for text in dict.fromkeys((whole, whole.translate(URL_SAFE))))
    for before in range(3):  # bytes that may be in front of it in the same group of three
        code = b64encode(b"\0" * before + source).decode().rstrip("=")
        first, last = -(-before * 8 // 6), (before + len(source)) * 8 // 6
        part = code[first:last]
        if len(part) >= SHORTEST_CODE:
            yield from (Needle(text, "BASE64") for text in dict.fromkeys((part, part.translate(URL_SAFE))))


def _texts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each text of `decoded_texts`, ten times as fast as it, and whether the text is unwrapped."""
    for _ in range(LEVELS + 1):
        yield text, False
        if WRAPPED.search(text):
            yield "".join(text.split()), True
        inner = _without_escapes(text)
        if inner is None:
            return
        text = inner


def _without_escapes(text: str) -> str | None:
    """Decode one level of escapes; None if there are none."""
    if not any(sign in text for sign in SIGNS):
        return None
    inner = ESCAPE.sub(lambda match: _escape_value(match.lastgroup or "", match[match.lastgroup or 0]), text)
    if inner == text:
        return None
    return SURROGATES.sub(lambda pair: _one_character(pair[0]), inner)


def _escape_value(kind: str, text: str) -> str:
    if kind == "char":  # the usual kind
        return CHARS.get(text, text)
    return "".join(char for char, _ in _decoded(kind, text, 0))


def _one_character(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")


def decoded_texts(text: str) -> Iterator[DecodedText]:
    """Yield the text, and the text with its escapes decoded level by level."""
    reading: DecodedText | None = DecodedText(text)
    for _ in range(LEVELS + 1):
        if reading is None:
            return
        yield reading
        if WRAPPED.search(reading.text):
            yield _unwrapped(reading)
        reading = _next_level(reading)


def _next_level(reading: DecodedText) -> DecodedText | None:
    inner = _unescaped(reading.text)
    if inner is None or reading.positions is None:
        return inner
    assert inner.positions is not None
    return DecodedText(inner.text, [reading.positions[place] for place in inner.positions])


def _unescaped(text: str) -> DecodedText | None:
    """Decode one level of escapes, with positions; None if there are none."""
    if _without_escapes(text) is None:
        return None
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for match in ESCAPE.finditer(text):
        parts.append(text[end : match.start()])
        places += range(end, match.start())
        for char, place in _decoded(match.lastgroup or "", match[match.lastgroup or 0], match.start()):
            parts.append(char)
            places += [place] * len(char)
        end = match.end()
    parts.append(text[end:])
    places += range(end, len(text) + 1)
    return _joined_surrogates("".join(parts), places)


def _decoded(kind: str, text: str, start: int) -> Iterator[tuple[str, int]]:
    match kind:
        case "char":
            yield CHARS.get(text, text), start
        case "percents":
            source = bytes.fromhex(text.replace("%", ""))
            try:
                decoded = source.decode()
            except UnicodeDecodeError:
                decoded = source.decode("latin-1")
                yield from ((char, start + 3 * at) for at, char in enumerate(decoded))
                return
            for char in decoded:
                yield char, start
                start += 3 * len(char.encode())
        case "entity":
            yield unescape(text), start
        case _:
            code = int(text, 16)
            yield (chr(code) if code <= 0x10FFFF else "\ufffd"), start


def _joined_surrogates(text: str, places: list[int]) -> DecodedText:
    r"""Join surrogate pairs: `\ud83d\ude00` is one character."""
    parts: list[str] = []
    kept: list[int] = []
    end = 0
    for pair in SURROGATES.finditer(text):
        parts += [text[end : pair.start()], _one_character(pair[0])]
        kept += places[end : pair.start() + 1]
        end = pair.end()
    return DecodedText("".join([*parts, text[end:]]), [*kept, *places[end:]])


def _unwrapped(reading: DecodedText) -> DecodedText:
    """Remove line ends and the indents after them: base64 is often wrapped."""
    kept = [at for at, char in enumerate(reading.text) if not char.isspace()]
    places = [reading.span(at, at)[0] for at in (*kept, len(reading.text))]
    return DecodedText("".join(reading.text[at] for at in kept), places, unwrapped=True)


def occurring_values(text: str, values: Iterable[str]) -> list[str]:
    """Return the values that occur in a text, short ones perhaps inside a word."""
    left = [value for value in dict.fromkeys(values) if needles_of(value)]
    found: set[str] = set()
    for inner, unwrapped in _texts(text) if left else ():
        codes = "\n".join(CODE.findall(inner))
        cut = CUT_HINT in inner
        found.update(
            value
            for value in left
            if value not in found
            and (_contains(inner, codes, value, unwrapped) or (cut and any(_pieces(inner, value))))
        )
    return [value for value in left if value in found]


def _contains(text: str, codes: str, value: str, unwrapped: bool) -> bool:
    for needle in needles_of(value):
        if needle.form in ("BASE64", "HEX"):
            if needle.text in codes:
                return True
        elif not unwrapped and needle.text in text:
            return True
    return False


def find_values(text: str, names: Mapping[str, str]) -> list[SecretMatch]:
    """Return every occurrence of values in a text, in order, without overlaps. `names`: value → name."""
    here = occurring_values(text, names)
    found = [
        one
        for reading in (decoded_texts(text) if here else ())
        for value in here
        for needle in needles_of(value)
        if needle.text in reading.text and (not reading.unwrapped or needle.form == "BASE64")
        for one in _places(reading, needle, names[value])
    ]
    if CUT_HINT in text:
        found += [
            SecretMatch(start, end, names[value], "PART", exact=False)
            for value in here
            for start, end in _pieces(text, value)
        ]
    return _merge_overlaps(found)


def _pieces(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield the spans where a value, or a line of it, is truncated by such a mark."""
    pieces = [one for one in dict.fromkeys((value, *value.splitlines())) if len(one) > SHORTEST_PIECE]
    for cut in CUT.finditer(text):
        for piece in pieces:
            before = text[cut.start() - SHORTEST_PIECE : cut.start()]
            for length in _ends(piece, before) if cut.start() >= SHORTEST_PIECE else ():
                if text.startswith(piece[:length], cut.start() - length):
                    yield cut.start() - length, cut.start()
            behind = text[cut.end() : cut.end() + SHORTEST_PIECE] if len(cut[0]) > 1 else ""
            for length in _ends(piece[::-1], behind[::-1]) if len(behind) == SHORTEST_PIECE else ():
                if text.startswith(piece[-length:], cut.end()):
                    yield cut.end(), cut.end() + length


def _ends(piece: str, part: str) -> Iterator[int]:
    at = piece.find(part)
    while at >= 0:
        yield at + len(part)
        at = piece.find(part, at + 1)


def _places(reading: DecodedText, needle: Needle, name: str) -> Iterator[SecretMatch]:
    text, at = reading.text, reading.text.find(needle.text)
    while at >= 0:
        start, end = at, at + len(needle.text)
        if needle.form == "BASE64":  # the characters around it encode some of its bits
            while start and text[start - 1] in CODE_CHARS:
                start -= 1
            while end < len(text) and text[end] in CODE_CHARS:
                end += 1
        if len(needle.text) >= SHORTEST_ANYWHERE or not _inside_word(text, start, end):
            first, last = reading.span(start, end)
            yield SecretMatch(first, last, name, needle.form, reading.positions is None and not needle.form)
        at = text.find(needle.text, max(end, at + 1))


def _inside_word(text: str, start: int, end: int) -> bool:
    return any(char.isalnum() or char == "_" for char in (text[start - 1 : start], text[end : end + 1]))


def _merge_overlaps(found: list[SecretMatch]) -> list[SecretMatch]:
    """Merge overlapping matches under the name of the longest."""
    kept: list[SecretMatch] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.form, not one.exact)):
        before = kept[-1] if kept else None
        if before is None or one.start >= before.end:
            kept.append(one)
        elif one.end > before.end:
            longest = max(before, one, key=lambda each: each.end - each.start)
            kept[-1] = SecretMatch(before.start, one.end, longest.name, longest.form, exact=False)
    return kept


def searchable_text(value: Any) -> str:
    """Return all strings of a plain value; those of a list also joined, since output may come in pieces."""
    joined = "\0".join(_joined(value))
    return f"{json.dumps(value, default=str, ensure_ascii=False)}\0{joined}"


def _joined(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            for item in value.values():
                yield from _joined(item)
        case list() | tuple():
            if len(value) > 1 and all(isinstance(item, str) for item in value):
                yield "".join(value)
            else:
                for item in value:
                    yield from _joined(item)

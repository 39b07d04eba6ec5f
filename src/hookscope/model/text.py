"""Text for people: visible control characters, durations, local times, closest words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache

from hookscope.model.regular_file import FILE_LIMIT_REACHED, is_file_limit

# Controls but tab and newline, lone surrogates, noncharacters, line separators, and all that Unicode lets a
# terminal ignore: marks that turn, hide or annotate text, fillers, variation selectors and tags.
_HIDDEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FLAGS = tuple(  # the three flags that Unicode spells with tags: England, Scotland, Wales
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
_FLAG = len(_FLAGS[0])


def printable(text: str) -> str:
    """Return the text with each control character replaced by a visible sign.

    A carriage return before a line feed belongs to the line end. Lone surrogates (file names in broken
    UTF-8) are shown too. Characters of an emoji, a flag or a joining script stay.
    """
    return replace_hidden(text.replace("\r\n", "\n"), _sign)


def has_controls(text: str) -> bool:
    """Return True if the text has a character that `printable` replaces, or the `\\r` of a line end."""
    return any(not _is_part_of_neighbours(found) for found in re.finditer(_HIDDEN, text))


def without_controls(text: str) -> str:
    """Return the text without the characters that `printable` replaces."""
    return replace_hidden(text, lambda _: "")


def replace_hidden(text: str, sign: Callable[[str], str]) -> str:
    """Return the text with each invisible character replaced by its sign."""

    def shown(found: re.Match[str]) -> str:
        return found[0] if _is_part_of_neighbours(found) else sign(found[0])

    return re.sub(_HIDDEN, shown, text)


def _is_part_of_neighbours(found: re.Match[str]) -> bool:
    """Return whether this character changes how its neighbours are displayed."""
    text, at, character = found.string, found.start(), found[0]
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if character in "\u200c\u200d":  # joins letters of Arabic and Indian scripts, and emoji
        joins = before == "\ufe0f" or not re.match(_HIDDEN, before)
        return joins and before >= "\u0600" and after >= "\u0600" and not re.match(_HIDDEN, after)
    if character in "\ufe0e\ufe0f":  # a symbol as text, or as a picture
        keycap = before in tuple("#*0123456789") and after == "\u20e3"
        return (
            keycap
            or before in ("\xa9", "\xae")
            or "\u203c" <= before <= "\u3299"
            or "\U0001f000" <= before <= "\U0001faff"
        )
    if "\u180b" <= character <= "\u180f":  # the form of a Mongolian letter
        return "\u1820" <= before <= "\u18aa"
    if "\U000e0020" <= character <= "\U000e007f":
        around = text[max(0, at - _FLAG + 1) : at + _FLAG]
        return any(flag in around for flag in _FLAGS)
    return False


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # ␛ for escape, ␇ for bell
    if code == 0x7F:
        return "␡"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def printable_line(text: str) -> str:
    """Return a name or path as `printable` does, with each line end shown as ␊."""
    return printable(text).replace("\n", "␊")


def one_line(text: str, limit: int = 200) -> str:
    """Return the first non-empty line, cut to `limit` characters."""
    line = next((line for line in printable(text).splitlines() if line.strip()), "").strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def error_reason(error: Exception) -> str:
    """Return the system's reason of an error, for the end of a sentence: `permission denied`."""
    if is_file_limit(error):
        return FILE_LIMIT_REACHED
    reason = getattr(error, "strerror", None) or str(error)
    return reason[:1].lower() + reason[1:]


def shell_path(path: object) -> str:
    """Return a path as typed into a shell, quoted if needed. A leading `~` still means home."""
    text = str(path)
    home, rest = ("~/", text[2:]) if text.startswith("~/") else ("", text)
    from shlex import quote  # imported late: rarely needed at start

    return home + quote(rest) if rest and text != "~" else text


def nearest_word(word: str, words: Iterable[str]) -> str | None:
    """Return the known word that is most similar to `word`, or None."""
    near = get_close_matches(word, list(words), n=1, cutoff=0.6)
    return near[0] if near else None


def did_you_mean(closest: str | None, otherwise: str) -> str:
    """Return the next step after an unknown name: its closest match, else `otherwise`."""
    return f"Did you mean {closest}?" if closest else otherwise


def duration(seconds: float) -> str:
    """Return a duration to three digits; from 100 s on in minutes and seconds."""
    ms = seconds * 1000
    if 0 < ms < 0.05:
        return "<0.1 ms"
    if ms < 99.95:
        return f"{ms:.1f} ms"
    if ms < 999.5:
        return f"{ms:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} m {rest:02} s"


def long_duration(seconds: float) -> str:
    """Return a duration in its two largest units: `3 d 4 h`, `12 s`. Negative counts as 0."""
    minutes, rest = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join([f"{number} {unit}" for number, unit in parts if number][:2]) or "0 s"


def ago(at: datetime, now: datetime) -> str:
    """Return the time since `at`: `3 d 4 h ago`, or `just now`."""
    seconds = (now - at).total_seconds()
    return f"{long_duration(seconds)} ago" if seconds >= 1 else "just now"


def in_local_time(moment: datetime) -> datetime:
    """Return the time in this machine's time zone, or in UTC if Python cannot represent that zone.

    Python knows offsets of less than a day; `TZ=UTC-26` is a larger one. A time without a zone
    counts as local time.
    """
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def local_now() -> datetime:
    """Return the current local time, without its zone."""
    return in_local_time(datetime.now(UTC)).replace(tzinfo=None)


_WORD_BREAK = r"[^A-Za-z0-9*]+|(?<=[a-z0-9])(?=[A-Z])"
LONGEST_WORD = 80  # characters; longer words are not compared


def closest_match(word: str, words: Iterable[str]) -> str | None:
    """Return the known word if `word` is a typo of exactly one, or None.

    Typos are another case or punctuation, one or two wrong letters, or a cut end. Words of several
    parts (`command:new`) are compared part by part, so that a whole word is never taken for
    another: `command:compact` is not a typo of `command:stop`. None if no word or several match.
    """
    if not word or len(word) > LONGEST_WORD:
        return None
    words = list(dict.fromkeys(words))
    parts = _word_parts(word)
    same_parts = [known for known in words if _word_parts(known) == parts]
    candidates = same_parts or [
        known for known in words if known != word and _is_typo(parts, _word_parts(known))
    ]
    return candidates[0] if len(candidates) == 1 else None


@lru_cache(4096)
def _word_parts(word: str) -> list[str]:
    return [part.lower() for part in re.split(_WORD_BREAK, word) if part]


def _is_typo(parts: list[str], known: list[str]) -> bool:
    if len(parts) != len(known):
        return False
    different = [(one, other) for one, other in zip(parts, known, strict=True) if one != other]
    return len(different) == 1 and _are_near(*different[0])


def _are_near(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 4 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3:
        return True
    allowed = 0 if len(shorter) < 3 else 1 if len(shorter) < 7 else 2
    return len(longer) - len(shorter) <= allowed and edit_distance(one, other) <= allowed


def edit_distance(one: str, other: str) -> int:
    """Return how many letters to add, remove, replace or swap to get from one word to the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        two_before, before, row = before, row, [i]
        for j, target in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != target))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == target:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return row[-1]

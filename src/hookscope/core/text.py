"""Foreign text made safe to show, and the nearest known word."""

import re
from collections.abc import Iterable
from datetime import datetime
from difflib import get_close_matches

from hookscope.core.open_files import REACHED, is_exhausted
from hookscope.patterns import pattern

# C0 and C1 controls, and the marks that turn or hide text; tab and newline are kept.
CONTROLS = pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text without control characters: each becomes a visible sign, so nothing is hidden.

    `\\r\\n` counts as a line end. Lone surrogates (file names in broken UTF-8) are shown too.
    """
    return CONTROLS.sub(_sign, text.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)  # ␛ for escape, ␇ for bell
    if code == 0x7F:
        return "␡"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def one_line(text: str, limit: int = 200) -> str:
    """The first line that says something, cut to `limit` characters."""
    line = next((line for line in printable(text).splitlines() if line.strip()), "").strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def why_of(error: Exception) -> str:
    """What the system says of an error, as the end of a sentence: `permission denied`."""
    if is_exhausted(error):
        return REACHED
    said = getattr(error, "strerror", None) or str(error)
    return said[:1].lower() + said[1:]


def as_typed(path: object) -> str:
    """A path as one types it into a shell: in quotes where it needs them. A `~` in front is home still."""
    text = str(path)
    home, rest = ("~/", text[2:]) if text.startswith("~/") else ("", text)
    from shlex import quote  # here: a start shows no path that wants quotes

    return home + quote(rest) if rest and text != "~" else text


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The known word that `word` was perhaps meant to be."""
    near = get_close_matches(word, list(words), n=1, cutoff=0.6)
    return near[0] if near else None


def duration(seconds: float) -> str:
    """A time for people, to three digits; from 100 s on in minutes and seconds."""
    ms = seconds * 1000
    if ms < 99.95:
        return f"{ms:.1f} ms"
    if ms < 999.5:
        return f"{ms:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} m {rest:02} s"


def lasting(seconds: float) -> str:
    """How long that is, in its two largest units: `3 d 4 h`, `12 s`. Less than nothing is nothing."""
    minutes, rest = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join([f"{number} {unit}" for number, unit in parts if number][:2]) or "0 s"


def ago(at: datetime, now: datetime) -> str:
    """How long that is past: `3 d 4 h ago`."""
    return f"{lasting((now - at).total_seconds())} ago"

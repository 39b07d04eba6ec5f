"""What is printed in place of characters that the terminal's encoding lacks: ASCII signs, else escapes."""

from __future__ import annotations

import codecs
from io import TextIOBase, TextIOWrapper

HANDLER = "hookscope.fallback"
GLYPHS = {
    **dict.fromkeys("–—─━┄┈", "-"),
    **dict.fromkeys("│┃▏▎▍▌▋▊▉▐", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰", "+"),
    **dict.fromkeys("█▓", "#"),
    **dict.fromkeys("\u2018\u2019\u201a", "'"),
    **dict.fromkeys("“”„", '"'),
    "→": "->",
    "←": "<-",
    "…": "...",
    "✓": "+",
    "✗": "x",
    "☠": "x",
    "×": "x",
    "●": "*",
    "○": "o",
    "▲": "^",
    "◌": "o",
    "◇": "?",
    "◐": "o",
    "▸": ">",
    "❱": ">",
    "↳": ">",
    "»": ">",
    "◂": "<",
    "·": "-",
    "•": "*",
    "≈": "~",
    "≠": "!=",
    "⊘": "/",
}


def use_fallbacks(*streams: object) -> None:
    """Let these streams print every text. One whose user has chosen an error handler keeps it."""
    for stream in streams:
        if not isinstance(stream, TextIOWrapper) or stream.errors not in ("strict", "surrogateescape"):
            continue
        if stream.errors == "surrogateescape" and _is_utf8(stream):
            continue  # the C locale: names of files are printed as their bytes
        codecs.register_error(HANDLER, _fallback)
        stream.reconfigure(errors=HANDLER)


def _is_utf8(stream: TextIOBase) -> bool:
    return codecs.lookup(stream.encoding or "ascii").name == "utf-8"


def _fallback(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    signs = (GLYPHS.get(one) or one.encode("ascii", "backslashreplace").decode() for one in characters)
    return "".join(signs), error.end

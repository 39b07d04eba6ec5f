"""The one door for foreign text: names, messages, errors, JSON, output. Literal, controls made visible."""

from textual.content import Content

from hookscope.console.theme import MUTED
from hookscope.core.text import one_line, printable

LIMIT = 2_000  # characters of one foreign text on a screen; more is cut and said


def plain(text: str, limit: int = LIMIT) -> Content:
    """Foreign text of several lines: never markup, no control characters, cut at `limit` characters."""
    if len(text) <= limit:
        return Content(printable(text))
    return Content(printable(text[:limit])) + Content.styled(f" … {len(text) - limit:,} more", MUTED)


def line(text: str, limit: int = 200) -> Content:
    """Foreign text where one line is wanted: the first line that says something."""
    return Content(one_line(text, limit))


def sentence(template: str, **parts: str) -> Content:
    """Our own markup around their text: `$name` in the template is inserted literally."""
    return Content.from_markup(template, **{name: one_line(part) for name, part in parts.items()})

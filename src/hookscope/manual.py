"""The README as a manual: its chapters by topic, for `hookscope help`."""

import re
from collections.abc import Mapping
from pathlib import Path

from hookscope.values import dataclass

TOPICS: Mapping[str, str] = {
    "start": "Start",
    "hook": "Your first hook",
    "states": "What a hook can be",
    "gates": "The checks",
    "events": "The events",
    "plugin": "Your first plugin hook",
    "stream": "Your first Eve hook",
    "console": "The console",
    "browser": "The console in a browser",
    "commands": "The command line",
    "testing": "From an event to a test",
    "firing": "Firing otherwise",
    "order": "Who disturbs whom",
    "debugging": "Line by line",
    "log": "What was fired",
    "tap": "The events of a running agent",
    "lint": "Mistakes in hooks",
    "what-if": "What if",
    "packs": "Packs",
    "safety": "What handlers can do to you, and what they cannot",
    "embedding": "The library",
    "dialects": "Dialects",
    "figures": "Figures",
    "contributing": "Contributing",
}
"""Topic → the heading of its chapter."""

_HEADING = re.compile(r"^## (?P<title>.+)$")
_UNREAD = re.compile(r"^(!\[[^\]]*\]\([^)]*\)\n\n?|<!--.*-->\n?)", re.MULTILINE)  # pictures, comments
_FENCE = re.compile(r"^(```|~~~)")


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter of the manual."""

    title: str
    text: str  # Markdown, without its heading


def readme() -> str:
    """Return the README of this program, from the wheel or from the root of a checkout.

    Raises FileNotFoundError if there is none.
    """
    package = Path(__file__).resolve().parent
    inside = package / "README.md"
    return (inside if inside.is_file() else package.parent.parent / "README.md").read_text(encoding="utf-8")


def chapters(text: str) -> Mapping[str, Chapter]:
    """Return the chapters of a text by title, in order. Headings in code blocks are ignored."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    in_code = False
    for line in text.splitlines():
        in_code ^= bool(_FENCE.match(line))
        heading = None if in_code else _HEADING.match(line)
        if heading:
            lines = found.setdefault(heading["title"], [])
        else:
            lines.append(line)
    texts = {title: _UNREAD.sub("", "\n".join(body)).strip("\n") for title, body in found.items()}
    return {title: Chapter(title, text) for title, text in texts.items()}


def chapter_of(topic: str, text: str) -> Chapter | None:
    """Return the chapter of a topic; None if the topic is unknown or the text lacks it."""
    return chapters(text).get(TOPICS.get(topic, ""))

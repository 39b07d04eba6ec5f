"""The README as a manual: its chapters by topic, so that `hookscope help` and the README say the same."""

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
    "new-dialect": "Adding a dialect",
    "figures": "Figures",
    "architecture": "How it is built",
    "contributing": "Contributing",
}
"""Topic → the heading of its chapter."""

_HEADING = re.compile(r"^## (?P<title>.+)$")
_UNREAD = re.compile(r"^(!\[[^\]]*\]\([^)]*\)\n\n?|<!--.*-->\n?)", re.MULTILINE)  # pictures, marks
_FENCE = re.compile(r"^(```|~~~)")


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter of the manual."""

    title: str
    text: str  # Markdown, its heading left out


def readme() -> str:
    """The README that came with the program: inside the wheel, or at the root of a checkout.

    Raises FileNotFoundError where neither is there.
    """
    package = Path(__file__).resolve().parent
    inside = package / "README.md"
    return (inside if inside.is_file() else package.parent.parent / "README.md").read_text(encoding="utf-8")


def chapters(text: str) -> Mapping[str, Chapter]:
    """Title → chapter, in their order. A heading within a block of code is none."""
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
    """The chapter of a topic; None where there is no such topic, or the text lacks it."""
    return chapters(text).get(TOPICS.get(topic, ""))

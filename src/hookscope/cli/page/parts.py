"""The parts that a page is made of. Each takes foreign text and gives HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from html import escape

from hookscope.core.text import printable

MOST_LINES = 3_000  # of a value that is compared line by line


def safe(value: object) -> str:
    """The one door: text without control characters, and no markup."""
    return escape(printable(str(value)))


def code(value: object) -> str:
    """A value as code, escaped."""
    return f"<code>{safe(value)}</code>"


def block(text: str) -> str:
    """A text with its own lines; nothing for an empty one."""
    return f"<pre>{safe(text)}</pre>" if text else ""


def section(title: str, *inner: str) -> str:
    """Nothing where there is nothing inside."""
    content = "".join(inner)
    return f"<section><h2>{safe(title)}</h2>{content}</section>\n" if content else ""


def part(title: str, *inner: str) -> str:
    """A part of an article; nothing where there is nothing inside."""
    content = "".join(inner)
    return f"<h4>{safe(title)}</h4>{content}" if content else ""


def listed(items: Iterable[str]) -> str:
    """A list of foreign texts."""
    content = "".join(f"<li>{safe(item)}</li>" for item in items)
    return f"<ul>{content}</ul>" if content else ""


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and HTML; rows without anything are left out."""
    lines = "".join(f"<tr><th>{safe(name)}</th><td>{value}</td></tr>" for name, value in rows if value)
    return f"<table>{lines}</table>" if lines else ""


def folded(title: str, inner: str) -> str:
    """Shown when somebody asks; nothing where there is nothing inside."""
    return f"<details><summary>{safe(title)}</summary>{inner}</details>" if inner else ""


def pretty(value: object) -> str:
    """A value as JSON on several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def before_and_after(before: object, after: object) -> str:
    """Two values side by side, with the lines marked that differ; one where they do not."""
    old, new = pretty(before), pretty(after)
    if old == new:
        return f"{block(old)}<p class=faint>No handler changed it.</p>"
    left, right = old.splitlines(), new.splitlines()
    gone, come = _differing(left, right)
    return (
        '<div class="pair">'
        f"<div><p class=faint>before</p><pre>{_marked(left, gone)}</pre></div>"
        f"<div><p class=faint>after</p><pre>{_marked(right, come)}</pre></div>"
        "</div>"
    )


def _differing(left: Sequence[str], right: Sequence[str]) -> tuple[set[int], set[int]]:
    """The numbers of the lines that only one side has; none where there are too many to compare."""
    gone: set[int] = set()
    come: set[int] = set()
    if max(len(left), len(right)) <= MOST_LINES:
        for kind, *bounds in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            if kind != "equal":
                gone.update(range(bounds[0], bounds[1]))
                come.update(range(bounds[2], bounds[3]))
    return gone, come


def _marked(lines: Sequence[str], numbers: set[int]) -> str:
    """A marked line is a block of its own and needs no line end."""
    return "".join(
        f"<mark>{safe(line)}</mark>" if number in numbers else f"{safe(line)}\n"
        for number, line in enumerate(lines)
    )

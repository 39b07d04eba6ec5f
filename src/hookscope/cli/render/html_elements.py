"""The elements and the style sheet of the HTML page. Each element escapes its text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from html import escape

from hookscope.model.text import printable

COMPARED_LINE_LIMIT = 3_000  # lines of a value to compare


def escape_text(value: object) -> str:
    """Return text without control characters and markup. Every foreign text passes through here."""
    return escape(printable(str(value)))


def code_html(value: object) -> str:
    """Return a value as code, escaped."""
    return f"<code>{escape_text(value)}</code>"


def text_block(text: str) -> str:
    """Return a preformatted block; empty for an empty text."""
    return f"<pre>{escape_text(text)}</pre>" if text else ""


def section_html(title: str, *inner: str) -> str:
    """Return a section; empty without content."""
    content = "".join(inner)
    return f"<section><h2>{escape_text(title)}</h2>{content}</section>\n" if content else ""


def article_part(title: str, *inner: str) -> str:
    """Return a part of an article; empty without content."""
    content = "".join(inner)
    return f"<h4>{escape_text(title)}</h4>{content}" if content else ""


def text_list(items: Iterable[str]) -> str:
    """Return a list of foreign texts."""
    content = "".join(f"<li>{escape_text(item)}</li>" for item in items)
    return f"<ul>{content}</ul>" if content else ""


def fact_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and HTML; rows without a value are omitted."""
    lines = "".join(f"<tr><th>{escape_text(name)}</th><td>{value}</td></tr>" for name, value in rows if value)
    return f"<table>{lines}</table>" if lines else ""


def collapsible(title: str, inner: str) -> str:
    """Return a collapsed block; empty without content."""
    return f"<details><summary>{escape_text(title)}</summary>{inner}</details>" if inner else ""


def json_block(value: object) -> str:
    """Return a value as JSON on several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def before_and_after(before: object, after: object) -> str:
    """Return two values side by side with differing lines marked; one value if they are equal."""
    old, new = json_block(before), json_block(after)
    if old == new:
        return f"{text_block(old)}<p class=faint>No handler changed it.</p>"
    left, right = old.splitlines(), new.splitlines()
    removed, added = _differing_lines(left, right)
    return (
        '<div class="pair">'
        f"<div><p class=faint>before</p><pre>{_marked_lines(left, removed)}</pre></div>"
        f"<div><p class=faint>after</p><pre>{_marked_lines(right, added)}</pre></div>"
        "</div>"
    )


def _differing_lines(left: Sequence[str], right: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the numbers of the lines that only one side has; none if there are too many to compare."""
    removed: set[int] = set()
    added: set[int] = set()
    if max(len(left), len(right)) <= COMPARED_LINE_LIMIT:
        for kind, *bounds in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            if kind != "equal":
                removed.update(range(bounds[0], bounds[1]))
                added.update(range(bounds[2], bounds[3]))
    return removed, added


def _marked_lines(lines: Sequence[str], numbers: set[int]) -> str:
    """Return the lines, with some marked. A marked line is a block and needs no line end."""
    return "".join(
        f"<mark>{escape_text(line)}</mark>" if number in numbers else f"{escape_text(line)}\n"
        for number, line in enumerate(lines)
    )


STYLE_SHEET = """
:root {
  color-scheme: light dark;
  --back: #fbfbf9; --card: #ffffff; --text: #24292e; --faint: #6a7178; --line: #e3e4e0;
  --good: #2e7d4f; --bad: #b3372f; --odd: #92620a; --bar: #7c93b2; --mark: #fff3c9; --code: #f4f4f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16181b; --card: #1d2024; --text: #d8dbde; --faint: #8f979f; --line: #30353b;
    --good: #6fbf8b; --bad: #ee8880; --odd: #d9aa55; --bar: #6d83a3; --mark: #46401f; --code: #23272c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0.1rem 0 0.4rem; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 0.7rem; font-weight: 600; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
h4 { font-size: 0.85rem; margin: 1rem 0 0.3rem; font-weight: 600; color: var(--faint); }
p { margin: 0.3rem 0; overflow-wrap: anywhere; }
.faint, footer { color: var(--faint); }
footer { margin-top: 3rem; font-size: 0.85rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .odd { color: var(--odd); }
.state { font-weight: 600; white-space: nowrap; }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.9rem 1.1rem; margin: 0.8rem 0;
}
.head { display: flex; gap: 0.8rem; align-items: baseline; flex-wrap: wrap; }
pre, code, .mono { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre {
  background: var(--code); border-radius: 6px; padding: 0.6rem 0.8rem; margin: 0.3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40rem; overflow: auto;
}
mark { background: var(--mark); color: inherit; display: block; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: 0.25rem 0.8rem 0.25rem 0; font-weight: normal; }
th { color: var(--faint); white-space: nowrap; width: 1%; }
td { overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; width: 1%; }
td.time { width: 45%; min-width: 8rem; }
svg { display: block; width: 100%; height: 0.9rem; margin-top: 0.35rem; }
svg .lane { fill: var(--line); } svg .bar { fill: var(--bar); }
svg .bar.bad { fill: var(--bad); } svg .bar.odd { fill: var(--odd); }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
li { overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0.8rem; }
details > summary { cursor: pointer; color: var(--faint); }
@media (max-width: 45rem) { .pair { grid-template-columns: 1fr; } td.time { display: none; } }
@media print { pre { max-height: none; } article { break-inside: avoid; } }
"""

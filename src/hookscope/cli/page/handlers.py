"""What handlers did: when each one ran, and all that came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.cli.page.parts import block, code, facts, folded, listed, part, pretty, safe
from hookscope.core.text import duration

Document = Mapping[str, Any]

SIGNS = {"ok": "✓", "error": "✗", "timeout": "◷", "crashed": "☠", "cancelled": "⊘"}
CLASSES = {"ok": "good", "cancelled": "odd", "timeout": "odd"}
THINNEST = 0.4  # percent of the width: a bar that is there is seen


def state(status: str) -> str:
    """Sign and word of a handler's end."""
    return f'<span class="state {_class(status)}">{SIGNS.get(status, "·")} {safe(status)}</span>'


def _class(status: str) -> str:
    return CLASSES.get(status, "bad")


def waterfall(results: Sequence[Document], took_ms: float) -> str:
    """A line for each handler with a bar from its start to its end, on one scale."""
    if not results:
        return ""
    whole = max(took_ms, *(one["started_ms"] + one["ms"] for one in results)) or 1.0
    lines = "".join(_line(number, one, whole) for number, one in enumerate(results, 1))
    return f"<table>{lines}</table>"


def _line(number: int, result: Document, whole: float) -> str:
    start, took = result["started_ms"], result["ms"]
    left = min(100 * start / whole, 100 - THINNEST)
    width = max(min(100 * took / whole, 100 - left), THINNEST)
    label = f"starts at {duration(start / 1000)}, takes {duration(took / 1000)}"
    return (
        f'<tr><td class="number faint">{number}</td><td>{safe(result["hook"])}</td>'
        f"<td>{state(result['status'])}</td>"
        f'<td class="time"><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{safe(label)}"><title>{safe(label)}</title>'
        '<rect class="lane" x="0" y="4.5" width="100" height="1"/>'
        f'<rect class="bar {_class(result["status"])}" x="{left:.2f}" y="1" width="{width:.2f}" height="8"/>'
        f'</svg></td><td class="number">{duration(took / 1000)}</td></tr>'
    )


def article(result: Document, planned: Document | None) -> str:
    """All of one handler. `planned`: what is known of its file."""
    marks = [
        text for name, text in (("forced", "forced"), ("broken", "broken on purpose")) if result.get(name)
    ]
    took = duration(result["ms"] / 1000) + (
        f", loaded in {duration(result['load_ms'] / 1000)}" if result["load_ms"] else ""
    )
    said = [f"as {result['key']}", took, *marks]
    return (
        f'<article><div class="head"><h3>{safe(result["hook"])}</h3>{state(result["status"])}'
        f'<span class="faint">{safe(" · ".join(said))}</span></div>'
        + part("Messages", messages(result["messages"], result["delivered"]))
        + part("Error", failure(result["error"]))
        + part("The saved version does not load; the one before it ran", failure(result.get("stale")))
        + part("Answer", block(pretty(result["returned"])) if result["returned"] is not None else "")
        + part("Asked its host for", listed(result.get("asked") or ()))
        + part("Changed", _patch(result["patch"]))
        + part("Output", block(result["stdout"]))
        + part("Error output", block(result["stderr"]))
        + part("Notes", listed(result["notes"]))
        + folded("The handler's file", _file(result, planned))
        + "</article>\n"
    )


def messages(texts: Sequence[str], delivered: bool) -> str:
    """Pushed messages, and what their host does with them."""
    if not texts:
        return ""
    fate = "delivered to the user" if delivered else "ignored by this host"
    return f'{listed(texts)}<p class="faint">{fate}</p>'


def failure(error: Document | None) -> str:
    """What was thrown, then where it came from, innermost first, with the lines of source."""
    if error is None:
        return ""
    frames = "".join(_frame(frame) for frame in reversed(error["frames"]))
    said = f'<p class="bad"><b>{safe(error["type"])}</b>: {safe(error["message"])}</p>'
    return f"{said}{frames}"


def _frame(frame: Document) -> str:
    column = f":{frame['column']}" if frame.get("column") else ""
    within = f" in {frame['function']}" if frame["function"] else ""
    place = f"{frame['file']}:{frame['line']}{column}{within}"
    return f'<p class="mono faint">{safe(place)}</p>{block(frame["source"])}'


def _patch(changes: Sequence[Document]) -> str:
    return facts(
        (
            str(one.get("op", "")),
            code(one.get("path", "")) + (block(pretty(one["value"])) if "value" in one else ""),
        )
        for one in changes
    )


def _file(result: Document, planned: Document | None) -> str:
    known = planned or {}
    return facts(
        (
            ("path", code(result["handler"]) if result["handler"] else ""),
            ("content", code(known["digest"]) if known.get("digest") else ""),
            ("code beside it", code(known["beside"]) if known.get("beside") else ""),
        )
    )

"""What a selected handler has to say, one file a tab. Each is a pure function from a row to text."""

from collections.abc import Callable, Mapping
from typing import Literal

from textual.content import Content

from hookscope.console.fire.model import CallRow, RunSheet, context_change
from hookscope.console.fire.tabs import answer, context, error, messages, output, timing
from hookscope.console.fire.tabs.shown import Shown
from hookscope.core.runs import EventKind, Result

Tab = Literal["error", "answer", "messages", "output", "context", "timing"]
TABS: Mapping[EventKind, tuple[Tab, ...]] = {
    "folder": ("error", "messages", "output", "context", "timing"),
    "stream": ("error", "answer", "output", "context", "timing"),
    "plugin": ("error", "answer", "output", "context", "timing"),
}

TEXT: Mapping[Tab, Callable[[Shown], Content]] = {
    "error": error.text,
    "answer": answer.text,
    "messages": messages.text,
    "output": output.text,
    "context": context.text,
    "timing": timing.text,
}


def tabs_of(sheet: RunSheet | None) -> tuple[Tab, ...]:
    """The tabs of a run, by the kind of its event."""
    return TABS["folder" if sheet is None else sheet.plan.event.kind]


def first_tab(sheet: RunSheet) -> Tab:
    """The tab that tells most where nothing failed: stream hooks seldom say anything to their host."""
    results = [row.result for row in sheet.rows if row.result is not None]
    if sheet.plan.event.kind == "stream" and not any(map(answer.is_one, results)):
        return "output"
    return tabs_of(sheet)[1]


def label(tab: Tab, sheet: RunSheet, row: CallRow | None) -> str:
    """What a tab is called: its count tells what is in it without opening it."""
    result = row.result if row is not None else None
    match tab:
        case "error":
            return "Error" if result is None or result.status != "ok" or result.stale else "Error –"
        case "answer":
            return "Answer" if result is not None and answer.is_one(result) else "Answer –"
        case "messages":
            return f"Messages {len(result.messages) if result else 0}"
        case "output":
            return f"Output {output_lines(result) if result else 0}"
        case "context":
            changed = len(context_change(sheet, row)) if row is not None else 0
            return f"Context ±{changed}" if changed else "Context –"
        case "timing":
            return "Timing"


def output_lines(result: Result) -> int:
    """How many lines a handler printed."""
    return sum(
        text.count("\n") + (not text.endswith("\n")) for text in (result.stdout, result.stderr) if text
    )


__all__ = ["TEXT", "Shown", "Tab", "first_tab", "label", "output_lines", "tabs_of"]

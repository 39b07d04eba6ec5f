"""The timing tab: where the time of one handler went."""

from textual.content import Content

from hookscope.console.fire.bars import bar
from hookscope.console.fire.model import LIMIT
from hookscope.console.fire.tabs.shown import Shown, muted, stack
from hookscope.console.marks import MUTED, fitted
from hookscope.core.text import duration

WIDTH = 24


def text(shown: Shown) -> Content:
    """Load, run and share of the whole, each with its bar."""
    row, total = shown.row, shown.sheet.total(shown.now)
    if row.result is None:
        return muted("Times are shown when the handler has ended.")
    loaded, took = row.result.loaded, row.result.took
    share = took / total if total > 0 else 0.0
    limit = LIMIT if row.call.limit is None else row.call.limit
    whole = max(loaded + took, total)
    return stack(
        [
            _line(
                "load", loaded, whole, "importing it, before it ran" if loaded else "it was loaded already"
            ),
            _line(
                "run",
                took,
                whole,
                f"{share:.0%} of the run, {_percent(took / limit)} of its {limit:g} s limit",
            ),
            _line("whole run", total, whole, f"it began {duration(row.started)} after the run did"),
        ]
    )


def _percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share:.0%}"


def _line(name: str, seconds: float, total: float, note: str) -> Content:
    drawn = bar(0, seconds, total, WIDTH).drawn if seconds > 0 else ""
    return (
        muted(fitted(name, 10).plain)
        + Content(f"{duration(seconds) if seconds else '–':>9}  ")
        + fitted(drawn, WIDTH, MUTED)
        + muted(f"  {note}")
    )

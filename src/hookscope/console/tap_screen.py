"""The taps of this host: how they stand, what they recorded, and the two lists that follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from hookscope.console.cutting import middle
from hookscope.console.dialog import Over
from hookscope.console.keymap.hints import hints
from hookscope.console.reading import Reading
from hookscope.console.text import line, plain
from hookscope.console.theme import MUTED
from hookscope.core.text import ago, lasting, one_line

if TYPE_CHECKING:
    from hookscope.workbench import View
    from hookscope.workbench.tap.lists import Lists
    from hookscope.workbench.tap.report import Report
    from hookscope.workbench.tap.status import Recorded, TapStatus

NO_TAP = "No tap is installed here: `hookscope tap install` puts one into the host's own folder."
NOTHING = "Nothing was recorded yet, so both lists are empty."
NONE = Content.styled("  none", MUTED)
MOST = 200  # lines of one list
KEY = 26  # cells
HOOK = 24  # of a hook's name


def tap_sheet(report: Report, view: View, now: datetime) -> Content:
    """Taps, record, lists: a line each."""
    installed = bool(report.taps)
    lines = [*_taps(report.taps, view), *_recorded(report.recorded, view, now, installed), Content()]
    return Content("\n").join([*lines, *_lists(report.lists, now)])


def _taps(taps: tuple[TapStatus, ...], view: View) -> Iterator[Content]:
    if not taps:
        yield plain(NO_TAP)
    for tap in taps:
        where = line(view.host.surroundings.short(tap.root))
        stands = {"installed": "stands as written", "changed": "was changed since", "gone": "is gone"}
        well = tap.whole == "installed" and not tap.needs
        sign = Content.styled("✓ " if well else "✗ ", "$text-success" if well else "$text-error")
        yield Content.assemble(sign, where, (f"  {tap.language}, {stands[tap.whole]}", MUTED))
        for need in tap.needs:
            yield Content("    the host will not run it: ") + line(need.reason)
            yield Content.styled("    → ", MUTED) + line(need.then, 300)
        yield from (Content.styled("    ", MUTED) + line(note, 300).stylize(MUTED) for note in tap.notes)


def _recorded(item: Recorded, view: View, now: datetime, installed: bool) -> Iterator[Content]:
    product = view.host.dialect.product
    if item.loaded is not None:
        yield Content(f"  {product} loaded it {ago(item.loaded, now)}, last in process {item.pid}")
    elif installed and item.events == 0:
        yield Content(f"  {product} has not loaded it yet")
    if item.events:
        where = line(view.host.surroundings.short(item.folder))
        last = f", the last {ago(item.last, now)}" if item.last is not None else ""
        yield Content(f"  {item.events:,} events{last}, in ") + where
    if item.skipped:
        yield Content(f"  {item.skipped:,} lines of the spool are no events and are left out")


def _lists(item: Lists, now: datetime) -> Iterator[Content]:
    if item.since is None:
        yield plain(NOTHING)
        return
    since = lasting((now - item.since).total_seconds())
    yield Content.assemble(("Subscribed, never seen", "bold"), (f"   in {since} of recording", MUTED))
    yield from _cut([*_never_seen(item)])
    yield Content()
    yield Content.styled("Seen, nobody listens", "bold")
    unanswered = ((one.key, f"{one.count:>7,} ×  last {ago(one.last, now)}") for one in item.unanswered)
    yield from _cut([_seen(*one) for one in unanswered])
    if item.unknown:
        yield Content()
        yield Content("Only a load tells what they listen to: ") + line(", ".join(item.unknown), 300)


def _never_seen(item: Lists) -> Iterator[Content]:
    for one in sorted(item.unheard, key=lambda one: not one.recorded):
        unknown = "" if one.recorded else "  ? no tap hears it"
        yield _seen(one.key, f"{middle(one_line(one.hook), HOOK)} ({one.source}){unknown}")


def _seen(key: str, told: str) -> Content:
    name = line(key, 60)
    return Content("  ") + name.pad_right(max(1, KEY - name.cell_length)) + Content(f" {told}")


def _cut(lines: list[Content]) -> list[Content]:
    more = [Content.styled(f"  and {len(lines) - MOST:,} more", MUTED)] if len(lines) > MOST else []
    return [*lines[:MOST], *more] or [NONE]


class TapScreen(Over[None]):
    """Over everything; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,T,q,enter", "dismiss", "Close", id="tap.close", tooltip="Back to where you were"),
        Binding("y", "copy", "Copy", id="tap.copy", tooltip="Copy what stands here"),
    ]

    def __init__(self, report: Report, view: View) -> None:
        super().__init__()
        self._sheet = tap_sheet(report, view, datetime.now(UTC))

    def compose(self) -> ComposeResult:
        with Reading(id="tap") as box:
            box.border_title = "Live agent"
            box.border_subtitle = hints(("tap.copy", "copy"), ("tap.close", "close"))
            yield Static(self._sheet, id="tap-sheet")

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._sheet.plain)
        self.app.notify("Copied the lists.", markup=False)

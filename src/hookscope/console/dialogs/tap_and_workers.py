"""Read-only overlays: a host's taps with their recorded events, and the worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.theme.text_styles import MUTED, keep_ends, safe_line, safe_text
from hookscope.console.widgets.lines import FittedText, KeyScroll
from hookscope.model.text import ago, long_duration, one_line

if TYPE_CHECKING:
    from hookscope.analysis.tap_report import EventUsage, SpoolSummary, TapReport, TapStatus
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.recording.installation import TapPlan
    from hookscope.runtime.process_executor import WorkerFacts


NO_TAP_NOTE = "No tap can be installed here now: `hookscope tap install` shows why."
NOTHING_RECORDED = "Nothing was recorded yet."
NO_LINES = Content.styled("  none", MUTED)
MOST_LIST_LINES = 200  # lines of one list
LONGEST_NOTE = 1_000  # characters of a note, which may hold a whole command
EVENT_KEY_WIDTH = 26  # cells
HOOK_NAME_WIDTH = 24  # cells of a hook's name


def tap_sheet(report: TapReport, view: Snapshot, now: datetime) -> Content:
    """Return the taps, a summary of the recorded events, and both lists."""
    installed = bool(report.taps)
    lines = [
        *_tap_lines(report.taps, view),
        *_recorded_lines(report.recorded, view, now, installed),
        Content(),
    ]
    return Content("\n").join([*lines, *_list_lines(report.usage, now)])


def tap_question(plan: TapPlan, view: Snapshot) -> Content:
    """Return what an install of the tap writes, and what it records."""
    product = view.host.dialect.product
    lines = [
        Content(f"The tap writes a copy of each event of {product} to a file that only you can read."),
        Content.styled("It changes no event. Values under keys such as `token` are masked.", MUTED),
        Content(),
        *(
            Content.styled("+ ", "$text-success") + safe_line(view.host.machine.short(change.path))
            for change in plan.changes
        ),
        Content(),
        Content.styled("Events go to ", MUTED) + safe_line(view.host.machine.short(plan.spool)),
    ]
    return Content("\n").join(lines)


def _tap_lines(taps: tuple[TapStatus, ...], view: Snapshot) -> Iterator[Content]:
    if not taps:
        yield safe_text(NO_TAP_NOTE)
    for tap in taps:
        where = safe_line(view.host.machine.short(tap.root))
        state_texts = {"installed": "unchanged", "changed": "changed since the install", "gone": "missing"}
        is_healthy = tap.files_state == "installed" and not tap.blockers
        sign = Content.styled("✓ " if is_healthy else "✗ ", "$text-success" if is_healthy else "$text-error")
        yield Content.assemble(sign, where, (f"  {tap.language}, {state_texts[tap.files_state]}", MUTED))
        for need in tap.blockers:
            yield Content("    the host does not run it: ") + safe_line(need.reason)
            yield Content.styled("    → ", MUTED) + safe_line(need.next_step, LONGEST_NOTE)
        yield from (
            Content.styled("    ", MUTED) + safe_line(note, LONGEST_NOTE).stylize(MUTED) for note in tap.notes
        )


def _recorded_lines(
    summary: SpoolSummary, view: Snapshot, now: datetime, installed: bool
) -> Iterator[Content]:
    product = view.host.dialect.product
    if summary.loaded is not None:
        yield Content(f"  {product} loaded it {ago(summary.loaded, now)}, last in process {summary.pid}")
    elif installed and summary.events == 0:
        yield Content(f"  {product} has not loaded it yet")
    if summary.events:
        where = safe_line(view.host.machine.short(summary.folder))
        last = f", the last {ago(summary.last, now)}" if summary.last is not None else ""
        yield Content(f"  {summary.events:,} events{last}, in ") + where
    if summary.skipped:
        yield Content(f"  {summary.skipped:,} invalid spool lines are skipped")


def _list_lines(usage: EventUsage, now: datetime) -> Iterator[Content]:
    if usage.since is None:
        yield safe_text(NOTHING_RECORDED)
        return
    since = long_duration((now - usage.since).total_seconds())
    yield Content.assemble(("Subscribed, never seen", "bold"), (f"   in {since} of recording", MUTED))
    yield from _first_lines([*_never_seen(usage)])
    yield Content()
    yield Content.styled("Seen, no subscriber", "bold")
    unanswered = (
        (entry.key, f"{entry.count:>7,} ×  last {ago(entry.last, now)}") for entry in usage.without_hook
    )
    yield from _first_lines([_seen_line(*entry) for entry in unanswered])
    if usage.unknown:
        yield Content()
        yield Content("Subscriptions known only after a load: ") + safe_line(", ".join(usage.unknown), 300)


def _never_seen(usage: EventUsage) -> Iterator[Content]:
    """Yield a line for each event: its subscribed hooks, and whether no tap records the event."""
    hooks: dict[tuple[bool, str], list[str]] = {}
    for one in usage.never_received:
        name = keep_ends(one_line(one.hook), HOOK_NAME_WIDTH)
        hooks.setdefault((not one.recorded, one.key), []).append(name)
    for (unrecorded, key), names in sorted(hooks.items(), key=lambda item: item[0][0]):
        yield _seen_line(key, ", ".join(names) + "  ? not recorded by any tap" * unrecorded)


def _seen_line(key: str, text: str) -> Content:
    name = safe_line(key, 60)
    return Content("  ") + name.pad_right(max(1, EVENT_KEY_WIDTH - name.cell_length)) + Content(f" {text}")


def _first_lines(lines: list[Content]) -> list[Content]:
    more = (
        [Content.styled(f"  and {len(lines) - MOST_LIST_LINES:,} more", MUTED)]
        if len(lines) > MOST_LIST_LINES
        else []
    )
    return [*lines[:MOST_LIST_LINES], *more] or [NO_LINES]


class TapScreen(Overlay[None]):
    """An overlay that shows the taps of a host."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,T,q,enter", "dismiss", "Close", id="tap.close", tooltip="Back"),
        Binding("y", "copy", "Copy", id="tap.copy", tooltip="Copy this text"),
    ]

    def __init__(self, report: TapReport, view: Snapshot) -> None:
        super().__init__()
        self._sheet = tap_sheet(report, view, datetime.now(UTC))

    def compose(self) -> ComposeResult:
        with KeyScroll(id="tap") as box:
            box.border_title = "Live agent"
            box.border_subtitle = key_hints(("tap.copy", "copy"), ("tap.close", "close"))
            yield FittedText(lambda _: self._sheet, id="tap-sheet")

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._sheet.plain)
        self.app.notify("Copied the lists.", markup=False)


REFRESH_SECONDS = 1.0
ROLE_WIDTH = 17  # cells of a worker's role
NO_WORKERS = "No worker is running. The first handler starts one."


def workers_sheet(workers: Mapping[str, tuple[WorkerFacts, ...]]) -> Content:
    """Return a line for each worker process. The lines fit the smallest screen."""
    rows = [(language, facts) for language, all_facts in workers.items() for facts in all_facts]
    if not rows:
        return Content.styled(NO_WORKERS, MUTED)
    heading = f"{'language':<12}{'for':<{ROLE_WIDTH}}{'pid':>8}{'age':>10}{'memory':>9}{'batches':>9}"
    return Content("\n").join([Content.styled(heading, MUTED), *(_worker_line(*row) for row in rows)])


def _worker_line(language: str, facts: WorkerFacts) -> Content:
    role = safe_line(facts.role, 60).truncate(ROLE_WIDTH, ellipsis=True, pad=True)
    numbers = f"{facts.pid:>8}{_age(facts.age):>10}{_size(facts.memory):>9}{facts.calls:>9}"
    return Content(f"{language:<12}") + role + Content(numbers)


def _age(seconds: float) -> str:
    minutes, seconds_left = divmod(int(seconds), 60)
    return f"{minutes} m {seconds_left:02} s" if minutes else f"{seconds_left} s"


def _size(memory: int) -> str:
    return f"{memory / 1024 / 1024:.0f} MiB" if memory else "–"


class WorkersScreen(Overlay[None]):
    """An overlay that shows the worker processes. Each of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,P,q,enter", "dismiss", "Close", id="workers.close", tooltip="Back")
    ]

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self._bench = bench

    def compose(self) -> ComposeResult:
        with Vertical(id="workers") as box:
            box.border_title = "Worker processes"
            box.border_subtitle = key_hints(("workers.close", "close"))
            yield Static(id="workers-sheet")

    def on_mount(self) -> None:
        self._draw()
        self.set_interval(REFRESH_SECONDS, self._draw, name="workers")

    def _draw(self) -> None:
        self.query_one("#workers-sheet", Static).update(workers_sheet(self._bench.worker_pools.workers()))

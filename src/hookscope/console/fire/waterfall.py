"""The time line of a run: a row a call, its bar, its outcome; below, who did not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content

from hookscope.console.fire import expected
from hookscope.console.fire.bars import axis, bar
from hookscope.console.fire.compare import compared
from hookscope.console.fire.lines import Lines
from hookscope.console.fire.marks import MUTED, count, duration, fitted, mark_of, word
from hookscope.console.fire.model import CallRow, Sheet
from hookscope.console.fire.tabs import output_lines
from hookscope.console.keymap.hints import key_of
from hookscope.core.missed import told_and_counted, why_not
from hookscope.core.runs import Guarded, NotRun, Run
from hookscope.values import dataclass

KINDS: tuple[Literal["written", "changed", "deleted"], ...] = ("written", "changed", "deleted")
MOST_SAID = 4  # lines of the host's log
FEW = 2  # listeners that did not run and are shown without unfolding
BAR_LEAST = 12


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of our own: what the run has to say, or who is not listed."""

    text: str
    folds: bool = False  # enter lists the others, or folds them
    about: Literal["", "copies", "expected"] = ""  # what is shown below while the cursor is on it
    style: str = MUTED


@dataclass(frozen=True, slots=True)
class Heading:
    """The host's word for the calls below it, where an event goes through several lanes."""

    lane: str
    note: str = ""


Entry: TypeAlias = CallRow | NotRun | Remark | Heading
LANES: Mapping[str, str] = {
    "channel": "the channel's own handler, before the event is on record",
    "typed": "hooks of this very event",
    "*": "hooks of every event",
    "dynamic": "resolvers of tools and instructions",
}
RECORDED = "recorded"


def entries(sheet: Sheet | None, unfolded: bool) -> tuple[Entry, ...]:
    """The rows from top to bottom."""
    if sheet is None:
        return ()
    told, others = told_and_counted(sheet.not_run)
    listeners = [item for item in told if item.listens]
    near = told[len(listeners) :]
    rows = headed(sheet)
    if unfolded:
        return (
            *rows,
            *remarks(sheet),
            *told,
            *others,
            *_fold([f"{key_of('run.others')} folds these"] if sheet.not_run else []),
        )
    shown = told if len(told) <= FEW else listeners if len(listeners) <= FEW else []
    folded = []
    if len(listeners) > len(shown):
        folded.append(f"{len(listeners)} listen and did not run")
    if near and len(told) > len(shown):
        folded.append(f"{count(len(near), 'other')} nearly heard it")
    if others:
        folded.append(
            f"{count(len(others), 'other')} {'listens' if len(others) == 1 else 'listen'} to other events"
        )
    return (
        *rows,
        *remarks(sheet),
        *shown,
        *_fold([*folded, f"{key_of('run.others')} lists them"] if folded else []),
    )


def headed(sheet: Sheet) -> tuple[Entry, ...]:
    """The calls; in front of each lane its name, and behind the channel that the event is on record."""
    if not any(row.lane for row in sheet.rows):
        return sheet.rows
    listed: list[Entry] = []
    lane, recorded = "", False
    for row in sheet.rows:
        if not recorded and row.lane != "channel":
            listed.append(Heading(RECORDED, _record(sheet)))
            recorded = True
        if row.lane != lane:
            lane = row.lane
            listed += [Heading(lane, LANES.get(lane, ""))] if lane else []
        listed.append(row)
    return tuple(listed)


def _record(sheet: Sheet) -> str:
    """What is known of the event on record."""
    event = sheet.run.event if sheet.run is not None else sheet.plan.event
    return word(str(event.meta.get("id", "")), 60)


def remarks(sheet: Sheet) -> tuple[Remark, ...]:
    """What the run itself has to say: what changed since the last, why it failed, what it assumed."""
    if sheet.run is None:
        return (Remark(word(sheet.problem, 300)),) if sheet.problem else ()
    against: tuple[str, ...] = ()
    if sheet.before is not None:
        against = (f"against run {sheet.before[0]}: {compared(sheet.before[1], sheet.run)}",)
    of_stream = sheet.run.event.kind == "stream"  # there it is the error of a call, and what follows tells
    failure = (sheet.run.ending.failure,) if sheet.run.ending.failure and not of_stream else ()
    assumed = (
        (f"fired under a what-if: {', '.join(sorted(sheet.run.assumed))} assumed",)
        if sheet.run.assumed
        else ()
    )
    forced = dict.fromkeys(result.call.name for result in sheet.run.results if result.forced)
    called = (f"forced: without that {', '.join(map(word, forced))} would not have run",) if forced else ()
    texts = (
        *called,
        *against,
        *failure,
        *_said(sheet.run),
        *_followed(sheet.run),
        *sheet.run.notes[:FEW],
        *assumed,
    )
    copies = (_on_copies(sheet.run.guarded),) if sheet.run.guarded is not None else ()
    return (*_expected(sheet), *copies, *(Remark(word(text, 300)) for text in texts))


def _expected(sheet: Sheet) -> tuple[Remark, ...]:
    if sheet.checked is None:
        return ()
    said, style = expected.remark(sheet.checked)
    return (Remark(said, about="expected", style=style),)


def _said(run: Run) -> list[str]:
    """What the host itself logs of a stream or plugin event; of folder hooks it is what the errors say."""
    return [] if run.event.kind == "folder" else [line.text for line in run.ending.log[:MOST_SAID]]


def _followed(run: Run) -> list[str]:
    """The events that this one caused; the calls of those that somebody heard stand above."""
    return [f"↳ {caused.event.key} follows{_heard(caused)}" for caused in run.caused]


def _heard(caused: Run) -> str:
    return "" if caused.results else "; no hook hears it"


def _on_copies(guarded: Guarded) -> Remark:
    kinds = Counter(change.kind for change in guarded.changes)
    counts = ", ".join(f"{count(kinds[kind], 'file')} {kind}" for kind in KINDS if kinds[kind])
    walls = "no network, no other disk" if guarded.network and guarded.disk else "no walls but the copies"
    return Remark(f"on copies ({walls}): {counts or 'no file was touched'}", about="copies")


def _fold(parts: list[str]) -> tuple[Remark, ...]:
    return (Remark(" · ".join(parts), folds=True),) if parts else ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of a row's columns in cells; 0: left out."""

    number: int
    name: int
    bar: int
    outcome: int
    time: int
    out: int
    messages: int


def columns(width: int, names: Sequence[str], rows: int) -> Columns:
    """Columns that fill `width` and are the same for every row. What matters least goes first."""
    number = len(str(max(rows, 1)))
    longest = max((cell_len(name) for name in names), default=7)
    name = min(max(longest, 7), max(8, width * 3 // 10))
    outcome, time, out, messages = 11, 9, 5, 6
    rest = width - number - name - time - 4

    def left() -> int:
        return rest - outcome - out - messages

    if left() < BAR_LEAST:
        out = messages = 0
    if left() < BAR_LEAST:
        outcome = 1
    return Columns(number, name, max(left(), 0), outcome, time, out, messages)


class Waterfall(Lines):
    """All calls of one run on one time line, and below them who did not run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *Lines.BINDINGS,
        Binding("n", "unfold", "Others", id="run.others", tooltip="List the hooks that did not run, and why"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._sheet: Sheet | None = None
        self._now = 0.0
        self._unfolded = False
        self._entries: tuple[Entry, ...] = ()
        self._columns = columns(80, (), 1)
        self._names: tuple[str, ...] = ()
        self._measured: tuple[int, tuple[str, ...]] | None = None
        self.terse = False  # no heading: every line is needed for the calls

    @property
    def line_count(self) -> int:
        return len(self._entries)

    @property
    def has_heading(self) -> bool:
        return bool(self._sheet and self._sheet.rows) and not self.terse

    @property
    def selected(self) -> Entry | None:
        """What the cursor is on."""
        return self._entries[self.cursor] if self.cursor < len(self._entries) else None

    def show(self, sheet: Sheet | None, now: float) -> None:
        """Draw this run as it stands at `now`."""
        self._sheet, self._now = sheet, now
        self._entries = entries(sheet, self._unfolded)
        self._names = tuple(name_of(row) for row in sheet.rows) if sheet else ()
        self.lines_changed()

    def go_to_expected(self) -> None:
        """Put the cursor on what the saved event expects, where that stands."""
        abouts = [entry.about if isinstance(entry, Remark) else "" for entry in self._entries]
        if "expected" in abouts:
            self.cursor = abouts.index("expected")

    def go_to(self, row: CallRow) -> None:
        """Put the cursor on this call."""
        numbers = [entry.number if isinstance(entry, CallRow) else 0 for entry in self._entries]
        self.cursor = numbers.index(row.number) if row.number in numbers else 0

    def _wide(self, width: int) -> Columns:
        """The columns at this width; a scroll bar that comes or goes changes it."""
        if self._measured != (width, self._names):
            self._measured = (width, self._names)
            self._columns = columns(width, self._names, len(self._names))
        return self._columns

    def heading(self, width: int) -> Content | None:
        if self._sheet is None:
            return None
        wide = self._wide(width)
        total = self._sheet.span(self._now)
        text = (
            f"{'#':>{wide.number}}  {'handler':{wide.name}} {axis(total, wide.bar)} "
            f"{'':{wide.outcome}}{'time':>{wide.time}}"
        )
        if wide.out:
            text += f"{'out':>{wide.out}}{'msgs':>{wide.messages}}"
        return Content.styled(text, MUTED)

    def line_at(self, index: int, width: int) -> Content:
        entry, wide = self._entries[index], self._wide(width)
        match entry:
            case CallRow():
                origin, span = self._scale()
                return call_line(entry, wide, span, self._now, origin)
            case NotRun():
                return not_run_line(entry, wide)
            case Heading(lane, note):
                return Content.assemble(f"{'':>{wide.number}}  ", (lane, "bold"), (f"  {note}", MUTED))
            case Remark():
                return Content.styled(f"{'–':>{wide.number}}  ", MUTED) + Content.styled(
                    entry.text, entry.style
                )

    def _scale(self) -> tuple[float, float]:
        """Where the time line begins, and how long it is."""
        sheet = self._sheet
        return (sheet.origin, sheet.span(self._now)) if sheet is not None else (0.0, 0.0)

    def action_unfold(self) -> None:
        if self._sheet is None or not self._sheet.not_run:
            self.app.notify("No hook was left out here: there is nothing to list.", markup=False)
            return
        self._unfolded = not self._unfolded
        self.show(self._sheet, self._now)
        self.post_message(self.Moved(self, self.cursor))

    def action_choose(self) -> None:
        if isinstance(self.selected, Remark) and self.selected.folds:
            self.action_unfold()
        else:
            super().action_choose()


def name_of(row: CallRow) -> str:
    """A call's name, moved in below the event that caused it."""
    return "  " * (row.depth - 1) + "↳ " + row.name if row.depth else row.name


def call_line(row: CallRow, wide: Columns, span: float, now: float, origin: float = 0.0) -> Content:
    """One call, every column at its place; its bar on a line of `span` seconds from `origin`."""
    mark = mark_of(row.phase, row.stale)
    outcome = fitted(
        mark.glyph if wide.outcome == 1 else f"{mark.glyph} {mark.word}", wide.outcome, mark.style
    )
    timed = row.result is not None or row.phase == "running"
    time = f"{duration(row.took(now)) if timed else '':>{wide.time}}"
    slow = timed and row.slow(now)
    parts = [
        Content.styled(f"{row.number:>{wide.number}}  ", MUTED),
        fitted(name_of(row), wide.name),
        Content(" "),
        _bar(row, wide.bar, origin, span, now),
        Content(" "),
        outcome,
        Content.styled(time, "$text-warning" if slow else MUTED if not timed else ""),
    ]
    if wide.out:
        parts += _counts(row, wide)
    return Content.assemble(*parts)


def _bar(row: CallRow, width: int, origin: float, span: float, now: float) -> Content:
    if row.phase == "not run":
        return fitted(row.reason, width, MUTED)
    if row.result is None and row.phase != "running":
        return Content(" " * width)
    began = row.started - origin
    drawn = bar(began, began + row.took(now), span, width, live=row.phase == "running")
    style = "$text-error" if row.failed else "$text-warning" if row.slow(now) else "$foreground 40%"
    text = " " * drawn.indent + drawn.drawn
    return Content(text.ljust(width)).stylize(style)


def _counts(row: CallRow, wide: Columns) -> list[Content]:
    if row.result is None:
        return []
    return [
        Content.styled(f"{number or '·':>{size}}", "" if number else MUTED)
        for number, size in ((output_lines(row.result), wide.out), (len(row.result.messages), wide.messages))
    ]


def not_run_line(item: NotRun, wide: Columns) -> Content:
    """One hook that did not run, and why."""
    name = fitted(word(item.name), wide.name, MUTED)
    return (
        Content(f"{'–':>{wide.number}}  ").stylize(MUTED)
        + name
        + Content(f" {word(why_not(item), 300)}").stylize(MUTED)
    )

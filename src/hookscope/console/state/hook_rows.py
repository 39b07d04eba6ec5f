"""The rows of the hook list: grouped, filtered, and drawn in columns. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.theme.text_styles import (
    FAINT,
    IGNORED_FILE,
    MUTED,
    NOT_A_HOOK,
    STATE_STYLES,
    WORD_WIDTH,
    StateStyle,
    fit_width,
    keep_ends,
    keep_tail,
    line_width,
    safe_line,
    safe_word,
)
from hookscope.model.hook import Folder, Hook
from hookscope.model.hook_status import HookStatus, RejectedHook, State
from hookscope.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from hookscope.app.load_record import FailedLoad
    from hookscope.app.snapshot import Snapshot


Grouping = Literal["source", "state", "event"]
GROUPINGS: tuple[Grouping, ...] = ("source", "state", "event")
QUARANTINED = "in quarantine  "
REASON_WIDTH = 24  # cells that most reasons need
TRUST_HINT_WIDTH = 14  # cells of the hint on the trust key, which replaces the reason
OLD_VERSION_RUNS = "previous version runs: "  # precedes the reason why the saved version does not run


@dataclass(frozen=True, slots=True)
class HookRow:
    """A hook, or a rejected file or folder that looks like one."""

    id: str  # stable across scans
    name: str
    events: tuple[str, ...]
    source: str
    state_style: StateStyle
    why: str
    quarantined: bool = field(default=False, kw_only=True)
    failed: FailedLoad | None = field(default=None, kw_only=True)  # its gates pass, but it does not load
    reasons: int
    item: HookStatus | RejectedHook
    # Computed once per row: each letter typed in the filter reads them in all rows.
    events_text: str = field(init=False, compare=False, repr=False)  # its events as one text
    search_text: str = field(init=False, compare=False, repr=False)  # the text that filters search
    name_cells: int = field(init=False, compare=False, repr=False)
    events_cells: int = field(init=False, compare=False, repr=False)
    why_cells: int = field(init=False, compare=False, repr=False)  # of its first `REASON_WIDTH` characters

    @property
    def manifest(self) -> Path | None:
        """The file whose text is shown beside this row."""
        if isinstance(self.item, RejectedHook):
            return self.item.place.file if self.item.place else None
        return self.item.hook.manifest

    def __post_init__(self) -> None:
        unread = self.item.unread_text if isinstance(self.item, HookStatus) else ""
        events_text = ", ".join(filter(None, (*self.events, unread)))
        search_text = " ".join((self.name, *self.events, self.source, self.state_style.word)).casefold()
        worked_out = {
            "events_text": events_text,
            "search_text": search_text,
            "name_cells": line_width(self.name),
            "events_cells": line_width(events_text),
            "why_cells": line_width(self.why[:REASON_WIDTH]) if not self.asks_trust else TRUST_HINT_WIDTH,
        }
        for name, value in worked_out.items():
            object.__setattr__(self, name, value)

    @property
    def hook(self) -> Hook | None:
        """The hook; None for a rejected one."""
        return self.item.hook if isinstance(self.item, HookStatus) else None

    @property
    def asks_trust(self) -> bool:
        """Whether the trust key can allow this hook to run."""
        return isinstance(self.item, HookStatus) and self.state is State.UNTRUSTED and not self.item.too_wide

    @property
    def state(self) -> State | None:
        """The hook's state; None for a rejected one."""
        return self.item.state if isinstance(self.item, HookStatus) else None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows under one heading."""

    key: str
    title: str
    note: str
    rows: tuple[HookRow, ...] = ()
    place: str = ""


def hook_rows_of(view: Snapshot) -> tuple[HookRow, ...]:
    """Return the rows of a snapshot: hooks in report order, then rejected ones."""
    taken: dict[str, int] = {}

    def named(base: str) -> str:
        taken[base] = taken.get(base, 0) + 1
        return base if taken[base] == 1 else f"{base}#{taken[base]}"

    registered = {call.hook for call in view.registry.registrations}
    hooks = [_hook_row(row, named, row.hook in registered, view) for row in view.inventory.hooks]
    return (*hooks, *(_rejected_row(item, named) for item in view.inventory.rejected))


def _hook_row(row: HookStatus, named: Callable[[str], str], registered: bool, view: Snapshot) -> HookRow:
    hook = row.hook
    failed = view.failed_loads.get(hook)
    runs = registered and row.state is State.BROKEN if failed is None else failed.old_version_runs
    held = OLD_VERSION_RUNS if runs else ""
    is_quarantined = hook.handler is not None and hook.handler in view.quarantined
    return HookRow(
        id=named(f"{hook.kind}:{hook.path or hook.handler or ''}:{hook.name}"),
        name=hook.name,
        events=row.events or (),
        source=hook.folder.source,
        state_style=STATE_STYLES[view.display_state(row)],
        why=(QUARANTINED if is_quarantined else held)
        + (row.verdict.why() or row.denied_text if failed is None else failed.why),
        reasons=1 if row.verdict.shadowed_by or failed is not None else len(row.verdict.failed()),
        item=row,
        quarantined=is_quarantined,
        failed=failed,
    )


def _rejected_row(rejected: RejectedHook, named: Callable[[str], str]) -> HookRow:
    return HookRow(
        id=named(f"rejected:{rejected.path}"),
        name=rejected.name or rejected.path.name or str(rejected.path),
        events=(),
        source=rejected.source,
        state_style=IGNORED_FILE if rejected.ignored else NOT_A_HOOK,
        why=rejected.reason,
        reasons=1,
        item=rejected,
    )


def matching_rows(rows: Iterable[HookRow], query: str) -> tuple[HookRow, ...]:
    """Return the rows whose name, events, source or state contain every word of the query, and no `!word`.

    If there are none, return the rows whose name contains the letters of the query in this order.
    """
    words, excluded = filter_words(query)
    remaining = [row for row in rows if not any(word in row.search_text for word in excluded)]
    matches = remaining
    for word in words:
        matches = [row for row in matches if word in row.search_text]
    letters = "".join(words)
    return tuple(matches or [row for row in remaining if has_letters(row.name.casefold(), letters)])


def filter_words(query: str) -> tuple[list[str], list[str]]:
    """Return the words of a filter, and the words that it excludes with `!word`. A `!` alone is ignored."""
    words = query.casefold().split()
    return [word for word in words if word[0] != "!"], [word[1:] for word in words if word[:1] == "!" != word]


def has_letters(name: str, letters: str) -> bool:
    """Return whether the name has these letters in this order: `dpn` in `deploy-note`."""
    rest = iter(name)
    return all(letter in rest for letter in letters)


def grouped_rows(
    rows: Sequence[HookRow], view: Snapshot, grouping: Grouping, *, all_folders: bool = True
) -> tuple[RowGroup, ...]:
    """Return the rows under headings. `all_folders`: also headings of empty folders."""
    match grouping:
        case "source":
            groups = _grouped_by_source(rows, view)
            return tuple(group for group in groups if group.rows or (all_folders and group.place))
        case "state":
            return _grouped_by(
                rows,
                [style.word for style in (*STATE_STYLES.values(), NOT_A_HOOK, IGNORED_FILE)],
                lambda row: (row.state_style.word,),
            )
        case "event":
            catalogue_keys = [event.key for event in view.host.dialect.catalogue().events]
            return _grouped_by(rows, catalogue_keys, lambda row: row.events or ("no events",))


def _grouped_by(
    rows: Sequence[HookRow], order: Sequence[str], keys: Callable[[HookRow], Sequence[str]]
) -> tuple[RowGroup, ...]:
    rows_by_key: dict[str, list[HookRow]] = {}
    for row in rows:
        for key in dict.fromkeys(keys(row)):
            rows_by_key.setdefault(key, []).append(row)
    rank = {key: place for place, key in enumerate(order)}
    ordered = sorted(rows_by_key, key=lambda key: rank.get(key, len(rank)))
    return tuple(RowGroup(key, key, str(len(rows_by_key[key])), tuple(rows_by_key[key])) for key in ordered)


def by_precedence(folders: Iterable[Folder]) -> list[Folder]:
    """Return the host's folders, highest precedence first."""
    return sorted(folders, key=lambda folder: -folder.rank)


def _grouped_by_source(rows: Sequence[HookRow], view: Snapshot) -> list[RowGroup]:
    remaining = list(rows)
    groups = []
    for folder in by_precedence(view.folders):
        in_folder = tuple(row for row in remaining if _row_lies_in(row, folder))
        taken = set(map(id, in_folder))  # comparing rows by value takes minutes for thousands of rows
        remaining = [row for row in remaining if id(row) not in taken]
        note = "absent" if folder.real is None else "no hooks" if not in_folder else str(len(in_folder))
        place = view.host.machine.short(folder.path)
        groups.append(RowGroup(f"{folder.source}:{folder.path}", folder.source, note, in_folder, place))
    for source in dict.fromkeys(row.source for row in remaining):
        others = tuple(row for row in remaining if row.source == source)
        groups.append(RowGroup(source, source, str(len(others)), others))
    return groups


def _row_lies_in(row: HookRow, folder: Folder) -> bool:
    if isinstance(row.item, HookStatus):
        home = row.item.hook.folder
        return row.item.hook.kind != "legacy" and (home.source, home.path) == (folder.source, folder.path)
    return row.source == folder.source and row.item.path.is_relative_to(folder.path)


def _style_counts(rows: Sequence[HookRow]) -> dict[StateStyle, int]:
    """Count the rows of each state style, by identity: rows share the few styles."""
    counted = Counter(id(row.state_style) for row in rows)
    styles = {id(row.state_style): row.state_style for row in rows}
    counts: Counter[StateStyle] = Counter()
    for number, count in counted.items():
        counts[styles[number]] += count
    return counts


class HookListing:
    """The rows of a snapshot. Immutable; groupings are computed on first use and cached."""

    def __init__(self, rows: Sequence[HookRow] = (), view: Snapshot | None = None) -> None:
        self.rows = tuple(rows)
        self.by_id: Mapping[str, HookRow] = {row.id: row for row in self.rows}
        self.counts_by_style: Mapping[StateStyle, int] = _style_counts(self.rows)
        self._view = view
        self._groups: dict[Grouping, tuple[RowGroup, ...]] = {}

    def groups(self, grouping: Grouping) -> tuple[RowGroup, ...]:
        """Return all rows under headings, including those of empty folders."""
        if grouping not in self._groups:
            self._groups[grouping] = (
                grouped_rows(self.rows, self._view, grouping) if self._view is not None else ()
            )
        return self._groups[grouping]

    def with_groups(self) -> HookListing:
        """Return this listing with every grouping computed; call it in the scanning thread."""
        for grouping in GROUPINGS:
            self.groups(grouping)
        return self


EMPTY_LISTING = HookListing()


def listing_of(view: Snapshot) -> HookListing:
    """Return the listing of a snapshot."""
    return HookListing(hook_rows_of(view), view)


class FilteredRows:
    """The rows that match a filter. A query that extends the previous query searches only its matches."""

    def __init__(self) -> None:
        self._listing: HookListing | None = None
        self._query = ""
        self._rows: tuple[HookRow, ...] = ()

    def rows(self, listing: HookListing, query: str) -> tuple[HookRow, ...]:
        """Return the matching rows; see `matching_rows`."""
        folded = query.casefold()
        if listing is not self._listing or folded != self._query:
            extends = listing is self._listing and folded.startswith(self._query) and "!" not in folded
            rows = self._rows if extends else listing.rows
            self._rows = matching_rows(rows, folded) if folded.strip() else listing.rows
            self._listing, self._query = listing, folded
        return self._rows

    def groups(self, listing: HookListing, query: str, grouping: Grouping) -> tuple[RowGroup, ...]:
        """Return the matching rows under headings; with a query, headings without rows are omitted."""
        rows, groups = self.rows(listing, query), listing.groups(grouping)
        if not query:
            return groups
        matching_ids = set(map(id, rows))  # comparing rows by value is slow
        narrowed = (
            (group, tuple([row for row in group.rows if id(row) in matching_ids])) for group in groups
        )
        return tuple(replace(group, rows=rows, note=str(len(rows))) for group, rows in narrowed if rows)


def best_match(rows: Iterable[HookRow], query: str, current: str | None) -> HookRow | None:
    """Return the row that best matches a typed query; None without a query or a row.

    Among equally good rows, return the row with the id `current`, or else the first.
    """
    name = " ".join(filter_words(query)[0])
    best = min(rows, key=lambda row: (name_distance(row.name, name), row.id != current), default=None)
    return best if name else None


def name_distance(name: str, words: str) -> int:
    """Return 0 for a name that equals the words, 1 if it begins with them, 2 if it contains them, or 3."""
    own = name.casefold()
    return (own == words, own.startswith(words), words in own, True).index(True)


COLUMN_GAP = "  "
POINTER, NO_POINTER = "▸ ", "  "
COUNT_WIDTH = 3  # cells of the number of reasons
ROOM_FOR_WORDS = 14  # cells; in less room reasons are only counted
TRUST_HINT = "{hooks.trust} trusts it"  # shorter than the gate's reason, which names a command
EVENTS_WIDTH = 16  # cells that events keep when reasons need room: one key
FITTING_NAMES = 95  # per cent of the names that the column fits: a few long ones take no room from the others


@dataclass(frozen=True, slots=True)
class HookColumns:
    """The widths of a line's columns in cells. 0: the column is omitted."""

    name: int
    events: int
    source: int
    why: int


def hook_columns(width: int, rows: Iterable[HookRow], grouping: Grouping) -> HookColumns:
    """Return widths that fill `width` cells: names first, then events, the rest for the reason."""
    rows = tuple(rows)  # may be thousands: avoid a call for each
    free = max(0, width - len(POINTER) - WORD_WIDTH - len(COLUMN_GAP))
    source = 9 if grouping != "source" and free >= 44 else 0
    if source:
        free -= source + len(COLUMN_GAP)
    widths = sorted(map(attrgetter("name_cells"), rows)) or [20]  # room for the headings of an empty list
    names = widths[min(len(widths) * FITTING_NAMES // 100, len(widths) - 1)]
    events_width = max(map(attrgetter("events_cells"), rows), default=20)
    if free < 26:
        return HookColumns(free, 0, source, 0)
    room = free - 2 * len(COLUMN_GAP) - COUNT_WIDTH  # cells for names and events
    events = min(max(6, events_width), max(8, room * 48 // 100, room - names), 30)
    name = min(max(4, names), room - events, 34)
    why = free - name - events - 2 * len(COLUMN_GAP)
    reason_width = max(map(attrgetter("why_cells"), rows), default=0)
    lent = min(
        max(0, min(REASON_WIDTH, max(ROOM_FOR_WORDS, reason_width)) - why), max(0, events - EVENTS_WIDTH)
    )  # a reason is more useful than a second event
    if why + lent >= ROOM_FOR_WORDS and any(map(attrgetter("why"), rows)):
        events, why = events - lent, why + lent
    elif why < ROOM_FOR_WORDS and any(map(attrgetter("why"), rows)):  # the Why pane shows the events too
        left = free - len(COLUMN_GAP) - 1  # a gap before the scroll bar
        name = min(names, 34, max(name, left - ROOM_FOR_WORDS))
        events, why = 0, left - name
    return HookColumns(name, events, source, why)


def heading_line(columns: HookColumns) -> Content:
    """Return the names of the columns."""
    parts: list[Content | str] = [NO_POINTER, fit_width("hook", columns.name)]
    if columns.events:
        parts += [COLUMN_GAP, fit_width("events", columns.events)]
    if columns.source:
        parts += [COLUMN_GAP, fit_width("source", columns.source)]
    parts += [COLUMN_GAP, fit_width("state", WORD_WIDTH)]
    if columns.why:
        parts += [COLUMN_GAP, "why" if columns.why >= 3 else ""]
    return Content.assemble(*parts).stylize(MUTED)


def hook_line(row: HookRow, columns: HookColumns, pointed: bool = False, *, keys: bool = True) -> Content:
    """Return the line of one hook. `keys`: the line may name keys; False for exports."""
    off = row.state in (State.OFF, State.SHADOWED)
    parts: list[Content | str] = [
        POINTER if pointed else NO_POINTER,
        fit_width(keep_ends(safe_word(row.name), columns.name), columns.name).stylize(MUTED if off else ""),
    ]
    if columns.events:
        parts += [COLUMN_GAP, fit_width(row.events_text or "–", columns.events).stylize(MUTED)]
    if columns.source:
        parts += [COLUMN_GAP, fit_width(row.source, columns.source).stylize(MUTED)]
    parts += [COLUMN_GAP, fit_width(Content.styled(row.state_style.text, row.state_style.style), WORD_WIDTH)]
    if columns.why and row.why:
        parts += [COLUMN_GAP, _reason(row, columns.why, keys).stylize(MUTED)]
    return Content.assemble(*parts)


def _reason(row: HookRow, width: int, keys: bool) -> Content:
    if width < ROOM_FOR_WORDS:
        return fit_width(str(row.reasons), width)
    more = f" +{row.reasons - 1}" if row.reasons > 1 else ""
    if keys and row.asks_trust:
        return fit_width(with_keys(TRUST_HINT) + more, width)
    return (
        fit_width(row.why, width - len(more)) + more
        if more and line_width(row.why) > width
        else fit_width(row.why, width)
    )


def group_line(group: RowGroup, width: int, grouping: Grouping) -> Content:
    """Return the heading of a group: its title, its place and its count."""
    title = group.title.upper() if grouping == "source" else group.title
    note = fit_width(group.note, min(len(group.note), 8))
    room = max(4, width - len(NO_POINTER) - note.cell_length - len(COLUMN_GAP) - 1)
    named = safe_line(title, 60).stylize("bold")
    if group.place:
        place = keep_tail(safe_line(group.place, 1_000), room - named.cell_length - len(COLUMN_GAP))
        named = Content.assemble(named, COLUMN_GAP, place.stylize(FAINT))
    return Content.assemble(NO_POINTER, fit_width(named, room), COLUMN_GAP, note.stylize(FAINT))

"""The rows of the list of hooks: which there are, how they are grouped, what a line says. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from textual.content import Content

from hookscope.console.keymap.hints import with_keys
from hookscope.console.text import line
from hookscope.console.theme import FAINT, IGNORED, LOOKS, MUTED, NO_HOOK, WORD_WIDTH, Look
from hookscope.core.hooks import Folder, Hook, Standing, State
from hookscope.core.inventory import Rejected
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.workbench import View

Grouping = Literal["source", "state", "event"]
GROUPINGS: tuple[Grouping, ...] = ("source", "state", "event")
GAP = "  "
QUARANTINED = "in quarantine  "
OLD_RUNS = "the old version runs: "  # before the reason why the saved one does not
POINTER, NO_POINTER = "▸ ", "  "
COUNT = 3  # cells of a number of reasons
ROOM_FOR_WORDS = 14  # cells; with less, reasons are only counted
WORDS = 24  # cells that most reasons need
TRUSTS = "{hooks.trust} trusts it"  # shorter than its gate says it, which names a command
HEARD = 15  # cells that the events keep where reasons want room: one key


@dataclass(frozen=True, slots=True)
class Row:
    """One hook, or one thing that looks like a hook and is none."""

    id: str  # the same from look to look
    name: str
    events: tuple[str, ...]
    source: str
    look: Look
    why: str
    quarantined: bool = field(default=False, kw_only=True)
    reasons: int
    item: Standing | Rejected
    # Worked out once, when the row is made: each letter of a filter asks all rows for them.
    heard: str = field(init=False, compare=False, repr=False)  # its events in one text
    says: str = field(init=False, compare=False, repr=False)  # everything that a filter looks in
    name_cells: int = field(init=False, compare=False, repr=False)
    heard_cells: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        heard = ", ".join(self.events)
        says = " ".join((self.name, *self.events, self.source, self.look.word)).casefold()
        worked_out = {
            "heard": heard,
            "says": says,
            "name_cells": _cells(self.name),
            "heard_cells": _cells(heard),
        }
        for name, value in worked_out.items():
            object.__setattr__(self, name, value)

    @property
    def hook(self) -> Hook | None:
        """The hook; None where it is none."""
        return self.item.hook if isinstance(self.item, Standing) else None

    @property
    def state(self) -> State | None:
        """None where it is no hook."""
        return self.item.state if isinstance(self.item, Standing) else None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one heading."""

    key: str
    title: str
    note: str
    rows: tuple[Row, ...] = ()
    place: str = ""


def rows_of(view: View) -> tuple[Row, ...]:
    """All rows of a look: hooks in report order, then what is no hook."""
    taken: dict[str, int] = {}

    def named(base: str) -> str:
        taken[base] = taken.get(base, 0) + 1
        return base if taken[base] == 1 else f"{base}#{taken[base]}"

    registered = {call.hook for call in view.registry.registrations}
    hooks = [_hook_row(row, named, row.hook in registered, view.quarantined) for row in view.inventory.hooks]
    return (*hooks, *(_rejected_row(item, named) for item in view.inventory.rejected))


def _hook_row(
    row: Standing, named: Callable[[str], str], registered: bool, quarantined: frozenset[Path]
) -> Row:
    hook = row.hook
    held = OLD_RUNS if registered and row.state is State.BROKEN else ""
    kept = hook.handler is not None and hook.handler in quarantined
    return Row(
        id=named(f"{hook.kind}:{hook.path or hook.handler or ''}:{hook.name}"),
        name=hook.name,
        events=row.events or (),
        source=hook.folder.source,
        look=LOOKS[row.state],
        why=(QUARANTINED if kept else held) + row.verdict.why(),
        reasons=1 if row.verdict.shadowed_by else len(row.verdict.shut()),
        item=row,
        quarantined=kept,
    )


def _rejected_row(item: Rejected, named: Callable[[str], str]) -> Row:
    return Row(
        id=named(f"rejected:{item.path}"),
        name=item.name or item.path.name or str(item.path),
        events=(),
        source=item.source,
        look=IGNORED if item.ignored else NO_HOOK,
        why=item.reason,
        reasons=1,
        item=item,
    )


def matching(rows: Iterable[Row], query: str) -> tuple[Row, ...]:
    """The rows in which every word of the query stands: in name, events, source or state."""
    found: Iterable[Row] = rows
    for word in query.casefold().split():
        found = [row for row in found if word in row.says]
    return tuple(found)


def grouped(
    rows: Sequence[Row], view: View, grouping: Grouping, *, all_folders: bool = True
) -> tuple[Group, ...]:
    """The rows under headings. `all_folders`: name the folders that hold nothing too."""
    match grouping:
        case "source":
            groups = _by_source(rows, view)
            return tuple(group for group in groups if group.rows or (all_folders and group.place))
        case "state":
            return _by(
                rows,
                [look.word for look in (*LOOKS.values(), NO_HOOK, IGNORED)],
                lambda row: (row.look.word,),
            )
        case "event":
            known = [event.key for event in view.host.dialect.catalogue().events]
            return _by(rows, known, lambda row: row.events or ("no events",))


def _by(rows: Sequence[Row], order: Sequence[str], keys: Callable[[Row], Sequence[str]]) -> tuple[Group, ...]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        for key in dict.fromkeys(keys(row)):
            found.setdefault(key, []).append(row)
    rank = {key: place for place, key in enumerate(order)}
    ordered = sorted(found, key=lambda key: rank.get(key, len(rank)))
    return tuple(Group(key, key, str(len(found[key])), tuple(found[key])) for key in ordered)


def by_precedence(folders: Iterable[Folder]) -> list[Folder]:
    """The host's folders, the one that wins first."""
    return sorted(folders, key=lambda folder: -folder.rank)


def _by_source(rows: Sequence[Row], view: View) -> list[Group]:
    left = list(rows)
    groups = []
    for folder in by_precedence(view.folders):
        mine = tuple(row for row in left if _lies_in(row, folder))
        taken = set(map(id, mine))  # rows are compared by all they hold: among thousands that takes minutes
        left = [row for row in left if id(row) not in taken]
        note = "absent" if folder.real is None else "empty" if not mine else str(len(mine))
        place = view.host.surroundings.short(folder.path)
        groups.append(Group(f"{folder.source}:{folder.path}", folder.source, note, mine, place))
    for source in dict.fromkeys(row.source for row in left):
        others = tuple(row for row in left if row.source == source)
        groups.append(Group(source, source, str(len(others)), others))
    return groups


def _lies_in(row: Row, folder: Folder) -> bool:
    if isinstance(row.item, Standing):
        home = row.item.hook.folder
        return row.item.hook.kind != "legacy" and (home.source, home.path) == (folder.source, folder.path)
    return row.source == folder.source and row.item.path.is_relative_to(folder.path)


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of a line's parts in cells. 0: left out."""

    name: int
    events: int
    source: int
    why: int


def columns_for(width: int, rows: Iterable[Row], grouping: Grouping) -> Columns:
    """Widths that fill `width` cells: names first, then events, the rest for the reason."""
    rows = tuple(rows)  # may be thousands: none is asked by a call
    free = max(0, width - len(POINTER) - WORD_WIDTH - len(GAP))
    source = 9 if grouping != "source" and free >= 44 else 0
    if source:
        free -= source + len(GAP)
    names = max(map(attrgetter("name_cells"), rows), default=20)  # the headings of an empty list have room
    heard = max(map(attrgetter("heard_cells"), rows), default=20)
    if free < 26:
        return Columns(free, 0, source, 0)
    room = free - 2 * len(GAP) - COUNT  # for names and events
    events = min(max(6, heard), max(8, room * 48 // 100, room - names), 30)
    name = min(max(4, names), room - events, 34)
    why = free - name - events - 2 * len(GAP)
    lent = min(max(0, WORDS - why), max(0, events - HEARD))  # a reason says more than a second event
    if why + lent >= ROOM_FOR_WORDS and any(map(attrgetter("why"), rows)):
        events, why = events - lent, why + lent
    return Columns(name, events, source, why)


def _cells(text: str) -> int:
    """The cells that a text takes in one line."""
    return line(text).cell_length


def fit(text: Content | str, width: int) -> Content:
    """Exactly `width` cells of one line: cut with an ellipsis, or filled up."""
    content = line(text) if isinstance(text, str) else text
    return _no_tabs(content).truncate(width, ellipsis=True, pad=True)


def _no_tabs(content: Content) -> Content:
    return (
        Content(content.plain.replace("\t", " "), list(content.spans)) if "\t" in content.plain else content
    )


def tail(path: Content, room: int) -> Content:
    """A path that is too long loses its head: what tells folders apart is at the end."""
    if path.cell_length <= room:
        return path
    text = path.plain
    while text and Content("…" + text).cell_length > room:
        text = text[1:]
    return Content("…" + text) if room > 1 else Content()


def middle(text: str, room: int) -> str:
    """A text that is too long loses its middle: what tells such texts apart is at both ends."""
    if cell_len(text) <= room:
        return text
    before, behind = max(0, room - 1) // 2, max(0, room - 1) - max(0, room - 1) // 2
    while cell_len(text[:before]) > before and before:
        before -= 1
    while behind and cell_len(text[-behind:]) > behind:
        behind -= 1
    return f"{text[:before]}…{text[len(text) - behind :]}" if room > 0 else ""


def heading_line(columns: Columns) -> Content:
    """The names of the columns."""
    parts: list[Content | str] = [NO_POINTER, fit("hook", columns.name)]
    if columns.events:
        parts += [GAP, fit("events", columns.events)]
    if columns.source:
        parts += [GAP, fit("source", columns.source)]
    parts += [GAP, fit("state", WORD_WIDTH)]
    if columns.why:
        parts += [GAP, "why" if columns.why >= 3 else ""]
    return Content.assemble(*parts).stylize(MUTED)


def row_line(row: Row, columns: Columns, pointed: bool = False, *, keys: bool = True) -> Content:
    """One hook in one line. `keys`: it may name some, being on the screen."""
    off = row.state in (State.OFF, State.SHADOWED)
    parts: list[Content | str] = [
        POINTER if pointed else NO_POINTER,
        fit(row.name, columns.name).stylize(MUTED if off else ""),
    ]
    if columns.events:
        parts += [GAP, fit(row.heard or "–", columns.events).stylize(MUTED)]
    if columns.source:
        parts += [GAP, fit(row.source, columns.source).stylize(MUTED)]
    parts += [GAP, fit(Content.styled(f"{row.look.glyph} {row.look.word}", row.look.style), WORD_WIDTH)]
    if columns.why and row.why:
        parts += [GAP, _why(row, columns.why, keys).stylize(MUTED)]
    return Content.assemble(*parts)


def _why(row: Row, width: int, keys: bool) -> Content:
    if width < ROOM_FOR_WORDS:
        return fit(str(row.reasons), width)
    more = f" +{row.reasons - 1}" if row.reasons > 1 else ""
    if keys and row.state is State.UNTRUSTED:
        return fit(with_keys(TRUSTS) + more, width)
    return fit(row.why, width - len(more)) + more if more and _cells(row.why) > width else fit(row.why, width)


def group_line(group: Group, width: int, grouping: Grouping) -> Content:
    """The heading of a group: what it is, where it lies, how many there are."""
    title = group.title.upper() if grouping == "source" else group.title
    note = fit(group.note, min(len(group.note), 8))
    room = max(4, width - len(NO_POINTER) - note.cell_length - len(GAP) - 1)
    named = line(title, 60).stylize("bold")
    if group.place:
        place = tail(line(group.place, 1_000), room - named.cell_length - len(GAP))
        named = Content.assemble(named, GAP, place.stylize(FAINT))
    return Content.assemble(NO_POINTER, fit(named, room), GAP, note.stylize(FAINT))

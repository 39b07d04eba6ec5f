"""The rows of the list of hooks: which there are, what each is about, how they are grouped. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from hookscope.console.cutting import cells_of
from hookscope.console.theme import IGNORED, LOOKS, NO_HOOK, Look
from hookscope.core.hooks import Folder, Hook
from hookscope.core.inventory import Rejected
from hookscope.core.standing import Standing, State
from hookscope.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from hookscope.workbench import View
    from hookscope.workbench.failed_loads import FailedLoad

Grouping = Literal["source", "state", "event"]
GROUPINGS: tuple[Grouping, ...] = ("source", "state", "event")
QUARANTINED = "in quarantine  "
WORDS = 24  # cells that most reasons need
TRUSTS_CELLS = 14  # of the key that trusts, which stands in the place of a longer reason
OLD_RUNS = "the old version runs: "  # before the reason why the saved one does not


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
    failed: FailedLoad | None = field(default=None, kw_only=True)  # its checks are open, and it does not load
    reasons: int
    item: Standing | Rejected
    # Worked out once, when the row is made: each letter of a filter asks all rows for them.
    heard: str = field(init=False, compare=False, repr=False)  # its events in one text
    says: str = field(init=False, compare=False, repr=False)  # everything that a filter looks in
    name_cells: int = field(init=False, compare=False, repr=False)
    heard_cells: int = field(init=False, compare=False, repr=False)
    why_cells: int = field(init=False, compare=False, repr=False)  # of its beginning

    @property
    def manifest(self) -> Path | None:
        """The file whose text belongs beside this row."""
        if isinstance(self.item, Rejected):
            return self.item.place.file if self.item.place else None
        return self.item.hook.manifest

    def __post_init__(self) -> None:
        heard = ", ".join(self.events)
        says = " ".join((self.name, *self.events, self.source, self.look.word)).casefold()
        worked_out = {
            "heard": heard,
            "says": says,
            "name_cells": cells_of(self.name),
            "heard_cells": cells_of(heard),
            "why_cells": cells_of(self.why[:WORDS]) if not self.asks_trust else TRUSTS_CELLS,
        }
        for name, value in worked_out.items():
            object.__setattr__(self, name, value)

    @property
    def hook(self) -> Hook | None:
        """The hook; None where it is none."""
        return self.item.hook if isinstance(self.item, Standing) else None

    @property
    def asks_trust(self) -> bool:
        """Is it a key that allows it to run."""
        return isinstance(self.item, Standing) and self.state is State.UNTRUSTED and not self.item.too_wide

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
    hooks = [_hook_row(row, named, row.hook in registered, view) for row in view.inventory.hooks]
    return (*hooks, *(_rejected_row(item, named) for item in view.inventory.rejected))


def _hook_row(row: Standing, named: Callable[[str], str], registered: bool, view: View) -> Row:
    hook = row.hook
    failed = view.failed_loads.get(hook)
    runs = registered and row.state is State.BROKEN if failed is None else failed.held
    held = OLD_RUNS if runs else ""
    kept = hook.handler is not None and hook.handler in view.quarantined
    return Row(
        id=named(f"{hook.kind}:{hook.path or hook.handler or ''}:{hook.name}"),
        name=hook.name,
        events=row.events or (),
        source=hook.folder.source,
        look=LOOKS[view.stands(row)],
        why=(QUARANTINED if kept else held) + (row.verdict.why() if failed is None else failed.why),
        reasons=1 if row.verdict.shadowed_by or failed is not None else len(row.verdict.shut()),
        item=row,
        quarantined=kept,
        failed=failed,
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
        note = "absent" if folder.real is None else "no hooks" if not mine else str(len(mine))
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

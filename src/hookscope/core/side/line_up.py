"""Every hook of several looks on a line of its own: the same name is the same hook, else the same folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path

from hookscope.core.bystanders import kind_of
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Rejected
from hookscope.core.side.change import changes_of
from hookscope.core.side.differing import differing_of
from hookscope.core.side.model import ABSENT, NO_HOOK, Cell, Comparison, EventThere, Line, Metadata, Side
from hookscope.core.side.order import orders_of
from hookscope.core.side.written import written_in
from hookscope.core.standing import Standing, State
from hookscope.values import dataclass


def line_up(sides: Sequence[Side]) -> Comparison:
    """The hooks of all sides, cell by cell, with what differs and what to change. Runs nothing.

    A line shows at each host the copy that counts there: the winner of its name. Folders that one host
    takes for a hook and another does not stand on one line too. What is plainly no hook is left out.
    """
    drafts = _Drafts(len(sides))
    for at, side in enumerate(sides):
        standing = sorted(side.inventory.hooks, key=lambda row: row.verdict.shadowed_by is not None)
        for row in standing:
            drafts.take_hook(at, row)
        for item in side.inventory.rejected:
            if not item.ignored:
                drafts.take_rejected(at, item)
    lines = tuple(_line(draft, sides) for draft in drafts.drafts)
    orders = orders_of(sides, lines)
    told = (_told(line, orders.get(number, ())) for number, line in enumerate(lines))
    return Comparison(tuple(sides), tuple(told))


def _told(line: Line, orders: tuple[str, ...]) -> Line:
    differs = differing_of(line, orders)
    return replace(line, differs=differs, change=changes_of(line) if differs or not line.everywhere else ())


@dataclass(slots=True)
class _Draft:
    """A line while it is put together."""

    name: str
    rows: list[Standing | None]
    rejected: list[Rejected | None]


@dataclass(slots=True)
class _Drafts:
    sides: int
    drafts: list[_Draft] = field(default_factory=list)
    _by_path: dict[tuple[str, Path], _Draft] = field(default_factory=dict)
    _by_name: dict[tuple[str, str], _Draft] = field(default_factory=dict)

    def take_hook(self, at: int, row: Standing) -> None:
        """A winner, or a copy that loses; the losers come last and fill what is still free."""
        hook = row.hook
        key = (kind_of(hook), _place(hook))
        named = (kind_of(hook), hook.name)
        there = self._free(self._by_path.get(key), at)
        same = there if there is not None and there.name == hook.name else None
        draft = same or self._free(self._by_name.get(named), at) or there
        if draft is None:
            if row.verdict.shadowed_by is not None:
                return  # the copy that wins from it has the line
            draft = self._new(hook.name)
        draft.rows[at] = row
        self._by_path.setdefault(key, draft)
        self._by_name.setdefault(named, draft)

    def take_rejected(self, at: int, item: Rejected) -> None:
        name = item.name or item.path.name
        key, named = ("folder", item.path), ("folder", name)
        draft = self._by_path.get(key) or self._by_name.get(named) or self._new(name)
        if draft.rejected[at] is None:
            draft.rejected[at] = item
        self._by_path.setdefault(key, draft)
        self._by_name.setdefault(named, draft)

    @staticmethod
    def _free(draft: _Draft | None, at: int) -> _Draft | None:
        return draft if draft is not None and draft.rows[at] is None else None

    def _new(self, name: str) -> _Draft:
        draft = _Draft(name, [None] * self.sides, [None] * self.sides)
        self.drafts.append(draft)
        return draft


def _place(hook: Hook) -> Path:
    place = hook.path or hook.handler
    return place if place is not None else Path(f"{hook.name} {hook.meta.events}")


def _line(draft: _Draft, sides: Sequence[Side]) -> Line:
    found = next((row for row in draft.rows if row is not None), None)
    rejected = next((item for item in draft.rejected if item is not None), None)
    path = found.hook.path if found is not None else rejected.path if rejected is not None else None
    cells = tuple(
        _cell(side, row, item) for side, row, item in zip(sides, draft.rows, draft.rejected, strict=True)
    )
    return Line(draft.name, path, cells)


def _cell(side: Side, row: Standing | None, rejected: Rejected | None) -> Cell:
    if row is None and rejected is None:
        return Cell(side, ABSENT)
    if row is None:
        assert rejected is not None
        return Cell(side, NO_HOOK, rejected.reason, rejected=rejected)
    shut = row.verdict.shut()
    return Cell(
        side,
        row.state.value,
        row.verdict.why(),
        "" if row.state is State.SHADOWED or not shut else shut[0].name,
        row,
        rejected,
        tuple(_event(key, row.hook, side) for key in dict.fromkeys(row.hook.meta.events or ())),
        _metadata(row.hook, side),
        _position(row, side),
    )


def _position(row: Standing, side: Side) -> int | None:
    if row.state not in (State.READY, State.SILENT):
        return None
    return side.inventory.load_order.index(row.hook) + 1


def _event(key: str, hook: Hook, side: Side) -> EventThere:
    catalogue, kind = side.dialect.catalogue(), kind_of(hook)
    if catalogue.sends(key, kind):
        known = catalogue.find(key)
        return EventThere(key, "sent", known is not None and known.delivers)
    exact = catalogue.by_key.get(catalogue.canonical(key))
    if exact is not None and exact.kind == kind:
        return EventThere(key, "never")
    later = side.dialect.later_plugin if kind == "plugin" else side.dialect.later
    is_anothers = key in later or catalogue.elsewhere(key)
    return EventThere(key, "unknown", near="" if is_anothers else catalogue.nearest(key, kind) or "")


def _metadata(hook: Hook, side: Side) -> Metadata:
    if hook.kind != "folder" or side.reads is None:
        return ""
    meta = hook.meta
    if meta.events or meta.requires != type(meta.requires)() or meta.os or meta.always or meta.faults:
        return "read"
    written = written_in(hook.manifest, side.host.surroundings.files)
    if side.reads.namespace in written.namespaces:
        spelt = written.as_json or not side.reads.json_only
        return "read" if spelt and not written.events_of(side.reads.namespace) else "unread"
    return "elsewhere" if written.namespaces else "none"

"""All rows of one look, and what is asked of all of them at every key: worked out once. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hookscope.console.hooks.rows import GROUPINGS, Group, Grouping, Row, grouped, matching, rows_of

if TYPE_CHECKING:
    from hookscope.console.theme import Look
    from hookscope.workbench import View


def _looks(rows: Sequence[Row]) -> dict[Look, int]:
    """How many stand how. Signs are few and shared: they are counted by which they are."""
    counted = Counter(id(row.look) for row in rows)
    looks = {id(row.look): row.look for row in rows}
    found: Counter[Look] = Counter()
    for number, count in counted.items():
        found[looks[number]] += count
    return found


class Listing:
    """The rows of a look. It stays as it is: what it works out later is the same for ever."""

    def __init__(self, rows: Sequence[Row] = (), view: View | None = None) -> None:
        self.rows = tuple(rows)
        self.by_id: Mapping[str, Row] = {row.id: row for row in self.rows}
        self.looks: Mapping[Look, int] = _looks(self.rows)
        self._view = view
        self._groups: dict[Grouping, tuple[Group, ...]] = {}

    def groups(self, grouping: Grouping) -> tuple[Group, ...]:
        """All rows under headings; folders that hold nothing have theirs too."""
        if grouping not in self._groups:
            self._groups[grouping] = (
                grouped(self.rows, self._view, grouping) if self._view is not None else ()
            )
        return self._groups[grouping]

    def with_groups(self) -> Listing:
        """The same, each grouping worked out now: for the thread that looks."""
        for grouping in GROUPINGS:
            self.groups(grouping)
        return self


EMPTY = Listing()


def listing_of(view: View) -> Listing:
    """The rows of a look."""
    return Listing(rows_of(view), view)


class Narrowed:
    """The rows that a filter leaves. A query that goes on where the last one ended looks at its rows only."""

    def __init__(self) -> None:
        self._listing: Listing | None = None
        self._query = ""
        self._rows: tuple[Row, ...] = ()

    def rows(self, listing: Listing, query: str) -> tuple[Row, ...]:
        """The rows in which every word of the query stands."""
        folded = query.casefold()
        if listing is not self._listing or not folded.startswith(self._query):
            self._rows = listing.rows
        if listing is not self._listing or folded != self._query:
            self._rows = matching(self._rows, folded) if folded.strip() else listing.rows
            self._listing, self._query = listing, folded
        return self._rows

    def groups(self, listing: Listing, query: str, grouping: Grouping) -> tuple[Group, ...]:
        """The same under their headings; with a query, headings without a row are left out."""
        rows, groups = self.rows(listing, query), listing.groups(grouping)
        if not query:
            return groups
        left = set(map(id, rows))  # rows are compared by all they hold
        narrowed = ((group, tuple([row for row in group.rows if id(row) in left])) for group in groups)
        return tuple(replace(group, rows=rows, note=str(len(rows))) for group, rows in narrowed if rows)

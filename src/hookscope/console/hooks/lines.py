"""Which line of the list shows what: headings, hooks, empty lines. Found by counting, never listed. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeAlias

from hookscope.console.hooks.rows import Group, Row

Line: TypeAlias = Row | Group | None  # None: an empty line


class GroupedLines:
    """Groups one below the other, each with its heading. `airy`: an empty line between two of them."""

    def __init__(self, groups: Sequence[Group] = (), *, airy: bool = False) -> None:
        self.groups = tuple(groups)
        gap = int(airy)
        heights = [1 + len(group.rows) + gap for group in self.groups]
        self._starts = [0, *accumulate(heights)]  # where each heading stands
        self.count = max(self._starts[-1] - gap, 0)
        self._rows = [0, *accumulate(len(group.rows) for group in self.groups)]
        self.row_count = self._rows[-1]

    def at(self, line: int) -> Line:
        """What stands on a line."""
        if not 0 <= line < self.count:
            return None
        group, place = self._place(line)
        if place < 0:
            return self.groups[group]
        rows = self.groups[group].rows
        return rows[place] if place < len(rows) else None

    def group_at(self, line: int) -> str:
        """The key of the group that a line belongs to."""
        return self.groups[self._place(line)[0]].key if 0 <= line < self.count else ""

    def rows(self) -> Iterator[Row]:
        """All rows, those of several groups as often."""
        return chain.from_iterable(group.rows for group in self.groups)

    def line_of(self, row: str, group: str | None = None) -> int | None:
        """The first line where the row of this id stands: in that group, or in any."""
        for start, each in zip(self._starts, self.groups, strict=False):
            if group is None or each.key == group:
                place = next((at for at, one in enumerate(each.rows) if one.id == row), None)
                if place is not None:
                    return start + 1 + place
        return None

    def line_of_number(self, number: int) -> int | None:
        """The line of the row that has so many before it, or of the last; None where there is none."""
        if not self.row_count:
            return None
        number = max(0, min(number, self.row_count - 1))
        group = bisect_right(self._rows, number) - 1
        return self._starts[group] + 1 + number - self._rows[group]

    def number_before(self, line: int) -> int:
        """How many rows stand above a line."""
        if not self.groups:
            return 0
        group, place = self._place(min(line, self.count - 1))
        return self._rows[group] + max(0, min(place, len(self.groups[group].rows)))

    def _place(self, line: int) -> tuple[int, int]:
        """The group of a line, and the place in it; -1 is its heading."""
        group = min(bisect_right(self._starts, line) - 1, len(self.groups) - 1)
        return group, line - self._starts[group] - 1

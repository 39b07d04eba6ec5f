"""How well something fits what was typed: for the command palette, over ten thousand names. Pure."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
MOST = 40  # that are shown of all that fit


class Match(NamedTuple, Generic[T]):
    """One that fits, and how well: above 0, up to 1."""

    score: float
    what: T


class Wanted:
    """What was typed, made ready to be compared with many names."""

    def __init__(self, typed: str) -> None:
        self.words = typed.casefold().split()
        self._whole = " ".join(self.words)
        letters = "".join(self.words)
        self._scattered = re.compile(".*?".join(map(re.escape, letters))) if len(letters) > 1 else None

    def score(self, name: str, more: str = "") -> float:
        """0: it does not fit. Its name counts for more than what else is said of it (`more`).

        Each typed word must stand in one of them; else all letters, in order, in the name.
        """
        name = name.casefold()
        place = name.find(self._whole)
        if place >= 0:
            if len(name) == len(self._whole):
                return 1.0
            begins = place == 0 or not name[place - 1].isalnum()
            return (0.9 if place == 0 else 0.8 if begins else 0.6) - min(len(name), 200) / 2_000
        if all(word in name for word in self.words):
            return 0.5
        if more:
            both = f"{name} {more.casefold()}"
            if all(word in both for word in self.words):
                return 0.3
        if self._scattered is not None:
            found = self._scattered.search(name)
            if found is not None:
                return 0.2 * len(self._whole) / (found.end() - found.start())
        return 0.0


def best(typed: str, candidates: Iterable[tuple[str, str, T]], most: int = MOST) -> list[Match[T]]:
    """The best of (name, what else is said, what it is), best first; of two alike the first."""
    wanted = Wanted(typed)
    scored = (
        (wanted.score(name, more), -number, what) for number, (name, more, what) in enumerate(candidates)
    )
    chosen = heapq.nlargest(most, (one for one in scored if one[0] > 0), key=lambda one: one[:2])
    return [Match(score, what) for score, _, what in chosen]

"""Which runs somebody asks for. Pure: a file of runs is asked the same questions as the database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hookscope.journal.records import Outcome
from hookscope.journal.storable import storable
from hookscope.journal.words import phrase, words_of_run
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.journal.reading import StoredRun

NOT_FAILED: frozenset[Outcome] = frozenset({"ok", "cancelled", "interrupted", "running"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of all that is given must hold. None: nothing is asked of it."""

    hook: str | None = None  # it was called; a hook that did not run is no match
    key: str | None = None
    outcomes: frozenset[Outcome] | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None  # its words stand side by side in what was recorded
    pinned: bool = False

    @property
    def asks_inside(self) -> bool:
        """Is anything asked for that an index of words answers."""
        nothing = self.hook is None and self.key is None and self.outcomes is None and not self.text
        return not nothing or self.pinned

    def takes(self, run: StoredRun) -> bool:
        """Does all hold for this run, but for its time."""
        if self.key is not None and run.key != storable(self.key):
            return False
        if self.outcomes is not None and run.outcome not in self.outcomes:
            return False
        if self.pinned and not run.pinned:
            return False
        if self.hook is not None and self.hook not in hooks_of(run.document):
            return False
        if not self.text:
            return True
        sought = phrase(self.text)
        return sought is not None and sought.stands_in(words_of_run(run.document["event"], run.document))

    def in_time(self, run: StoredRun) -> bool:
        """Did it begin within the window, both ends included."""
        return (self.since is None or run.started >= self.since) and (
            self.until is None or run.started <= self.until
        )


def hooks_of(document: Mapping[str, Any]) -> list[str]:
    """The names of the hooks that were called, each once."""
    return list(dict.fromkeys(result["hook"] for result in document.get("results", ())))

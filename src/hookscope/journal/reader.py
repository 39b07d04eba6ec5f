"""What is on record, read: runs and entries of one workspace."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from hookscope.journal.database import explained, open_reading
from hookscope.journal.reading import (
    Condition,
    Entry,
    StoredRun,
    select_entries,
    select_run,
    select_runs,
    select_settings,
)
from hookscope.journal.records import Outcome
from hookscope.journal.storable import storable
from hookscope.journal.wanted import NOT_FAILED, Wanted

GARBLED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)  # what such documents raise
PAGE = 500  # runs read at once where all are wanted


class Reader:
    """Reads the record of one workspace; the file may hold those of others.

    Reading touches nothing: before the first write it gives nothing. It is called from any thread and blocks
    it, so not from the one that draws the screen. Raises JournalError, an OSError whose text is a sentence
    for the user.
    """

    def __init__(self, path: Path, workspace: str) -> None:
        self.path = path
        self.workspace = storable(workspace)

    def recent(
        self,
        limit: int = 200,
        *,
        hook: str | None = None,
        key: str | None = None,
        failed: bool | None = None,
        since: datetime | None = None,
        text: str | None = None,
    ) -> tuple[StoredRun, ...]:
        """The last runs of this workspace, newest first, of which all that is given holds. As `select`.

        Args:
            failed: True: only failed runs; False: only others, those without an end included.
        """
        outcomes: frozenset[Outcome] | None = None
        if failed is not None:
            outcomes = frozenset({"failed"}) if failed else NOT_FAILED
        return self.select(Wanted(hook, key, outcomes, since, None, text), limit)

    def select(self, wanted: Wanted, limit: int = 200) -> tuple[StoredRun, ...]:
        """The last runs of this workspace that are wanted, newest first."""
        return self._runs(wanted, limit)

    def each(self, wanted: Wanted) -> Iterator[StoredRun]:
        """All runs of this workspace that are wanted, oldest first, read bit by bit."""
        after = 0
        while page := self._runs(wanted, PAGE, after=after, newest_first=False):
            yield from page
            after = page[-1].id

    def newer_than(self, run_id: int, limit: int = 1_000) -> tuple[StoredRun, ...]:
        """The runs of this workspace begun after that one, oldest first: for following.

        Such a run may have no end yet; ask `run` for it again.
        """
        return self._runs(Wanted(), limit, after=run_id, newest_first=False)

    def run(self, run_id: int) -> StoredRun | None:
        """The run of that id, of whatever workspace; None where there is none, or no more."""
        with self._reading() as database:
            return None if database is None else select_run(database, run_id)

    def settings(self, runs: Iterable[StoredRun]) -> dict[str, Any]:
        """The settings that were in force then, each once, by their digest: `{"file": …, "value": …}`."""
        with self._reading() as database:
            if database is None:
                return {}
            return select_settings(database, (run.settings for run in runs if run.settings is not None))

    def entries(
        self, limit: int = 200, *, kind: str | None = None, newer_than: int | None = None
    ) -> tuple[Entry, ...]:
        """The last entries of this workspace, newest first; oldest first where `newer_than` is given."""
        wanted = [Condition("workspace = ?", (self.workspace,))]
        if kind is not None:
            wanted.append(Condition("kind = ?", (storable(kind),)))
        if newer_than is not None:
            wanted.append(Condition("id > ?", (newer_than,)))
        with self._reading() as database:
            if database is None:
                return ()
            return select_entries(database, wanted, limit, newest_first=newer_than is None)

    def _runs(
        self, wanted: Wanted, limit: int, *, after: int = 0, newest_first: bool = True
    ) -> tuple[StoredRun, ...]:
        with self._reading() as database:
            if database is None:
                return ()
            return select_runs(
                database, self.workspace, wanted, limit, after=after, newest_first=newest_first
            )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for one query; None where nothing was written yet."""
        database = open_reading(self.path)
        try:
            yield database
        except (sqlite3.Error, *GARBLED) as error:
            raise explained(self.path, error) from error
        finally:
            if database is not None:
                database.close()

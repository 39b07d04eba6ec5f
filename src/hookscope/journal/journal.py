"""The Journal: what the rest of the house records with, and reads from."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from hookscope.core.event import iso
from hookscope.core.runs import Event, Run
from hookscope.journal.database import explained, open_reading
from hookscope.journal.masking import mask_event, mask_run, secrets_of_event, secrets_of_run
from hookscope.journal.owner import Owner
from hookscope.journal.reading import (
    Condition,
    Entry,
    StoredRun,
    conditions,
    moment,
    select_entries,
    select_runs,
    storable,
)
from hookscope.journal.records import event_document, outcome_of, plain, run_document
from hookscope.journal.secrets import Secret, Veil, secrets_in, standing_in
from hookscope.journal.writer import KEPT, Retention, Work, Writer

INSERT_RUN = """
    insert into runs (workspace, dialect, key, event, started, started_ms, owner_pid, owner_started, size)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
END_RUN = "update runs set ended = ?, outcome = ?, took = ?, document = ?, size = size + ? where id = ?"
INSERT_RESULT = "insert into results (run, position, hook, key, status, took) values (?, ?, ?, ?, ?, ?)"
INSERT_ENTRY = """
    insert into entries (at, at_ms, workspace, kind, subject, level, text, detail)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""


class Journal:
    """The durable record of one workspace; the file may hold those of others. A Recorder.

    Making one touches nothing: the file is made by the first write, and reading before gives nothing.
    `close` it, or use it in a `with`. Writing is awaited from any loop; reading is called from any
    thread and blocks it, so not from the one that draws the screen.

    All of it raises JournalError, an OSError whose text is a sentence for the user.
    """

    def __init__(
        self,
        path: Path,
        workspace: str,
        dialect: str,
        retention: Retention = KEPT,
    ) -> None:
        self.path = path
        self.workspace = storable(workspace)
        self.dialect = storable(dialect)
        self._writer = Writer(path, retention)
        self._owner: Owner | None = None
        # What began runs hid: a handler may remove a secret from the context and print it.
        self._hidden: dict[int, tuple[Secret, ...]] = {}
        self._known: tuple[Secret, ...] = ()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write all that waits. Blocks until it is on disk; reading still works."""
        self._writer.close()

    def hide(self, secrets: Iterable[Secret]) -> None:
        """Mask these too from now on: secrets by the name of the variable they came from, though nothing in
        an event says so."""
        self._known = tuple(dict.fromkeys((*self._known, *secrets)))

    async def begin(self, event: Event) -> int:
        """The run's id, given once the event is on disk."""
        document = event_document(event)  # a copy made now: the event may change while it waits
        veil = Veil.over((*standing_in(document, self._known), *secrets_of_event(document)))
        text = json.dumps(mask_event(document, veil))
        now = datetime.now(UTC)

        def insert(database: sqlite3.Connection) -> int:
            owner = self._here()
            values = (iso(now), moment(now), owner.pid, owner.started, len(text))
            whose = (self.workspace, self.dialect, storable(event.key))
            return database.execute(INSERT_RUN, (*whose, text, *values)).lastrowid or 0

        run_id = await self._written(insert)
        if veil.secrets:
            self._hidden[run_id] = veil.secrets
        return run_id

    async def end(self, run: Run) -> None:
        """Put all that the run came to on record. A run that has aged out meanwhile is let go."""
        document = run_document(run, self.dialect)  # a copy made now, as in `begin`
        hidden, known = self._hidden.pop(run.id, ()), self._known
        ended, outcome = iso(datetime.now(UTC)), outcome_of(run)
        results = [
            (run.id, position, storable(it.call.name), storable(it.call.key), it.status, it.took)
            for position, it in enumerate(run.results)
        ]

        def update(database: sqlite3.Connection) -> int:
            # Masked here, in the writer's thread: a megabyte of output takes 40 ms to search.
            told = (*hidden, *standing_in(document, known))
            masked = mask_run(document, Veil.over((*told, *secrets_of_run(document))))
            del masked["event"], masked["id"]  # on record since the beginning
            text = json.dumps(masked)
            values = (ended, outcome, run.took, text, len(text), run.id)
            found = database.execute(END_RUN, values).rowcount
            if found:
                database.executemany(INSERT_RESULT, results)
            return found

        await self._written(update)

    async def note(
        self, kind: str, subject: str, text: str, level: str = "info", detail: object = None
    ) -> int:
        """Record a load, a change or a notice; its id. `detail` is any value that JSON can show."""
        value = plain(detail)
        veil = Veil.over((*self._known, *secrets_in(value), *secrets_in([subject, text])))
        now = datetime.now(UTC)
        shown = None if detail is None else json.dumps(veil.value(value))
        texts = (kind, veil.text(subject), level, veil.text(text))
        row = (iso(now), moment(now), self.workspace, *map(storable, texts), shown)
        return await self._written(lambda database: database.execute(INSERT_ENTRY, row).lastrowid or 0)

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
        """The last runs of this workspace, newest first, of which all that is given holds.

        Args:
            hook: it was called. A hook that did not run is no match.
            failed: True: only failed runs; False: only others, those without an end included.
            text: stands somewhere in what was recorded.
        """
        wanted = conditions(hook=hook, key=key, failed=failed, since=since, text=text)
        return self._runs((*self._here_only(), *wanted), limit)

    def newer_than(self, run_id: int, limit: int = 1_000) -> tuple[StoredRun, ...]:
        """The runs of this workspace begun after that one, oldest first: for following.

        Such a run may have no end yet; ask `run` for it again.
        """
        wanted = (*self._here_only(), Condition("id > ?", (run_id,)))
        return self._runs(wanted, limit, newest_first=False)

    def run(self, run_id: int) -> StoredRun | None:
        """The run of that id, of whatever workspace; None where there is none, or no more."""
        found = self._runs((Condition("id = ?", (run_id,)),), 1)
        return found[0] if found else None

    def entries(
        self, limit: int = 200, *, kind: str | None = None, newer_than: int | None = None
    ) -> tuple[Entry, ...]:
        """The last entries of this workspace, newest first; oldest first where `newer_than` is given."""
        wanted = [*self._here_only()]
        if kind is not None:
            wanted.append(Condition("kind = ?", (storable(kind),)))
        if newer_than is not None:
            wanted.append(Condition("id > ?", (newer_than,)))
        with self._reading() as database:
            if database is None:
                return ()
            return select_entries(database, wanted, limit, newest_first=newer_than is None)

    def _here(self) -> Owner:
        """This process. Asked for in the writer's thread: some systems need a program to tell."""
        if self._owner is None:
            self._owner = Owner.here()
        return self._owner

    def _here_only(self) -> tuple[Condition, ...]:
        return (Condition("workspace = ?", (self.workspace,)),)

    async def _written(self, work: Work) -> int:
        return await asyncio.wrap_future(self._writer.submit(work))

    def _runs(
        self, wanted: Sequence[Condition], limit: int, *, newest_first: bool = True
    ) -> tuple[StoredRun, ...]:
        with self._reading() as database:
            if database is None:
                return ()
            return select_runs(database, wanted, limit, newest_first=newest_first)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for one query; None where nothing was written yet."""
        database = open_reading(self.path)
        try:
            yield database
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:  # the latter: garbled documents
            raise explained(self.path, error) from error
        finally:
            if database is not None:
                database.close()

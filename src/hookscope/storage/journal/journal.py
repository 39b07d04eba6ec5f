"""The Journal: records events, runs, loads, changes and notices, and gives access to its readers."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import TracebackType

from hookscope.model.hook_event import iso
from hookscope.model.host import Dialect, Settings
from hookscope.model.run import Event, Plan, Registration, Run
from hookscope.storage.journal.database import DatabaseWork
from hookscope.storage.journal.encodings import compact_document
from hookscope.storage.journal.reader import JournalReader, milliseconds_of
from hookscope.storage.journal.records import (
    event_document,
    outcome_of,
    plain_json,
    run_document,
    storable_text,
)
from hookscope.storage.journal.redaction import (
    Masker,
    mask_event,
    mask_run,
    secrets_occurring_in,
    secrets_of_event,
    secrets_of_run,
)
from hookscope.storage.journal.run_environment import (
    NO_SETTINGS,
    FileDigests,
    MaskedSettings,
    RunEnvironment,
    RunOwner,
    handlers_to_text,
    masked_settings,
)
from hookscope.storage.journal.secrets import DEFAULT_SECRET_KEYS, Secret, SecretKeys, secrets_in
from hookscope.storage.journal.writer import Writer, pin_run
from hookscope.storage.state_files import DEFAULT_RETENTION, Retention
from hookscope.values import dataclass

# `at` never decreases: ids are in the order of time, even if the clock is set back.
INSERT_RUN = """
    insert into runs (workspace, circumstances, key, at, started_ms, owner_pid, owner_started, size, event)
    values (
        (select id from workspaces where path = ?), (select id from circumstances where digest = ?), ?,
        max(?, coalesce((select at from runs order by id desc limit 1), 0)), ?, ?, ?, ?, ?
    )"""
# If the journal was moved away during the run, the id may belong to a run of another process.
END_RUN = """
    update runs set outcome = ?, took = ?, document = ?, size = size + ?
    where id = ? and started_ms = coalesce(?, started_ms)"""
INSERT_ENTRY = """
    insert into entries (at, at_ms, workspace, kind, subject, level, text, detail)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""
SHORT_WAIT = 0.001  # seconds to block for a short job, which saves a turn of the event loop


@dataclass(slots=True)
class _Shared:
    """The state that a journal shares with its copies for other hosts and workspaces."""

    writer: Writer
    fingerprints: FileDigests = field(default_factory=FileDigests)
    # Masked at the start of each run: a handler may remove a secret from the context and print it.
    masked_secrets: dict[int, tuple[Secret, ...]] = field(default_factory=dict)
    last_id: int = 0  # the last assigned id
    started_ms: dict[int, int] = field(default_factory=dict)  # active runs, and when each was recorded
    known_secrets: tuple[Secret, ...] = ()
    keys: SecretKeys = DEFAULT_SECRET_KEYS  # whose values are secret


class Journal(JournalReader):
    """The durable record of one workspace, as a PlanRecorder. Its file may contain other workspaces too.

    Creating a Journal creates no file: the first write does. `close` it, or use it in a `with`. Writing
    is awaited in any loop; reading blocks, see JournalReader. All methods raise JournalError, an OSError
    whose text is a sentence for the user.
    """

    def __init__(
        self, path: Path, workspace: str, dialect: str, retention: Retention = DEFAULT_RETENTION
    ) -> None:
        super().__init__(path, workspace)
        self.dialect = storable_text(dialect)
        self.version = ""
        self._settings: Settings | None = None
        self._masked_with: tuple[tuple[Secret, ...], MaskedSettings] | None = None  # known secrets, result
        self._shared = _Shared(Writer(path, retention, self.workspace))

    def for_host(self, dialect: Dialect, settings: Settings) -> Journal:
        """Return the same journal, for runs under this dialect with the host's current settings."""
        if (self.dialect, self.version) == (dialect.name, dialect.version) and self._settings is settings:
            return self
        made = copy(self)
        made.dialect, made.version = dialect.name, dialect.version
        made._settings, made._masked_with = settings, None
        return made

    def for_workspace(self, workspace: str) -> Journal:
        """Return the same journal, for runs in this workspace."""
        if self.workspace == storable_text(workspace):
            return self
        made = copy(self)
        made.workspace = storable_text(workspace)
        return made

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write everything pending. Blocks until it is on disk; reading still works."""
        self._shared.writer.close()

    def mask_also(self, secrets: Iterable[Secret], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> None:
        """Mask these secrets too, by the name of their variable, and values under `keys`."""
        self._shared.known_secrets = tuple(dict.fromkeys((*self._shared.known_secrets, *secrets)))
        self._shared.keys = SecretKeys(self._shared.keys.listed | keys.listed)

    @property
    def _known_secrets(self) -> tuple[Secret, ...]:
        """Return the known secrets, including those of recorded settings."""
        return (
            *self._shared.known_secrets,
            *(self._masked_with[1].secrets if self._masked_with is not None else ()),
        )

    async def begin_plan(self, plan: Plan) -> int:
        """Record a plan's event and handler versions. Return the run's id once that is on disk."""
        return await self.begin(plan.event, plan.calls)

    async def begin(self, event: Event, calls: Sequence[Registration] = ()) -> int:
        """Record an event. Return the run's id once that is on disk. `calls`: the planned handlers."""
        document = event_document(event)  # a copy made now: the event may change while it waits
        environment = await self._environment(calls)
        keys = self._shared.keys
        occurring = secrets_occurring_in(document, self._known_secrets)
        masker = Masker.for_secrets((*occurring, *secrets_of_event(document, keys)), keys)
        text = json.dumps(mask_event(document, masker))
        now = milliseconds_of(datetime.now(UTC))

        def insert(database: sqlite3.Connection) -> int:
            owner = _owner(os.getpid())  # in the writer thread: some systems need a program for this
            run = (storable_text(event.key), now, now, owner.pid, owner.started)

            def row(size: int) -> tuple[object, ...]:
                return (self.workspace, environment.digest, *run, size, text)

            try:
                number = database.execute(INSERT_RUN, row(len(text))).lastrowid or 0
            except sqlite3.IntegrityError:  # the first of its workspace or environment
                added = self._add_environment(database, environment)
                number = database.execute(INSERT_RUN, row(len(text) + added)).lastrowid or 0
            self._shared.last_id = max(number, self._shared.last_id + 1)
            if number < self._shared.last_id:
                _renumber(database, number, self._shared.last_id)
            return self._shared.last_id

        run_id = await self._write(insert, SHORT_WAIT)
        self._shared.started_ms[run_id] = now
        if masker.secrets:
            self._shared.masked_secrets[run_id] = masker.secrets
        return run_id

    async def _environment(self, calls: Sequence[Registration]) -> RunEnvironment:
        handlers = handlers_to_text(self._shared.fingerprints.of_calls(calls))
        return RunEnvironment(self.dialect, self.version, await self._masked_settings(), handlers)

    async def _masked_settings(self) -> MaskedSettings:
        """Return the current settings as they may be stored, and remember their secrets."""
        if self._settings is None:
            return NO_SETTINGS
        known = self._shared.known_secrets
        if self._masked_with is None or self._masked_with[0] != known:
            # In another thread: searching large settings would block the screen.
            keys = self._shared.keys
            self._masked_with = known, await asyncio.to_thread(masked_settings, self._settings, known, keys)
        return self._masked_with[1]

    def _add_environment(self, database: sqlite3.Connection, environment: RunEnvironment) -> int:
        """Store the run's environment if it is new; return its size, which counts for this run."""
        database.execute("insert or ignore into workspaces (path) values (?)", (self.workspace,))
        number, size = None, len(environment.handlers)
        text, digest = environment.settings.text, environment.settings.digest
        if text:
            added = database.execute(
                "insert or ignore into settings (digest, text) values (?, ?)", (digest, text)
            )
            size += len(text) if added.rowcount else 0
            number = database.execute("select id from settings where digest = ?", (digest,)).fetchone()[0]
        database.execute(
            """insert or ignore into circumstances (digest, dialect, version, settings, handlers)
               values (?, ?, ?, ?, ?)""",
            (environment.digest, environment.dialect, environment.version, number, environment.handlers),
        )
        return size

    async def end(self, run: Run) -> None:
        """Record the outcome of a run. A run that was deleted meanwhile is ignored."""
        document = run_document(run, self.dialect)  # a copy made now, as in `begin`
        masked_secrets, known, keys = (
            self._shared.masked_secrets.pop(run.id, ()),
            self._known_secrets,
            self._shared.keys,
        )
        started_ms = self._shared.started_ms.pop(run.id, None)
        outcome = outcome_of(run)

        def update(database: sqlite3.Connection) -> int:
            # Masked here, in the writer's thread: a megabyte of output takes 40 ms to search.
            found = (*masked_secrets, *secrets_occurring_in(document, known))
            masked = mask_run(document, Masker.for_secrets((*found, *secrets_of_run(document, keys)), keys))
            thin = compact_document(masked, masked["event"])
            del thin["event"], thin["id"]  # recorded by `begin`
            text = json.dumps(thin)
            return database.execute(
                END_RUN, (outcome, run.took, text, len(text), run.id, started_ms)
            ).rowcount

        await self._write(update)

    async def pin(self, runs: Collection[int], on: bool = True) -> frozenset[int]:
        """Pin or unpin runs of this workspace: pinned ones are never deleted. Return the existing runs."""
        found: set[int] = set()

        def work(database: sqlite3.Connection) -> int:
            found.update(run for run in runs if pin_run(database, run, self.workspace, on))
            return len(found)

        await self._write(work)
        return frozenset(found)

    async def note(
        self, kind: str, subject: str, text: str, level: str = "info", detail: object = None
    ) -> int:
        """Record a load, a change or a notice; return its id. `detail` is any value that JSON can hold."""
        value = plain_json(detail)
        await self._masked_settings()
        keys = self._shared.keys
        found = (*secrets_in(value, keys=keys), *secrets_in([subject, text], keys=keys))
        masker = Masker.for_secrets(
            (*secrets_occurring_in([value, subject, text], self._known_secrets), *found), keys
        )
        now = datetime.now(UTC)
        shown = None if detail is None else json.dumps(masker.masked_value(value))
        texts = (kind, masker.masked_text(subject), level, masker.masked_text(text))
        row = (iso(now), milliseconds_of(now), self.workspace, *map(storable_text, texts), shown)
        return await self._write(lambda database: database.execute(INSERT_ENTRY, row).lastrowid or 0)

    async def _write(self, work: DatabaseWork, block_seconds: float = 0.0) -> int:
        """Return a job's result once it is on disk. Blocks the loop for at most `block_seconds`."""
        written = self._shared.writer.submit(work)
        if block_seconds:
            with suppress(TimeoutError):  # of the wait: jobs raise none
                return written.result(block_seconds)
        return await asyncio.wrap_future(written)


def _renumber(database: sqlite3.Connection, number: int, other: int) -> None:
    """Give run `number` the id `other`, so that ids of a new journal continue those of the moved one."""
    database.execute("update runs set id = ? where id = ?", (other, number))
    database.execute("update fresh set run = ? where run = ?", (other, number))


@cache
def _owner(pid: int) -> RunOwner:
    """Return this process. Cached by its number, because a fork changes that."""
    return RunOwner.current()

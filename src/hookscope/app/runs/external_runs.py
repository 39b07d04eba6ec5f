"""Runs that other programs record in the journal: another shell, an agent, another console."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from hookscope.app.runs.run_record import JOURNAL
from hookscope.storage.state_files import state_folder

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun
    from hookscope.model.host import Host
    from hookscope.storage.journal.reader import JournalReader

POLL = 0.5  # seconds between polls, which read nothing if the journal has not changed
MOST_AT_ONCE = 200  # runs reported at once, oldest first

RunsCallback: TypeAlias = "Callable[[tuple[PastRun, ...]], object]"
JournalStamp: TypeAlias = tuple[int, int, int]


class ExternalRuns:
    """Follows one workspace's journal in its own thread and reports new runs. `close` ends the thread."""

    def __init__(self, on_runs: RunsCallback) -> None:
        self._on_runs = on_runs
        self._host: Host | None = None
        self._stop = threading.Event()

    def follow(self, host: Host) -> None:
        """Report runs of this workspace that end from now on and that another process started."""
        before, self._host = self._host, host
        if before is not None and before.workspace == host.workspace and not self._stop.is_set():
            return
        self.close()
        self._stop = threading.Event()
        arguments = (host, datetime.now(UTC), self._stop)
        threading.Thread(target=self._run, args=arguments, name="record", daemon=True).start()

    def close(self) -> None:
        """Stop reporting."""
        self._stop.set()

    def _run(self, host: Host, began: datetime, stop: threading.Event) -> None:
        from hookscope.app.runs.past_runs import past_run, workspace_key
        from hookscope.storage.journal.reader import JournalReader

        journal = JournalReader(state_folder() / JOURNAL, workspace_key(host))
        own = os.getpid()
        try:
            newest = _last_number(journal, began)
            recent = [run for run in journal.recent(MOST_AT_ONCE) if run.id <= newest]
        except OSError:  # unreadable: reported elsewhere
            return
        running = [run.id for run in recent if run.outcome == "running" and run.owner.pid != own]
        seen: tuple[JournalStamp | None, ...] = ()
        while not stop.wait(POLL):
            now = _journal_stamps(journal)
            if now == seen and not running:
                continue
            try:
                newest = min(newest, _last_number(journal))  # the file may have been replaced
                fresh = journal.newer_than(newest, MOST_AT_ONCE)
                newest = max((run.id for run in fresh), default=newest)
                running += [run.id for run in fresh if run.owner.pid != own]
                known = [run for number in running if (run := journal.run(number)) is not None]
            except OSError:  # retry at the next poll
                continue
            seen = now if len(fresh) < MOST_AT_ONCE else ()  # there may be more
            running = [run.id for run in known if run.outcome == "running"]
            current_host = self._host or host  # the dialect may have changed
            ended = (past_run(run, current_host) for run in known)  # None for a running one
            past_runs = tuple(past for past in ended if past is not None)
            if past_runs and not stop.is_set():
                self._on_runs(past_runs)


def _last_number(journal: JournalReader, before: datetime | None = None) -> int:
    """Return the number of the last run, or of the last one before a time; 0: none. Raises OSError."""
    runs = journal.recent(1 if before is None else MOST_AT_ONCE)
    return next((run.id for run in runs if before is None or run.started < before), 0)


def _journal_stamps(journal: JournalReader) -> tuple[JournalStamp | None, ...]:
    """Return stamps that differ after the journal was written."""
    return tuple(map(_file_stamp, (str(journal.path), f"{journal.path}-wal")))


def _file_stamp(path: str) -> JournalStamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

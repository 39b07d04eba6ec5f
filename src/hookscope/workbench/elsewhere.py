"""Telling of runs that other programs put on record: a shell beside the console, an agent, a console."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from hookscope.workbench.run_record import JOURNAL
from hookscope.workbench.state_files import state_folder

if TYPE_CHECKING:
    from hookscope.core.dialect import Host
    from hookscope.journal.reader import Reader
    from hookscope.workbench.view import PastRun

POLL = 0.5  # seconds between two looks, which read nothing where the journal has not changed
AT_ONCE = 200  # runs that are told at once; of more, the oldest first

Told: TypeAlias = "Callable[[tuple[PastRun, ...]], object]"
Stamp: TypeAlias = tuple[int, int, int]


class Elsewhere:
    """Follows one workspace's record in a thread of its own, and tells from it. `close` ends the thread."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._host: Host | None = None
        self._stop = threading.Event()

    def follow(self, host: Host) -> None:
        """Tell from now on of runs in its workspace that end, and that this process has not begun."""
        before, self._host = self._host, host
        if before is not None and before.workspace == host.workspace and not self._stop.is_set():
            return
        self.close()
        self._stop = threading.Event()
        arguments = (host, datetime.now(UTC), self._stop)
        threading.Thread(target=self._run, args=arguments, name="record", daemon=True).start()

    def close(self) -> None:
        """Tell nothing any more."""
        self._stop.set()

    def _run(self, host: Host, began: datetime, stop: threading.Event) -> None:
        from hookscope.journal.reader import Reader  # in this thread: it takes longer than a paint
        from hookscope.workbench.past import past_of, place_of_record

        journal = Reader(state_folder() / JOURNAL, place_of_record(host))
        own = os.getpid()
        try:
            newest = _last(journal, began)
            recent = [run for run in journal.recent(AT_ONCE) if run.id <= newest]
        except OSError:  # it cannot be read, which is said elsewhere
            return
        going = [run.id for run in recent if run.outcome == "running" and run.owner.pid != own]
        seen: tuple[Stamp | None, ...] = ()
        while not stop.wait(POLL):
            now = _stamps(journal)
            if now == seen and not going:
                continue
            try:
                newest = min(newest, _last(journal))  # another file may have come in its place
                fresh = journal.newer_than(newest, AT_ONCE)
                newest = max((run.id for run in fresh), default=newest)
                going += [run.id for run in fresh if run.owner.pid != own]
                known = [run for number in going if (run := journal.run(number)) is not None]
            except OSError:  # it may be read the next time
                continue
            seen = now if len(fresh) < AT_ONCE else ()  # of so many there are more
            going = [run.id for run in known if run.outcome == "running"]
            present = self._host or host  # its dialect may be another by now
            ended = (past_of(run, present) for run in known)  # nothing of one that goes on
            told = tuple(past for past in ended if past is not None)
            if told and not stop.is_set():
                self._told(told)


def _last(journal: Reader, before: datetime | None = None) -> int:
    """The number of the last run, or of the last that began before; 0 where there is none. Raises OSError."""
    runs = journal.recent(1 if before is None else AT_ONCE)
    return next((run.id for run in runs if before is None or run.started < before), 0)


def _stamps(journal: Reader) -> tuple[Stamp | None, ...]:
    """What is different where something was written."""
    return tuple(map(_stamp, (str(journal.path), f"{journal.path}-wal")))


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

"""Past runs, from the journal and from exported files: found, exported, and made ready to replay."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from hookscope.app.snapshot import PastRun
from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.machine import file_stamp, path_to_text
from hookscope.model.regular_file import open_regular
from hookscope.model.run import CallGroup, Plan, Run
from hookscope.model.text import error_reason
from hookscope.storage.journal.exported_runs import ExportedRunReader, InvalidExportedRun, exported_lines
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.reader import JournalReader, StoredRun
from hookscope.storage.journal.records import event_of, run_of, storable_text
from hookscope.storage.journal.redaction import (
    Masker,
    Redaction,
    mask_run,
    secrets_occurring_in,
    secrets_of_run,
)
from hookscope.storage.journal.run_filter import parse_phrase
from hookscope.storage.journal.secrets import secrets_in
from hookscope.storage.state_files import JOURNAL, state_folder
from hookscope.values import dataclass

POLL = 0.5  # seconds between polls, which read nothing if the journal has not changed
MOST_AT_ONCE = 200  # runs reported at once, oldest first

RunsCallback: TypeAlias = "Callable[[tuple[PastRun, ...]], object]"


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
        journal = JournalReader(state_folder() / JOURNAL, workspace_key(host))
        own = os.getpid()
        try:
            newest = _last_number(journal, began)
            recent = [run for run in journal.recent(MOST_AT_ONCE) if run.id <= newest]
        except OSError:  # unreadable: reported elsewhere
            return
        running = [run.id for run in recent if run.outcome == "running" and run.owner.pid != own]
        seen: tuple[tuple[int, ...], ...] = ()
        while not stop.wait(POLL):
            now = (file_stamp(journal.path), file_stamp(f"{journal.path}-wal"))
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


NEXT_STEP = "`hookscope log` lists the runs."


def workspace_key(host: Host) -> str:
    """Return the workspace's name in the journal: locale-independent text, whatever bytes the path has."""
    return storable_text(path_to_text(host.workspace))


def past_run(stored: StoredRun, host: Host) -> PastRun | None:
    """Return a finished run; None if it still runs, or the current dialect has no events of its kind."""
    if stored.outcome == "running":
        return None
    run = run_of(stored.document)
    if run.event.kind not in host.dialect.kinds:
        return None
    calls = tuple(result.call for result in run.results)
    groups = (CallGroup(calls),) if calls else ()
    policy = host.dialect.system_of(run.event.kind).policy(run.event)
    plan = Plan(run.event, 0, groups, run.not_run, policy, delivers=run.delivers)
    ended = None if stored.outcome == "interrupted" else run
    return PastRun(stored.id, stored.started, plan, ended, stored.handlers)


def run_and_plan(stored: StoredRun, host: Host) -> tuple[Run | None, Plan | None]:
    """Return a run's result and plan. No result: it has not ended. No plan: the host has no such events."""
    past = past_run(stored, host)
    if past is not None:
        return past.run, past.plan
    return (run_of(stored.document) if stored.took is not None else None), None


def past_run_numbered(number: int, stored: StoredRun | None, host: Host) -> PastRun:
    """Return the run with this number. Raises Refusal if it is not in this workspace or cannot be fired."""
    if stored is None or stored.workspace != workspace_key(host):
        raise Refusal(f"There is no run {number} in this workspace.", NEXT_STEP)
    if stored.outcome == "running":
        raise Refusal(
            f"Run {number} is still running.", "Wait until it ends, or stop the program that fired it."
        )
    past = past_run(stored, host)
    if past is None:
        next_step = f"Use its dialect: --dialect {stored.dialect}."
        raise Refusal(
            f"Run {number} fired a kind of event that {host.dialect.product} does not have.", next_step
        )
    return past


def has_search_terms(text: str) -> bool:
    """Return whether a text holds anything that runs can be searched for."""
    return parse_phrase(text) is not None


def runs_numbered(journal: Journal, numbers: Sequence[int]) -> tuple[StoredRun, ...]:
    """Return the runs with these numbers, in that order. Raises Refusal for a missing one; OSError."""
    runs = []
    for number in numbers:
        run = journal.run(number)
        if run is None or run.workspace != journal.workspace:
            raise Refusal(f"There is no run {number} in this workspace.", NEXT_STEP)
        runs.append(run)
    return tuple(runs)


def file_runs_numbered(file: RunFile, numbers: Sequence[int]) -> tuple[StoredRun, ...]:
    """Return the runs of a file with these numbers, in that order. Raises Refusal for a missing one."""
    found = {run.id: run for run in file.runs() if run.id in numbers}
    for number in numbers:
        if number not in found:
            raise Refusal(
                f"{file.path} has no run {number}.", f"`hookscope log --from {file.path}` lists them."
            )
    return tuple(found[number] for number in numbers)


def export_lines(journal: Journal, runs: Iterator[StoredRun], redaction: Redaction) -> Iterator[str]:
    """Yield one line of JSON per run. Raises OSError."""
    kept: dict[str, Any] = {}

    def with_settings() -> Iterator[tuple[StoredRun, Any]]:
        for run in runs:
            if run.settings is not None and run.settings not in kept:
                kept.clear()  # settings rarely change: keep one
                kept.update(journal.settings([run]))
            yield masked_run(run, kept.get(run.settings or ""), redaction)

    return exported_lines(with_settings())


def masked_run(run: StoredRun, settings: Any, redaction: Redaction) -> tuple[StoredRun, Any]:
    """Return a run and its settings with secrets masked, as they may leave this machine.

    The journal may be older than the current rules for secrets.
    """
    found = (*secrets_of_run(run.document, redaction.keys), *secrets_in(settings, keys=redaction.keys))
    masker = Masker.for_secrets(
        (*secrets_occurring_in([run.document, settings], redaction.secrets), *found), redaction.keys
    )
    document = mask_run(dict(run.document), masker)
    document["masked"] = list(dict.fromkeys((*run.document.get("masked", ()), *document["masked"])))
    return replace(run, document=document, event=event_of(document["event"])), masker.masked_value(settings)


LONGEST_LINE = 256 * 2**20  # bytes of a line


@dataclass(slots=True)
class RunFile:
    """A file written by `hookscope export --jsonl`."""

    path: Path
    _reader: ExportedRunReader = field(default_factory=ExportedRunReader)

    def runs(self) -> Iterator[StoredRun]:
        """Yield the runs in file order, read line by line. Raises Refusal for an invalid line."""
        number = 0
        try:
            with open_regular(self.path) as file:
                while line := file.readline(LONGEST_LINE):
                    number += 1
                    if len(line) == LONGEST_LINE:  # stop reading an endless file
                        raise InvalidExportedRun(f"it is longer than {LONGEST_LINE:,} bytes")
                    if line.strip():
                        yield self._reader.run(line)
        except InvalidExportedRun as error:
            next_step = "`hookscope export --jsonl FILE` writes such files."
            raise Refusal(f"{self.path}, line {number}: {error}.", next_step) from None
        except OSError as error:
            raise Refusal(
                f"Cannot read {self.path}: {error_reason(error)}.", "Name another file.", code=2
            ) from None

    def settings(self, runs: Sequence[StoredRun]) -> dict[str, Any]:
        """Return the settings of these runs, as far as the lines read so far contain them."""
        known = self._reader.settings
        return {run.settings: known[run.settings] for run in runs if run.settings in known}

"""What was fired, as it is asked for: runs of the journal, and of files that were exported from one.

Loads the database: whoever only looks at hooks imports it not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from hookscope.core.regular_file import open_regular
from hookscope.core.text import why_of
from hookscope.journal import Journal, Outcome, StoredRun, Wanted, changed_since
from hookscope.journal.circumstances import Changed, handler_documents
from hookscope.journal.exported import NoRun, Reader, lines_of, run_document
from hookscope.journal.masking import mask_run, secrets_of_run
from hookscope.journal.records import event_of
from hookscope.journal.redaction import Redaction
from hookscope.journal.secrets import secrets_in
from hookscope.journal.veil import Veil, standing_in
from hookscope.journal.words import phrase
from hookscope.values import dataclass
from hookscope.workbench.past import THEN
from hookscope.workbench.refusal import Refusal

__all__ = [
    "Changed",
    "Journal",
    "Outcome",
    "RunFile",
    "StoredRun",
    "Wanted",
    "as_exported",
    "changed_since",
    "export_lines",
    "handler_documents",
    "has_words",
    "named",
    "named_in",
    "run_document",
]


def has_words(text: str) -> bool:
    """Is there anything in a text that runs can be searched for."""
    return phrase(text) is not None


def named(journal: Journal, numbers: Sequence[int]) -> tuple[StoredRun, ...]:
    """The runs of those numbers, in that order. Raises Refusal for one that is not there; OSError."""
    runs = []
    for number in numbers:
        run = journal.run(number)
        if run is None or run.workspace != journal.workspace:
            raise Refusal(f"There is no run {number} in this workspace.", THEN)
        runs.append(run)
    return tuple(runs)


def named_in(file: RunFile, numbers: Sequence[int]) -> tuple[StoredRun, ...]:
    """The runs of those numbers in a file, in that order. Raises Refusal for one that is not there."""
    found = {run.id: run for run in file.runs() if run.id in numbers}
    for number in numbers:
        if number not in found:
            raise Refusal(
                f"{file.path} has no run {number}.", f"`hookscope log --from {file.path}` lists them."
            )
    return tuple(found[number] for number in numbers)


def export_lines(journal: Journal, runs: Iterator[StoredRun], redaction: Redaction) -> Iterator[str]:
    """A line of JSON for each run. Raises OSError."""
    kept: dict[str, Any] = {}

    def with_settings() -> Iterator[tuple[StoredRun, Any]]:
        for run in runs:
            if run.settings is not None and run.settings not in kept:
                kept.clear()  # they change seldom: one is enough
                kept.update(journal.settings([run]))
            yield as_exported(run, kept.get(run.settings or ""), redaction)

    return lines_of(with_settings())


def as_exported(run: StoredRun, settings: Any, redaction: Redaction) -> tuple[StoredRun, Any]:
    """Return a run and its settings as they may leave this machine: masked by what is secret now.

    A journal may be older than the rules by which it would be masked now.
    """
    found = (*secrets_of_run(run.document, redaction.keys), *secrets_in(settings, keys=redaction.keys))
    veil = Veil.over((*standing_in([run.document, settings], redaction.secrets), *found), redaction.keys)
    document = mask_run(dict(run.document), veil)
    document["masked"] = list(dict.fromkeys((*run.document.get("masked", ()), *document["masked"])))
    return replace(run, document=document, event=event_of(document["event"])), veil.value(settings)


LONGEST = 256 * 2**20  # bytes of a line


@dataclass(slots=True)
class RunFile:
    """A file that `hookscope export --jsonl` wrote."""

    path: Path
    _reader: Reader = field(default_factory=Reader)

    def runs(self) -> Iterator[StoredRun]:
        """Its runs, in its order, read bit by bit. Raises Refusal for a line that has none."""
        number = 0
        try:
            with open_regular(self.path) as file:
                while line := file.readline(LONGEST):
                    number += 1
                    if len(line) == LONGEST:  # of an endless file, no more is read
                        raise NoRun(f"it is longer than {LONGEST:,} bytes")
                    if line.strip():
                        yield self._reader.run(line)
        except NoRun as error:
            then = "`hookscope export --jsonl FILE` writes such files."
            raise Refusal(f"{self.path}, line {number}: {error}.", then) from None
        except OSError as error:
            raise Refusal(
                f"Cannot read {self.path}: {why_of(error)}.", "Name another file.", code=2
            ) from None

    def settings(self, runs: Sequence[StoredRun]) -> dict[str, Any]:
        """Those that were in force in these runs, as far as the lines read so far have them."""
        known = self._reader.settings
        return {run.settings: known[run.settings] for run in runs if run.settings in known}

"""Runs as lines of JSON, and back: a journal's runs on another machine.

A line has one run. Its settings stand in full where a digest comes for the first time; later lines have the
digest alone. Secrets are masked, as they are on record. Keys may be added; a reader passes over those that
it does not know.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from hookscope.core.event import from_iso, iso
from hookscope.journal.circumstances import handler_documents, handlers_from
from hookscope.journal.owner import Owner
from hookscope.journal.reading import StoredRun
from hookscope.journal.records import event_of, run_of
from hookscope.journal.whole import misfit
from hookscope.values import dataclass

FORMAT = 1  # of a line
OUTCOMES = ("ok", "failed", "cancelled", "interrupted", "running")


class NoRun(ValueError):
    """A line that holds no run. Its text says why."""


def lines_of(runs: Iterable[tuple[StoredRun, Mapping[str, Any] | None]]) -> Iterator[str]:
    """A line for each run, without the line's end; each comes with its settings, where it has some."""
    known: set[str] = set()
    for run, settings in runs:
        shown: dict[str, Any] | None = None
        if run.settings is not None:
            shown = {"digest": run.settings}
            if settings is not None and run.settings not in known:
                shown |= settings
                known.add(run.settings)
        yield json.dumps({"format": FORMAT, **run_document(run), "settings": shown})


def run_document(run: StoredRun) -> dict[str, Any]:
    """One run on a line of an export, and of `log --json`: its `run` is the document of `fire --json`.

    `handlers` are those that were planned, with digests of their files; `started` is an ISO time, `ms` null
    as long as it has no end.
    """
    return {
        "id": run.id,
        "event": run.key,
        "started": iso(run.started),
        "ms": None if run.took is None else round(run.took * 1000, 3),
        "outcome": run.outcome,
        "pinned": run.pinned,
        "workspace": run.workspace,
        "dialect": run.dialect,
        "version": run.version,
        "handlers": handler_documents(run.handlers),
        "run": dict(run.document),
    }


@dataclass(slots=True)
class Reader:
    """Reads lines one after another, and keeps the settings that it met."""

    settings: dict[str, Any] = field(default_factory=dict)  # by digest, as `Journal.settings` gives them

    def run(self, line: str | bytes) -> StoredRun:
        """The run of a line. Raises NoRun."""
        try:
            document = json.loads(line, parse_constant=_no_number, parse_float=_finite)
        except (ValueError, RecursionError):
            raise NoRun("it is no JSON") from None
        if not isinstance(document, dict) or "format" not in document:
            raise NoRun("it has no run of Hookscope")
        if document["format"] != FORMAT:
            raise NoRun(f"its format is {document['format']!r}, and this Hookscope reads {FORMAT}")
        try:
            return self._run(document)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise NoRun(f"its run is not whole ({type(error).__name__}: {error})") from None

    def _run(self, document: Mapping[str, Any]) -> StoredRun:
        inner = document["run"]
        if place := misfit(inner):  # what cannot be shown is to be said here
            raise TypeError(f"{place} is missing, or nothing that this Hookscope knows")
        run_of(inner)
        settings = document.get("settings")
        if settings is not None and "value" in settings:
            self.settings[settings["digest"]] = {"file": settings["file"], "value": settings["value"]}
        took = document["ms"]
        if document["outcome"] not in OUTCOMES:
            raise ValueError(f"outcome {document['outcome']!r}")
        return StoredRun(
            id=int(document["id"]),
            event=event_of(inner["event"]),
            key=str(document["event"]),
            started=from_iso(document["started"]),
            took=None if took is None else took / 1000,
            outcome=document["outcome"],
            document=inner,
            owner=Owner(0, ""),
            workspace=str(document["workspace"]),
            dialect=str(document["dialect"]),
            version=str(document.get("version") or ""),
            pinned=bool(document.get("pinned")),
            handlers=handlers_from(document.get("handlers") or ()),
            settings=None if settings is None else str(settings["digest"]),
        )


def _no_number(text: str) -> Any:
    """`NaN` and its like, which are no JSON, and which no command could print as such."""
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)

"""Exports runs as JSON lines, and reads such lines, with validation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias, get_args

from hookscope.model.hook_event import from_iso, iso
from hookscope.model.run import Status
from hookscope.storage.journal.reader import StoredRun
from hookscope.storage.journal.records import event_of, run_of
from hookscope.storage.journal.run_environment import RunOwner, handler_documents, handlers_from_documents
from hookscope.values import dataclass

# A type; a tuple of allowed types or strings; a list with the shape of its items; an object with the shapes
# of its members. A member whose name ends in `?` may be missing.
Shape: TypeAlias = "type | str | tuple[Shape, ...] | list[Shape] | Mapping[str, Shape] | None"

NUMBER = (int, float)
TEXT_OR_NONE = (str, None)
EVENT_SHAPE: Shape = {
    "type": str,
    "action": str,
    "sessionKey": str,
    "timestamp": str,
    "messages": [str],
    "context": dict,
    "kind": str,
    "meta": dict,
    "ctx?": dict,
}
FAILURE_SHAPE: Shape = {
    "type": str,
    "message": str,
    "phase": str,
    "frames": [{"file": str, "line": int, "column?": int, "function": str, "source": str}],
}
CODE_SHAPE: Shape = {"export": str, "root": str, "language": str, "digest": str}
RESULT_SHAPE: Shape = {
    "hook": str,
    "key": str,
    "handler": TEXT_OR_NONE,
    "code": (CODE_SHAPE, None),
    "status": get_args(Status),
    "started_ms": NUMBER,
    "ms": NUMBER,
    "load_ms": NUMBER,
    "messages": [str],
    "delivered?": bool,
    "stdout": str,
    "stderr": str,
    "error": (FAILURE_SHAPE, None),
    "patch": [{"op": str, "path": str}],
    "notes": [str],
    "forced": bool,
    "broken?": TEXT_OR_NONE,
    "stale?": (FAILURE_SHAPE, None),
    "asked?": [str],
}
ORIGINALS_SHAPE: Shape = {
    "compared": int,
    "changed": [{"path": str, "kind": ("written", "changed", "deleted")}],
    "more": int,
}
GUARDED_SHAPE: Shape = {
    "walls": str,
    "network": bool,
    "disk": bool,
    "changes": [list],
    "more": int,
    "notes": [str],
    "sockets?": bool,
    "complete?": bool,
    "originals?": (ORIGINALS_SHAPE, None),
}
RUN_SHAPE: Shape = {
    "event": EVENT_SHAPE,
    "results": [RESULT_SHAPE],
    "not_run": [{"hook": str, "reason": str, "listens": bool, "near?": str, "left_out?": str}],
    "messages": [str],
    "failure": TEXT_OR_NONE,
    "verdict?": str,
    "log": [{"level": str, "text": str}],
    "follow_ups": [EVENT_SHAPE],
    "caused": [dict],
    "ms": NUMBER,
    "cancelled": bool,
    "delivers": bool,
    "notes": [str],
    "assumed": [str],
    "guarded?": (GUARDED_SHAPE, None),
}
# the last may be missing
CHANGE_SHAPE: tuple[Shape, ...] = (str, ("written", "changed", "deleted"), (int, None), (int, None), str, str)


def _invalid_places_of_run(run: Any, at: str = "") -> Iterator[str]:
    """Yield invalid places in the documents of a run and of the runs it caused."""
    yield from _invalid_places(run, RUN_SHAPE, at)
    guarded = run.get("guarded") or {}
    for number, facts in enumerate(guarded.get("changes", ())):
        if not 5 <= len(facts) <= len(CHANGE_SHAPE) or not all(
            _has_shape(fact, one) for fact, one in zip(facts, CHANGE_SHAPE, strict=False)
        ):
            yield f"{at}guarded.changes.{number}"
    for number, caused in enumerate(run["caused"]):
        yield from _invalid_places_of_run(caused, f"{at}caused.{number}.")


def _invalid_places(value: Any, shape: Shape, at: str) -> Iterator[str]:
    """Yield invalid places such as `results.0.status`; `at` is empty or ends in a dot."""
    if isinstance(shape, Mapping) and isinstance(value, dict):
        for name, inner in shape.items():
            member = name.removesuffix("?")
            if member in value:
                yield from _invalid_places(value[member], inner, f"{at}{member}.")
            elif member == name:
                yield f"{at}{member}"
    elif isinstance(shape, list) and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _invalid_places(item, shape[0], f"{at}{number}.")
    elif isinstance(shape, tuple):
        likely = next((one for one in shape if isinstance(one, Mapping) and isinstance(value, dict)), None)
        if likely is not None:
            yield from _invalid_places(value, likely, at)
        elif not any(_has_shape(value, one) for one in shape):
            yield at.rstrip(".")
    elif not _has_shape(value, shape):
        yield at.rstrip(".")


def _has_shape(value: Any, shape: Shape) -> bool:
    """Return True if the value has that type, or is that text. A boolean is not a number."""
    if isinstance(shape, tuple):
        return any(_has_shape(value, one) for one in shape)
    if isinstance(shape, type):
        return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    return not isinstance(shape, (Mapping, list)) and value == shape and type(value) is type(shape)


EXPORT_FORMAT = 1  # of a line
EXPORTED_OUTCOMES = ("ok", "failed", "cancelled", "interrupted", "running")


class InvalidExportedRun(ValueError):
    """A line without a valid run, with the reason."""


def exported_lines(runs: Iterable[tuple[StoredRun, Mapping[str, Any] | None]]) -> Iterator[str]:
    """Yield one line per run, without its line end, with the run's settings if it has any."""
    known: set[str] = set()
    for run, settings in runs:
        shown: dict[str, Any] | None = None
        if run.settings is not None:
            shown = {"digest": run.settings}
            if settings is not None and run.settings not in known:
                shown |= settings
                known.add(run.settings)
        yield json.dumps({"format": EXPORT_FORMAT, **exported_run_document(run), "settings": shown})


def exported_run_document(run: StoredRun) -> dict[str, Any]:
    """Return one run as a line of an export and of `log --json`: its `run` is the document of `fire --json`.

    `handlers` are the planned ones, with digests of their files; `started` is an ISO time; `ms` is null until
    the run has ended.
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
class ExportedRunReader:
    """Reads lines one after another, and collects their settings."""

    settings: dict[str, Any] = field(default_factory=dict)  # by digest, as `Journal.settings` returns them

    def run(self, line: str | bytes) -> StoredRun:
        """Return the run of a line. Raises InvalidExportedRun."""
        try:
            document = json.loads(line, parse_constant=_no_number, parse_float=_finite)
        except (ValueError, RecursionError):
            raise InvalidExportedRun("it is not JSON") from None
        if not isinstance(document, dict) or "format" not in document:
            raise InvalidExportedRun("it is not a run of Hookscope")
        if document["format"] != EXPORT_FORMAT:
            raise InvalidExportedRun(
                f"its format is {document['format']!r}, but this Hookscope reads {EXPORT_FORMAT}"
            )
        try:
            return self._run(document)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise InvalidExportedRun(f"its run is invalid ({type(error).__name__}: {error})") from None

    def _run(self, document: Mapping[str, Any]) -> StoredRun:
        inner = document["run"]
        if place := next(_invalid_places_of_run(inner), ""):  # fail here, not when the run is shown
            raise TypeError(f"{place} is missing or invalid")
        run_of(inner)
        settings = document.get("settings")
        if settings is not None and "value" in settings:
            self.settings[settings["digest"]] = {"file": settings["file"], "value": settings["value"]}
        took = document["ms"]
        if document["outcome"] not in EXPORTED_OUTCOMES:
            raise ValueError(f"outcome {document['outcome']!r}")
        return StoredRun(
            id=int(document["id"]),
            event=event_of(inner["event"]),
            key=str(document["event"]),
            started=from_iso(document["started"]),
            took=None if took is None else took / 1000,
            outcome=document["outcome"],
            document=inner,
            owner=RunOwner(0, ""),
            workspace=str(document["workspace"]),
            dialect=str(document["dialect"]),
            version=str(document.get("version") or ""),
            pinned=bool(document.get("pinned")),
            handlers=handlers_from_documents(document.get("handlers") or ()),
            settings=None if settings is None else str(settings["digest"]),
        )


def _no_number(text: str) -> Any:
    """Raise ValueError for `NaN` and `Infinity`, which are not JSON."""
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)

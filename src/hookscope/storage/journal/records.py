"""Converts events and runs to JSON documents and back, and any value to JSON for the journal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

from hookscope.model.failure import Failure, Frame, InjectedFault, failure_document, parse_fault
from hookscope.model.hook import LogLine
from hookscope.model.hook_event import from_iso, iso
from hookscope.model.run import (
    Code,
    Ending,
    Event,
    Exclusion,
    FileChange,
    NotRun,
    OriginalsCheck,
    Registration,
    Result,
    Run,
    SandboxResult,
    TouchedFile,
)

DEEPEST_LEVEL = 100  # levels of a value; deeper ones, as in a value that contains itself, become an ellipsis
LONGEST_NUMBER = 4_000  # bits; Python refuses to print much longer ones in decimal


def storable_text(text: str) -> str:
    """Return text that a column can store: lone surrogates (from invalid UTF-8) are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def plain_json(value: object, depth: int = 0) -> Any:
    """Return a value that JSON can represent; values of other types become strings. Never raises."""
    if depth > DEEPEST_LEVEL:
        return "…"
    try:
        return _plain_json(value, depth)
    except Exception:  # a foreign object may fail at anything, even at being printed
        return f"<{type(value).__name__}>"


def _plain_json(value: object, depth: int) -> Any:
    match value:
        case Mapping():
            return {str(key): plain_json(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [plain_json(item, depth + 1) for item in value]
        case None | bool():
            return value
        case int() if value.bit_length() > LONGEST_NUMBER:
            return hex(value)
        case float() if not math.isfinite(value):
            return str(value)
        case int() | float() | str():
            return value
        case _:
            return str(value)


Document: TypeAlias = dict[str, Any]
Outcome: TypeAlias = Literal["ok", "failed", "cancelled", "interrupted", "running"]


def event_document(event: Event) -> Document:
    """Return an event's document, for `event_of`."""
    return {
        "type": event.type,
        "action": event.action,
        "sessionKey": event.session_key,
        "timestamp": iso(event.timestamp),
        "messages": list(event.messages),
        "context": plain_json(event.context),
        "kind": event.kind,
        "meta": plain_json(event.meta),
        "ctx": plain_json(event.ctx),
    }


def event_of(document: Mapping[str, Any]) -> Event:
    """Return the event of a document, without its live object."""
    return Event(
        type=document["type"],
        action=document["action"],
        session_key=document["sessionKey"],
        context=document["context"],
        messages=tuple(document["messages"]),
        timestamp=from_iso(document["timestamp"]),
        kind=document["kind"],
        meta=document["meta"],
        ctx=document.get("ctx", {}),  # absent in older journals
    )


def run_document(run: Run, dialect: str) -> Document:
    """Return the document of a run and of the runs that it caused. `run_of` reads it."""
    return {
        "id": run.id,
        "event": event_document(run.event),
        "dialect": dialect,
        "results": [result_document(item, run.delivers) for item in run.results],
        "not_run": [
            {
                "hook": item.name,
                "reason": item.reason,
                "listens": item.subscribed,
                **({"near": item.near_miss} if item.near_miss else {}),
                **({"left_out": item.exclusion} if item.exclusion else {}),
            }
            for item in run.not_run
        ],
        "messages": list(run.messages),
        "context": plain_json(run.context),
        "result": plain_json(run.ending.answer),
        "failure": run.ending.failure,
        "verdict": run.ending.verdict,
        "log": [{"level": line.level, "text": line.text} for line in run.ending.log],
        "follow_ups": [event_document(event) for event in run.ending.follow_ups],
        "caused": [run_document(item, dialect) for item in run.caused],
        "ms": milliseconds(run.took),
        "cancelled": run.cancelled,
        "delivers": run.delivers,
        "notes": list(run.notes),
        "assumed": sorted(run.assumed),
        "guarded": sandbox_document(run.guarded),
    }


def _exclusion_of(item: Mapping[str, Any]) -> Exclusion:
    """Return the kind of exclusion. Old journals state it only in the reason's first words."""
    by_words: Exclusion = "unasked" if item["reason"].startswith("left out: only ") else ""
    exclusion: Exclusion = item.get("left_out", by_words)
    return exclusion


def begun_document(run_id: int, event: Event, dialect: str) -> Document:
    """Return the document of an unfinished run: like any other, without results."""
    begun = Run(run_id, event, (), (), Ending(), event.messages, event.context)
    return run_document(begun, dialect)


def run_of(document: Mapping[str, Any]) -> Run:
    """Return the run of a document. Its handlers that are functions cannot be called again."""
    return Run(
        id=document["id"],
        event=event_of(document["event"]),
        results=tuple(_result_of(item) for item in document["results"]),
        not_run=tuple(
            NotRun(
                item["hook"],
                item["reason"],
                subscribed=item["listens"],
                near_miss=item.get("near", ""),
                exclusion=_exclusion_of(item),
            )
            for item in document["not_run"]
        ),
        ending=Ending(
            document["result"],
            document["failure"],
            tuple(event_of(item) for item in document["follow_ups"]),
            tuple(LogLine(line["level"], line["text"]) for line in document["log"]),
            document.get("verdict", ""),
        ),
        messages=tuple(document["messages"]),
        context=document["context"],
        caused=tuple(run_of(item) for item in document["caused"]),
        took=document["ms"] / 1000,
        cancelled=document["cancelled"],
        delivers=document["delivers"],
        notes=tuple(document["notes"]),
        assumed=frozenset(document["assumed"]),
        guarded=_guarded_of(document.get("guarded")),
    )


def sandbox_document(guarded: SandboxResult | None) -> Document | None:
    """Return what a sandboxed run changed in its copies, and how it was isolated."""
    if guarded is None:
        return None
    return {
        "walls": guarded.isolation,
        "network": guarded.no_network,
        "disk": guarded.read_only_disk,
        "changes": [
            [str(change.path), change.kind, change.before, change.after, change.diff]
            for change in guarded.changes
        ],
        "more": guarded.more,
        "notes": list(guarded.notes),
        "sockets": guarded.no_unix_sockets,
        "complete": guarded.complete,
        "originals": _originals_document(guarded.originals),
    }


def _originals_document(found: OriginalsCheck | None) -> Document | None:
    if found is None:
        return None
    changed = [{"path": str(one.path), "kind": one.kind} for one in found.changed]
    return {"compared": found.compared, "changed": changed, "more": found.unlisted}


def _originals_of(document: Mapping[str, Any] | None) -> OriginalsCheck | None:
    if document is None:
        return None
    changed = (TouchedFile(Path(one["path"]), one["kind"]) for one in document["changed"])
    return OriginalsCheck(document["compared"], tuple(changed), document["more"])


def _guarded_of(document: Mapping[str, Any] | None) -> SandboxResult | None:
    if document is None:
        return None
    changes = (FileChange(Path(path), *facts) for path, *facts in document["changes"])
    return SandboxResult(
        document["walls"],
        document["network"],
        document["disk"],
        tuple(changes),
        document["more"],
        tuple(document["notes"]),
        document.get("sockets", False),
        document.get("complete", False),
        _originals_of(document.get("originals")),
    )


def outcome_of(run: Run) -> Outcome:
    """Return how a run ended. A cancelled run is not a failed one, whatever its handlers returned."""
    if run.cancelled:
        return "cancelled"
    return "failed" if run.failed or run.ending.failure is not None else "ok"


def result_document(result: Result, delivers: bool) -> Document:
    """Return a result's document. `delivers`: whether the host shows its messages to the user."""
    target = result.call.target
    return {
        "hook": result.call.name,
        "key": result.call.key,
        "handler": str(target.path) if isinstance(target, Code) else None,
        "code": _code_document(target) if isinstance(target, Code) else None,
        "status": result.status,
        "started_ms": milliseconds(result.started),
        "ms": milliseconds(result.took),
        "load_ms": milliseconds(result.loaded),
        "messages": list(result.messages),
        "delivered": delivers,
        "returned": plain_json(result.returned),
        "stdout": result.stdout,
        "stderr": result.stderr,
        "error": failure_document(result.error),
        "patch": plain_json(result.patch),
        "notes": list(result.notes),
        "forced": result.forced,
        "broken": None if result.call.injected_fault is None else result.call.injected_fault.text,
        "stale": failure_document(result.stale),
        "asked": list(result.asked),
    }


def _result_of(document: Mapping[str, Any]) -> Result:
    return Result(
        call=Registration(
            document["key"], document["hook"], _target_of(document), injected_fault=_breakage_of(document)
        ),
        status=document["status"],
        started=document["started_ms"] / 1000,
        took=document["ms"] / 1000,
        loaded=document["load_ms"] / 1000,
        messages=tuple(document["messages"]),
        returned=document["returned"],
        stdout=document["stdout"],
        stderr=document["stderr"],
        error=_failure_of(document["error"]),
        patch=tuple(document["patch"]),
        notes=tuple(document["notes"]),
        forced=document["forced"],
        stale=_failure_of(document.get("stale")),  # absent in older journals, as is the next
        asked=tuple(document.get("asked", ())),
    )


def _breakage_of(document: Mapping[str, Any]) -> InjectedFault | None:
    text = document.get("broken")  # absent in older journals
    return None if text is None else parse_fault(text)


def _code_document(code: Code) -> Document:
    return {"export": code.export, "root": str(code.root), "language": code.language, "digest": code.digest}


def _target_of(document: Mapping[str, Any]) -> Any:
    code = document["code"]
    if code is None:
        return _not_callable
    return Code(
        Path(document["handler"]), code["export"], Path(code["root"]), code["language"], code["digest"]
    )


def _not_callable(_: object) -> NoReturn:
    raise LookupError("This handler is known from the journal only; it cannot be called.")


def _failure_of(document: Mapping[str, Any] | None) -> Failure | None:
    if document is None:
        return None
    frames: Iterable[Mapping[str, Any]] = document["frames"]
    return Failure(
        document["type"],
        document["message"],
        tuple(
            Frame(item["file"], item["line"], item["function"], item["source"], item.get("column", 0))
            for item in frames
        ),
        document["phase"],
    )


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, rounded to the microsecond."""
    return round(seconds * 1000, 3)

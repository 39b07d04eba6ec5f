"""Events and runs as JSON documents and back. The shape is that of `fire --json`, with what it leaves out.

Written out here once more on purpose: files must stay readable when what is printed changes.

Times are kept to the millisecond (the event's) and the microsecond (all others). Not kept: a handler
that is a function, the hook behind a call, and the environment of a handler's code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

from hookscope.core.breakage import Breakage, breakage_of
from hookscope.core.copies import FileChange, Guarded, Originals, TouchedFile
from hookscope.core.event import from_iso, iso
from hookscope.core.failure import Failure, Frame, failure_document
from hookscope.core.hooks import LogLine
from hookscope.core.runs import Code, Ending, Event, LeftOut, NotRun, Registration, Result, Run
from hookscope.journal.storable import plain

Document: TypeAlias = dict[str, Any]
Outcome: TypeAlias = Literal["ok", "failed", "cancelled", "interrupted", "running"]


def event_document(event: Event) -> Document:
    """The event; `event_of` reads it."""
    return {
        "type": event.type,
        "action": event.action,
        "sessionKey": event.session_key,
        "timestamp": iso(event.timestamp),
        "messages": list(event.messages),
        "context": plain(event.context),
        "kind": event.kind,
        "meta": plain(event.meta),
        "ctx": plain(event.ctx),
    }


def event_of(document: Mapping[str, Any]) -> Event:
    """The event that `event_document` described, without its live object."""
    return Event(
        type=document["type"],
        action=document["action"],
        session_key=document["sessionKey"],
        context=document["context"],
        messages=tuple(document["messages"]),
        timestamp=from_iso(document["timestamp"]),
        kind=document["kind"],
        meta=document["meta"],
        ctx=document.get("ctx", {}),  # journals of before have none
    )


def run_document(run: Run, dialect: str) -> Document:
    """All of the run, caused runs included; `run_of` reads it."""
    return {
        "id": run.id,
        "event": event_document(run.event),
        "dialect": dialect,
        "results": [_result_document(item, run.delivers) for item in run.results],
        "not_run": [
            {
                "hook": item.name,
                "reason": item.reason,
                "listens": item.listens,
                **({"near": item.near} if item.near else {}),
                **({"left_out": item.left_out} if item.left_out else {}),
            }
            for item in run.not_run
        ],
        "messages": list(run.messages),
        "context": plain(run.context),
        "result": plain(run.ending.answer),
        "failure": run.ending.failure,
        "verdict": run.ending.verdict,
        "log": [{"level": line.level, "text": line.text} for line in run.ending.log],
        "follow_ups": [event_document(event) for event in run.ending.follow_ups],
        "caused": [run_document(item, dialect) for item in run.caused],
        "ms": _ms(run.took),
        "cancelled": run.cancelled,
        "delivers": run.delivers,
        "notes": list(run.notes),
        "assumed": sorted(run.assumed),
        "guarded": _guarded_document(run.guarded),
    }


def _left_out(item: Mapping[str, Any]) -> LeftOut:
    """Journals of before say it in the first words of the reason alone."""
    by_words: LeftOut = "unasked" if item["reason"].startswith("left out: only ") else ""
    told: LeftOut = item.get("left_out", by_words)
    return told


def begun_document(run_id: int, event: Event, dialect: str) -> Document:
    """A run of which only the beginning is on record: shown like any other, with no results."""
    begun = Run(run_id, event, (), (), Ending(), event.messages, event.context)
    return run_document(begun, dialect)


def run_of(document: Mapping[str, Any]) -> Run:
    """The run that `run_document` described. Calls of functions cannot be called again."""
    return Run(
        id=document["id"],
        event=event_of(document["event"]),
        results=tuple(_result_of(item) for item in document["results"]),
        not_run=tuple(
            NotRun(
                item["hook"],
                item["reason"],
                listens=item["listens"],
                near=item.get("near", ""),
                left_out=_left_out(item),
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


def _guarded_document(guarded: Guarded | None) -> Document | None:
    if guarded is None:
        return None
    return {
        "walls": guarded.walls,
        "network": guarded.network,
        "disk": guarded.disk,
        "changes": [
            [str(change.path), change.kind, change.before, change.after, change.diff]
            for change in guarded.changes
        ],
        "more": guarded.more,
        "notes": list(guarded.notes),
        "sockets": guarded.sockets,
        "complete": guarded.complete,
        "originals": _originals_document(guarded.originals),
    }


def _originals_document(found: Originals | None) -> Document | None:
    if found is None:
        return None
    changed = [{"path": str(one.path), "kind": one.kind} for one in found.changed]
    return {"compared": found.compared, "changed": changed, "more": found.more}


def _originals_of(document: Mapping[str, Any] | None) -> Originals | None:
    if document is None:
        return None
    changed = (TouchedFile(Path(one["path"]), one["kind"]) for one in document["changed"])
    return Originals(document["compared"], tuple(changed), document["more"])


def _guarded_of(document: Mapping[str, Any] | None) -> Guarded | None:
    if document is None:
        return None
    changes = (FileChange(Path(path), *facts) for path, *facts in document["changes"])
    return Guarded(
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
    """How an ended run ended. A cancelled run is no failed one, whatever its handlers said."""
    if run.cancelled:
        return "cancelled"
    return "failed" if run.failed or run.ending.failure is not None else "ok"


def _result_document(result: Result, delivers: bool) -> Document:
    target = result.call.target
    return {
        "hook": result.call.name,
        "key": result.call.key,
        "handler": str(target.path) if isinstance(target, Code) else None,
        "code": _code_document(target) if isinstance(target, Code) else None,
        "status": result.status,
        "started_ms": _ms(result.started),
        "ms": _ms(result.took),
        "load_ms": _ms(result.loaded),
        "messages": list(result.messages),
        "delivered": delivers,
        "returned": plain(result.returned),
        "stdout": result.stdout,
        "stderr": result.stderr,
        "error": failure_document(result.error),
        "patch": plain(result.patch),
        "notes": list(result.notes),
        "forced": result.forced,
        "broken": None if result.call.breakage is None else result.call.breakage.text,
        "stale": failure_document(result.stale),
        "asked": list(result.asked),
    }


def _result_of(document: Mapping[str, Any]) -> Result:
    return Result(
        call=Registration(
            document["key"], document["hook"], _target_of(document), breakage=_breakage_of(document)
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
        stale=_failure_of(document.get("stale")),  # journals of before have none, as the next
        asked=tuple(document.get("asked", ())),
    )


def _breakage_of(document: Mapping[str, Any]) -> Breakage | None:
    text = document.get("broken")  # journals of before have none
    return None if text is None else breakage_of(text)


def _code_document(code: Code) -> Document:
    return {
        "export": code.export,
        "root": str(code.root),
        "language": code.language,
        "digest": code.digest,
    }


def _target_of(document: Mapping[str, Any]) -> Any:
    code = document["code"]
    if code is None:
        return _gone
    return Code(
        Path(document["handler"]), code["export"], Path(code["root"]), code["language"], code["digest"]
    )


def _gone(_: object) -> NoReturn:
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


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)

"""What a run's document has, as who shows it takes for granted: asked of what others may have written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, get_args

from hookscope.core.runs import Status

# A type; several that may stand there, or texts, in a tuple; a list of such; an object by its members, of
# which one whose name ends in `?` may be missing.
Shape: TypeAlias = "type | str | tuple[Shape, ...] | list[Shape] | Mapping[str, Shape] | None"

NUMBER = (int, float)
TEXT_OR_NONE = (str, None)
EVENT: Shape = {
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
FAILURE: Shape = {
    "type": str,
    "message": str,
    "phase": str,
    "frames": [{"file": str, "line": int, "column?": int, "function": str, "source": str}],
}
CODE: Shape = {"export": str, "root": str, "language": str, "digest": str}
RESULT: Shape = {
    "hook": str,
    "key": str,
    "handler": TEXT_OR_NONE,
    "code": (CODE, None),
    "status": get_args(Status),
    "started_ms": NUMBER,
    "ms": NUMBER,
    "load_ms": NUMBER,
    "messages": [str],
    "delivered?": bool,
    "stdout": str,
    "stderr": str,
    "error": (FAILURE, None),
    "patch": [{"op": str, "path": str}],
    "notes": [str],
    "forced": bool,
    "broken?": TEXT_OR_NONE,
    "stale?": (FAILURE, None),
    "asked?": [str],
}
ORIGINALS: Shape = {
    "compared": int,
    "changed": [{"path": str, "kind": ("written", "changed", "deleted")}],
    "more": int,
}
GUARDED: Shape = {
    "walls": str,
    "network": bool,
    "disk": bool,
    "changes": [list],
    "more": int,
    "notes": [str],
    "sockets?": bool,
    "complete?": bool,
    "originals?": (ORIGINALS, None),
}
RUN: Shape = {
    "event": EVENT,
    "results": [RESULT],
    "not_run": [{"hook": str, "reason": str, "listens": bool, "near?": str, "left_out?": str}],
    "messages": [str],
    "failure": TEXT_OR_NONE,
    "verdict?": str,
    "log": [{"level": str, "text": str}],
    "follow_ups": [EVENT],
    "caused": [dict],
    "ms": NUMBER,
    "cancelled": bool,
    "delivers": bool,
    "notes": [str],
    "assumed": [str],
    "guarded?": (GUARDED, None),
}
CHANGE: tuple[Shape, ...] = (
    str,
    ("written", "changed", "deleted"),
    (int, None),
    (int, None),
    str,
    str,
)  # the last may be missing


def misfit(run: Any) -> str:
    """Where a run's document, or that of one that it caused, is not what it must be; empty: nowhere."""
    return next(_run(run), "")


def _run(run: Any, at: str = "") -> Iterator[str]:
    yield from _misfits(run, RUN, at)
    guarded = run.get("guarded") or {}
    for number, facts in enumerate(guarded.get("changes", ())):
        if not 5 <= len(facts) <= len(CHANGE) or not all(
            _fits(fact, one) for fact, one in zip(facts, CHANGE, strict=False)
        ):
            yield f"{at}guarded.changes.{number}"
    for number, caused in enumerate(run["caused"]):
        yield from _run(caused, f"{at}caused.{number}.")


def _misfits(value: Any, shape: Shape, at: str) -> Iterator[str]:
    """Places, `results.0.status`; `at` ends in a point, or is empty."""
    if isinstance(shape, Mapping) and isinstance(value, dict):
        for name, inner in shape.items():
            member = name.removesuffix("?")
            if member in value:
                yield from _misfits(value[member], inner, f"{at}{member}.")
            elif member == name:
                yield f"{at}{member}"
    elif isinstance(shape, list) and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _misfits(item, shape[0], f"{at}{number}.")
    elif isinstance(shape, tuple):
        likely = next((one for one in shape if isinstance(one, Mapping) and isinstance(value, dict)), None)
        if likely is not None:
            yield from _misfits(value, likely, at)
        elif not any(_fits(value, one) for one in shape):
            yield at.rstrip(".")
    elif not _fits(value, shape):
        yield at.rstrip(".")


def _fits(value: Any, shape: Shape) -> bool:
    """Is it of that type, or that text. A truth value is no number."""
    if isinstance(shape, tuple):
        return any(_fits(value, one) for one in shape)
    if isinstance(shape, type):
        return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    return not isinstance(shape, (Mapping, list)) and value == shape and type(value) is type(shape)

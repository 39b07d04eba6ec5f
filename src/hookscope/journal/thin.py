"""Documents without what is as it mostly is: a small run takes a third of the room. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]

# What a run and a result are unless they say otherwise, in the order of `records`.
RUN: Mapping[str, Any] = {
    "results": [],
    "not_run": [],
    "messages": [],
    "result": None,
    "failure": None,
    "verdict": "",
    "log": [],
    "follow_ups": [],
    "caused": [],
    "cancelled": False,
    "delivers": False,
    "notes": [],
    "assumed": [],
    "guarded": None,
    "masked": [],
}
RESULT: Mapping[str, Any] = {
    "handler": None,
    "code": None,
    "status": "ok",
    "messages": [],
    "delivered": False,
    "returned": None,
    "stdout": "",
    "stderr": "",
    "error": None,
    "patch": [],
    "notes": [],
    "forced": False,
    "broken": None,
    "stale": None,
    "asked": [],
}


def thinned(run: Mapping[str, Any], event: Mapping[str, Any]) -> Document:
    """The run's document, to be read with `whole`. `event`: that of the run."""
    thin = _less(run, RUN)
    if _as_written(thin["context"], event["context"]):
        del thin["context"]
    if "results" in thin:
        thin["results"] = [_less(result, RESULT) for result in thin["results"]]
    if "caused" in thin:
        thin["caused"] = [thinned(caused, caused["event"]) for caused in thin["caused"]]
    return thin


def whole(thin: Mapping[str, Any], event: Mapping[str, Any]) -> Document:
    """The document that was `thinned`; one that never was comes back as it is."""
    run = {**RUN, "context": event["context"], **thin}
    run["results"] = [
        {"hook": result["hook"], "key": result["key"], **RESULT, **result} for result in run["results"]
    ]
    run["caused"] = [whole(caused, caused["event"]) for caused in run["caused"]]
    return run


def _less(document: Mapping[str, Any], usual: Mapping[str, Any]) -> Document:
    return {
        name: value for name, value in document.items() if name not in usual or not _same(value, usual[name])
    }


def _as_written(value: Any, other: Any) -> bool:
    """Does JSON have the same text for both: to Python alone `True` is 1."""
    return bool(value == other) and json.dumps(value) == json.dumps(other)


def _same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and value == usual

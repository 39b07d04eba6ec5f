"""Documents with default fields omitted: a small run takes a third of the space. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]

# What a run and a result are unless they say otherwise, in the order of `records`.
RUN_DEFAULTS: Mapping[str, Any] = {
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
RESULT_DEFAULTS: Mapping[str, Any] = {
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


def compact_document(run: Mapping[str, Any], event: Mapping[str, Any]) -> Document:
    """The run's document, to be read with `whole`. `event`: that of the run."""
    compact = _without_defaults(run, RUN_DEFAULTS)
    if _equal_as_json(compact["context"], event["context"]):
        del compact["context"]
    if "results" in compact:
        compact["results"] = [_without_defaults(result, RESULT_DEFAULTS) for result in compact["results"]]
    if "caused" in compact:
        compact["caused"] = [compact_document(caused, caused["event"]) for caused in compact["caused"]]
    return compact


def complete_document(compact: Mapping[str, Any], event: Mapping[str, Any]) -> Document:
    """The document that was `thinned`; one that never was comes back as it is."""
    run = {**RUN_DEFAULTS, "context": event["context"], **compact}
    run["results"] = [
        {"hook": result["hook"], "key": result["key"], **RESULT_DEFAULTS, **result}
        for result in run["results"]
    ]
    run["caused"] = [complete_document(caused, caused["event"]) for caused in run["caused"]]
    return run


def _without_defaults(document: Mapping[str, Any], usual: Mapping[str, Any]) -> Document:
    return {
        name: value
        for name, value in document.items()
        if name not in usual or not _equal_values(value, usual[name])
    }


def _equal_as_json(value: Any, other: Any) -> bool:
    """Does JSON have the same text for both: to Python alone `True` is 1."""
    return bool(value == other) and json.dumps(value) == json.dumps(other)


def _equal_values(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and value == usual

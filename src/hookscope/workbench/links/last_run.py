"""How the hook ran last."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hookscope.core.failure import said_by
from hookscope.core.standing import Standing
from hookscope.core.text import ago, duration, one_line
from hookscope.journal import StoredRun
from hookscope.workbench.links.link import Link


def result_of(run: StoredRun, row: Standing) -> Mapping[str, Any] | None:
    """The last answer of this very hook in a run; another of its name, in another folder, has other files."""
    found = (one for one in reversed(run.document["results"]) if one["hook"] == row.hook.name)
    return next((one for one in found if one["handler"] in (None, str(row.hook.handler))), None)


def ran(row: Standing, last: StoredRun | None, now: datetime) -> Link:
    """Its answer in the last run that it was in."""
    result = result_of(last, row) if last is not None else None
    if last is None or result is None:
        return Link("ran", None, "no run of it is on record")
    where = f"in run {last.id}, {ago(last.started, now)}"
    if result["status"] == "ok":
        return Link("ran", True, f"{duration(result['ms'] / 1000)} {where}", "", last.started, last.id)
    error = result["error"]
    said = ""
    if error is not None:
        said = f": {said_by(result['status'], error['type'])}{one_line(str(error['message']), 160)}"
    then = f"`hookscope replay {last.id}` fires it again"
    return Link("ran", False, f"{result['status']} {where}{said}", then, last.started, last.id)

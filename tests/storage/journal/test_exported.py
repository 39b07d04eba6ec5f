"""Lines that others may have written: a run that is read can be shown; of any other it is said why not."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookscope.cli.render import run_output
from hookscope.model.failure import Failure, Frame, InjectedFault
from hookscope.model.hook import LogLine
from hookscope.model.machine import real_machine
from hookscope.model.run import (
    Code,
    Ending,
    Event,
    FileChange,
    NotRun,
    Registration,
    Result,
    Run,
    SandboxResult,
)
from hookscope.storage.journal.exported_runs import ExportedRunReader, InvalidExportedRun
from hookscope.storage.journal.records import run_document, run_of

PATCH = ({"op": "add", "path": "/context/a", "value": 1}, {"op": "remove", "path": "/context/b"})
FAILED = Failure("KeyError", "'user'", (Frame("/h/handler.py", 5, "handler", "raise", 3),), "run")
CALL = Registration("command", "greet", Code(Path("/h/handler.py"), "default", Path("/h"), "python"))
CHANGES = (FileChange(Path("/h/log"), "changed", 1, 2, "@@ -1 +1 @@\n-a\n+b\n"),)
RESULTS = (
    Result(CALL, "error", took=0.5, messages=("hi",), error=FAILED, stale=FAILED, patch=PATCH, notes=("n",)),
    Result(
        Registration("command", "beside", print, injected_fault=InjectedFault("hang")),
        "timeout",
        stdout="out\n",
    ),
)
EVENT = Event("command", "new", context={"a": [1, None]}, messages=("before",))
CAUSED = Run(2, EVENT, RESULTS, (NotRun("off", "it is off", subscribed=True, near_miss="command"),), Ending())
ENDING = Ending({"block": True}, "a hook failed", (EVENT,), (LogLine("warn", "told"),), "blocked")
GUARDED = SandboxResult("walls", True, False, CHANGES, 2, ("changed beside",))
RUN = Run(1, EVENT, RESULTS, CAUSED.not_run, ENDING, ("hi",), {"a": 1}, (CAUSED,), 0.5, guarded=GUARDED)
LINE: dict[str, Any] = {
    "format": 1,
    "id": 1,
    "event": "command:new",
    "started": "2026-01-02T03:04:05.678Z",
    "ms": 500.0,
    "outcome": "failed",
    "workspace": "/w",
    "dialect": "openclaw",
    "handlers": [],
    "run": json.loads(json.dumps(run_document(RUN, "openclaw"))),
    "settings": None,
}
ODD: list[Any] = [
    None,
    True,
    0,
    1.5,
    "",
    "paused",
    "\ud800",
    [],
    {},
    [1],
    [{}],
    {"a": 1},
    [["a", "b", "c", "d", "e"]],
]


def places(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Of every value in a document, with which steps it is reached."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [place for key, inner in members for place in ((*at, key), *places(inner, (*at, key)))]


@given(st.sampled_from(places(LINE["run"])), st.sampled_from(ODD), st.booleans())
def test_any_run_that_can_be_imported_can_be_shown(
    place: tuple[str | int, ...], odd: Any, goes: bool
) -> None:
    line = deepcopy(LINE)
    inner = line["run"]
    for step in place[:-1]:
        inner = inner[step]
    if goes:
        del inner[place[-1]]
    else:
        inner[place[-1]] = odd
    try:
        stored = ExportedRunReader().run(json.dumps(line))
    except InvalidExportedRun:
        return
    run_output.run_text(run_of(stored.document), real_machine()).encode()


def test_an_exported_line_is_imported() -> None:
    stored = ExportedRunReader().run(json.dumps(LINE))
    assert run_document(run_of(stored.document), "openclaw") == LINE["run"]


def test_a_line_of_an_older_version_is_imported() -> None:
    """Members that came later are not there."""
    line = deepcopy(LINE)
    for run in (line["run"], *line["run"]["caused"]):
        del run["verdict"], run["guarded"]
        for result in run["results"]:
            del result["stale"], result["broken"], result["asked"]
    assert ExportedRunReader().run(json.dumps(line)).id == 1

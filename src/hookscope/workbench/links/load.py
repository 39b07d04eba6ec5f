"""Whether the module of a hook loads: by a worker that holds it, by its last run and its last load."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hookscope.core.examine import digest
from hookscope.core.plan import code_of
from hookscope.core.standing import Standing, State
from hookscope.core.text import ago, one_line
from hookscope.journal import Journal, StoredRun
from hookscope.loading import IS_CLASS, NO_FUNCTION
from hookscope.values import dataclass
from hookscope.workbench.links.last_run import result_of
from hookscope.workbench.links.link import Link

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

LOADS = 20  # entries of the journal in which its last load is looked for


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is known of a load. `failed`: the error's type and sentence."""

    passed: bool | None
    found: str
    failed: tuple[str, str] | None = None
    at: datetime | None = None
    run: int | None = None


def loaded_of(
    bench: Workbench, view: View, row: Standing, journal: Journal, last: StoredRun | None, now: datetime
) -> Loaded:
    """Now in a worker, else what the newest of its last run and its last load says of the file as it is."""
    gate = next((gate for gate in row.verdict.gates if gate.name == "load"), None)
    if gate is not None and gate.passed is False:
        return Loaded(False, gate.reason, (gate.found, gate.reason))
    if gate is not None or bench.crew.holds(code_of(row.hook, view.host)):
        return Loaded(True, "a worker holds it")
    told = [
        one for one in (_by_run(view, row, last, now), _by_load(view, row, journal, now)) if one is not None
    ]
    newest = max(told, key=lambda one: one.at or now, default=Loaded(None, "nobody has loaded it yet"))
    marked = view.failed_loads.get(row.hook)
    if marked is not None and newest.passed is not False:  # perhaps the journal could not be written
        kind, _, text = marked.error.partition(": ")
        said = f"{marked.error} ({ago(marked.at, now)})"
        return Loaded(False, said, (kind, text), marked.at, marked.run)
    return newest


def _is_over(view: View, row: Standing) -> bool:
    """Did it fail as something else: its list does not say so of it as it stands."""
    return row.state is State.READY and row.hook not in view.failed_loads


def _by_run(view: View, row: Standing, last: StoredRun | None, now: datetime) -> Loaded | None:
    result = result_of(last, row) if last is not None else None
    if last is None or result is None or row.hook.handler is None:
        return None
    where = f"in run {last.id}, {ago(last.started, now)}"
    then = next((one.digest for one in last.handlers if one.path == str(row.hook.handler)), "")
    if then and then != digest(row.hook.handler, view.host.surroundings.files):
        return Loaded(None, f"it was another file {where}", None, last.started, last.id)
    error = result["error"]
    if error is not None and error["phase"] == "load" and _is_over(view, row):
        return Loaded(None, f"as it stood then it did not load, {where}", None, last.started, last.id)
    if error is not None and error["phase"] == "load":
        failed = (str(error["type"]), one_line(str(error["message"]), 200))
        return Loaded(False, f"{': '.join(failed)} ({where})", failed, last.started, last.id)
    if error is not None and error["phase"] == "spawn":
        return None
    return Loaded(True, where, None, last.started, last.id)


def _by_load(view: View, row: Standing, journal: Journal, now: datetime) -> Loaded | None:
    """What the last `hookscope load` that came to this hook says, if its file was not written since."""
    name = row.hook.name
    for entry in journal.entries(LOADS, kind="load"):
        detail = entry.detail if isinstance(entry.detail, dict) else {}
        if detail.get("only") not in (None, name):
            continue
        at = f"at the load {ago(entry.at, now)}"
        if row.hook.handler is None or _written(row.hook.handler) > entry.at.timestamp():
            return Loaded(None, f"its file was written since, {at}", None, entry.at)
        if name in detail.get("failed", ()) and _is_over(view, row):
            return Loaded(None, f"as it stood then it did not load, {at}", None, entry.at)
        if name in detail.get("failed", ()):
            kind, _, text = str(detail.get("errors", {}).get(name, "")).partition(": ")
            said = f"{kind}: {text}" if kind else "it failed"
            return Loaded(False, f"{one_line(said, 200)} ({at})", (kind, text), entry.at)
        if any(str(one).partition(":")[0] == name for one in detail.get("skipped", ())):
            return None  # it was not imported then
        return Loaded(True, at, None, entry.at)
    return None


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def loads(loaded: Loaded, row: Standing) -> Link:
    """Does its module load, and the command that tries."""
    if loaded.failed is not None and loaded.failed[0] in (NO_FUNCTION, IS_CLASS):
        return Link("loads", True, "it loads, and has nothing to call", "", loaded.at, loaded.run)
    command = f"`hookscope load {quote(row.hook.name)}`"
    then = {None: f"{command} loads it", False: f"mend it; {command} tries again", True: ""}[loaded.passed]
    return Link("loads", loaded.passed, loaded.found, then, loaded.at, loaded.run)


def export(loaded: Loaded) -> Link:
    """Is what it exports a function; known once it was loaded."""
    if loaded.failed is not None and loaded.failed[0] in (NO_FUNCTION, IS_CLASS):
        return Link("export", False, loaded.found, "name the function in `export:`, or write it")
    known = loaded.passed if loaded.failed is None else None
    return Link("export", known, "it could be called" if known else "known after a load")

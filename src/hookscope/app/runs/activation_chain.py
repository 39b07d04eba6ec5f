"""The activation chain of one hook, from the journal and the report of a load.

The links: its module loads, its handler is found, it registers, its event arrived, it ran, its messages were
delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from shlex import quote
from time import time
from typing import TYPE_CHECKING, Any, Literal

from hookscope.app.load_record import load_attempts_for
from hookscope.app.near_misses import event_typo
from hookscope.app.workbench import Workbench
from hookscope.engine.discovery import discover
from hookscope.engine.examination import handler_digest
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.loading import IS_CLASS, NO_FUNCTION
from hookscope.engine.planning import handler_code
from hookscope.engine.registry import LoadReport
from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.model.failure import error_prefix
from hookscope.model.hook_status import KNOWN_AFTER_LOAD, Gate, HookStatus, State
from hookscope.model.machine import file_stamp, modified_at
from hookscope.model.text import ago, duration, one_line
from hookscope.model.uncalled_hooks import event_kind_of_key, event_kinds, may_be_called
from hookscope.recording.spool import OLD_SPOOL_FILE, SPOOL_FILE, EventCount, SpoolReader, count_events
from hookscope.recording.taps import spool_path
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.reader import StoredRun
from hookscope.storage.journal.run_filter import RunFilter
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot

LinkName = Literal["loads", "export", "registered", "arrived", "ran", "delivered"]
LINK_TITLES: Mapping[LinkName, str] = {
    "loads": "its module loads",
    "export": "its export is a function",
    "registered": "it is registered",
    "arrived": "an event has arrived",
    "ran": "it ran",
    "delivered": "its messages are shown",
}


@dataclass(frozen=True, slots=True)
class ActivationLink:
    """One link of the activation chain. `passed` is None if nothing is known."""

    name: LinkName
    passed: bool | None
    found: str
    next_step: str = ""
    at: datetime | None = None
    run: int | None = None  # of the journal

    @property
    def title(self) -> str:
        """The link's name for people."""
        return LINK_TITLES[self.name]


def chain_summary(links: tuple[ActivationLink, ...]) -> tuple[bool | None, str]:
    """Return whether the hook loaded and ran (None: unknown), and the reason in one line."""
    named = {link.name: link for link in links}
    loads, arrived, ran = named["loads"], named["arrived"], named["ran"]
    if loads.passed is False:
        return False, f"does not load: {loads.found}"
    if ran.passed is not None:
        return ran.passed, f"ran: {ran.found}"
    if arrived.passed:
        return None, f"it has not run here, although its event arrived: {arrived.found}"
    return None, "none of its events has been fired or recorded yet"


def gates_with_links(gates: tuple[Gate, ...], links: Sequence[ActivationLink]) -> tuple[Gate, ...]:
    """Return the gates with the results that only a load can provide.

    A failed load does not fail a gate here: `chain_problem` reports it.
    """
    named = {link.name: link for link in links}
    if "export" not in named or named["export"].passed is None:
        return gates
    passed = named["export"].passed or None
    found = f"a function ({named['loads'].found})" if passed else named["export"].found
    return tuple(
        replace(gate, passed=passed, found=found)
        if gate.name == "export" and gate.passed is None and KNOWN_AFTER_LOAD in gate.found
        else gate
        for gate in gates
    )


def chain_problem(links: tuple[ActivationLink, ...]) -> str:
    """Return why the hook cannot run although its gates pass; empty if nothing is known."""
    words: Mapping[str, str] = {"loads": "does not load", "export": "has nothing to call"}
    failed = (link for link in links if link.name in words and link.passed is False)
    return next((f"{words[link.name]}: {link.found}" for link in failed), "")


@dataclass(frozen=True, slots=True)
class Activity:
    """The events that arrived, in the host's spelling, and the names of hooks that handled one."""

    events: frozenset[str] = frozenset()
    hooks: frozenset[str] = frozenset()

    def concerns(self, row: HookStatus, view: Snapshot) -> bool:
        """Return whether an event arrived that this hook subscribes to, or the hook handled one."""
        if row.hook.name in self.hooks:
            return True
        canonical = view.host.dialect.catalogue().canonical
        received = {*self.events, *(key.partition(":")[0] for key in self.events), ALL_EVENTS}
        return bool(self.events) and any(canonical(key) in received for key in row.events or ())


def activity_of_runs(runs: Iterable[PastRun]) -> Activity:
    """Return the activity of finished runs."""
    past_runs = tuple(runs)
    answered = (call.name for past in past_runs for call in past.plan.calls)
    return Activity(frozenset(past.plan.event.key for past in past_runs), frozenset(answered))


MOST_KEYS = 12  # events of a hook whose last run is looked up


def event_link(
    view: Snapshot, row: HookStatus, journal: Journal, now: datetime, event: str | None
) -> ActivationLink:
    """Return the link for the last event that the hook subscribes to, from the journal and from taps.

    `event`: consider only this event, or the events of this family.
    """
    if row.events is None and event is None:
        return ActivationLink("arrived", None, "its events are known after a load")
    keys = tuple(islice(_subscribed_keys(view, row, event), MOST_KEYS))
    runs = [run for key in keys for run in journal.select(_run_filter(key), 1)]
    newest = max(runs, key=lambda run: run.id, default=None)
    real = [
        one for one in _tap_records(view) if one.kind in event_kinds(row) and _is_subscribed(one.key, keys)
    ]
    product = view.host.dialect.product
    parts = []
    if newest is not None:
        parts.append(f"{newest.key} was fired {ago(newest.started, now)}, run {newest.id}")
    if real:
        latest = max(real, key=lambda one: one.last)
        times = sum(one.count for one in real)
        parts.append(f"{product} sent {latest.key} {ago(latest.last, now)}, {times:,} × in all")
    moments = [*([newest.started] if newest else []), *(one.last for one in real)]
    if parts:
        run = newest.id if newest is not None else None
        return ActivationLink("arrived", True, "; ".join(parts), "", max(moments), run)
    never = next((gate.reason for gate in row.verdict.failed() if gate.name == "sent"), "")
    if never:
        return ActivationLink("arrived", False, never)
    first = next((key for key in keys if key != ALL_EVENTS), "")
    known = view.host.dialect.catalogue().by_key.get(first)
    typo = event_typo(row, view)
    first = typo[0] if typo is not None else first
    dialect = view.host.dialect
    later = (dialect.later_plugin_events if row.hook.kind == "plugin" else dialect.later_events).get(first)
    when = f": {later} sends {first}" if later else f": {product} has no event {first}" if first else ""
    when += f", perhaps a typo for {typo[1]}" if typo is not None else ""
    if known is not None:
        when = f": {product} {'sends' if known.emitted else 'documents, but never sends,'} {known.key} – "
        when += one_line(known.when, 120)
        when += f"; not {one_line(known.when_not, 120)}" if known.when_not else ""
    next_step = f"`hookscope fire {quote(first)}` fires it" if first else ""
    seen = "subscribed, never seen" if event is None else "never seen here"
    return ActivationLink("arrived", None, f"{seen}{when}", next_step)


def _run_filter(key: str) -> RunFilter:
    return RunFilter() if key == ALL_EVENTS else RunFilter(key=key)


def _is_subscribed(key: str, keys: tuple[str, ...]) -> bool:
    return key in keys or ALL_EVENTS in keys or key.partition(":")[0] in keys


def _subscribed_keys(view: Snapshot, row: HookStatus, event: str | None) -> Iterator[str]:
    """Yield the hook's events in the host's spelling, and each documented event of a whole type.

    `event`: as if the hook subscribed to this event only.
    """
    catalogue = view.host.dialect.catalogue()
    for key in (row.events or ()) if event is None else (event,):
        key = catalogue.canonical(key)
        yield key
        if ":" not in key and event_kind_of_key(key, row) == "folder":
            yield from (event.key for event in catalogue.events if event.key.startswith(f"{key}:"))


def _tap_records(view: Snapshot) -> tuple[EventCount, ...]:
    """Return the records of taps, read again only when the spool has changed. Raises OSError."""
    folder = spool_path(view.host)
    marks = tuple(file_stamp(folder / name) for name in (OLD_SPOOL_FILE, SPOOL_FILE))
    return _counted_spool(folder, marks) if any(marks) else ()


@lru_cache(maxsize=4)
def _counted_spool(folder: Path, marks: tuple[tuple[int, ...], ...]) -> tuple[EventCount, ...]:
    return count_events(SpoolReader(folder))[0]


def result_of_hook(run: StoredRun, row: HookStatus) -> Mapping[str, Any] | None:
    """Return the hook's last result in a run. A hook of the same name in another folder is skipped."""
    found = (one for one in reversed(run.document["results"]) if one["hook"] == row.hook.name)
    return next((one for one in found if one["handler"] in (None, str(row.hook.handler))), None)


def run_link(row: HookStatus, last: StoredRun | None, now: datetime) -> ActivationLink:
    """Return the link for the hook's last run."""
    result = result_of_hook(last, row) if last is not None else None
    if last is None or result is None:
        return ActivationLink("ran", None, "it has not run here")
    where = f"in run {last.id}, {ago(last.started, now)}"
    if result["status"] == "ok":
        return ActivationLink(
            "ran", True, f"{duration(result['ms'] / 1000)} {where}", "", last.started, last.id
        )
    error = result["error"]
    message = ""
    if error is not None:
        message = f": {error_prefix(result['status'], error['type'])}{one_line(str(error['message']), 160)}"
    next_step = f"`hookscope replay {last.id}` fires it again"
    return ActivationLink(
        "ran", False, f"{result['status']} {where}{message}", next_step, last.started, last.id
    )


LOAD_GATES = 20  # journal entries searched for its last load


@dataclass(frozen=True, slots=True)
class LoadState:
    """What is known about a load. `error`: the error's type and message."""

    passed: bool | None
    found: str
    error: tuple[str, str] | None = None
    at: datetime | None = None
    run: int | None = None


def load_state(
    bench: Workbench, view: Snapshot, row: HookStatus, journal: Journal, last: StoredRun | None, now: datetime
) -> LoadState:
    """Return the load state of the current file: from a worker, else from its last run or load."""
    gate = next((gate for gate in row.verdict.gates if gate.name == "load"), None)
    if gate is not None and gate.passed is False:
        return LoadState(False, gate.reason, (gate.found, gate.reason))
    if gate is not None or bench.worker_pools.has_loaded(handler_code(row.hook, view.host)):
        return LoadState(True, "a worker has loaded it")
    states = [
        one
        for one in (_load_state_by_run(view, row, last, now), _load_state_by_load(view, row, journal, now))
        if one is not None
    ]
    newest = max(states, key=lambda one: one.at or now, default=LoadState(None, "it has not been loaded yet"))
    failed_load = view.failed_loads.get(row.hook)
    if failed_load is not None and newest.passed is not False:  # the journal may not have been writable
        kind, _, text = failed_load.error.partition(": ")
        message = f"{failed_load.error} ({ago(failed_load.at, now)})"
        return LoadState(False, message, (kind, text), failed_load.at, failed_load.run)
    return newest


def _is_outdated(view: Snapshot, row: HookStatus) -> bool:
    """Return whether the recorded failure is of another version: the current one is not known to fail."""
    return row.state is State.READY and row.hook not in view.failed_loads


def _load_state_by_run(
    view: Snapshot, row: HookStatus, last: StoredRun | None, now: datetime
) -> LoadState | None:
    result = result_of_hook(last, row) if last is not None else None
    if last is None or result is None or row.hook.handler is None:
        return None
    where = f"in run {last.id}, {ago(last.started, now)}"
    recorded_digest = next((one.digest for one in last.handlers if one.path == str(row.hook.handler)), "")
    if recorded_digest and recorded_digest != handler_digest(row.hook.handler, view.host.machine.files):
        return LoadState(None, f"its file was different {where}", None, last.started, last.id)
    error = result["error"]
    if error is not None and error["phase"] == "load" and _is_outdated(view, row):
        return LoadState(None, f"an older version did not load {where}", None, last.started, last.id)
    if error is not None and error["phase"] == "load":
        failed = (str(error["type"]), one_line(str(error["message"]), 200))
        return LoadState(False, f"{': '.join(failed)} ({where})", failed, last.started, last.id)
    if error is not None and error["phase"] == "spawn":
        return None
    return LoadState(True, where, None, last.started, last.id)


def _load_state_by_load(view: Snapshot, row: HookStatus, journal: Journal, now: datetime) -> LoadState | None:
    """Return the result of the last `hookscope load` of this hook, if its file has not changed since."""
    name = row.hook.name
    for entry in journal.entries(LOAD_GATES, kind="load"):
        detail = entry.detail if isinstance(entry.detail, dict) else {}
        if detail.get("only") not in (None, name):
            continue
        load = f"the load {ago(entry.at, now)}"
        at = f"at {load}"
        if row.hook.handler is None or modified_at(row.hook.handler) > entry.at.timestamp():
            return LoadState(None, f"its file has changed since {load}", None, entry.at)
        if name in detail.get("failed", ()) and _is_outdated(view, row):
            return LoadState(None, f"an older version did not load {at}", None, entry.at)
        if name in detail.get("failed", ()):
            kind, _, text = str(detail.get("errors", {}).get(name, "")).partition(": ")
            message = f"{kind}: {text}" if kind else "it failed"
            return LoadState(False, f"{one_line(message, 200)} ({at})", (kind, text), entry.at)
        if any(str(one).partition(":")[0] == name for one in detail.get("skipped", ())):
            return None  # it was not imported then
        return LoadState(True, at, None, entry.at)
    return None


def load_link(loaded: LoadState, row: HookStatus) -> ActivationLink:
    """Return the link for the module's load, with the command that tries it."""
    if loaded.error is not None and loaded.error[0] in (NO_FUNCTION, IS_CLASS):
        return ActivationLink("loads", True, "it loads, but has nothing to call", "", loaded.at, loaded.run)
    command = f"`hookscope load {quote(row.hook.name)}`"
    next_step = {None: f"{command} loads it", False: f"fix it; {command} tries again", True: ""}[
        loaded.passed
    ]
    return ActivationLink("loads", loaded.passed, loaded.found, next_step, loaded.at, loaded.run)


def export_link(loaded: LoadState) -> ActivationLink:
    """Return the link that shows whether the export is a function, which is known after a load."""
    if loaded.error is not None and loaded.error[0] in (NO_FUNCTION, IS_CLASS):
        return ActivationLink(
            "export", False, loaded.found, "name a function in `export:`, or add it to the handler"
        )
    known = loaded.passed if loaded.error is None else None
    return ActivationLink("export", known, "it is callable" if known else f"its type is {KNOWN_AFTER_LOAD}")


def activation_chain(
    bench: Workbench, view: Snapshot, row: HookStatus, event: str | None = None
) -> tuple[ActivationLink, ...]:
    """Return the links of one hook, in order. Blocks; raises OSError if the journal cannot be read.

    `event`: consider only arrivals and runs of this event, or of this family.
    """
    if row.verdict.shadowed_by is not None or row.hook.handler is None:
        return ()
    journal, now = bench.run_record.journal(view.host), datetime.now(UTC)
    last = _last_run(journal, row, RunFilter(hook=row.hook.name))
    loaded = load_state(bench, view, row, journal, last, now)
    if event is not None:
        keys = islice(_subscribed_keys(view, row, event), MOST_KEYS)
        runs = (_last_run(journal, row, replace(_run_filter(key), hook=row.hook.name)) for key in keys)
        last = max((run for run in runs if run is not None), key=lambda run: run.id, default=None)
    return (
        load_link(loaded, row),
        export_link(loaded),
        _registered_link(view, row, loaded),
        event_link(view, row, journal, now, event),
        run_link(row, last, now),
        delivery_link(view, row, last),
    )


def _last_run(journal: Journal, row: HookStatus, chosen: RunFilter) -> StoredRun | None:
    last = next(iter(journal.select(chosen, 1)), None)
    return last if last is not None and result_of_hook(last, row) is not None else None


def delivery_link(view: Snapshot, row: HookStatus, last: StoredRun | None) -> ActivationLink:
    """Return the link that shows whether the host shows the messages of the last run to the user."""
    result = result_of_hook(last, row) if last is not None else None
    if last is None or result is None:
        return ActivationLink("delivered", None, "it has not run")
    product, count = view.host.dialect.product, len(result["messages"])
    if not count:
        return ActivationLink("delivered", None, f"it pushed no message in run {last.id}")
    pushed = f"1 message in run {last.id}" if count == 1 else f"{count} messages in run {last.id}"
    if result["delivered"]:
        found = f"{pushed}; {product} shows them to the user"
        return ActivationLink("delivered", True, found, "", last.started, last.id)
    found = f"{pushed}; {product} ignores messages on {last.key}"
    return ActivationLink("delivered", False, found, "", last.started, last.id)


def _registered_link(view: Snapshot, row: HookStatus, loaded: LoadState) -> ActivationLink:
    keys = [call.key for call in view.registry.registrations if call.hook is row.hook]
    if keys and loaded.passed is False:
        return ActivationLink("registered", None, f"as {', '.join(dict.fromkeys(keys))}, once it loads")
    if keys:
        return ActivationLink("registered", True, f"as {', '.join(dict.fromkeys(keys))}")
    if row.events is None:
        return ActivationLink("registered", None, "what it registers is known after a load")
    stopped = not may_be_called(row)
    return ActivationLink("registered", False, f"it is {row.state}" if stopped else "it registers nothing")


async def load_report(bench: Workbench, *, only: str | None) -> LoadReport:
    """Import all trusted handlers in a worker, and report what the host's loader would report.

    `only`: the hooks with this name. The result is recorded in the journal if it can be written.
    """
    host = bench.open()
    languages, unavailable_languages = bench.worker_pools.languages(host, discover(host))
    engine = HookEngine(host, bench.worker_pools.executors(host, languages), without=unavailable_languages)
    started = time()
    report = await engine.load(only=only)
    attempts = load_attempts_for(engine.inventory, host, engine.registry.registrations, report.failures)
    await bench.record_loads(host, attempts, started)
    summary = f"{report.registered} of {report.discovered} registered, {len(report.failed)} failed"
    errors = {name: f"{fault.type}: {fault.message}" for name, fault in report.failures.items()}
    detail = {"skipped": report.skipped, "failed": report.failed, "errors": errors, "only": only}
    with suppress(OSError):  # an unwritable journal must not stop the load
        level = "error" if report.failed else "info"
        await bench.run_record.journal(host).note("load", host.dialect.name, summary, level, detail)
    return report

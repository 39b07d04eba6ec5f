"""Scans of a host, repeated only where files changed, and the modules loaded for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from json import dumps
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, TypeAlias

from hookscope.app.failed_loads import FailedLoad, FailedLoads
from hookscope.app.options import Setup
from hookscope.app.runs.worker_pools import NODE_VARIABLES, PYTHON_ONLY, WorkerPools
from hookscope.app.snapshot import Differences, InventoryIndex, ScanResult, Snapshot
from hookscope.engine.dialect_differences import ScannedHost, differences_by_hook
from hookscope.engine.discovery import discover, unsent_event_notes
from hookscope.engine.examination import examine
from hookscope.engine.loading import LOADED_GATE
from hookscope.engine.planning import (
    accepted_module,
    declared_registrations,
    folder_events_of,
    handler_code,
    is_held,
    registrations_of,
    with_late,
)
from hookscope.engine.registry import Registry
from hookscope.hosts.gates.load import LOAD
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.executor import Executor, LateExecutor
from hookscope.model.failure import Failure
from hookscope.model.hook import Hook, Language
from hookscope.model.hook_status import Gate, HookStatus, Verdict
from hookscope.model.host import Dialect, Host
from hookscope.model.inventory import Inventory
from hookscope.model.machine import Files
from hookscope.model.run import Code, Declared, EventKind, Module, Registration
from hookscope.model.tracked_files import TrackedFiles
from hookscope.model.uncalled_hooks import may_be_called
from hookscope.runtime.limits import Limits

if TYPE_CHECKING:
    from hookscope.runtime.executors import Executors


MODULE_KINDS = ("stream", "arguments", "plugin")  # shapes whose events or function only a load finds
NO_HANDLERS = "it registers nothing"


_ModuleKey: TypeAlias = tuple[Path, str, str, str]


class LoadedModules:
    """Loaded modules by handler. An entry is valid until a file beside the handler changes."""

    def __init__(self) -> None:
        self._known: dict[_ModuleKey, Module | Failure | None] = {}
        self._late: dict[_ModuleKey, tuple[Declared, ...]] = {}  # what plugins registered after their load

    async def load(self, inventory: Inventory, host: Host, lanes: Executors, kind: EventKind) -> bool:
        """Load the modules that may run, may receive events of this kind, and are not loaded in their
        current version. Return whether anything changed.
        """
        news = False
        for hook in self._unknown([row for row in inventory.hooks if may_receive(row, kind)], host):
            code = code_with_digest(handler_code(hook, host))
            lane = lanes.code.get(code.language)
            if lane is None:
                continue
            self._keep(code, await lane.load(code))
            news = True
        return self._hear_late(inventory, host, lanes) or news

    def _hear_late(self, inventory: Inventory, host: Host, lanes: Executors) -> bool:
        """Note what plugins registered after their load. Return whether anything changed."""
        able = [lane for lane in lanes.code.values() if isinstance(lane, LateExecutor)]
        before, self._late = self._late, {}
        if before or any(lane.late_count for lane in able):
            hooks = [row.hook for row in inventory.hooks if row.hook.kind == "plugin" and row.hook.handler]
            for code in [code_with_digest(handler_code(hook, host)) for hook in hooks]:
                lane = lanes.code.get(code.language)
                if isinstance(lane, LateExecutor) and (late := lane.late_of(code)):
                    self._late[_module_key(code)] = late
        return self._late != before

    async def load_one(self, hook: Hook, host: Host, lane: Executor) -> Module | Failure:
        """Return the module of a hook with handlers of its own, loaded if necessary. Ignores its gates."""
        code = code_with_digest(handler_code(hook, host))
        known = self._known.get(_module_key(code))
        loaded = known if known is not None else await lane.load(code)
        self._keep(code, loaded)
        if isinstance(loaded, Module):
            return accepted_module(loaded, host)
        if isinstance(loaded, Failure):
            return loaded
        return Failure("NoHandler", f"{code.path.name} declares no handlers", phase="load")

    def _keep(self, code: Code, loaded: object) -> None:
        """Store the result in place of those of older contents. A worker that did not start is ignored."""
        if isinstance(loaded, Failure) and loaded.phase == "spawn":
            return
        path, export, *_ = key = _module_key(code)
        self._known = {old: known for old, known in self._known.items() if old[:2] != (path, export)}
        self._known[key] = loaded if isinstance(loaded, Module | Failure) else None

    def _unknown(self, rows: Iterable[HookStatus], host: Host) -> list[Hook]:
        hooks = [row.hook for row in rows if may_be_called(row) and row.hook.handler is not None]
        codes = [(hook, handler_code(hook, host)) for hook in hooks if hook.kind in ("stream", "plugin")]
        return [hook for hook, code in codes if code.shape in MODULE_KINDS and self._stale(code)]

    def _stale(self, code: Code) -> bool:
        return _module_key(code_with_digest(code)) not in self._known

    def of(self, hook: Hook, host: Host) -> Module | None:
        """Return what the module declares in its current version; None if it is not loaded or failed."""
        found = self._found(hook, host)
        return found if isinstance(found, Module) else None

    def _found(self, hook: Hook, host: Host) -> Module | Failure | None:
        if not self._known or hook.handler is None or hook.kind not in ("stream", "plugin"):
            return None
        key = _module_key(code_with_digest(handler_code(hook, host)))
        found = self._known.get(key)
        if not isinstance(found, Module):
            return found
        return accepted_module(with_late(found, self._late.get(key, ())), host)

    def shown(self, inventory: Inventory, host: Host) -> Inventory:
        """Return the inventory with declared events, and with the reasons of failed loads."""
        if not self._known:
            return inventory
        rows = tuple(self._shown(row, host) for row in inventory.hooks)
        return replace(inventory, hooks=rows)

    def _shown(self, row: HookStatus, host: Host) -> HookStatus:
        found = self._found(row.hook, host)
        if isinstance(found, Failure):
            reason = f"{found.type}: {found.message}"
            return _with_gate(row, Gate(LOAD.name, False, found=found.type, reason=reason))
        if found is None:
            return row
        calls = declared_registrations(found, row.hook, host)
        events, crossed = tuple(dict.fromkeys(call.key for call in calls)), folder_events_of(calls)
        said = (*(line.text for line in found.log), *unsent_event_notes(events, row.hook, host, crossed))
        notes = (*row.notes, *said, *(() if events else (NO_HANDLERS,)))
        notes = tuple(dict.fromkeys(notes))
        return replace(_with_gate(row, LOADED_GATE), declared=events, crossed=crossed, notes=notes)


def may_receive(row: HookStatus, kind: EventKind) -> bool:
    """Return whether a hook subscribes to events of this kind, or only a load can tell."""
    if kind != "folder":
        return True
    return row.hook.kind == "plugin" and (row.events is None or bool(row.of_folders))


def code_with_digest(code: Code) -> Code:
    """Return the code with the digest of everything that it is loaded from."""
    from hookscope.runtime import content_digests  # a scan without loaded modules needs no digests

    return content_digests.with_digest(code)


def _module_key(code: Code) -> _ModuleKey:
    return code.path, code.export, code.digest, dumps(code.config, default=str) if code.config else ""


def _with_gate(row: HookStatus, gate: Gate) -> HookStatus:
    gates = (*(known for known in row.verdict.gates if known.name != gate.name), gate)
    return replace(row, verdict=Verdict(gates, row.verdict.shadowed_by))


HELD_BY_WORKER = "the version loaded before its last edit goes on running until the file loads again"

Opened = Callable[[Files | None], Host]  # opens the host again, optionally through other files


class Scanner:
    """Makes numbered snapshots, with the state of workers and loaded modules. Imports and runs nothing.

    Args:
        compare_shipped: also note where the shipped program differs from its guide;
            takes a second scan.
    """

    def __init__(
        self, crew: WorkerPools, modules: LoadedModules, failed_loads: FailedLoads, *, compares: bool = True
    ) -> None:
        self._compares = compares
        self._crew, self._modules, self._failed_loads = crew, modules, failed_loads
        self._generation = 0
        self._stopped = False
        self._last: ScanResult | None = None

    def look(self, opened: Opened, setup: Setup, limits: Limits) -> Snapshot:
        """Return a snapshot of all hooks, with the host opened again."""
        shipped = setup.shipped if self._compares else None
        last, mark = self._looked(opened, shipped), self._failed_loads.mark()
        host, looked = last.host, last.inventory
        languages, without = self._crew.languages(host, looked)
        inventory = self._with_notes(looked, host, languages, without, last.differences)
        inventory = self._modules.shown(inventory, host)
        self._generation += 1
        kept = self._crew.fault_counter.all_quarantined()
        return Snapshot(
            host=host,
            inventory=inventory,
            registry=Registry(self._generation, self._registrations(inventory, host)),
            because=setup.because,
            languages=languages,
            without=without,
            programs=tuple(one for one in (setup.python, setup.node) if one is not None),
            limits=limits,
            index=last.index if inventory is looked else None,
            quarantined=kept and kept & {row.hook.handler for row in inventory.hooks},
            failed_loads=self._failed(inventory, host),
            loads_mark=mark,
        )

    def stop(self) -> None:
        """Stop the scans that still run: each raises ScanStopped at its next file access."""
        self._stopped = True

    def _is_stopped(self, scanning: Thread) -> bool:
        """Return True in the scanning thread once it must stop. Other threads can still read its results."""
        if not self._stopped or current_thread() is not scanning:
            return False
        if scanning.daemon:
            Event().wait()  # nothing waits for this thread; freeing its results would delay all others
        return True

    def _failed(self, inventory: Inventory, host: Host) -> Mapping[Hook, FailedLoad]:
        """Return the hooks that fail to load, and whether an older version still runs in their place."""
        failed = self._failed_loads.among(inventory, host)
        if not failed or not self._crew.holds_any:
            return failed
        return {
            hook: replace(one, held=self._crew.holds(handler_code(hook, host)))
            for hook, one in failed.items()
        }

    def _registrations(self, inventory: Inventory, host: Host) -> tuple[Registration, ...]:
        if self._crew.holds_any or self._last is None or self._last.host is not host:
            return registrations_of(
                inventory, host, self._crew.holds, lambda hook: self._modules.of(hook, host)
            )
        return self._last.registrations

    def _looked(self, opened: Opened, shipped: Dialect | None) -> ScanResult:
        """Return the scan result; the last one if nothing has changed."""
        host = opened(None)
        if self._last is not None and self._last.holds(host):
            return self._last
        # Settings are compared by value, the inventory by the files that were read.
        files = TrackedFiles(partial(self._is_stopped, current_thread()))
        host = opened(files)
        looked = examine(discover(host), host)
        registrations = registrations_of(looked, host)
        differences = _differences_from_guide(host, looked, shipped)
        files.forget()
        self._last = ScanResult(host, looked, InventoryIndex(host, looked), registrations, differences, files)
        return self._last

    def _with_notes(
        self,
        inventory: Inventory,
        host: Host,
        languages: frozenset[Language],
        without: Mapping[Language, str],
        differences: Differences,
    ) -> Inventory:
        """Return the inventory with notes: an older version still runs, the language is not available, the
        shipped program differs from the guide in force.
        """

        def notes(row: HookStatus) -> tuple[str, ...]:
            held = (HELD_BY_WORKER,) if is_held(row, host, self._crew.holds) else ()
            lacks = without.get(row.hook.language, "") if row.hook.handler is not None else ""
            needs = (f"{row.hook.language} {lacks}",) if lacks else ()
            return (*held, *needs)

        if not differences and languages >= NODE_VARIABLES | PYTHON_ONLY and not self._crew.holds_any:
            return inventory
        hooks = tuple(
            replace(row, notes=(*row.notes, *more), differs=differs) if more or differs else row
            for row in inventory.hooks
            for more, differs in ((notes(row), differences.get(row.hook, ())),)
        )
        return replace(inventory, hooks=hooks)


def _differences_from_guide(host: Host, looked: Inventory, shipped: Dialect | None) -> Differences:
    """Return where the shipped program differs from the guide that is in force here."""
    if shipped is None or shipped.product != host.dialect.product:
        return {}
    other = open_host(shipped, host.surroundings, host.choices, trust=host.trust)
    return differences_by_hook(ScannedHost(host, looked), ScannedHost(other, discover(other)))

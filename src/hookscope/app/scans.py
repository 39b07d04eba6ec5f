"""Scans of a host, repeated only where files changed, and the modules loaded for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from json import dumps
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, TypeAlias

from hookscope.app.load_record import FailedLoad, LoadRecord
from hookscope.app.options import Setup
from hookscope.app.runs.worker_pools import NODE_VARIABLES, PYTHON_ONLY, WorkerPools
from hookscope.app.snapshot import Differences, InventoryIndex, ScanResult, Snapshot
from hookscope.engine.dialect_differences import ScannedHost, differences_by_hook, runnable_summary
from hookscope.engine.discovery import discover, unsent_event_notes
from hookscope.engine.examination import examine
from hookscope.engine.loading import LOAD, LOADED_GATE
from hookscope.engine.planning import (
    accepted_module,
    declared_registrations,
    folder_events_of,
    handler_code,
    is_stale,
    registrations_of,
    with_late,
)
from hookscope.engine.registry import Registry
from hookscope.hosts.gates.evidence import with_evidence
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.executor import Executor, LateExecutor
from hookscope.model.failure import Failure
from hookscope.model.hook import Hook, Language
from hookscope.model.hook_status import Gate, HookStatus, Inventory, Verdict
from hookscope.model.host import Dialect, Host
from hookscope.model.machine import Files, TrackedFiles
from hookscope.model.run import Code, Declared, EventKind, Module, Registration
from hookscope.model.uncalled_hooks import may_be_called
from hookscope.runtime.limits import Limits

if TYPE_CHECKING:
    from hookscope.runtime.executors import Executors

MODULE_KINDS = ("stream", "arguments", "plugin")  # shapes whose events or functions only a load reveals
NO_HANDLERS = "it registers nothing"
EVENT_GATES = ("access", "sent")  # gates of plugins that depend on their events

_ModuleKey: TypeAlias = tuple[Path, str, str, str]


class LoadedModules:
    """Loaded modules by handler. An entry is valid until a file beside the handler changes."""

    def __init__(self) -> None:
        self._known: dict[_ModuleKey, Module | Failure | None] = {}
        self._late: dict[_ModuleKey, tuple[Declared, ...]] = {}  # what plugins registered after their load

    async def load(self, inventory: Inventory, host: Host, executors: Executors, kind: EventKind) -> bool:
        """Load the modules that may run, may receive events of this kind, and are not loaded in their
        current version. Return whether anything changed.
        """
        changed = False
        for hook in self._not_loaded([row for row in inventory.hooks if may_receive(row, kind)], host):
            code = code_with_digest(handler_code(hook, host))
            executor = executors.code.get(code.language)
            if executor is None:
                continue
            self._store(code, await executor.load(code))
            changed = True
        return self._note_late_registrations(inventory, host, executors) or changed

    def _note_late_registrations(self, inventory: Inventory, host: Host, executors: Executors) -> bool:
        """Note what plugins registered after their load. Return whether anything changed."""
        able = [executor for executor in executors.code.values() if isinstance(executor, LateExecutor)]
        before, self._late = self._late, {}
        if before or any(executor.late_count for executor in able):
            hooks = [row.hook for row in inventory.hooks if row.hook.kind == "plugin" and row.hook.handler]
            for code in [code_with_digest(handler_code(hook, host)) for hook in hooks]:
                executor = executors.code.get(code.language)
                if isinstance(executor, LateExecutor) and (late := executor.late_of(code)):
                    self._late[_module_key(code)] = late
        return self._late != before

    async def load_one(self, hook: Hook, host: Host, executor: Executor) -> Module | Failure:
        """Return the module of a hook with handlers of its own, loaded if necessary. Ignores its gates."""
        code = code_with_digest(handler_code(hook, host))
        known = self._known.get(_module_key(code))
        loaded = known if known is not None else await executor.load(code)
        self._store(code, loaded)
        if isinstance(loaded, Module):
            return accepted_module(loaded, host)
        if isinstance(loaded, Failure):
            return loaded
        return Failure("NoHandler", f"{code.path.name} declares no handlers", phase="load")

    def _store(self, code: Code, loaded: object) -> None:
        """Store the result in place of those of older contents. A worker that did not start is ignored."""
        if isinstance(loaded, Failure) and loaded.phase == "spawn":
            return
        path, export, *_ = key = _module_key(code)
        self._known = {old: known for old, known in self._known.items() if old[:2] != (path, export)}
        self._known[key] = loaded if isinstance(loaded, Module | Failure) else None

    def _not_loaded(self, rows: Iterable[HookStatus], host: Host) -> list[Hook]:
        hooks = [row.hook for row in rows if may_be_called(row) and row.hook.handler is not None]
        codes = [(hook, handler_code(hook, host)) for hook in hooks if hook.kind in ("stream", "plugin")]
        found = ((hook, code) for hook, code in codes if code.shape in MODULE_KINDS)
        return [hook for hook, code in found if _module_key(code_with_digest(code)) not in self._known]

    def module_of(self, hook: Hook, host: Host) -> Module | None:
        """Return what the module declares in its current version; None if it is not loaded or failed."""
        found = self._loaded(hook, host)
        return found if isinstance(found, Module) else None

    def _loaded(self, hook: Hook, host: Host) -> Module | Failure | None:
        if not self._known or hook.handler is None or hook.kind not in ("stream", "plugin"):
            return None
        key = _module_key(code_with_digest(handler_code(hook, host)))
        found = self._known.get(key)
        if not isinstance(found, Module):
            return found
        return accepted_module(with_late(found, self._late.get(key, ())), host)

    def with_load_results(
        self, inventory: Inventory, host: Host, recorded: Mapping[Hook, Module]
    ) -> Inventory:
        """Return the inventory with declared events, and with the reasons of failed loads.

        `recorded`: what modules registered when another process loaded them.
        """
        if not self._known and not recorded:
            return inventory
        rows = tuple(self._with_load_result(row, host, recorded.get(row.hook)) for row in inventory.hooks)
        return replace(inventory, hooks=rows)

    def _with_load_result(self, row: HookStatus, host: Host, recorded: Module | None) -> HookStatus:
        found = self._loaded(row.hook, host)
        if isinstance(found, Failure):
            reason = f"{found.type}: {found.message}"
            return _with_gate(row, Gate(LOAD.name, False, found=found.type, reason=reason))
        if found is not None:
            return with_declared_events(_with_gate(row, LOADED_GATE), found, host)
        accepted = accepted_module(recorded, host) if recorded is not None else None
        return with_declared_events(row, accepted, host) if isinstance(accepted, Module) else row


def with_declared_events(row: HookStatus, module: Module, host: Host) -> HookStatus:
    """Return the row with the events that its loaded module declares, and the gates that depend on them."""
    calls = declared_registrations(module, row.hook, host)
    events, crossed = tuple(dict.fromkeys(call.key for call in calls)), folder_events_of(calls)
    messages = (*(line.text for line in module.log), *unsent_event_notes(events, row.hook, host, crossed))
    notes = tuple(dict.fromkeys((*row.notes, *messages, *(() if events else (NO_HANDLERS,)))))
    if row.hook.kind == "plugin":
        row = _with_event_gates(row, events, crossed, host)
    return replace(row, declared=events, declared_folder_events=crossed, notes=notes)


def _with_event_gates(
    row: HookStatus, events: tuple[str, ...], folder_events: frozenset[str], host: Host
) -> HookStatus:
    """Return the row after checking again the gates that depend on the plugin's events."""
    meta = replace(row.hook.meta, events=events, folder_events=folder_events, unread_registrations=0)
    loaded = replace(row.hook, meta=meta)
    checked = {
        gate.name: with_evidence(gate, loaded, host)
        for gate in host.dialect.system_of("plugin").gates(loaded, host)
        if gate.name in EVENT_GATES
    }
    gates = tuple(checked.get(gate.name, gate) for gate in row.verdict.gates)
    return replace(row, verdict=Verdict(gates, row.verdict.shadowed_by))


def may_receive(row: HookStatus, kind: EventKind) -> bool:
    """Return whether a hook subscribes to events of this kind, or only a load can tell."""
    if kind != "folder":
        return True
    return row.hook.kind == "plugin" and (not row.knows_all_events or bool(row.folder_events))


def code_with_digest(code: Code) -> Code:
    """Return the code with the digest of everything that it is loaded from."""
    # a scan without loaded modules needs no digests
    from hookscope.runtime import handler_code as content_digests

    return content_digests.with_digest(code)


def _module_key(code: Code) -> _ModuleKey:
    return code.path, code.export, code.digest, dumps(code.config, default=str) if code.config else ""


def _with_gate(row: HookStatus, gate: Gate) -> HookStatus:
    gates = (*(known for known in row.verdict.gates if known.name != gate.name), gate)
    return replace(row, verdict=Verdict(gates, row.verdict.shadowed_by))


HELD_BY_WORKER = "the version loaded before its last edit keeps running until the file loads again"

Opened = Callable[[Files | None], Host]  # opens the host again, optionally through other files


class Scanner:
    """Makes numbered snapshots, with the state of workers and loaded modules. Imports and runs nothing.

    Args:
        compare_shipped: also note where the shipped program differs from its guide,
            which takes a second scan.
    """

    def __init__(
        self,
        worker_pools: WorkerPools,
        modules: LoadedModules,
        load_record: LoadRecord,
        *,
        compare_shipped: bool = True,
    ) -> None:
        self._compare_shipped = compare_shipped
        self._worker_pools, self._modules, self._load_record = worker_pools, modules, load_record
        self._generation = 0
        self._stopped = False
        self._last: ScanResult | None = None

    def scan(self, open_again: Opened, setup: Setup, limits: Limits) -> Snapshot:
        """Return a snapshot of all hooks, with the host opened again."""
        shipped = setup.shipped if self._compare_shipped else None
        last, failed_loads_stamp = self._scan_or_last(open_again, shipped), self._load_record.file_stamp()
        host, found = last.host, last.inventory
        languages, unavailable_languages = self._worker_pools.languages(host, found)
        inventory = self._with_notes(found, host, languages, unavailable_languages, last.differences)
        recorded = self._load_record.modules_for(inventory, host)
        inventory = self._modules.with_load_results(inventory, host, recorded)
        self._generation += 1
        kept = self._worker_pools.fault_counter.quarantined_paths()
        return Snapshot(
            host=host,
            inventory=inventory,
            registry=Registry(self._generation, self._registrations(inventory, host, recorded)),
            dialect_reason=setup.dialect_reason,
            notice=setup.notice,
            unknown_version=setup.unknown_version,
            shipped_summary=last.shipped_summary,
            languages=languages,
            unavailable_languages=unavailable_languages,
            programs=tuple(one for one in (setup.python, setup.node) if one is not None),
            limits=limits,
            index=last.index if inventory is found else None,
            quarantined=kept and kept & {row.hook.handler for row in inventory.hooks},
            failed_loads=self._failed_loads_of(inventory, host),
            failed_loads_stamp=failed_loads_stamp,
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

    def _failed_loads_of(self, inventory: Inventory, host: Host) -> Mapping[Hook, FailedLoad]:
        """Return the hooks that fail to load, and whether an older version still runs in their place."""
        failed = self._load_record.for_inventory(inventory, host)
        if not failed or not self._worker_pools.has_loaded_any:
            return failed
        return {
            hook: replace(one, old_version_runs=self._worker_pools.has_loaded(handler_code(hook, host)))
            for hook, one in failed.items()
        }

    def _registrations(
        self, inventory: Inventory, host: Host, recorded: Mapping[Hook, Module]
    ) -> tuple[Registration, ...]:
        is_last = self._last is not None and self._last.host is host
        if self._worker_pools.has_loaded_any or recorded or not is_last:
            return registrations_of(
                inventory,
                host,
                self._worker_pools.has_loaded,
                lambda hook: self._modules.module_of(hook, host) or recorded.get(hook),
            )
        assert self._last is not None
        return self._last.registrations

    def _scan_or_last(self, open_again: Opened, shipped: Dialect | None) -> ScanResult:
        """Return the scan result; the last one if nothing has changed."""
        if self._last is not None and self._last.matches(open_again(None)):
            return self._last
        # Settings are compared by value, the inventory by the files that were read.
        files = TrackedFiles(partial(self._is_stopped, current_thread()))
        host = open_again(files)
        inventory = examine(discover(host), host)
        registrations = registrations_of(inventory, host)
        differences, summary = _differences_from_guide(host, inventory, shipped)
        files.stop_caching()
        self._last = ScanResult(
            host, inventory, InventoryIndex(host, inventory), registrations, differences, summary, files
        )
        return self._last

    def _with_notes(
        self,
        inventory: Inventory,
        host: Host,
        languages: frozenset[Language],
        unavailable_languages: Mapping[Language, str],
        differences: Differences,
    ) -> Inventory:
        """Return the inventory with notes: an older version still runs, the language is not available, the
        shipped program differs from the current guide.
        """

        def notes(row: HookStatus) -> tuple[str, ...]:
            held = (HELD_BY_WORKER,) if is_stale(row, host, self._worker_pools.has_loaded) else ()
            lacks = unavailable_languages.get(row.hook.language, "") if row.hook.handler is not None else ""
            needs = (f"{row.hook.language} {lacks}",) if lacks else ()
            return (*held, *needs)

        if (
            not differences
            and languages >= NODE_VARIABLES | PYTHON_ONLY
            and not self._worker_pools.has_loaded_any
        ):
            return inventory
        hooks = tuple(
            replace(row, notes=(*row.notes, *more), dialect_differences=differs) if more or differs else row
            for row in inventory.hooks
            for more, differs in ((notes(row), differences.get(row.hook, ())),)
        )
        return replace(inventory, hooks=hooks)


def _differences_from_guide(
    host: Host, inventory: Inventory, shipped: Dialect | None
) -> tuple[Differences, str]:
    """Return where the shipped program differs from the current guide, by hook and in one sentence."""
    if shipped is None or shipped.product != host.dialect.product:
        return {}, ""
    other = open_host(shipped, host.machine, host.overrides, trust=host.trust)
    scanned, beside = ScannedHost(host, inventory), ScannedHost(other, discover(other))
    return differences_by_hook(scanned, beside), runnable_summary(scanned, beside)

"""One load: which hooks are imported, what each registers, what is kept and reported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from hookscope.engine.discovery import unsent_event_notes
from hookscope.engine.planning import (
    accepted_module,
    declared_registrations,
    folder_events_of,
    handler_code,
    without_duplicates,
)
from hookscope.engine.registry import LoadReport, Registry
from hookscope.model.failure import Failure
from hookscope.model.hook import Hook, LogLine
from hookscope.model.hook_status import FixKind, Gate, GateKind, HookStatus, Inventory, State, register_gate
from hookscope.model.host import Host
from hookscope.model.run import Code, Handler, Module, Registration
from hookscope.model.uncalled_hooks import event_kind

TURN_SECONDS = 0.005  # seconds of loading between turns of other tasks
DEFAULT_EMOJI = "🔗"
NO_FUNCTION = "NoHandler"  # failure type: the file loads but has no function
IS_CLASS = "ClassHandler"  # failure type: the export is a class
LOAD = register_gate(
    GateKind(
        "load",
        state=State.BROKEN,
        fix=FixKind.BY_HAND_LOAD,
        why_no_fix="its code failed; the error names the line",
    )
)
LOADED_GATE = Gate(LOAD.name, True, found="loaded")
# a missing file fails by itself; what is never sent loads all the same
LOADER_CHECKED_GATES = ("handler", "sent")

LoadCode = Callable[[Code], Awaitable["Handler | Code | Module | Failure | str"]]


def kept_registrations(
    registry: Registry, host: Host
) -> tuple[tuple[Registration, ...], tuple[Registration, ...]]:
    """Return the registrations by code that a load keeps: those before the new ones, those after.

    Permanent ones always stay, after the new ones. If the host keeps the others, they come before the new
    ones, sorted by key in the order in which the keys first appeared.
    """
    calls = registry.registrations
    permanent = tuple(call for call in calls if call.permanent)
    if not host.dialect.load_rules.keeps_code_registrations:
        return (), permanent
    positions = {key: position for position, key in enumerate(registry.keys())}
    kept = [call for call in calls if call.hook is None and not call.permanent]
    return tuple(sorted(kept, key=lambda call: positions[call.key])), permanent


def registrations_left_on(registry: Registry, host: Host) -> tuple[Registration, ...]:
    """Return the folder hooks of the last load, if the host keeps them when switched off."""
    if host.dialect.clears_when_off:
        return ()
    calls = registry.registrations
    return tuple(call for call in calls if call.hook is not None and event_kind(call.hook) == "folder")


def without_folder_hooks(inventory: Inventory) -> Inventory:
    """Return the inventory without the hooks that the switch of HOOK.md folders affects."""
    rest = tuple(hook for hook in inventory.load_order if event_kind(hook) != "folder")
    return replace(inventory, load_order=rest)


class FirstImports:
    """Modules that a host imports once and keeps, whatever happens to the file."""

    def __init__(self, with_digest: Callable[[Code], Code]) -> None:
        self._with_digest = with_digest  # adds the digest of the folder, unless set
        self._digests: dict[Path, str] = {}
        self._failures: dict[Path, Failure] = {}

    async def load(self, load: LoadCode, code: Code) -> Handler | Code | Module | Failure | str:
        """Load the code as it was first imported, or return the error that it threw then.

        The current code is loaded if nothing was imported yet, after a syntax error or a missing
        import, or if its worker has been replaced.
        """
        if code.path in self._failures:
            return self._failures[code.path]
        code = self._with_digest(replace(code, digest=self._digests.get(code.path, "")))
        outcome = await load(code)
        if isinstance(outcome, Failure) and outcome.type not in (NO_FUNCTION, IS_CLASS):
            if _module_threw(outcome):
                self._failures[code.path] = outcome
        elif not isinstance(outcome, str):
            self._digests[code.path] = code.digest
        return outcome


def _module_threw(failure: Failure) -> bool:
    """Return whether the module's own code threw, and not a syntax error or an unresolved import."""
    unresolved = failure.own_text.startswith("Cannot find ") and "imported from" in failure.own_text
    return bool(failure.frames) and failure.type != "SyntaxError" and not unresolved


class Loading:
    """One load: takes hooks in load order and builds the report."""

    def __init__(
        self,
        host: Host,
        inventory: Inventory,
        *,
        strict: bool = False,
        first_imports: FirstImports | None = None,
    ) -> None:
        """`strict`: stop at the first failure and only report it. `first_imports` come from earlier loads."""
        self.host = host
        self._strict = strict
        self._first_imports = first_imports
        self._inventory = inventory
        self.gates: dict[Hook, Gate] = {}
        self.declared: dict[Hook, tuple[str, ...]] = {}  # events of the loaded modules
        self.folder_events: dict[Hook, frozenset[str]] = {}  # the folder events among a plugin's `declared`
        self.notes: dict[Hook, tuple[str, ...]] = {}  # notes on the events of loaded modules
        self.messages = host.dialect.loader_messages
        self.rules = host.dialect.load_rules
        self.refusal = ""
        self.registrations: list[Registration] = []
        self.discovered = sum(hook.kind != "legacy" for hook in inventory.load_order)
        self.eligible = self.registered = 0
        self.skipped: list[str] = []
        self.failures: dict[str, Failure] = {}
        self.failed: list[str] = []
        self.stopped = ""
        self.module_log: list[LogLine] = []
        self.log = [
            LogLine(problem.log_level, problem.text) for problem in host.problems if problem.log_level
        ]
        end = next((problem for problem in host.problems if problem.stops_load), None)
        if end is not None:
            self.stopped, self.discovered = end.text, 0
            return
        self.log += inventory.log
        self._log("info", self.messages.discovered, count=self.discovered)

    def _log(self, level: str, template: str | None, **parts: object) -> None:
        if template is not None:
            self.log.append(LogLine(level, template.format(**parts)))

    async def load_all(self, load: LoadCode) -> None:
        """Load hooks in load order, up to one that ends the load. Lets other tasks run between two hooks."""
        import asyncio  # imported late: a scan does not need it

        rows, turn_began = {row.hook: row for row in self._inventory.hooks}, perf_counter()
        for hook in self._inventory.load_order:
            if self.stopped or (self._strict and self.failed):
                break
            await self._load_if_allowed(rows[hook], load)
            if perf_counter() - turn_began > TURN_SECONDS:
                await asyncio.sleep(0)
                turn_began = perf_counter()

    async def _load_if_allowed(self, row: HookStatus, load: LoadCode) -> None:
        """Load one hook, or log why not."""
        hook = row.hook
        if (end := row.verdict.stops_load) is not None:
            self.stopped = f"{hook.name}: {end.reason}"
            return
        if not row.verdict.eligible:
            self._skip(hook, *row.verdict.reasons(State.BLOCKED))
            return
        if hook.kind != "legacy":
            self.eligible += 1
        if not row.verdict.enabled:
            self._skip(hook, *row.verdict.reasons(State.OFF))
            return
        failed_gates = {
            gate.name: gate.reason for gate in row.verdict.failed() if gate.name not in LOADER_CHECKED_GATES
        }
        if hook.kind == "legacy" and "path" in failed_gates:
            self.log.append(LogLine("warn", failed_gates["path"]))
            self.failed.append(hook.reported_name)
        elif failed_gates and not (
            self.rules.imports_hooks_without_events and failed_gates.keys() == {"events"}
        ):
            counts_as_failure = "events" in failed_gates and self.rules.no_events is not None
            if "events" in failed_gates and not (counts_as_failure and self._strict):
                self._log("warn", self.messages.no_events, name=hook.name)
            if counts_as_failure:
                self.failed.append(hook.reported_name)
                self._refuse(self.rules.failed.format(name=hook.name, error=self.rules.no_events))
            else:
                self._skip(hook, *failed_gates.values())
        else:
            await self._load(hook, load)

    async def _load(self, hook: Hook, load: LoadCode) -> None:
        if hook.kind != "plugin":
            self._log("warn", self.messages.loading.get(hook.folder.source))
        code = handler_code(hook, self.host)
        first = self._first_imports if hook.folder.source in self.rules.sources_imported_once else None
        outcome = await (load(code) if first is None else first.load(load, code))
        if isinstance(outcome, Failure) and outcome.type == IS_CLASS and self.rules.accepts_classes:
            outcome = code
        if isinstance(outcome, Module):
            outcome = accepted_module(outcome, self.host)
        if isinstance(outcome, str):
            self._skip(hook, outcome)
        elif isinstance(outcome, Failure):
            self._fail(hook, outcome)
        elif isinstance(outcome, Module):
            self.log += outcome.log
            self.module_log += [LogLine(line.level, f"{hook.name}: {line.text}") for line in outcome.log]
            self._register_module(hook, outcome)
        elif not hook.meta.events:
            self._log("warn", self.messages.no_events, name=hook.name)
            self._skip(hook, "no events")
        else:
            calls = [Registration(key, hook.name, outcome, hook) for key in hook.meta.registered_events]
            self._register(hook, calls, hook.meta.events)

    def _register_module(self, hook: Hook, module: Module) -> None:
        """Register a module's handlers, and warn about unknown events. Source: rules-openclaw section 6."""
        declared = declared_registrations(module, hook, self.host)
        calls, duplicates = without_duplicates(declared, self.registrations)
        self.log += [LogLine("error", f"{hook.name}: {duplicate}") for duplicate in duplicates]
        self._register(hook, calls, [call.key for call in calls])
        self.declared[hook] = tuple(dict.fromkeys(call.key for call in calls))
        self.folder_events[hook] = folder_events_of(calls)
        self.notes[hook] = tuple(
            unsent_event_notes(self.declared[hook], hook, self.host, self.folder_events[hook])
        )
        lines = [LogLine("warn", f"{hook.name}: {note}") for note in self.notes[hook]]
        self.log += lines
        self.module_log += lines

    def _register(self, hook: Hook, calls: list[Registration], event_names: Sequence[str]) -> None:
        events = list(event_names) if hook.kind == "folder" else list(dict.fromkeys(event_names))
        self.registrations += calls
        self.gates[hook] = LOADED_GATE
        self.registered += 1
        self._warn_of_unknown_events(hook, events)
        if hook.kind == "legacy" and self.messages.legacy_registered is not None:
            for event in events:
                self._log("info", self.messages.legacy_registered, event=event, module=hook.reported_name)
            return
        emoji = DEFAULT_EMOJI if hook.meta.emoji is None else hook.meta.emoji
        self._log("info", self.messages.registered, emoji=emoji, name=hook.name, events=", ".join(events))

    def _warn_of_unknown_events(self, hook: Hook, events: list[str]) -> None:
        """Warn about events that the host does not know: registered, but never sent."""
        warns = self.messages.never_sent and hook.kind == "folder"
        known = self.host.dialect.catalogue().keys_of("folder") if warns else ()
        unknown = [key for key in events if key not in known] if known else []
        if unknown and self.messages.never_sent:
            noun = "event" if len(unknown) == 1 else "events"
            self._log("warn", self.messages.never_sent, name=hook.name, what=noun, events=", ".join(unknown))

    def refuse(self, name: str, sentence: str) -> None:
        """End the load at this hook before anything is imported."""
        self.failed.append(name)
        self._refuse(sentence)

    def _refuse(self, sentence: str) -> None:
        self.refusal = self.refusal or sentence

    def _skip(self, hook: Hook, *reasons: str) -> None:
        self.skipped.append(f"{hook.reported_name}: {', '.join(reasons)}")

    def _fail(self, hook: Hook, failure: Failure) -> None:
        self.failed.append(hook.reported_name)
        self.failures[hook.name] = failure
        self.gates[hook] = Gate(
            LOAD.name, False, found=failure.type, reason=f"{failure.type}: {failure.message}"
        )
        parts = {
            "file": hook.reported_name if hook.kind == "legacy" else hook.handler,
            "name": hook.name,
            "export": hook.meta.export
            if hook.meta.export_as_written is None
            else hook.meta.export_as_written,
            "type": failure.type,
            "error": failure.message,
            "plain": failure.own_text,
        }
        has_no_function = failure.type in (NO_FUNCTION, IS_CLASS)
        if not self._strict:
            level, text = (
                ("warn", self.messages.no_function)
                if has_no_function
                else ("error", self.messages.not_loaded)
            )
            self._log(level, text, **parts)
        if has_no_function:
            parts["error"] = self.rules.no_function.format(**parts)
        if self.rules.reword_failure is not None:
            parts["error"] = self.rules.reword_failure(failure, str(parts["file"]))
        self._refuse(self.rules.failed.format(**parts))

    def inventory(self) -> Inventory:
        """Return the inventory with a `load` gate for every hook that loaded or failed to."""
        return replace(
            self._inventory,
            hooks=tuple(
                replace(
                    row,
                    verdict=replace(row.verdict, gates=(*row.verdict.gates, self.gates[row.hook])),
                    notes=(*row.notes, *self.notes.get(row.hook, ())),
                    declared=self.declared.get(row.hook),
                    declared_folder_events=self.folder_events.get(row.hook, frozenset()),
                )
                if row.hook in self.gates
                else row
                for row in self._inventory.hooks
            ),
        )

    def report(self) -> LoadReport:
        if not self.stopped:
            self._log(
                "info",
                self.messages.complete,
                registered=self.registered,
                discovered=self.discovered,
                skipped=len(self.skipped),
                failed=len(self.failed),
            )
        return LoadReport(
            discovered=self.discovered,
            eligible=self.eligible,
            registered=self.registered,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            log=tuple(self.log),
            told=tuple(self.module_log),
            failures=dict(self.failures),
            refusal=self.refusal,
            stopped=self.stopped,
        )

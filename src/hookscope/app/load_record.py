"""The result of the last load of each handler, kept in the state folder until its file changes.

A failed load is recorded with its error; a loaded plugin or stream hook with what it registered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from hookscope.engine.loading import IS_CLASS, NO_FUNCTION
from hookscope.engine.planning import INTERNAL_OPTION, OWN_LIMIT, REGISTER_OPTION, handler_code
from hookscope.model.failure import Failure
from hookscope.model.hook import FilePosition, Hook
from hookscope.model.hook_event import iso
from hookscope.model.hook_status import Gate, State
from hookscope.model.machine import file_stamp, modified_at
from hookscope.model.run import Code, Declared, Module, Registration, Result, Run
from hookscope.model.text import one_line
from hookscope.storage.state_files import merged_state, state_members
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.hook_status import Inventory
    from hookscope.model.host import Host
    from hookscope.storage.journal.redaction import Redaction

FAILED_LOADS_FILE = "failed-loads.json"
HANDLERS, MODULES = "handlers", "modules"  # the file's members: failed loads, and what modules registered
MOST = 500  # stored handlers
KEPT_OPTIONS = {"name", INTERNAL_OPTION, REGISTER_OPTION}  # options of a registration that a scan reads
LONGEST = 300  # characters of an error's sentence
EMPTY: Mapping[str, Failure] = {}
LONGEST_WAIT = 2  # seconds to wait for another process to write


@dataclass(frozen=True, slots=True)
class FailedLoad:
    """A failed load of a handler whose file has not changed since."""

    error: str  # `ModuleNotFoundError: No module named 'this'`
    at: datetime
    run: int | None = None  # in the journal; None: nothing was fired
    place: FilePosition | None = None  # position in the hook's own code
    old_version_runs: bool = False  # an older version is still loaded and runs

    @property
    def why(self) -> str:
        """The end of a sentence: `does not load: KeyError: 'HOME' (handler.py:3, run 7)`."""
        spot = f"{self.place.file.name}:{self.place.line}" if self.place is not None else ""
        run = f"run {self.run}" if self.run is not None else ""
        where = ", ".join(filter(None, (spot, run)))
        kind, _, text = self.error.partition(": ")
        nothing_to_call = kind in (NO_FUNCTION, IS_CLASS)  # worded as in the activation chain
        problem = f"has nothing to call: {text}" if nothing_to_call else f"does not load: {self.error}"
        return problem + (f" ({where})" if where else "")


def retry_hint(name: str) -> str:
    """Return the next step for a hook that does not load."""
    return f"`hookscope load {quote(name)}` tries again"


@dataclass(frozen=True, slots=True)
class LoadAttempt:
    """One attempt to load a handler. `failure` is None if it loaded."""

    code: Code
    failure: Failure | None = None
    run: int | None = None
    registered: tuple[Registration, ...] | None = None  # by a module; None: unknown, or a single handler


class LoadRecord:
    """`failed-loads.json`: handler → why it did not load, or what it registered. Merged by key under a lock,
    replaced atomically.

    Args:
        python: the interpreter of handlers.
    """

    def __init__(self, file: Path, python: str) -> None:
        self.file, self._python = file, python

    def for_inventory(self, inventory: Inventory, host: Host) -> Mapping[Hook, FailedLoad]:
        """Return the otherwise ready hooks whose current files failed to load. Runs nothing."""
        known = state_members(self.file, HANDLERS)
        if not known:
            return {}
        ready = [row for row in inventory.hooks if row.state is State.READY and row.hook.handler is not None]
        rows = [row for row in ready if str(row.hook.handler) in known]
        found = ((row.hook, self._current_failure(handler_code(row.hook, host), known)) for row in rows)
        return {hook: failed for hook, failed in found if failed is not None}

    def modules_for(self, inventory: Inventory, host: Host) -> Mapping[Hook, Module]:
        """Return what plugins and stream hooks registered when their current files were last loaded."""
        known = state_members(self.file, MODULES)
        rows = [row for row in inventory.hooks if str(row.hook.handler) in known] if known else []
        found = ((row.hook, self._recorded_module(handler_code(row.hook, host), known)) for row in rows)
        return {hook: module for hook, module in found if module is not None}

    def _recorded_module(self, code: Code, known: Mapping[str, Any]) -> Module | None:
        entry: Any = known.get(str(code.path))
        try:
            if entry["of"] != self._load_digest(code):
                return None
            declares = [
                Declared(
                    str(one["key"]),
                    replace(code, member=str(one["member"])),
                    float(one["priority"]),
                    one["limit"] if isinstance(one["limit"], int | float) else None,
                    dict(one["options"]),
                )
                for one in entry["registered"]
            ]
        except (LookupError, TypeError, ValueError, AttributeError):  # ignore a damaged entry
            return None
        return Module(tuple(declares))

    def changed_since(self, view: Snapshot) -> bool:
        """Return whether the file was written since the snapshot. Reads only its file status."""
        return self.file_stamp() != view.failed_loads_stamp

    def file_stamp(self) -> tuple[int, ...]:
        """Return a stamp that changes when the file is written."""
        return file_stamp(self.file)

    def _current_failure(self, code: Code, known: Mapping[str, Any]) -> FailedLoad | None:
        entry: Any = known.get(str(code.path))
        try:
            if entry["of"] != self._load_digest(code):
                return None
            run, at = entry["run"], datetime.fromisoformat(entry["at"]).astimezone(UTC)
            place = FilePosition(Path(entry["file"]), int(entry["line"])) if entry["file"] else None
            return FailedLoad(str(entry["error"]), at, run if isinstance(run, int) else None, place)
        except (LookupError, TypeError, ValueError, ArithmeticError):  # ignore a damaged entry
            return None

    async def record_attempts(
        self,
        attempts: Iterable[LoadAttempt],
        started: float,
        redaction: Callable[[], Redaction] | None = None,
    ) -> None:
        """Record failed loads and what modules registered. Write errors are ignored.

        Args:
            started: when the first attempt began; handlers written later are not recorded.
            redaction: returns the redaction for the errors.
        """
        changes: dict[str, dict[str, dict[str, Any] | None]] = {HANDLERS: {}, MODULES: {}}
        for attempt in attempts:
            path = str(attempt.code.path)
            is_current = modified_at(attempt.code.path) <= started
            if attempt.failure is None:
                changes[HANDLERS][path] = None
                if attempt.registered is not None and is_current:
                    changes[MODULES][path] = self._module_entry(attempt.code, attempt.registered)
            elif attempt.failure.phase != "spawn" and is_current:
                changes[HANDLERS][path] = self._entry(attempt, redaction() if redaction is not None else None)
                changes[MODULES][path] = None
        if any(self._differs(member, entries) for member, entries in changes.items()):
            import asyncio  # a scan needs no event loop

            with suppress(OSError):
                await asyncio.to_thread(self._merge, changes)

    def _differs(self, member: str, entries: Mapping[str, dict[str, Any] | None]) -> bool:
        known = state_members(self.file, member)
        return any(known.get(path) != entry for path, entry in entries.items())

    def _entry(self, attempt: LoadAttempt, redaction: Redaction | None) -> dict[str, Any]:
        from hookscope.storage.journal.redaction import NOTHING_KNOWN  # a scan writes nothing

        assert attempt.failure is not None
        error = f"{attempt.failure.type}: {attempt.failure.message}"
        masked_error = one_line((redaction or NOTHING_KNOWN).masked_text(error), LONGEST)
        place = _place(attempt.failure, attempt.code)
        return {
            "error": masked_error,
            "at": iso(datetime.now(UTC)),
            "run": attempt.run,
            "file": str(place.file) if place is not None else None,
            "line": place.line if place is not None else None,
            "of": self._load_digest(attempt.code),
        }

    def _module_entry(self, code: Code, registered: Sequence[Registration]) -> dict[str, Any]:
        return {
            "registered": [
                {
                    "key": call.key,
                    "member": call.target.member if isinstance(call.target, Code) else "",
                    "priority": call.priority,
                    "limit": call.limit if call.limit_source == OWN_LIMIT else None,
                    "options": {name: call.options[name] for name in KEPT_OPTIONS & call.options.keys()},
                }
                for call in registered
            ],
            "of": self._load_digest(code),
        }

    def _merge(self, changes: Mapping[str, Mapping[str, dict[str, Any] | None]]) -> None:
        with merged_state(self.file, *changes, patience=LONGEST_WAIT) as members:
            for member, changed in changes.items():
                kept = {**members[member], **changed}
                last = [(path, entry) for path, entry in kept.items() if entry is not None][-MOST:]
                members[member] = dict(last)

    def _load_digest(self, code: Code) -> str:
        """Return a digest of everything that the load depends on and that is known without running it."""
        from hashlib import sha256  # most scans compare nothing

        from hookscope.runtime import handler_code

        python = self._python if code.language == "python" else ""
        parts = [handler_code.digest_of(code.root), file_stamp(code.path), code.export, python]
        settled = json.dumps([parts, dict(code.env), code.config], default=str, sort_keys=True)
        return sha256(settled.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _place(failure: Failure, code: Code) -> FilePosition | None:
    """Return the innermost line of the hook's own code."""
    own = [frame for frame in failure.frames if Path(frame.file).is_relative_to(code.root) and frame.line]
    return FilePosition(Path(own[-1].file), own[-1].line) if own else None


def load_attempts_in(run: Run) -> list[LoadAttempt]:
    """Return the load attempts of a run and of the runs that it caused."""
    found = [attempt for result in run.results if (attempt := _load_attempt(result, run.id)) is not None]
    return [*found, *(attempt for caused in run.caused for attempt in load_attempts_in(caused))]


def _load_attempt(result: Result, run: int) -> LoadAttempt | None:
    code, hook = result.call.target, result.call.hook
    if hook is None or not isinstance(code, Code) or result.call.injected_fault is not None:
        return None
    if result.error is None and result.status != "ok":  # cancelled, perhaps before its load
        return None
    error = result.error if result.error is not None and result.error.phase != "run" else None
    return LoadAttempt(code, result.stale or error, run or None)


def load_attempts_for(
    inventory: Inventory,
    host: Host,
    registrations: Iterable[Registration],
    failures: Mapping[str, Failure] = EMPTY,
) -> list[LoadAttempt]:
    """Return the load attempts of all hooks whose status has a `load` gate.

    Args:
        registrations: those that exist after the load.
        failures: failures by hook name that hold more detail than the gate.
    """
    by_hook: dict[Hook, list[Registration]] = {}
    for call in registrations:
        if call.hook is not None:
            by_hook.setdefault(call.hook, []).append(call)
    gates = ((row.hook, gate) for row in inventory.hooks for gate in row.verdict.gates if gate.name == "load")
    return [
        LoadAttempt(
            handler_code(hook, host),
            None if gate.passed else failures.get(hook.name) or _failure(gate),
            registered=tuple(by_hook.get(hook, ())) if hook.kind in ("plugin", "stream") else None,
        )
        for hook, gate in gates
        if hook.handler is not None
    ]


def _failure(gate: Gate) -> Failure:
    return Failure(gate.found, gate.reason.removeprefix(f"{gate.found}: "), phase="load")

"""The modules of stream and plugin hooks: loaded once for each content, and what they declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hookscope.core.bystanders import may_run
from hookscope.core.dialect import Host
from hookscope.core.failure import Failure
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.core.lanes import Lane, LateLane
from hookscope.core.look import notes_on
from hookscope.core.plan import as_taken, code_of, crossed_by, declared_by, with_late
from hookscope.core.runs import Code, Declared, EventKind, Module
from hookscope.core.standing import Gate, Standing, Verdict
from hookscope.loading import LOADED

if TYPE_CHECKING:
    from hookscope.runtime.which_lane import Lanes

OF_MODULES = ("stream", "arguments", "plugin")  # shapes whose events, or whose function, a load finds out
NO_HANDLERS = "it registers nothing"


_Key: TypeAlias = tuple[Path, str, str, str]


class Modules:
    """What was loaded, by handler; an answer holds until a file beside the handler changes."""

    def __init__(self) -> None:
        self._known: dict[_Key, Module | Failure | None] = {}
        self._late: dict[_Key, tuple[Declared, ...]] = {}  # what plugins have registered since

    async def load(self, inventory: Inventory, host: Host, lanes: Lanes, kind: EventKind) -> bool:
        """Load what may run, may hear events of this kind and is not loaded as it stands. Has anything been
        found out?"""
        news = False
        for hook in self._unknown([row for row in inventory.hooks if may_hear(row, kind)], host):
            code = with_digest(code_of(hook, host))
            lane = lanes.code.get(code.language)
            if lane is None:
                continue
            self._keep(code, await lane.load(code))
            news = True
        return self._hear_late(inventory, host, lanes) or news

    def _hear_late(self, inventory: Inventory, host: Host, lanes: Lanes) -> bool:
        """Note what plugins have registered since they were loaded. Is it anything new?"""
        able = [lane for lane in lanes.code.values() if isinstance(lane, LateLane)]
        before, self._late = self._late, {}
        if before or any(lane.late_count for lane in able):
            hooks = [row.hook for row in inventory.hooks if row.hook.kind == "plugin" and row.hook.handler]
            for code in [with_digest(code_of(hook, host)) for hook in hooks]:
                lane = lanes.code.get(code.language)
                if isinstance(lane, LateLane) and (late := lane.late_of(code)):
                    self._late[_key(code)] = late
        return self._late != before

    async def load_one(self, hook: Hook, host: Host, lane: Lane) -> Module | Failure:
        """The module of a hook with handlers of its own, loaded where it is not, whatever its gates say."""
        code = with_digest(code_of(hook, host))
        known = self._known.get(_key(code))
        loaded = known if known is not None else await lane.load(code)
        self._keep(code, loaded)
        if isinstance(loaded, Module):
            return as_taken(loaded, host)
        if isinstance(loaded, Failure):
            return loaded
        return Failure("NoHandler", f"{code.path.name} declares no handlers", phase="load")

    def _keep(self, code: Code, loaded: object) -> None:
        """Note the answer in place of those for older contents. A worker that did not start says nothing."""
        if isinstance(loaded, Failure) and loaded.phase == "spawn":
            return
        path, export, *_ = key = _key(code)
        self._known = {old: known for old, known in self._known.items() if old[:2] != (path, export)}
        self._known[key] = loaded if isinstance(loaded, Module | Failure) else None

    def _unknown(self, rows: Iterable[Standing], host: Host) -> list[Hook]:
        hooks = [row.hook for row in rows if may_run(row) and row.hook.handler is not None]
        codes = [(hook, code_of(hook, host)) for hook in hooks if hook.kind in ("stream", "plugin")]
        return [hook for hook, code in codes if code.shape in OF_MODULES and self._stale(code)]

    def _stale(self, code: Code) -> bool:
        return _key(with_digest(code)) not in self._known

    def of(self, hook: Hook, host: Host) -> Module | None:
        """What the module declares as it stands now; None where it is not loaded, or failed to."""
        found = self._found(hook, host)
        return found if isinstance(found, Module) else None

    def _found(self, hook: Hook, host: Host) -> Module | Failure | None:
        if not self._known or hook.handler is None or hook.kind not in ("stream", "plugin"):
            return None
        key = _key(with_digest(code_of(hook, host)))
        found = self._known.get(key)
        if not isinstance(found, Module):
            return found
        return as_taken(with_late(found, self._late.get(key, ())), host)

    def shown(self, inventory: Inventory, host: Host) -> Inventory:
        """The inventory with what loads have found out: events that are declared, and why a load failed."""
        if not self._known:
            return inventory
        rows = tuple(self._shown(row, host) for row in inventory.hooks)
        return replace(inventory, hooks=rows)

    def _shown(self, row: Standing, host: Host) -> Standing:
        found = self._found(row.hook, host)
        if isinstance(found, Failure):
            reason = f"{found.type}: {found.message}"
            return _with_gate(row, Gate("load", False, found=found.type, reason=reason))
        if found is None:
            return row
        calls = declared_by(found, row.hook, host)
        events, crossed = tuple(dict.fromkeys(call.key for call in calls)), crossed_by(calls)
        said = (*(line.text for line in found.log), *notes_on(events, row.hook, host, crossed))
        notes = (*row.notes, *said, *(() if events else (NO_HANDLERS,)))
        notes = tuple(dict.fromkeys(notes))
        return replace(_with_gate(row, LOADED), declared=events, crossed=crossed, notes=notes)


def may_hear(row: Standing, kind: EventKind) -> bool:
    """Does it listen to events of this kind, or can only a load tell."""
    if kind != "folder":
        return True
    return row.hook.kind == "plugin" and (row.events is None or bool(row.of_folders))


def with_digest(code: Code) -> Code:
    """The code with the digest of all that it is loaded from, as it stands now."""
    from hookscope.runtime import digest  # here: a look that has loaded nothing asks for none

    return digest.with_digest(code)


def _key(code: Code) -> _Key:
    return code.path, code.export, code.digest, dumps(code.config, default=str) if code.config else ""


def _with_gate(row: Standing, gate: Gate) -> Standing:
    gates = (*(known for known in row.verdict.gates if known.name != gate.name), gate)
    return replace(row, verdict=Verdict(gates, row.verdict.shadowed_by))

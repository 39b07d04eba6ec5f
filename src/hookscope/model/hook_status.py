"""The gates of a hook, the state that follows from them, and a hook with its status. Frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Edit, FilePosition, Hook
from hookscope.values import dataclass


class State(StrEnum):
    """How a hook stands. The order is the order of precedence: the first that holds is the state."""

    SHADOWED = "shadowed"  # another hook of the same name wins
    BROKEN = "broken"  # its files are at fault
    BLOCKED = "blocked"  # the world is at fault: what the seeds call ineligible
    OFF = "off"  # its user switched it off, or did not select it
    UNTRUSTED = "untrusted"  # not yet allowed to run here
    SILENT = "silent"  # would run, but the host never sends its events
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Gate:
    """One check between a file on disk and a handler that runs.

    `passed` is None where nobody looked: skipped by `always`, or not reached. `reason` is the
    host's own text and empty unless the gate is shut. `reported` is False for what the host's
    loader checks and its list does not show.
    """

    name: str
    passed: bool | None
    needed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    found: str = ""
    reason: str = ""
    reported: bool = True
    fix: Edit | None = None
    place: FilePosition | None = None  # where in the hook's own files the fault stands
    setting: KeyPath | None = None  # where in the settings the decision stands, or would stand
    stops_load: bool = False  # shut, it ends the host's whole load: later hooks are never reached
    looked: tuple[str, ...] = ()  # shut: where the missing thing was looked for
    near: tuple[str, ...] = ()  # shut: what nearly was it, a sentence each


# Which state a shut gate means. Gates that no list here names are the world's: blocked.
STATE_OF_GATE: Mapping[str, State] = {
    "build": State.BROKEN,
    "handler": State.BROKEN,
    "manifest": State.BROKEN,
    "fields": State.BROKEN,
    "events": State.BROKEN,
    "path": State.BROKEN,
    "export": State.BROKEN,
    "load": State.BROKEN,
    "reached": State.BROKEN,
    "switch": State.OFF,
    "selected": State.OFF,
    "allow": State.OFF,
    "deny": State.OFF,
    "slot": State.OFF,
    "enabled": State.OFF,
    "trusted": State.UNTRUSTED,
    "sent": State.SILENT,
}
STATE_ORDER = tuple(State)
TOO_WIDE = "too wide"  # found by the `trusted` gate: its folder is not trusted as others are


def gate_state(gate: Gate) -> State:
    """What it means for its hook that this gate is shut."""
    return STATE_OF_GATE.get(gate.name, State.BLOCKED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """All gates of one hook, and what follows from them."""

    gates: tuple[Gate, ...]
    shadowed_by: Hook | None = None

    @property
    def state(self) -> State:
        """The first that holds, in the order that State declares."""
        if self.shadowed_by is not None:
            return State.SHADOWED
        shut = [gate_state(gate) for gate in self.gates if gate.passed is False]
        return min(shut, key=STATE_ORDER.index, default=State.READY)

    @property
    def eligible(self) -> bool:
        """What the seeds call eligible: no requirement is unmet. Says nothing about enabled."""
        return not any(gate.passed is False and gate_state(gate) is State.BLOCKED for gate in self.gates)

    @property
    def enabled(self) -> bool:
        """The user's choice: neither the hook nor all hooks are switched off."""
        return not any(
            gate.passed is False and STATE_OF_GATE.get(gate.name) is State.OFF for gate in self.gates
        )

    @property
    def stops_load(self) -> Gate | None:
        """The gate at which the host's whole load ends; None for nearly every hook."""
        return next((gate for gate in self.gates if gate.stops_load and gate.passed is False), None)

    def shut(self) -> tuple[Gate, ...]:
        """The gates that stop it, in their order."""
        return tuple(gate for gate in self.gates if gate.passed is False)

    def reasons(self, state: State | None = None) -> tuple[str, ...]:
        """The hosts' reason texts of shut gates; only those that mean `state` where it is given."""
        return tuple(gate.reason for gate in self.shut() if state is None or gate_state(gate) is state)

    def why(self, short: Callable[[Path], str] = str) -> str:
        """One line: why it would not run; empty where it would. `short` is how paths are written."""
        if self.shadowed_by is not None:
            by = self.shadowed_by
            where = f" in {short(by.path)}" if by.path is not None else ""
            return f"shadowed by the {by.folder.source} hook{where}"
        state = self.state
        if state is State.UNTRUSTED:  # no trust makes a host send what it never sends: that comes first
            never, waits = ", ".join(self.reasons(State.SILENT)), ", ".join(self.reasons(state))
            return f"{never} (and untrusted: {waits})" if never else waits
        if state is State.BROKEN:
            told = (
                f"{gate.reason}: {gate.near[0]}" if _near_miss_explains(gate) else gate.reason
                for gate in self.shut()
                if gate_state(gate) is state
            )
            return ", ".join(told)
        return "" if state is State.READY else ", ".join(self.reasons(state))


def _near_miss_explains(gate: Gate) -> bool:
    """Does what nearly was it say more than the host's own words do."""
    return gate.name == "events" and bool(gate.near)


@dataclass(frozen=True, slots=True)
class HookStatus:
    """A hook and how it stands: the row of every list."""

    hook: Hook
    verdict: Verdict
    shadows: tuple[Hook, ...] = ()
    notes: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()  # what another dialect makes of it, each sentence naming that dialect
    declared: tuple[str, ...] | None = None  # the events that its loaded module declares; None: not loaded
    crossed: frozenset[str] = frozenset()  # of those, a plugin's: the ones of hook folders

    @property
    def events(self) -> tuple[str, ...] | None:
        """What it listens to, in order; None where only a load can tell."""
        return self.hook.meta.events if self.declared is None else self.declared

    @property
    def of_folders(self) -> frozenset[str]:
        """Of a plugin's events: those of hook folders."""
        return self.hook.meta.of_folders if self.declared is None else self.crossed

    @property
    def state(self) -> State:
        """See Verdict.state."""
        return self.verdict.state

    @property
    def waits(self) -> bool:
        """Does it wait for trust, whatever else stands in its way."""
        return any(gate.name == "trusted" for gate in self.verdict.shut())

    @property
    def too_wide(self) -> bool:
        """True if it waits for trust in a folder that is too wide to be trusted."""
        return any(gate.name == "trusted" and gate.found == TOO_WIDE for gate in self.verdict.shut())


@dataclass(frozen=True, slots=True)
class Effect:
    """Another hook whose state an edit changes."""

    name: str
    source: str
    before: State
    after: State

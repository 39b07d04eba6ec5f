"""The gates of a hook, the state that follows from them, and a hook with its status. Frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Edit, FilePosition, Hook, HookKind, LogLine, Problem
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.host import Host


@dataclass(frozen=True, slots=True)
class RejectedHook:
    """A folder or setting that looks like a hook but is not one, and why."""

    path: Path
    source: str
    reason: str
    place: FilePosition | None = None
    name: str = ""  # the hook's name, if known
    ignored: bool = False  # plainly not meant as a hook
    unread_rank: int | None = None  # its folder's rank if unreadable; it may replace a hook
    kind: HookKind = "folder"
    host_error: str = ""  # the host's own error about it, which may make the host refuse its settings


@dataclass(frozen=True, slots=True)
class FoundHooks:
    """What a hook system found on disk, in order, before ranking and gates."""

    hooks: tuple[Hook, ...] = ()
    rejected: tuple[RejectedHook, ...] = ()
    problems: tuple[Problem, ...] = ()
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class StrictLoadState:
    """State kept for a later strict reload: the hook of each name, and the names in the settings."""

    hooks: tuple[Hook, ...] = ()
    named: frozenset[str] = frozenset()

    def in_order(self, load_order: Sequence[Hook]) -> tuple[Hook, ...]:
        """Return the order of a strict load. Hooks without a handler also take a name and a position."""
        positions = {hook.manifest: position for position, hook in enumerate(self.hooks)}
        folders = [hook for hook in load_order if hook.manifest in positions]
        rest = [hook for hook in load_order if not positions or hook.kind != "folder"]
        return (*sorted(folders, key=lambda hook: positions[hook.manifest]), *rest)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The winner of each name, and the host's two orders, which may differ (disc-03)."""

    load_order: tuple[Hook, ...] = ()
    report_order: tuple[Hook, ...] = ()
    shadowed_by: Mapping[Hook, Hook] = field(default_factory=dict)
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """The result of a scan: every hook with its status, and the rejected candidates with reasons.

    `hooks` lists the winners in report order, then the shadowed hooks. `load_order` is the order in
    which winners register, which decides the calling order.
    """

    hooks: tuple[HookStatus, ...] = ()
    rejected: tuple[RejectedHook, ...] = ()
    problems: tuple[Problem, ...] = ()
    log: tuple[LogLine, ...] = ()
    load_order: tuple[Hook, ...] = ()
    report_order: tuple[Hook, ...] = ()

    def find(self, name: str) -> HookStatus | None:
        """Return the winning hook of that name, else of that settings key, else None."""
        rows = [*self.hooks]
        rows.sort(key=lambda row: row.verdict.shadowed_by is not None)
        by_name = (row for row in rows if row.hook.name == name)
        by_key = (row for row in rows if row.hook.key == name)
        return next(by_name, None) or next(by_key, None)

    def status_of(self, hook: Hook) -> HookStatus:
        """Return the status of this hook. Raises KeyError if it is not in the inventory."""
        for row in self.hooks:
            if row.hook is hook:
                return row
        raise KeyError(hook.name)

    def find_again(self, hook: Hook) -> HookStatus | None:
        """Return the status of a hook from another scan, or None if it is gone."""
        identity = (hook.name, hook.kind, hook.path, hook.handler)
        rows = [
            row
            for row in self.hooks
            if (row.hook.name, row.hook.kind, row.hook.path, row.hook.handler) == identity
        ]
        return next((row for row in rows if row.hook is hook), rows[0] if rows else None)


class State(StrEnum):
    """The state of a hook, in order of precedence: the first that applies."""

    SHADOWED = "shadowed"  # another hook of the same name wins
    BROKEN = "broken"  # a fault in its files
    BLOCKED = "blocked"  # a missing requirement: "ineligible" in the guides
    OFF = "off"  # switched off or not selected by the user
    UNTRUSTED = "untrusted"  # not yet allowed to run here
    SILENT = "silent"  # would run, but the host never sends its events
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Gate:
    """One check between a file on disk and a handler that runs.

    `passed` is None if the gate was not checked: skipped by `always`, or not reached. `reason` is
    the host's own text and is empty unless the gate failed. `reported` is False for checks that the
    host's loader does and its list does not show.
    """

    name: str
    passed: bool | None
    needed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # of a passed gate: the events that the hook does not receive
    found: str = ""
    reason: str = ""
    reported: bool = True
    fix: Edit | None = None
    place: FilePosition | None = None  # the fault's position in the hook's files
    setting: KeyPath | None = None  # the setting that decides, set or not
    stops_load: bool = False  # if failed, it ends the host's load before later hooks
    looked: tuple[str, ...] = ()  # if failed: the locations searched
    near: tuple[str, ...] = ()  # if failed: near misses, a sentence each

    @property
    def kind(self) -> GateKind:
        """The registered kind of this gate's name, or a default kind."""
        return GATE_KINDS.get(self.name) or GateKind(self.name)

    @property
    def effort(self) -> int:
        """The effort of fixing it, if it failed: a smaller number is easier."""
        has_no_edit = {  # although its kind of fix usually is one
            FixKind.EDIT: self.fix is None,
            FixKind.PLATFORM_NAME: not self.near,
            FixKind.TRUST: self.found == TOO_WIDE,
        }
        return FIX_ORDER.index(self.kind.fix) + len(FIX_ORDER) * has_no_edit.get(self.kind.fix, False)


GateRule: TypeAlias = "Callable[[Hook, Host], Gate]"
Evidence = tuple[tuple[str, ...], tuple[str, ...]]  # the searched locations; the near misses
EvidenceRule: TypeAlias = "Callable[[Gate, Hook, Host], Evidence]"


class FixKind(StrEnum):
    """The ways to make a gate pass, the easiest first. `authoring.fix` has the function for each."""

    TOGGLE = "toggle"  # make the edit that the check returned, as `enable` does
    TRUST = "trust"
    EDIT = "edit"  # make the edit that the check returned
    ADD_TO_LIST = "add to list"  # of the settings
    TAKE_FROM_LIST = "take from list"
    MOVE_EVENTS = "move events"  # to where the host reads its metadata
    EVENT_NAMES = "event names"
    FIELD_TYPES = "field types"
    PLATFORM_NAME = "platform name"
    NAME_EXPORT = "name export"
    BY_HAND_SETTINGS = "settings by hand"
    BY_HAND_HANDLER = "handler by hand"
    BY_HAND_LOAD = "load by hand"
    BY_HAND_PATH = "path by hand"
    SET_VARIABLES = "set variables"  # in the hook's entry
    SET_VALUES = "set values"  # in the settings
    PROGRAMS = "programs"  # allow one to be run, or install it
    PACKAGES = "packages"
    BY_HAND_BUILD = "build by hand"
    LOAD_BEFORE = "load before"  # fix the hook that ends the load


@dataclass(frozen=True, slots=True)
class GateKind:
    """Everything that lists, `info`, fixes, comparisons, packs and the console show about gates of one name.

    The dialect of a shipped program names the kinds that its host checks, in their order. Each dialect
    may replace the check.
    """

    name: str
    state: State = State.BLOCKED  # of a hook at which it failed
    guide_order: int | None = None  # the guides check it, in this order: 10, 20, …
    check: GateRule | None = None  # as the guides describe it
    evidence: EvidenceRule | None = None
    evidence_of_host: bool = False  # the evidence depends on the gate and the host, not on the hook
    fix: FixKind = FixKind.EDIT
    why_no_fix: str = "Hookscope knows no edit that makes this check pass"
    entry_advice: str = ""  # for a handler that the settings list: {entry} and {file}
    next_step: str = ""  # in the console, with {keys}; where no fix has a better one
    problem: str = ""  # the end of "NAME does not run: …", with {missing} and {is}; empty: the host's reason
    remedy: str = ""  # as advice to the hook's author: {missing} and {platform}
    shows_needed: bool = True  # its name alone does not say what it needs
    is_requirement: bool = False  # the hook's metadata declares what it needs
    any_of: bool = False  # one of the needed items is enough


GATE_KINDS: dict[str, GateKind] = {}  # by name; each module that has a check registers its kind


def register_gate(kind: GateKind) -> GateKind:
    """Register a gate kind, and return it."""
    GATE_KINDS[kind.name] = kind
    return kind


KNOWN_AFTER_LOAD = "known after a load"
STATE_ORDER, FIX_ORDER = tuple(State), tuple(FixKind)
TOO_WIDE = "too wide"  # `found` of the `trusted` gate for a folder that is too broad


def gate_state(gate: Gate) -> State:
    """Return the state of a hook for which this gate failed."""
    return gate.kind.state


@dataclass(frozen=True, slots=True)
class Verdict:
    """All gates of one hook, and the state that follows from them."""

    gates: tuple[Gate, ...]
    shadowed_by: Hook | None = None

    @property
    def state(self) -> State:
        """The first state that applies, in the order of `State`."""
        if self.shadowed_by is not None:
            return State.SHADOWED
        failed_states = [gate_state(gate) for gate in self.gates if gate.passed is False]
        return min(failed_states, key=STATE_ORDER.index, default=State.READY)

    @property
    def eligible(self) -> bool:
        """The guides' "eligible": no requirement is missing, whether the hook is enabled or not."""
        return not any(gate.passed is False and gate_state(gate) is State.BLOCKED for gate in self.gates)

    @property
    def enabled(self) -> bool:
        """The user's choice: neither this hook nor all hooks are switched off."""
        return not any(gate.passed is False and gate_state(gate) is State.OFF for gate in self.gates)

    @property
    def stops_load(self) -> Gate | None:
        """The failed gate that ends the host's whole load; None for nearly every hook."""
        return next((gate for gate in self.gates if gate.stops_load and gate.passed is False), None)

    def failed(self) -> tuple[Gate, ...]:
        """Return the failed gates, in order."""
        return tuple(gate for gate in self.gates if gate.passed is False)

    def easiest_first(self) -> tuple[Gate, ...]:
        """Return the failed gates, in the order of the effort of fixing them."""
        return tuple(sorted(self.failed(), key=lambda gate: gate.effort))

    def passed_in_part(self) -> tuple[Gate, ...]:
        """Return, in order, the passed gates that exclude some of the hook's events."""
        return tuple(gate for gate in self.gates if gate.passed and gate.missing)

    def reasons(self, state: State | None = None) -> tuple[str, ...]:
        """Return the reasons of the failed gates, or only of those that lead to `state`."""
        return tuple(gate.reason for gate in self.failed() if state is None or gate_state(gate) is state)

    def why(self, short: Callable[[Path], str] = str) -> str:
        """Return why the hook does not run, in one line, or "" if it runs. `short` formats paths."""
        if self.shadowed_by is not None:
            winner = self.shadowed_by
            where = f" in {short(winner.path)}" if winner.path is not None else ""
            return f"shadowed by the {winner.folder.source} hook{where}"
        state = self.state
        if state is State.UNTRUSTED:  # trust does not help here, so this comes first
            never, waits = ", ".join(self.reasons(State.SILENT)), ", ".join(self.reasons(state))
            return f"{never} (and untrusted: {waits})" if never else waits
        if state is State.BROKEN:
            reasons = (
                f"{gate.reason}: {gate.near[0]}" if _near_miss_explains(gate) else gate.reason
                for gate in self.failed()
                if gate_state(gate) is state
            )
            return ", ".join(reasons)
        return "" if state is State.READY else ", ".join(self.reasons(state))


def _near_miss_explains(gate: Gate) -> bool:
    """Return whether the near miss explains more than the host's own reason."""
    return gate.name == "events" and bool(gate.near)


@dataclass(frozen=True, slots=True)
class HookStatus:
    """A hook and its status: one row of every list."""

    hook: Hook
    verdict: Verdict
    shadows: tuple[Hook, ...] = ()
    notes: tuple[str, ...] = ()
    dialect_differences: tuple[str, ...] = ()  # differences in another dialect, a sentence each
    declared: tuple[str, ...] | None = None  # events declared by its loaded module; None: not loaded
    declared_folder_events: frozenset[str] = frozenset()  # the folder events among a plugin's `declared`

    @property
    def events(self) -> tuple[str, ...] | None:
        """The events that it subscribes to, in order; None if only a load can tell."""
        return self.hook.meta.events if self.declared is None else self.declared

    @property
    def folder_events(self) -> frozenset[str]:
        """The events of hook folders among a plugin's events."""
        return self.hook.meta.folder_events if self.declared is None else self.declared_folder_events

    @property
    def unread_registrations(self) -> int:
        """How many more registrations a plugin has whose event only a load shows."""
        return self.hook.meta.unread_registrations if self.declared is None else 0

    @property
    def events_text(self) -> str:
        """Its events as one text, with those that only a load shows; empty if it has none."""
        if self.events is None:
            return KNOWN_AFTER_LOAD
        return ", ".join(filter(None, (*self.events, self.unread_text)))

    @property
    def denied_text(self) -> str:
        """How many of the hook's events the settings deny, and why; empty if none."""
        partly = next(iter(self.verdict.passed_in_part()), None)
        if partly is None:
            return ""
        count = len(partly.missing)
        return f"{count} event{'s' if count > 1 else ''} denied: {partly.found}"

    @property
    def unread_text(self) -> str:
        """How many more events a load will show; empty if none."""
        count = self.unread_registrations
        return f"and {count} more, {KNOWN_AFTER_LOAD}" if count else ""

    @property
    def knows_all_events(self) -> bool:
        """Whether `events` are all that it subscribes to."""
        return self.events is not None and not self.unread_registrations

    @property
    def state(self) -> State:
        return self.verdict.state

    @property
    def awaits_trust(self) -> bool:
        """Whether it is not trusted yet, whatever else stops it."""
        return any(gate_state(gate) is State.UNTRUSTED for gate in self.verdict.failed())

    @property
    def too_wide(self) -> bool:
        """Whether it is not trusted and its folder is too broad to trust."""
        return self.awaits_trust and any(gate.found == TOO_WIDE for gate in self.verdict.failed())


@dataclass(frozen=True, slots=True)
class Effect:
    """Another hook whose state an edit changes."""

    name: str
    source: str
    before: State
    after: State


def hook_identity(hook: Hook) -> tuple[Path | None, str, HookKind]:
    """Return the values by which a later scan recognises the hook."""
    return hook.path, hook.name, hook.kind


def effects_of_change(
    before: Inventory, after: Inventory, is_own: Callable[[Hook], bool]
) -> tuple[Effect, ...]:
    """Return the hooks, except those of the change itself, whose state differs in the later inventory."""
    states = {hook_identity(row.hook): row.state for row in reversed(after.hooks)}  # the first of equal rows
    found = ((row, states.get(hook_identity(row.hook))) for row in before.hooks if not is_own(row.hook))
    return tuple(
        Effect(row.hook.name, row.hook.folder.source, row.state, state)
        for row, state in found
        if state is not None and state is not row.state
    )

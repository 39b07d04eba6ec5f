"""What a hook is, and what stands between it and running. Frozen data."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from hookscope.formats.places import KeyPath
from hookscope.values import dataclass

Kind = Literal["folder", "stream", "plugin", "legacy", "code"]
Language = Literal["python", "typescript", "javascript", "unknown"]

LANGUAGE_OF: Mapping[str, Language] = {
    ".py": "python",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
}


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
class Place:
    """A spot in a file, for people and editors. Line and column count from 1."""

    file: Path
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that could not be read as it should be: one sentence, and where."""

    text: str
    place: Place | None = None
    logged: str = ""  # the level at which the host itself logs this text when it loads; empty: not at all
    stops_load: bool = False  # the host's whole load ends here, before it looks for any hook
    wanted: Path | None = None  # the file that would mend it, where one that is not there is the fault


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as the host itself would log it."""

    level: str  # info, warn, error
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """What a fix asks for. `changes` turns it into bytes when somebody wants to see it."""

    file: Path
    path: KeyPath
    value: object
    meaning: str


@dataclass(frozen=True, slots=True)
class Requires:
    """`requires` of the metadata: what must be there for the hook to be eligible."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of the wrong type: where in the header, and what is wrong with it."""

    path: KeyPath
    text: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a HOOK.md says of its hook, read as one dialect reads it."""

    events: tuple[str, ...] | None = ()  # None: known only after a load
    always: bool = False
    hook_key: str | None = None
    emoji: str | None = None
    homepage: str | None = None
    export: str = "default"
    export_written: str | None = None  # with its blanks, where a host's sentence has it so
    os: tuple[str, ...] = ()
    requires: Requires = Requires()
    install: tuple[Mapping[str, object], ...] = ()
    limits: Mapping[str, float] = field(
        default_factory=dict
    )  # seconds: load, run, or of one event by its key
    priority: int = 0  # of a plugin hook that the settings define
    priorities: Mapping[str, int] = field(default_factory=dict)  # by event, as a plugin's text says them
    of_folders: frozenset[str] = frozenset()  # of a plugin's events: those of hook folders
    config: Mapping[str, object] = field(default_factory=dict)  # what the settings say to a plugin itself
    barred: Mapping[str, str] = field(default_factory=dict)  # event → why the host leaves the hook out of it
    unchecked: Mapping[str, object] = field(default_factory=dict)  # fields that a host takes over as they are
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()  # what the author should know of how it was read
    declared: bool = True  # False: its file has no metadata at all
    unequal: frozenset[int] = frozenset()  # places in `events` of what only reads as the text beside it

    @property
    def heard(self) -> tuple[str, ...]:
        """The events that it is registered for, as often as it is."""
        events = self.events or ()
        if not self.unequal:
            return events
        return tuple(key for place, key in enumerate(events) if place not in self.unequal)


@dataclass(frozen=True, slots=True)
class Folder:
    """A place where hooks are looked for."""

    source: str  # workspace, managed, bundled, extra, plugin
    label: str  # the host's own word for it
    path: Path
    rank: int  # higher wins
    declared: str = ""  # where it comes from, when a setting names it
    real: Path | None = None  # links resolved; None where there is no such folder
    trusted: bool = False  # may its handlers run without asking
    plugin: str = ""  # the id of the plugin that brings it
    holds: Kind = "folder"  # the kind of hooks that are looked for in it
    aside: bool = False  # it is for other things, and a hook in it is the exception
    named: tuple[int, ...] = ()  # of extra folders: which of them it is; several, where it is named again


@dataclass(frozen=True, slots=True)
class Beside:
    """A definition that stands beside a stream hook, which `toolResultFrom` may be asked about."""

    kind: Literal["tool", "connection"]
    name: str
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Hook:
    """One hook that was found or registered. Equal to itself only: two copies are two hooks."""

    name: str
    kind: Kind
    folder: Folder
    path: Path | None  # its own folder as found; None for hooks registered by code
    meta: Metadata = Metadata()
    description: str = ""
    manifest: Path | None = None  # its HOOK.md
    handler: Path | None = None  # as the host would report it
    language: Language = "unknown"
    real: Path | None = None  # its own folder, links resolved: what trust is asked about
    leads_out: Path | None = None  # where its handler really lies, when that is outside `real`
    beyond_host: bool = False  # Hookscope runs it, its host would not
    root: Path | None = None  # heads its handler's import path, where its own folder does not
    scope: str = ""  # the agent whose events it hears, where a host has several; empty: the root agent
    role: str = ""  # what it is to its host, where that is no plain hook: channel, dynamic, mapped
    beside: tuple[Beside, ...] = ()  # definitions of its agent, which its handlers may ask about
    written: str | None = None  # what its host's report calls it, where that is not its name here
    build: Problem | None = None  # keeps its host from building anything for as long as it stands
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of its entry in the settings: `hookKey` where given, else the name."""
        return self.name if self.meta.hook_key is None else self.meta.hook_key

    @property
    def told(self) -> str:
        """What its host calls it in its report and its log."""
        return self.name if self.written is None else self.written

    @property
    def trust_root(self) -> Path:
        """What its user is asked to trust: the hooks folder, or where a link leads to."""
        if self.leads_out is not None:
            return self.leads_out.parent
        if self.real is None or (self.folder.real is not None and self.real.parent == self.folder.real):
            return self.folder.path
        return self.real


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
    place: Place | None = None  # where in the hook's own files the fault stands
    setting: KeyPath | None = None  # where in the settings the decision stands, or would stand
    stops_load: bool = False  # shut, it ends the host's whole load: later hooks are never reached
    looked: tuple[str, ...] = ()  # shut: where the missing thing was looked for
    near: tuple[str, ...] = ()  # shut: what nearly was it, a sentence each


# Which state a shut gate means. Gates that no list here names are the world's: blocked.
STATE_OF: Mapping[str, State] = {
    "build": State.BROKEN,
    "handler": State.BROKEN,
    "fields": State.BROKEN,
    "events": State.BROKEN,
    "path": State.BROKEN,
    "source": State.BROKEN,
    "export": State.BROKEN,
    "load": State.BROKEN,
    "reached": State.BROKEN,
    "switch": State.OFF,
    "selected": State.OFF,
    "allow": State.OFF,
    "deny": State.OFF,
    "enabled": State.OFF,
    "trusted": State.UNTRUSTED,
    "sent": State.SILENT,
}
ORDER = tuple(State)


def gate_state(gate: Gate) -> State:
    """What it means for its hook that this gate is shut."""
    return STATE_OF.get(gate.name, State.BLOCKED)


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
        return min(shut, key=ORDER.index, default=State.READY)

    @property
    def eligible(self) -> bool:
        """What the seeds call eligible: no requirement is unmet. Says nothing about enabled."""
        return not any(gate.passed is False and gate_state(gate) is State.BLOCKED for gate in self.gates)

    @property
    def enabled(self) -> bool:
        """The user's choice: neither the hook nor all hooks are switched off."""
        return not any(gate.passed is False and STATE_OF.get(gate.name) is State.OFF for gate in self.gates)

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
        return "" if state is State.READY else ", ".join(self.reasons(state))


@dataclass(frozen=True, slots=True)
class Standing:
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

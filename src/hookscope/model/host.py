"""A host: its dialect (the rules of one version), its settings, trust, and the machine it is on.

Frozen data and protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hookscope.formats.positions import KeyPath
from hookscope.model.event_catalogue import Catalogue
from hookscope.model.failure import Failure
from hookscope.model.hook import FilePosition, Folder, Hook, Problem
from hookscope.model.hook_status import Gate, HookStatus
from hookscope.model.inventory import FoundHooks, Inventory, Ranking
from hookscope.model.machine import Machine
from hookscope.model.run import (
    CallGroup,
    Event,
    EventKind,
    Module,
    NotRun,
    Policy,
    Registration,
)
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.inventory import StrictLoadState


@dataclass(frozen=True, slots=True)
class AgentWorkspaces:
    """The agents of a host that has several."""

    workspaces: Mapping[str, str | None]  # by name; None: it names none of its own
    chosen: str | None = None  # the one that is looked at where nobody names another
    owner: str | None = None  # the one whose workspace is the host's own


@dataclass(frozen=True, slots=True)
class HostLayout:
    """Where a host keeps its settings and folders."""

    state: str  # the state folder: "~/.openclaw"; empty: it has none but the workspace
    settings: str  # the settings file in it: "openclaw.json"; empty: it has none
    state_variable: str | None = None  # environment variables that move them
    settings_variable: str | None = None
    workspace_variable: str | None = None
    bundled_variable: str | None = None  # names the folder of bundled hooks
    bundles: bool = True  # False: the program looks in no bundled folder unless somebody names one
    workspace_path: KeyPath = ("agents", "defaults", "workspace")
    agents: Callable[[Mapping[str, Any]], AgentWorkspaces] | None = None  # whose workspaces the settings name
    workspace: str = "workspace"  # below the state folder, where nothing else names one
    hooks: tuple[KeyPath, ...] = (("hooks", "internal"),)  # where its hooks settings stand; first wins
    markers: tuple[str, ...] = ()  # paths below the workspace that show this host
    program: str = ""  # its command, by which its installed package is found
    packages: tuple[str, ...] = ()  # the names that its package may have
    version_path: KeyPath = ()  # where it writes its own version into its settings
    own_bundled: str = ""  # where in its package its own hooks lie


@dataclass(frozen=True, slots=True)
class SettingsRules:
    """How a host reads its settings, beside plain JSON5."""

    include: str | None = None  # the key of an object that stands for other files
    variables: bool = False  # is `${NAME}` replaced in texts
    dotenv: str | None = None  # a file below the state folder whose variables count as set
    project_dotenv: tuple[str, ...] = ()  # such files of the workspace, the strongest first
    env_path: KeyPath | None = None  # where the settings set variables themselves
    check: Callable[[Mapping[str, Any]], tuple[tuple[KeyPath, str], ...]] | None = None
    """What the host refuses: a path and its sentence for each."""
    refusal: str = ""  # the host's error text: {file} {issues}; empty: it goes on without its settings
    issue: str = "{path}: {text}"
    path_text: Callable[[KeyPath], str] | None = None  # how it writes a path; none: with dots
    advice: Callable[[KeyPath, str], str] | None = None  # what to do about such a sentence; empty: not known


@dataclass(frozen=True, slots=True)
class LoaderMessages:
    """The host's own sentences while it loads."""

    discovered: str | None = None  # {count}
    registered: str | None = None  # {emoji} {name} {events}
    legacy_registered: str | None = None  # {event} {module}
    complete: str | None = None  # {registered} {discovered} {skipped} {failed}
    not_loaded: str | None = None  # {file} {type} {error} {plain}: with and without what we say beside it
    no_function: str | None = None  # {file} {export}
    no_events: str | None = None  # {name}
    off: str | None = None
    loading: Mapping[str, str] = field(default_factory=dict)  # by source: said before each import
    never_sent: str | None = None  # {name} {what} {events}: events that the host does not know


class StrictLoadCheck(Protocol):
    """What ends a strict load before anything is imported."""

    def sources(self, host: Host, hooks: Iterable[Hook]) -> StrictLoadState:
        """What a load of these hooks leaves behind that is not strict."""

    def check(self, host: Host, before: StrictLoadState) -> tuple[StrictLoadState, tuple[str, str] | None]:
        """What a strict load leaves behind; and the hook that ends it, with the host's sentence."""


@dataclass(frozen=True, slots=True)
class LoadRules:
    """What a load replaces, what fails it, and what all hooks being off means."""

    plain: bool = False  # the host loads what its language does, and nothing is mended for a handler
    keeps_code: bool = False  # handlers registered by code outlive a load
    off_closes: bool = False  # switched off, events reach nobody, whoever has registered
    takes_classes: bool = False  # a class counts as loaded, and fails when it is called
    imports_idle: bool = False  # a hook without events is imported before it is passed over
    no_events: str | None = None  # what fails a hook without events; None: it is skipped
    failed: str = "{name}: {error}"  # the sentence of a strict load that was refused: {name} {file} {error}
    no_function: str = "{error}"  # in place of {error} there: {export} {file}
    reworded: Callable[[Failure, str], str] | None = None  # (failure, file): what is in place of {error}
    refuses: Callable[[Module], Failure | None] | None = None  # why a plugin that registers this fails
    imports_once: frozenset[str] = frozenset()  # sources whose files it keeps as it imported them first
    crosses: bool = False  # do plugins register handlers for the events of hook folders, too
    strict_look: StrictLoadCheck | None = (
        None  # what a strict load asks of all folders before it imports anything
    )


@dataclass(frozen=True, slots=True)
class SwitchRules:
    """What switching a hook on or off means to this host."""

    also_true: tuple[KeyPath, ...] = ()  # settings that its command sets too, when it switches a hook on
    refuses_blocked: bool = False  # does its command refuse to switch on what could not run
    notices: str = ""  # when the host notices, as a sentence


@dataclass(frozen=True, slots=True)
class PackRules:
    """How packs reach this host."""

    key: str  # package.json → this → `hooks`
    whole: bool = False  # does it find the hooks that a package lists; else each hook lies by itself


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """An answer in the host's own words and shapes."""

    code: int = 0
    document: object = None  # for `--json`; None: the host has none
    lines: tuple[str, ...] = ()  # on standard output
    errors: tuple[str, ...] = ()  # on standard error


@dataclass(frozen=True, slots=True)
class CommandFlags:
    """The flags of the host's own command."""

    eligible: bool = False  # only what would load
    verbose: bool = False


class PackMessages(Protocol):
    """What the host's own command says of packs, and with which exit codes."""

    def deprecated(self, verb: str) -> tuple[str, ...]:
        """Said on standard output before anything else."""
        ...

    def warned(self, spec: str) -> tuple[str, ...]:
        """Said of every source that is no registry."""
        ...

    def unasked(self) -> CommandOutput:
        """Said where `--force` is not given."""
        ...

    def absent(self, path: str) -> CommandOutput:
        """There is nothing at that path."""
        ...

    def only_registry(self) -> CommandOutput:
        """A flag that is for registries alone."""
        ...

    def refused(self, reason: str, *, packaged: bool) -> CommandOutput:
        """`packaged`: is there a package.json."""
        ...

    def installed(self, name: str, target: str) -> tuple[str, ...]:
        """Said when a pack is in place at `target`."""
        ...

    def skipped(self, name: str, source: str) -> str:
        """Said of a pack that an update leaves out: its source has no versions."""
        ...

    def unknown(self, name: str) -> CommandOutput:
        """No pack of that name is installed."""
        ...

    def nothing_named(self) -> CommandOutput:
        """An update of nothing."""
        ...


class HostCommand(Protocol):
    """The host's own command line. Pure: what it would write is the caller's to write."""

    @property
    def packs(self) -> PackMessages | None:
        """What it says of packs; None where it has no commands for them."""
        ...

    def refused(self, host: Host) -> CommandOutput | None:
        """What every command says where the settings are refused; None where they are not."""
        ...

    def list(self, host: Host, inventory: Inventory, asked: CommandFlags) -> CommandOutput:
        """`list`."""
        ...

    def check(self, host: Host, inventory: Inventory, asked: CommandFlags) -> CommandOutput:
        """`check`."""
        ...

    def info(self, host: Host, inventory: Inventory, name: str) -> CommandOutput:
        """`info NAME`, which may be unknown."""
        ...

    def to_switch(self, inventory: Inventory, name: str, on: bool) -> HookStatus | CommandOutput:
        """The hook to switch, or why it is not switched."""
        ...

    def switched(self, row: HookStatus, on: bool) -> CommandOutput:
        """What is said when it is done."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """A host's settings, each value with its file and line on demand."""

    file: Path  # where they are, or would be
    value: Mapping[str, Any] = field(default_factory=dict)
    exists: bool = False
    problems: tuple[Problem, ...] = ()
    locate: Callable[[KeyPath], FilePosition | None] = lambda _: None
    refusal: str = ""  # the host's error text where it refuses them, and so refuses everything
    unread: str = ""  # why nobody knows what they say, though there is a file: they may switch off any hook

    def get(self, path: Sequence[str | int]) -> Any:
        """The value at a path, or None where there is none."""
        value: Any = self.value
        for part in path:
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, list) and _list_index(part) is not None and int(part) < len(value):
                value = value[int(part)]
            else:
                return None
        return value


def _list_index(part: str | int) -> int | None:
    if isinstance(part, int):
        return part if part >= 0 else None
    return int(part) if part.isascii() and part.isdigit() else None


@dataclass(frozen=True, slots=True)
class Trust:
    """Which folders' handlers may run."""

    folders: frozenset[Path] = frozenset()  # real paths; everything below is trusted too
    everything: bool = False  # an embedding program, or `--trust`
    digests: Mapping[Path, str] = field(default_factory=dict)  # of handler files, when they were trusted
    homes: frozenset[Path] | None = None  # of the user: too wide to trust; None: nothing is too wide
    everything_below: frozenset[Path] = frozenset()  # of `folders`: allowed however wide they are
    unchecked: frozenset[Path] = frozenset()  # of `folders`: recorded before their width was checked


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plugin that is a Python package: where its entry point leads to."""

    name: str
    file: Path
    export: str  # what has `register`, or is it


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the user or the embedding program says outright; it beats every setting."""

    workspace: Path | None = None
    bundled: Path | None = None
    config: Path | None = None
    extra: tuple[Path, ...] = ()
    own_bundled: Path | None = None  # what an installed host ships itself
    bundled_trusted: bool = True  # False: someone other than the user has named the folder of bundled hooks
    bundled_variable: bool = True  # may the host's own variable name that folder
    agent: str | None = None  # whose workspace it is; None: the default agent's
    plugin_hooks: tuple[Mapping[str, Any], ...] = ()  # `plugin_hooks:` of the project's configuration
    plugins: tuple[InstalledPlugin, ...] = ()  # of this Python's installed packages


class HookSystem(Protocol):
    """One kind of hook system under one dialect's rules."""

    @property
    def kind(self) -> EventKind:
        """The kind of events that its hooks hear."""
        ...

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        """Where to look, in order of looking."""
        ...

    def find(self, host: Host) -> FoundHooks:
        """Every hook, loser or winner. Reads disk through the host's files; runs nothing."""
        ...

    def rank(self, found: FoundHooks) -> Ranking:
        """Who wins where names collide, and the two orders."""
        ...

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        """Every check, in the order of showing; what `always` skips has `passed=None`."""
        ...

    def keys(self, event: Event) -> tuple[str, ...]:
        """The registry keys that hear this event, in order of calling."""
        ...

    def arrange(self, event: Event, heard: Sequence[Registration]) -> Arrangement:
        """Those that heard the event, grouped and in the order of calling; and whom the host leaves out."""
        ...

    def decisive(self, event: Event) -> Hashable | None:
        """What of an event decides who is called for it: those that agree in it share their plan, but for the
        policy. None where all of it may."""
        ...

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        """The event as it is fired: its name in the host's spelling, stamped, its `ctx` filled in.

        `entropy` is 16 random bytes. Called once for each fire.
        """
        ...

    def policy(self, event: Event) -> Policy:
        """How the handlers of this event are asked, and what their answers come to."""
        ...


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Who is called for an event, and who heard it and is not called."""

    groups: tuple[CallGroup, ...]
    left_out: tuple[NotRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rules of one host at one version."""

    name: str  # "openclaw", "openclaw@2026.9"
    title: str  # "OpenClaw, as its guide says"
    product: str  # "OpenClaw"
    layout: HostLayout
    systems: tuple[HookSystem, ...]
    texts: LoaderMessages = LoaderMessages()
    clears_when_off: bool = True  # does switching all hooks off unload those of the last load
    switching: SwitchRules = SwitchRules()
    entry_env: bool = True  # is an entry's `env` laid over the handler's environment
    settings_rules: SettingsRules = SettingsRules()
    load_rules: LoadRules = LoadRules()
    command: HostCommand | None = None  # its own command about hooks, where it has one
    packs: PackRules | None = None  # None: it has no folder that hooks are installed into
    catalogue: Callable[[], Catalogue] = Catalogue
    later: Mapping[str, str] = field(default_factory=dict)  # events that this guide lacks → who sends them
    later_plugin: Mapping[str, str] = field(default_factory=dict)  # the same, of hooks of plugins
    ships: frozenset[str] = frozenset()  # hooks that come with the program, by name
    sequences: tuple[str, ...] = ()  # files beside the catalogue: events in the order in which it sends them
    version: str = ""  # of the program that it follows to the letter; empty: it follows a guide
    since: str = ""  # the first version that it is right for, where that is an older one

    @property
    def kinds(self) -> tuple[EventKind, ...]:
        """The kinds of hooks that this host has, the first being that of an event nobody knows."""
        return tuple(system.kind for system in self.systems)

    def event_of(self, key: str) -> Event:
        """A bare event of that key, under the host's own spelling of it."""
        key, kind = self.catalogue().canonical(key), self.kind_of_event(key)
        if kind != "folder":
            return Event(key, kind=kind)
        family, _, action = key.partition(":")
        return Event(family, action)

    def kind_of_event(self, key: str) -> EventKind:
        """The kind of the event of this key; of one that nobody knows, the kind that its spelling shows.

        `a:b` is of a folder, `a_b` of a plugin, `a.b` of a stream, where the host has such hooks.
        """
        known = self.catalogue().find(key)
        if known is not None and known.kind in self.kinds:
            return known.kind
        marks: tuple[tuple[str, EventKind], ...] = ((":", "folder"), ("_", "plugin"), (".", "stream"))
        found = next((kind for mark, kind in marks if mark in key and kind in self.kinds), None)
        return found or self.kinds[0]

    def system_of(self, kind: EventKind) -> HookSystem:
        """Raises LookupError where this host has no such hooks."""
        for system in self.systems:
            if system.kind == kind:
                return system
        raise LookupError(f"{self.product} has no {kind} hooks")


@dataclass(frozen=True, slots=True)
class Host:
    """A dialect in surroundings: settings read, folders known. One Host serves one look."""

    dialect: Dialect
    surroundings: Machine
    settings: Settings
    state: Path
    workspace: Path
    env: Mapping[str, str]  # what `requires.env` sees
    choices: Overrides = Overrides()
    folders: tuple[Folder, ...] = ()
    problems: tuple[Problem, ...] = ()  # met while opening
    trust: Trust = Trust()
    known: dict[object, Any] = field(init=False, default_factory=dict, compare=False, repr=False)
    """What was found out about this host and is the same for many hooks."""

    def folders_of(self, kind: EventKind) -> tuple[Folder, ...]:
        """The folders in which hooks of this kind are looked for, in order of looking."""
        return tuple(folder for folder in self.folders if folder.holds == kind)

    def hooks_setting(self, *path: str | int) -> tuple[Any, KeyPath]:
        """A value of the hooks settings and its full path: the first place where it stands.

        Where it stands nowhere: None, and the path where it would be written.
        """
        for base in self.dialect.layout.hooks:
            value = self.settings.get((*base, *path))
            if value is not None:
                return value, (*base, *path)
        return None, (*self.dialect.layout.hooks[0], *path)

    @property
    def has_entries(self) -> bool:
        """Do the settings say anything of single hooks."""
        if "entries" not in self.known:
            self.known["entries"] = self.hooks_setting("entries")[0] is not None
        answer: bool = self.known["entries"]
        return answer

    def entry(self, key: str) -> Mapping[str, Any]:
        """The settings entry of a hook; empty where there is none."""
        if not self.has_entries:
            return {}
        value, _ = self.hooks_setting("entries", key)
        return value if isinstance(value, Mapping) else {}

    def entry_env(self, key: str) -> Mapping[str, str]:
        """The environment that a hook's entry adds."""
        env = self.entry(key).get("env")
        if not isinstance(env, Mapping):
            return {}
        return {str(name): value for name, value in env.items() if isinstance(value, str)}

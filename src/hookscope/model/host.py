"""A host: its dialect (the rules of one version), settings, trust and machine. Frozen data and protocols."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hookscope.formats.positions import KeyPath
from hookscope.model.event_catalogue import Catalogue
from hookscope.model.failure import Failure
from hookscope.model.hook import FilePosition, Folder, Hook, Problem
from hookscope.model.hook_status import FoundHooks, Gate, HookStatus, Inventory, Ranking
from hookscope.model.machine import Machine
from hookscope.model.program_report import ProgramReport
from hookscope.model.run import CallGroup, Event, EventKind, Module, NotRun, Policy, Registration
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.hook_status import StrictLoadState

T = TypeVar("T")
LONGEST_NUMBER = 20  # digits of a number in a version


@dataclass(frozen=True, slots=True)
class AgentWorkspaces:
    """The agents of a host that has several, and their workspaces."""

    workspaces: Mapping[str, str | None]  # by name; None: it has no own workspace
    default: str | None = None  # the agent to use by default
    owner: str | None = None  # the agent whose workspace is the host's own
    id_of: Callable[[str], str] = str  # an agent's name → its id


@dataclass(frozen=True, slots=True)
class HostLayout:
    """The locations of a host's settings and folders."""

    state: str  # the state folder: "~/.openclaw"; empty: the workspace only
    settings: str  # the settings file in it: "openclaw.json"; empty: none
    state_variable: str | None = None  # environment variables that move them
    settings_variable: str | None = None
    workspace_variable: str | None = None
    home_variable: str | None = None
    profile_variable: str | None = None  # adds its value to the state folder of the default workspace
    hooks_beside_settings: bool = False  # managed hooks are beside the settings that the variable names
    older_states: tuple[str, ...] = ()  # used if there is no state folder
    older_settings: tuple[str, ...] = ()  # files used if there are no settings
    bundled_variable: str | None = None  # names the folder of bundled hooks
    looks_for_bundled_hooks: bool = True  # False: only a bundled folder named by the user is searched
    workspace_path: KeyPath = ("agents", "defaults", "workspace")
    agents: Callable[[Mapping[str, Any]], AgentWorkspaces] | None = None  # whose workspaces the settings name
    workspace: str = "workspace"  # below the state folder, by default
    hooks: tuple[KeyPath, ...] = (("hooks", "internal"),)  # paths of its hooks settings; the first wins
    markers: tuple[str, ...] = ()  # paths below the workspace that show this host
    program: str = ""  # its command, by which its installed package is found
    packages: tuple[str, ...] = ()  # possible names of its package
    version_path: KeyPath = ()  # where it writes its own version into its settings
    own_bundled: str = ""  # the folder of its own hooks in its package


@dataclass(frozen=True, slots=True)
class SettingsRules:
    """How a host reads its settings, beyond plain JSON5."""

    include: str | None = None  # the key of an object that includes other files
    variables: bool = False  # whether `${NAME}` is expanded in texts
    dotenv: str | None = None  # a file below the state folder whose variables count as set
    project_dotenv: tuple[str, ...] = ()  # such files of the workspace, by precedence
    env_path: KeyPath | None = None  # where the settings set variables themselves
    check: Callable[[Mapping[str, Any]], tuple[tuple[KeyPath, str], ...]] | None = None
    """Returns what the host rejects: the path and the sentence of each fault."""
    refusal: str = ""  # the host's error: {file} {issues}; empty: it continues without settings
    refusal_starts: tuple[str, ...] = ()  # the first words of the program's refusals
    issue: str = "{path}: {text}"
    path_text: Callable[[KeyPath], str] | None = None  # formats a path; None: with dots
    advice_for: Callable[[KeyPath, str], str] | None = None  # the next step for such an issue; empty: unknown


@dataclass(frozen=True, slots=True)
class LoaderMessages:
    """The host's own log messages while it loads."""

    discovered: str | None = None  # {count}
    registered: str | None = None  # {emoji} {name} {events}
    legacy_registered: str | None = None  # {event} {module}
    complete: str | None = None  # {registered} {discovered} {skipped} {failed}
    not_loaded: str | None = None  # {file} {type} {error} {plain}: with and without our own words
    no_function: str | None = None  # {file} {export}
    no_events: str | None = None  # {name}
    switched_off: str | None = None
    loading: Mapping[str, str] = field(default_factory=dict)  # by source: logged before each import
    never_sent: str | None = None  # {name} {what} {events}: events that the host does not know


class StrictLoadCheck(Protocol):
    """Checks that end a strict load before anything is imported."""

    def sources(self, host: Host, hooks: Iterable[Hook]) -> StrictLoadState:
        """Return the state that a non-strict load of these hooks keeps for later loads."""

    def check(self, host: Host, previous: StrictLoadState) -> tuple[StrictLoadState, tuple[str, str] | None]:
        """Return the state after a strict load, and the hook that ends it with the host's error."""


@dataclass(frozen=True, slots=True)
class LoadRules:
    """What a load replaces, which hooks fail it, and the effect of switching all hooks off."""

    plain: bool = False  # handlers are loaded as they are, without repairs
    keeps_code_registrations: bool = False  # handlers registered by code outlive a load
    off_stops_dispatch: bool = False  # switched off, no handler receives events
    accepts_classes: bool = False  # a class loads, and fails when it is called
    imports_hooks_without_events: bool = False  # a hook without events is imported, then skipped
    no_events: str | None = None  # what fails a hook without events; None: it is skipped
    failed: str = "{name}: {error}"  # message of a refused strict load: {name} {file} {error}
    no_function: str = "{error}"  # in place of {error} there: {export} {file}
    reword_failure: Callable[[Failure, str], str] | None = None  # (failure, file) → replacement of {error}
    refusal_of_module: Callable[[Module], Failure | None] | None = None  # why the host refuses a plugin
    sources_imported_once: frozenset[str] = frozenset()  # a later load does not import their files again
    plugins_use_folder_events: bool = False  # whether plugins may also register for folder events
    strict_check: StrictLoadCheck | None = None  # checks all folders before a strict load imports anything
    has_strict_loads: bool = True  # False: each load keeps what loads
    adds_to_earlier_loads: bool = False  # a load keeps the registrations of those before it


@dataclass(frozen=True, slots=True)
class SwitchRules:
    """The effect of switching a hook on or off under this host."""

    also_true: tuple[KeyPath, ...] = ()  # more settings that its command sets to switch a hook on
    refuses_blocked: bool = False  # whether its command refuses hooks that could not run
    by_name: bool = False  # its command writes the entry under the hook's name, not its settings key
    when_noticed: str = ""  # when the change takes effect, as a sentence


@dataclass(frozen=True, slots=True)
class PackRules:
    """How this host installs packs."""

    key: str  # package.json → this → `hooks`
    installs_whole_package: bool = False  # installs the whole package; else each hook separately
    records_installs: bool = False  # keeps its own record of packs in its settings


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """The output of the host's own command."""

    code: int = 0
    document: object = None  # for `--json`; None: the host has none
    lines: tuple[str, ...] = ()  # on standard output
    errors: tuple[str, ...] = ()  # on standard error


@dataclass(frozen=True, slots=True)
class CommandFlags:
    """The flags of the host's own command."""

    eligible: bool = False  # only hooks that would load
    verbose: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True)
class PackMessages:
    """The host's own messages about packs, with placeholders."""

    deprecated: str  # {verb}; printed first to standard output: the host's command is deprecated
    unreviewed_source: str  # {spec}; the source is not a registry
    unconfirmed: str  # `--force` is missing
    no_such_path: str  # {path}
    cannot_pin: str  # a flag that applies to registries only
    refused: str  # {reason}; the last line about a refused pack
    refused_package: str  # the line before it if the pack has a package.json
    refused_folder: str  # the line before it if not
    installed: str  # {name} {target}
    skipped: str  # {name} {source}; an update skips the pack because its source has no versions
    not_installed: str  # {name}; no pack of that name is installed
    nothing_to_update: str  # an update names no pack


class HostCommand(Protocol):
    """The host's own command line. Pure: the caller writes what the command would write."""

    @property
    def packs(self) -> PackMessages | None:
        """The messages about packs; None if the host has no pack commands."""
        ...

    def refused_settings(self, host: Host) -> CommandOutput | None:
        """Return the output of every command if the settings or the agent are refused, else None."""
        ...

    def list(self, host: Host, inventory: Inventory, flags: CommandFlags) -> CommandOutput:
        """Return the output of `list`."""
        ...

    def check(self, host: Host, inventory: Inventory, flags: CommandFlags) -> CommandOutput:
        """Return the output of `check`."""
        ...

    def info(self, host: Host, inventory: Inventory, name: str) -> CommandOutput:
        """Return the output of `info NAME`; the name may be unknown."""
        ...

    def to_switch(
        self, inventory: Inventory, name: str, on: bool, flags: CommandFlags
    ) -> HookStatus | CommandOutput:
        """Return the hook to switch, or the output with the reason why it cannot be switched."""
        ...

    def switched(self, status: HookStatus, on: bool) -> CommandOutput:
        """Return the output after a hook was switched."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """A host's settings; the file and line of each value are located on demand."""

    file: Path  # its path, whether it exists or not
    value: Mapping[str, Any] = field(default_factory=dict)
    exists: bool = False
    problems: tuple[Problem, ...] = ()
    locate: Callable[[KeyPath], FilePosition | None] = lambda _: None
    refusal: str = ""  # the host's error if it refuses them, and so everything
    unread_reason: str = ""  # why the existing file cannot be read; it may switch off any hook

    def get(self, path: Sequence[str | int]) -> Any:
        """Return the value at a path, or None."""
        value: Any = self.value
        for part in path:
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, list) and _list_index(part) is not None and int(part) < len(value):
                value = value[int(part)]
            else:
                return None
        return value

    def place_of(self, path: KeyPath) -> FilePosition:
        """Return the position of the value at a path; that of the file if the value has none."""
        return self.locate(path) or FilePosition(self.file)


def _list_index(part: str | int) -> int | None:
    if isinstance(part, int):
        return part if part >= 0 else None
    return int(part) if part.isascii() and part.isdigit() else None


@dataclass(frozen=True, slots=True)
class Trust:
    """The folders whose handlers may run."""

    folders: frozenset[Path] = frozenset()  # real paths; everything below is trusted too
    everything: bool = False  # an embedding program, or `--trust`
    digests: Mapping[Path, str] = field(default_factory=dict)  # of handler files at the time of trust
    homes: frozenset[Path] | None = None  # of the user: too broad to trust; None: nothing is too broad
    everything_below: frozenset[Path] = frozenset()  # of `folders`: allowed however broad they are
    unchecked: frozenset[Path] = frozenset()  # of `folders`: recorded before this check


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plugin from a Python package: the target of its entry point."""

    name: str
    file: Path
    export: str  # the export that has `register`, or is it


@dataclass(frozen=True, slots=True)
class Overrides:
    """Explicit choices of the user or the embedding program; they override every setting."""

    workspace: Path | None = None
    bundled: Path | None = None
    config: Path | None = None
    extra: tuple[Path, ...] = ()
    own_bundled: Path | None = None  # the bundled hooks of an installed host
    bundled_trusted: bool = True  # False: the user did not choose the folder of bundled hooks
    bundled_variable: bool = True  # whether the host's own variable may name that folder
    agent: str | None = None  # the agent of the workspace; None: the default agent
    plugin_hooks: tuple[Mapping[str, Any], ...] = ()  # `plugin_hooks:` of the project's configuration
    plugins: tuple[InstalledPlugin, ...] = ()  # of this Python's installed packages


class HookSystem(Protocol):
    """One kind of hook system under one dialect's rules: a dataclass, whose `catalogue` the dialect sets."""

    @property
    def kind(self) -> EventKind:
        """The kind of events that its hooks receive."""
        ...

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        """Return the folders to search, in order, and problems with them."""
        ...

    def find(self, host: Host) -> FoundHooks:
        """Return every hook, winner or loser. Reads the disk through the host's files; runs nothing."""
        ...

    def rank(self, found: FoundHooks) -> Ranking:
        """Return the winner of each name, and the two orders."""
        ...

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        """Return all gates in display order; those that `always` skips have `passed=None`."""
        ...

    def keys(self, event: Event) -> tuple[str, ...]:
        """Return the registry keys that match this event, in calling order."""
        ...

    def arrange(self, event: Event, registrations: Sequence[Registration]) -> Arrangement:
        """Return the registrations, grouped and in calling order, and the excluded ones."""
        ...

    def plan_key(self, event: Event) -> Hashable | None:
        """Return the part of an event that decides which handlers are called; None if all may.

        Events with equal keys share a plan, except for its policy.
        """
        ...

    def prepare(self, event: Event, host: Host, entropy: bytes) -> Event:
        """Return the event ready to fire: the host's spelling, a timestamp, and a complete `ctx`.

        `entropy` is 16 random bytes. Called once per fire.
        """
        ...

    def policy(self, event: Event) -> Policy:
        """Return the policy of this event: how handlers are called and their answers merged."""
        ...


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The handlers that an event calls, and the subscribed ones that it does not call."""

    groups: tuple[CallGroup, ...]
    excluded: tuple[NotRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rules of one host at one version."""

    name: str  # "openclaw", "openclaw@2026.9"
    title: str  # "OpenClaw, as its guide says"
    product: str  # "OpenClaw"
    layout: HostLayout
    systems: tuple[HookSystem, ...]
    loader_messages: LoaderMessages = LoaderMessages()
    clears_when_off: bool = True  # whether switching all hooks off unloads them
    switch_rules: SwitchRules = SwitchRules()
    entry_env: bool = True  # whether handlers get an entry's `env`
    settings_rules: SettingsRules = SettingsRules()
    load_rules: LoadRules = LoadRules()
    command: HostCommand | None = None  # its own hooks command, if it has one
    program_report: ProgramReport | None = None  # how the installed program reports its hooks
    pack_rules: PackRules | None = None  # None: it cannot install hooks
    catalogue: Callable[[], Catalogue] = Catalogue
    newest: Callable[[], Dialect | None] = lambda: None  # of a guide: the newest version that is shipped
    bundled_names: frozenset[str] = frozenset()  # hooks that come with the program, by name
    sequences: tuple[str, ...] = ()  # files beside the catalogue: typical event sequences
    version: str = ""  # of the program that it reproduces; empty: it follows a guide
    since: str = ""  # the first version that it applies to, if older
    until: str = ""  # the first later version that it does not apply to; empty: none is known

    def __post_init__(self) -> None:
        # mypy does not know that every hook system is a dataclass: HookSystem is a protocol.
        systems = (replace(system, catalogue=self.catalogue) for system in self.systems)  # type: ignore[type-var]
        object.__setattr__(self, "systems", tuple(systems))  # it is frozen

    @property
    def order(self) -> tuple[int, ...]:
        """A sort key for dialects of one host: the first program version to which the dialect applies."""
        return version_order(self.since or self.version)

    @property
    def later_events(self) -> Mapping[str, str]:
        """Events for folders and streams that this guide lacks, with the dialect that sends them."""
        later = [self._later(kind) for kind in self.kinds if kind != "plugin"]
        return later[0] if later else {}

    @property
    def later_plugin_events(self) -> Mapping[str, str]:
        """Plugin events that this guide lacks, with the dialect that sends them."""
        return self._later("plugin") if "plugin" in self.kinds else {}

    def _later(self, kind: EventKind) -> Mapping[str, str]:
        newest, own = self.newest(), self.catalogue().parts  # a part for each kind, or none
        if newest is None or not own:
            return {}
        at = self.kinds.index(kind)
        return _added_events(newest.name, newest.catalogue().parts[at], own[at])

    @property
    def kinds(self) -> tuple[EventKind, ...]:
        """The kinds of hooks of this host; the first is the default kind of an unknown event."""
        return tuple(system.kind for system in self.systems)

    def event_of(self, key: str) -> Event:
        """Return an empty event of that key, in the host's own spelling."""
        key, kind = self.catalogue().canonical(key), self.kind_of_event(key)
        if kind != "folder":
            return Event(key, kind=kind)
        family, _, action = key.partition(":")
        return Event(family, action)

    def kind_of_event(self, key: str) -> EventKind:
        """Return the kind of an event; the spelling decides for an unknown event.

        `a:b` is a folder event, `a_b` a plugin event and `a.b` a stream event, if the host has such
        hooks.
        """
        known = self.catalogue().find(key)
        if known is not None and known.kind in self.kinds:
            return known.kind
        separators: tuple[tuple[str, EventKind], ...] = ((":", "folder"), ("_", "plugin"), (".", "stream"))
        matching = next((kind for mark, kind in separators if mark in key and kind in self.kinds), None)
        return matching or self.kinds[0]

    def system_of(self, kind: EventKind) -> HookSystem:
        """Return the system for a kind. Raises LookupError if this host has no such hooks."""
        for system in self.systems:
            if system.kind == kind:
                return system
        raise LookupError(f"{self.product} has no {kind} hooks")


@cache
def _added_events(
    newest: str, newer: Callable[[], Catalogue], older: Callable[[], Catalogue]
) -> Mapping[str, str]:
    known = {event.key for event in older().events if event.emitted}
    return {event.key: newest for event in newer().events if event.emitted and event.key not in known}


def version_order(version: str) -> tuple[int, ...]:
    """Return a sort key: `2.0.0-alpha.76` → 2, 0, 0, 0, 76. Pre-releases come before the release."""
    head, _, stage = version.partition("-")
    numbers = _numbers(head)
    stages = {"alpha": 0, "beta": 1, "rc": 2}
    word = re.match(r"[a-z]+", stage)
    level = 3 if not stage else stages.get(word[0] if word else "", 2)
    return (*[*numbers, 0, 0, 0][:3], level, *_numbers(stage))


def _numbers(text: str) -> list[int]:
    """Return the numbers in a text. Truncates numbers that are too long for Python to parse."""
    return [int(part[:LONGEST_NUMBER]) for part in re.findall(r"\d+", text)]


@dataclass(frozen=True, slots=True)
class Host:
    """A dialect on a machine, with its settings read and its folders known. Serves one scan."""

    dialect: Dialect
    machine: Machine
    settings: Settings
    state: Path
    config_folder: Path  # of managed hooks and plugins: the state folder, unless the settings moved
    workspace: Path
    env: Mapping[str, str]  # what `requires.env` sees
    overrides: Overrides = Overrides()
    folders: tuple[Folder, ...] = ()
    problems: tuple[Problem, ...] = ()  # found while opening
    trust: Trust = Trust()
    known: dict[object, Any] = field(init=False, default_factory=dict, compare=False, repr=False)
    """Cached results of this scan that are the same for many hooks; see `cached`."""

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """Return the value of `make()`, which is called once for each `key` in a scan."""
        if key not in self.known:
            self.known[key] = make()
        found: T = self.known[key]
        return found

    def folders_of(self, kind: EventKind) -> tuple[Folder, ...]:
        """Return the folders that are searched for hooks of this kind, in order."""
        return tuple(folder for folder in self.folders if folder.hook_kind == kind)

    def hooks_setting(self, *path: str | int) -> tuple[Any, KeyPath]:
        """Return a value of the hooks settings and its full path; the first location wins.

        If it is not set: None and the path where it would be written.
        """
        for base in self.dialect.layout.hooks:
            value = self.settings.get((*base, *path))
            if value is not None:
                return value, (*base, *path)
        return None, (*self.dialect.layout.hooks[0], *path)

    @property
    def has_entries(self) -> bool:
        """Whether the settings have entries for single hooks."""
        return self.cached("entries", lambda: self.hooks_setting("entries")[0] is not None)

    def entry(self, key: str) -> Mapping[str, Any]:
        """Return the settings entry of a hook; empty if there is none."""
        if not self.has_entries:
            return {}
        value, _ = self.hooks_setting("entries", key)
        return value if isinstance(value, Mapping) else {}

    def entry_env(self, key: str) -> Mapping[str, str]:
        """Return the environment variables that a hook's entry adds."""
        env = self.entry(key).get("env")
        if not isinstance(env, Mapping):
            return {}
        return {str(name): value for name, value in env.items() if isinstance(value, str)}

"""A dialect: the rules of one host at one version, as values and named functions. And a Host: a
dialect in surroundings, with its settings read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from hookscope.core.event_types import Catalogue
from hookscope.core.hooks import Folder, Hook, Place, Problem
from hookscope.core.host_command import HostCommand
from hookscope.core.inventory import Found, Ranking
from hookscope.core.rules import Layout, LoaderTexts, LoadRules, PackRules, SettingsRules, Switching
from hookscope.core.runs import Event, EventKind, Group, NotRun, Policy, Registration
from hookscope.core.standing import Gate
from hookscope.core.surroundings import Surroundings
from hookscope.formats.places import KeyPath
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """A host's settings, each value with its file and line on demand."""

    file: Path  # where they are, or would be
    value: Mapping[str, Any] = field(default_factory=dict)
    exists: bool = False
    problems: tuple[Problem, ...] = ()
    locate: Callable[[KeyPath], Place | None] = lambda _: None
    refusal: str = ""  # the host's error text where it refuses them, and so refuses everything
    unread: str = ""  # why nobody knows what they say, though there is a file: they may switch off any hook

    def get(self, path: Sequence[str | int]) -> Any:
        """The value at a path, or None where there is none."""
        value: Any = self.value
        for part in path:
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, list) and _index(part) is not None and int(part) < len(value):
                value = value[int(part)]
            else:
                return None
        return value


def _index(part: str | int) -> int | None:
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
class Choices:
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


class System(Protocol):
    """One kind of hook system under one dialect's rules."""

    @property
    def kind(self) -> EventKind:
        """The kind of events that its hooks hear."""
        ...

    def folders(self, host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
        """Where to look, in order of looking."""
        ...

    def find(self, host: Host) -> Found:
        """Every hook, loser or winner. Reads disk through the host's files; runs nothing."""
        ...

    def rank(self, found: Found) -> Ranking:
        """Who wins where names collide, and the two orders."""
        ...

    def gates(self, hook: Hook, host: Host) -> tuple[Gate, ...]:
        """Every check, in the order of showing; what `always` skips has `passed=None`."""
        ...

    def keys(self, event: Event) -> tuple[str, ...]:
        """The registry keys that hear this event, in order of calling."""
        ...

    def arrange(self, event: Event, heard: Sequence[Registration]) -> Arranged:
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
class Arranged:
    """Who is called for an event, and who heard it and is not called."""

    groups: tuple[Group, ...]
    left_out: tuple[NotRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rules of one host at one version."""

    name: str  # "openclaw", "openclaw@2026.9"
    title: str  # "OpenClaw, as its guide says"
    product: str  # "OpenClaw"
    layout: Layout
    systems: tuple[System, ...]
    texts: LoaderTexts = LoaderTexts()
    clears_when_off: bool = True  # does switching all hooks off unload those of the last load
    switching: Switching = Switching()
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

    def system_of(self, kind: EventKind) -> System:
        """Raises LookupError where this host has no such hooks."""
        for system in self.systems:
            if system.kind == kind:
                return system
        raise LookupError(f"{self.product} has no {kind} hooks")


@dataclass(frozen=True, slots=True)
class Host:
    """A dialect in surroundings: settings read, folders known. One Host serves one look."""

    dialect: Dialect
    surroundings: Surroundings
    settings: Settings
    state: Path
    workspace: Path
    env: Mapping[str, str]  # what `requires.env` sees
    choices: Choices = Choices()
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

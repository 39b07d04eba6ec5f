"""A hook, its metadata, the folder it was found in, and problems with its files. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from hookscope.formats.positions import KeyPath
from hookscope.values import dataclass

HookKind = Literal["folder", "stream", "plugin", "legacy", "code"]
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


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A spot in a file, for people and editors. Line and column count from 1."""

    file: Path
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that could not be read as it should be: one sentence, and where."""

    text: str
    place: FilePosition | None = None
    logged: str = ""  # the level at which the host itself logs this text when it loads; empty: not at all
    stops_load: bool = False  # the host's whole load ends here, before it looks for any hook
    wanted: Path | None = None  # the file that would mend it, where one that is not there is the fault
    unseen: int | None = None  # of a hooks folder that cannot be read: its rank. Its hooks may replace others


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
class MetadataFault:
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
    tools: tuple[str, ...] = ()  # that a plugin's manifest declares
    barred: Mapping[str, str] = field(default_factory=dict)  # event → why the host leaves the hook out of it
    unchecked: Mapping[str, object] = field(default_factory=dict)  # fields that a host takes over as they are
    faults: tuple[MetadataFault, ...] = ()
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
    holds: HookKind = "folder"  # the kind of hooks that are looked for in it
    aside: bool = False  # it is for other things, and a hook in it is the exception
    named: tuple[int, ...] = ()  # of extra folders: which of them it is; several, where it is named again


@dataclass(frozen=True, slots=True)
class SiblingDefinition:
    """A definition that stands beside a stream hook, which `toolResultFrom` may be asked about."""

    kind: Literal["tool", "connection"]
    name: str
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Hook:
    """One hook that was found or registered. Equal to itself only: two copies are two hooks."""

    name: str
    kind: HookKind
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
    beside: tuple[SiblingDefinition, ...] = ()  # definitions of its agent, which its handlers may ask about
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


MAPPED_ROLE = "mapped"  # the role of a plugin hook that settings define: its module is the handler alone

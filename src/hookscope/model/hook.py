"""Hooks: metadata, the folder of each hook, and problems with its files. Frozen data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from hookscope.formats.positions import KeyPath, Span
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
    """A position in a file. Line and column count from 1."""

    file: Path
    line: int = 1
    column: int = 1

    @classmethod
    def of(cls, file: Path, span: Span | None) -> FilePosition:
        """Return the position of a span in a file; without a span, that of the file."""
        return cls(file, span.line, span.column) if span is not None else cls(file)


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that could not be read as expected: one sentence and its position."""

    text: str
    place: FilePosition | None = None
    log_level: str = ""  # the level at which the host logs this text; empty: not logged
    stops_load: bool = False  # the host's load ends here, before any hook
    missing_file: Path | None = None  # the missing file, if that is the problem
    unread_rank: int | None = None  # rank of an unreadable hooks folder, which may hide replacements

    @property
    def sentence(self) -> str:
        """The text, with its position unless the text names it."""
        if self.place is None or _names_position(self.text, self.place):
            return self.text
        return f"{self.place.file.name}, line {self.place.line}, column {self.place.column}: {self.text}"


def _names_position(text: str, place: FilePosition) -> bool:
    """Return whether a sentence names the line, or the file that it is about as a whole."""
    whole = place.line == place.column == 1 and place.file.name in text
    return whole or re.search(rf"\bline {place.line}\b", text) is not None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as the host itself would log it."""

    level: str  # info, warn, error
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one value that a fix requests; `storage.edits` computes the new bytes on demand."""

    file: Path
    path: KeyPath
    value: object
    meaning: str


@dataclass(frozen=True, slots=True)
class Requires:
    """The `requires` metadata: what must exist for the hook to be eligible."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataFault:
    """A metadata field of the wrong type: its path in the header and what is wrong with it."""

    path: KeyPath
    text: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a hook's HOOK.md, as one dialect reads it."""

    events: tuple[str, ...] | None = ()  # None: known only after a load
    always: bool = False
    hook_key: str | None = None
    emoji: str | None = None
    homepage: str | None = None
    export: str = "default"
    export_as_written: str | None = None  # with its blanks, for a host's message
    os: tuple[str, ...] = ()
    requires: Requires = Requires()
    install: tuple[Mapping[str, object], ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)  # seconds by `load`, `run` or event key
    priority: int = 0  # of a plugin hook that the settings define
    priorities: Mapping[str, int] = field(default_factory=dict)  # by event, from a plugin's source
    folder_events: frozenset[str] = frozenset()  # folder events among a plugin's events
    unread_registrations: int = 0  # of a plugin: those whose event only a load shows, beside `events`
    config: Mapping[str, object] = field(default_factory=dict)  # a plugin's own settings
    tools: tuple[str, ...] = ()  # declared in a plugin's manifest
    excluded_events: Mapping[str, str] = field(default_factory=dict)  # event → why the host excludes the hook
    unvalidated: Mapping[str, object] = field(default_factory=dict)  # fields that the host does not validate
    faults: tuple[MetadataFault, ...] = ()
    notes: tuple[str, ...] = ()  # notes for the author on how it was read
    declared: bool = True  # False: its file has no metadata at all
    lookalike_positions: frozenset[int] = frozenset()  # of values in `events` that are not strings
    removed_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # event → names in its answer

    @property
    def registered_events(self) -> tuple[str, ...]:
        """The events that the hook is registered for, with repeats."""
        events = self.events or ()
        if not self.lookalike_positions:
            return events
        return tuple(key for position, key in enumerate(events) if position not in self.lookalike_positions)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is searched for hooks."""

    source: str  # workspace, managed, bundled, extra, plugin
    label: str  # the host's own label
    path: Path
    rank: int  # higher wins
    declared: str = ""  # the setting that names it, if any
    real: Path | None = None  # links resolved; None if it does not exist
    trusted: bool = False  # handlers may run without further trust
    plugin: str = ""  # the id of the plugin that provides it
    hook_kind: HookKind = "folder"  # the kind of hooks searched in it
    incidental: bool = False  # not meant for hooks; a hook in it is an exception
    extra_positions: tuple[int, ...] = ()  # positions among the extra folders; several if repeated


@dataclass(frozen=True, slots=True)
class SiblingDefinition:
    """A tool or connection beside a stream hook; handlers may pass it to `toolResultFrom`."""

    kind: Literal["tool", "connection"]
    name: str
    path: Path


@dataclass(frozen=True, slots=True, eq=False)
class Hook:
    """One hook that was found or registered. Compared by identity: two copies are two hooks."""

    name: str
    kind: HookKind
    folder: Folder
    path: Path | None  # its own folder as found; None for hooks registered by code
    meta: Metadata = Metadata()
    description: str = ""
    manifest: Path | None = None  # its HOOK.md
    handler: Path | None = None  # as the host would report it
    language: Language = "unknown"
    real: Path | None = None  # its own folder, links resolved, for trust checks
    leads_out: Path | None = None  # the handler's real path, if outside `real`
    beyond_host: bool = False  # Hookscope can run it, its host cannot
    root: Path | None = None  # first on the handler's import path, if not its own folder
    scope: str = ""  # the agent whose events it receives; empty: the root agent
    role: str = ""  # its special role, if any: channel, dynamic, mapped
    beside: tuple[SiblingDefinition, ...] = ()  # definitions of its agent for `toolResultFrom`
    written: str | None = None  # its name in the host's report, if different
    build: Problem | None = None  # the error that stops the host's build of the whole project
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of its settings entry: `hookKey` if given, else the name."""
        return self.name if self.meta.hook_key is None else self.meta.hook_key

    @property
    def reported_name(self) -> str:
        """The name that the host uses for it in reports and logs."""
        return self.name if self.written is None else self.written


MAPPED_ROLE = "mapped"  # a plugin hook that settings define: its module is only the handler

"""Rules, findings, and the subject of a rule: one hook with its files read, and its host. Frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from functools import partial
from pathlib import Path

from hookscope.authoring.lint.header import LintHeader
from hookscope.formats.positions import KeyPath
from hookscope.hosts.source.facts import HandlerFacts, Occurrence
from hookscope.model.event_catalogue import Catalogue, EventType
from hookscope.model.hook import Edit, FilePosition, Hook
from hookscope.model.hook_status import RejectedHook
from hookscope.model.run import EventKind
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass


class Severity(StrEnum):
    """How severe a finding is. Only errors make a lint fail."""

    ERROR = "error"  # the hook, or a part of it, does not work
    WARNING = "warning"  # it may not work elsewhere or later
    HINT = "hint"  # worth knowing


@dataclass(frozen=True, slots=True)
class RuleMessage:
    """What a rule reports about a hook: one sentence, the position, and the next step."""

    severity: Severity
    place: FilePosition
    text: str
    next_step: str = ""
    fix: tuple[Edit, ...] | None = None  # None: no safe fix; edits of values in HOOK.md or JSON


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One finding of a rule in one hook."""

    rule: str
    severity: Severity
    hook: str
    place: FilePosition
    text: str
    next_step: str
    fix: tuple[Edit, ...] | None
    docs: str  # where the rule is explained


@dataclass(frozen=True, slots=True)
class NotLinted:
    """A rule that could not check a file, or any file, and why."""

    rule: str
    why: str


RuleCheck = Callable[["LintSubject"], Iterable[RuleMessage]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `check` is pure: the same subject gives the same result."""

    id: str
    text: str  # its documentation, parsed by `rule_documentation`
    check: RuleCheck
    reads_source: bool = False  # it needs the facts of the handler's source
    only_folder_hooks: bool = False  # it is for hooks of folder events
    depends_on_host: bool = False  # its result depends on the host

    @property
    def docs(self) -> str:
        """The command that explains the rule."""
        return f"hookscope lint --explain {self.id}"


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The facts of a host that rules need."""

    dialect: str
    product: str
    catalogue: Catalogue
    namespaces: tuple[str, ...] = ()  # under `metadata`, the first one preferred
    handlers: tuple[str, ...] = ()  # names of handler files; earlier ones take precedence
    hookscope_handlers: tuple[str, ...] = ()  # handler names that only Hookscope runs
    packages: tuple[str, ...] = ()  # the names of the host's own package
    variables: frozenset[str] = frozenset()  # the host's own environment variables
    # events missing from its guide → the dialect that sends them
    later: Mapping[str, str] = field(default_factory=dict)
    later_plugin: Mapping[str, str] = field(default_factory=dict)  # the same for plugin events
    program: str = ""  # if the host is a guide: the dialect of its program
    program_reads: tuple[str, ...] = ()  # further namespaces that the program reads
    loads_like_node: bool = False  # it loads scripts as Node does, and does not correct imports


NO_HEADER = LintHeader()

NO_SUCH_FILE = "there is no such file"  # the reason why a handler has no text


@dataclass(frozen=True, slots=True)
class NodePackage:
    """The nearest package.json above a `.js` file, which decides how Node reads the file."""

    file: Path
    type: str = ""  # its `type`, such as "module" or "commonjs"; empty if it has none
    has_build: bool = False  # it has a script `build`


@dataclass(frozen=True, slots=True)
class MissingImport:
    """An import that cannot be resolved."""

    occurrence: Occurrence
    replacement: str = ""  # the correct import name, if known


@dataclass(frozen=True, slots=True)
class PackEntryFault:
    """An entry in a pack's list that does not name a hook."""

    place: FilePosition  # in package.json
    reason: str  # a sentence


@dataclass(frozen=True, slots=True)
class LintSubject:
    """One hook, or a folder that looks like one and is rejected."""

    name: str
    folder: Path
    host: HostFacts
    names: frozenset[str] = frozenset()  # of the files in its folder
    manifest: Path | None = None  # its HOOK.md, if there is one
    header: LintHeader = NO_HEADER
    handler: Path | None = None
    source: bytes = b""  # of the handler
    text: str = ""  # `source` decoded as UTF-8, with U+FFFD for what is not UTF-8
    facts: HandlerFacts | None = None
    unread_reason: str = ""  # why there are no facts
    missing_imports: tuple[MissingImport, ...] = ()  # imports of a script that cannot be resolved
    package: NodePackage | None = None
    hook: Hook | None = None  # None: its host rejects it
    rejected: RejectedHook | None = None
    pack_faults: tuple[PackEntryFault, ...] = ()  # if the folder is a pack, not a hook

    @property
    def kind(self) -> EventKind:
        """The kind of events that it receives; for a rejected folder, folder events."""
        return "folder" if self.hook is None else event_kind(self.hook)

    @property
    def source_facts(self) -> HandlerFacts:
        """The facts of its source, for rules that read it: they run only if there are some."""
        assert self.facts is not None
        return self.facts

    @property
    def namespace(self) -> str:
        """The namespace its metadata should have; empty if the host reads none."""
        return self.host.namespaces[0] if self.host.namespaces else ""

    @property
    def metadata_path(self) -> KeyPath:
        """The path of the hook's metadata, below the first of the host's namespaces that the header uses."""
        used = (name for name in self.host.namespaces if self.header.namespace_block(name))
        return ("metadata", next(used, self.namespace))

    @property
    def metadata(self) -> Mapping[str, object]:
        """The hook's metadata as written; empty if there is none for this host."""
        return self.header.namespace_block(str(self.metadata_path[1]))

    @property
    def events(self) -> tuple[str, ...]:
        """The events it subscribes to, as the host reads them; empty if only loading shows them."""
        return (self.hook.meta.events or ()) if self.hook is not None else ()

    def kind_of(self, key: str) -> EventKind:
        """Return the kind of one of its events: a plugin may receive folder events too."""
        crosses = self.hook is not None and key in self.hook.meta.folder_events
        return "folder" if crosses else self.kind

    def sends(self, key: str) -> bool:
        """Return whether the host ever sends an event that this hook receives under the key."""
        return self.host.catalogue.sends(key, self.kind_of(key))

    def received_events(self) -> Iterator[EventType]:
        """Yield every catalogue event that it receives. A type includes all its sent events."""
        catalogue = self.host.catalogue
        for event in catalogue.events:
            family = event.key.partition(":")[0]
            listens = event.key in self.events or (self.kind == "folder" and family in self.events)
            if event.kind == self.kind and event.emitted and not event.family and listens:
                yield event

    # Places

    def header_position(self, *path: str | int) -> FilePosition:
        """Return the position of a header value, or where it would be."""
        return FilePosition(self.manifest or self.folder, *self.header.position_of(path))

    def event_position(self, key: str) -> FilePosition:
        """Return the position of an event's name."""
        written = self.metadata.get("events")
        if isinstance(written, list) and key in written:
            return self.header_position(*self.metadata_path, "events", written.index(key))
        if self.manifest is not None and self.metadata:
            return self.header_position(*self.metadata_path, "events")
        quotes = (self.text.find(f"{quote}{key}{quote}") for quote in "\"'`")
        at = next((found for found in quotes if found >= 0), 0)
        line = self.text.count("\n", 0, at) + 1
        return FilePosition(self.handler or self.folder, line, at - self.text.rfind("\n", 0, at))

    def handler_position(self, occurrence: Occurrence | None = None) -> FilePosition:
        """Return the position of an occurrence in the handler; without a handler, its folder."""
        file = self.handler or self.folder
        return (
            FilePosition(file, occurrence.line, occurrence.column)
            if occurrence is not None
            else FilePosition(file)
        )

    # Fixes

    def edit(self, path: KeyPath, value: object, meaning: str) -> Edit:
        """Return an edit of its HOOK.md's header."""
        return Edit(self.manifest or self.folder / "HOOK.md", path, value, meaning)


# Messages of rules. Arguments: the place, a sentence, the next step, and the edits of a safe fix.
error = partial(RuleMessage, Severity.ERROR)  # the hook does not work
warning = partial(RuleMessage, Severity.WARNING)  # it is probably not intended
hint = partial(RuleMessage, Severity.HINT)  # it could be better

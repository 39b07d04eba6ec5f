"""Rules, their findings, and the subject of a rule: one hook with its files read, and its host. Frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from hookscope.authoring.lint.header import LintHeader
from hookscope.formats.positions import KeyPath
from hookscope.hosts.source.facts import HandlerFacts, Occurrence
from hookscope.model.event_catalogue import Catalogue, EventType
from hookscope.model.hook import Edit, FilePosition, Hook
from hookscope.model.inventory import RejectedHook
from hookscope.model.run import EventKind
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass


class Severity(StrEnum):
    """How much it matters. Errors alone make a lint fail."""

    ERROR = "error"  # the hook, or a part of it, does not do what it says
    WARNING = "warning"  # it may not, elsewhere or one day
    HINT = "hint"  # worth knowing


@dataclass(frozen=True, slots=True)
class RuleMessage:
    """What a rule says of a hook: one sentence, where, and the next step."""

    severity: Severity
    place: FilePosition
    text: str
    then: str = ""
    fix: tuple[Edit, ...] | None = None  # None: none is safe; the edits are of values in HOOK.md or JSON


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing that a rule found in one hook."""

    rule: str
    severity: Severity
    hook: str
    place: FilePosition
    text: str
    then: str
    fix: tuple[Edit, ...] | None
    docs: str  # where the rule is explained


@dataclass(frozen=True, slots=True)
class NotLinted:
    """A rule that could not look, at one file or at all, and why."""

    rule: str
    why: str


RuleCheck = Callable[["LintSubject"], Iterable[RuleMessage]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `check` is pure: the same subject, the same answer."""

    id: str
    text: str  # its documentation, as `documented` reads it
    check: RuleCheck
    reads_source: bool = False  # does it want the facts of the handler's source
    by_host: bool = False  # may its answer differ from host to host

    @property
    def docs(self) -> str:
        """The command that explains it."""
        return f"hookscope lint --explain {self.id}"


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What rules ask of a host."""

    dialect: str
    product: str
    catalogue: Catalogue
    namespaces: tuple[str, ...] = ()  # under `metadata`, the first one preferred
    handlers: tuple[str, ...] = ()  # names of handler files, the first one wins
    beyond: tuple[str, ...] = ()  # names that Hookscope alone runs
    packages: tuple[str, ...] = ()  # the names of the host's own package
    variables: frozenset[str] = frozenset()  # that the host itself may set
    later: Mapping[str, str] = field(default_factory=dict)  # events that its guide lacks → who sends them
    later_plugin: Mapping[str, str] = field(default_factory=dict)  # the same, of hooks of plugins
    program: str = ""  # of a guide: the dialect of the program that goes on where it ends
    program_reads: tuple[str, ...] = ()  # names under `metadata` that this one reads besides
    plain: bool = False  # does it load scripts as Node does, and mends nothing for them


NO_HEADER = LintHeader()


@dataclass(frozen=True, slots=True)
class NodePackage:
    """The package.json that decides how Node reads a `.js` file: the nearest one upwards."""

    file: Path
    type: str = ""  # "module", "commonjs", or what it says; empty: nothing


@dataclass(frozen=True, slots=True)
class MissingImport:
    """An import that nothing answers."""

    met: Occurrence
    write: str = ""  # the file that was meant, as the import should name it


@dataclass(frozen=True, slots=True)
class LintSubject:
    """One hook, or what looks like one and is none."""

    name: str
    folder: Path
    host: HostFacts
    names: frozenset[str] = frozenset()  # of the files in its folder
    manifest: Path | None = None  # its HOOK.md, if there is one
    header: LintHeader = NO_HEADER
    handler: Path | None = None
    text: str = ""  # of the handler
    facts: HandlerFacts | None = None
    unread: str = ""  # why there are no facts
    absent: tuple[MissingImport, ...] = ()  # of a script with facts
    package: NodePackage | None = None
    hook: Hook | None = None  # None: its host takes it for no hook
    rejected: RejectedHook | None = None

    @property
    def kind(self) -> EventKind:
        """The kind of events that it hears; of a folder that is no hook, a folder's."""
        return "folder" if self.hook is None else event_kind(self.hook)

    @property
    def namespace(self) -> str:
        """The name that its metadata should stand under; empty where the host reads none."""
        return self.host.namespaces[0] if self.host.namespaces else ""

    @property
    def base(self) -> KeyPath:
        """The path of its metadata: under the host's name, the one that it uses where there are several."""
        used = (name for name in self.host.namespaces if self.header.own(name))
        return ("metadata", next(used, self.namespace))

    @property
    def own(self) -> Mapping[str, object]:
        """Its metadata as written; empty where there is none for this host."""
        return self.header.own(str(self.base[1]))

    @property
    def events(self) -> tuple[str, ...]:
        """What it listens to, as the host reads it; empty where that is known after a load."""
        return (self.hook.meta.events or ()) if self.hook is not None else ()

    def kind_of(self, key: str) -> EventKind:
        """The kind of one of its events: a plugin may hear those of hook folders too."""
        crosses = self.hook is not None and key in self.hook.meta.of_folders
        return "folder" if crosses else self.kind

    def sends(self, key: str) -> bool:
        """Does the host ever send an event that this hook would hear under that key."""
        return self.host.catalogue.sends(key, self.kind_of(key))

    def heard(self) -> Iterator[EventType]:
        """Every event of the catalogue that it hears: of a family, all that the host sends."""
        catalogue = self.host.catalogue
        for event in catalogue.events:
            family = event.key.partition(":")[0]
            listens = event.key in self.events or (self.kind == "folder" and family in self.events)
            if event.kind == self.kind and event.emitted and not event.family and listens:
                yield event

    # Places

    def in_header(self, *path: str | int) -> FilePosition:
        """Where a value of the header stands, or where it would."""
        return FilePosition(self.manifest or self.folder, *self.header.at(path))

    def of_event(self, key: str) -> FilePosition:
        """Where an event's name stands."""
        written = self.own.get("events")
        if isinstance(written, list) and key in written:
            return self.in_header(*self.base, "events", written.index(key))
        if self.manifest is not None and self.own:
            return self.in_header(*self.base, "events")
        quotes = (self.text.find(f"{quote}{key}{quote}") for quote in "\"'`")
        at = next((found for found in quotes if found >= 0), 0)
        line = self.text.count("\n", 0, at) + 1
        return FilePosition(self.handler or self.folder, line, at - self.text.rfind("\n", 0, at))

    def in_handler(self, met: Occurrence | None = None) -> FilePosition:
        """Where in its handler something was met; without a handler, its folder."""
        file = self.handler or self.folder
        return FilePosition(file, met.line, met.column) if met is not None else FilePosition(file)

    # Fixes

    def edit(self, path: KeyPath, value: object, meaning: str) -> Edit:
        """An edit of its HOOK.md's header."""
        return Edit(self.manifest or self.folder / "HOOK.md", path, value, meaning)


def error(place: FilePosition, text: str, then: str = "", fix: tuple[Edit, ...] | None = None) -> RuleMessage:
    """A finding that keeps the hook from working. `then` is the next step, `fix` the edits that do it."""
    return RuleMessage(Severity.ERROR, place, text, then, fix)


def warning(
    place: FilePosition, text: str, then: str = "", fix: tuple[Edit, ...] | None = None
) -> RuleMessage:
    """A finding that is probably not meant. As `error`."""
    return RuleMessage(Severity.WARNING, place, text, then, fix)


def hint(place: FilePosition, text: str, then: str = "", fix: tuple[Edit, ...] | None = None) -> RuleMessage:
    """A finding that could be better. As `error`."""
    return RuleMessage(Severity.HINT, place, text, then, fix)

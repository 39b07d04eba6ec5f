"""What a rule looks at: one hook, its files read, and the host whose rules apply. Frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from hookscope.core.bystanders import kind_of
from hookscope.core.event_types import Catalogue, EventType
from hookscope.core.hooks import Edit, Hook, Place
from hookscope.core.inventory import Rejected
from hookscope.core.runs import EventKind
from hookscope.formats.places import KeyPath
from hookscope.lint.header import Header
from hookscope.lint.model import Said, Severity
from hookscope.lint.source.facts import HandlerFacts, Met
from hookscope.values import dataclass


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


NO_HEADER = Header()


@dataclass(frozen=True, slots=True)
class Package:
    """The package.json that decides how Node reads a `.js` file: the nearest one upwards."""

    file: Path
    type: str = ""  # "module", "commonjs", or what it says; empty: nothing


@dataclass(frozen=True, slots=True)
class Absent:
    """An import that nothing answers."""

    met: Met
    write: str = ""  # the file that was meant, as the import should name it


@dataclass(frozen=True, slots=True)
class Subject:
    """One hook, or what looks like one and is none."""

    name: str
    folder: Path
    host: HostFacts
    names: frozenset[str] = frozenset()  # of the files in its folder
    manifest: Path | None = None  # its HOOK.md, if there is one
    header: Header = NO_HEADER
    handler: Path | None = None
    text: str = ""  # of the handler
    facts: HandlerFacts | None = None
    unread: str = ""  # why there are no facts
    absent: tuple[Absent, ...] = ()  # of a script with facts
    package: Package | None = None
    hook: Hook | None = None  # None: its host takes it for no hook
    rejected: Rejected | None = None

    @property
    def kind(self) -> EventKind:
        """The kind of events that it hears; of a folder that is no hook, a folder's."""
        return "folder" if self.hook is None else kind_of(self.hook)

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

    def in_header(self, *path: str | int) -> Place:
        """Where a value of the header stands, or where it would."""
        return Place(self.manifest or self.folder, *self.header.at(path))

    def of_event(self, key: str) -> Place:
        """Where an event's name stands."""
        written = self.own.get("events")
        if isinstance(written, list) and key in written:
            return self.in_header(*self.base, "events", written.index(key))
        if self.manifest is not None and self.own:
            return self.in_header(*self.base, "events")
        quotes = (self.text.find(f"{quote}{key}{quote}") for quote in "\"'`")
        at = next((found for found in quotes if found >= 0), 0)
        line = self.text.count("\n", 0, at) + 1
        return Place(self.handler or self.folder, line, at - self.text.rfind("\n", 0, at))

    def in_handler(self, met: Met | None = None) -> Place:
        """Where in its handler something was met; without a handler, its folder."""
        file = self.handler or self.folder
        return Place(file, met.line, met.column) if met is not None else Place(file)

    # Fixes

    def edit(self, path: KeyPath, value: object, meaning: str) -> Edit:
        """An edit of its HOOK.md's header."""
        return Edit(self.manifest or self.folder / "HOOK.md", path, value, meaning)


def error(place: Place, text: str, then: str = "", fix: tuple[Edit, ...] | None = None) -> Said:
    """A finding that keeps the hook from working. `then` is the next step, `fix` the edits that do it."""
    return Said(Severity.ERROR, place, text, then, fix)


def warning(place: Place, text: str, then: str = "", fix: tuple[Edit, ...] | None = None) -> Said:
    """A finding that is probably not meant. As `error`."""
    return Said(Severity.WARNING, place, text, then, fix)


def hint(place: Place, text: str, then: str = "", fix: tuple[Edit, ...] | None = None) -> Said:
    """A finding that could be better. As `error`."""
    return Said(Severity.HINT, place, text, then, fix)

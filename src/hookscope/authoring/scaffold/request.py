"""What to create: a hook, pack or plugin, and the hosts that it can be for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from hookscope.app.host_detection import shipped_dialect
from hookscope.hosts.dialects import DIALECTS, GUIDES, UnknownDialect, dialect_named
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import PYTHON_HANDLERS
from hookscope.hosts.plugins import PluginSystem
from hookscope.hosts.streams import StreamSystem
from hookscope.model.event_catalogue import Catalogue
from hookscope.model.failure import Refusal
from hookscope.model.hook import Hook
from hookscope.model.host import Dialect
from hookscope.model.run import EventKind
from hookscope.model.text import one_line
from hookscope.packs.package_checks import fault_of_pack_name
from hookscope.values import dataclass

ScaffoldKind = Literal["hook", "pack", "plugin", "stream"]
ScriptLanguage = Literal["python", "typescript", "javascript"]
KINDS: tuple[ScaffoldKind, ...] = get_args(ScaffoldKind)
LANGUAGES: tuple[ScriptLanguage, ...] = get_args(ScriptLanguage)
WORKSPACE, MANAGED = "workspace", "managed"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")  # valid at every host and on every file system
EVENT = re.compile(r"\*|[A-Za-z][\w.:-]{0,99}")
RESERVED = frozenset({"index"})  # a module of Eve; also invalid: pack names
KIND_OF_SYSTEM: dict[ScaffoldKind, EventKind] = {
    "hook": "folder",
    "pack": "folder",
    "plugin": "plugin",
    "stream": "stream",
}


@dataclass(frozen=True, slots=True)
class ScaffoldRequest:
    """What the user wants to create. Empty fields are chosen for them."""

    name: str
    kind: ScaffoldKind | None = None  # None: a hook of the first dialect's first kind
    events: tuple[str, ...] = ()
    language: ScriptLanguage | None = None
    dialects: tuple[str, ...] = ()  # target dialects; empty: the current dialect
    where: str = ""  # workspace, managed, or a folder
    description: str = ""


def check_name(name: str) -> None:
    """Raise Refusal for a name that some host or file system would not accept."""
    if not NAME.fullmatch(name):
        rule = "Use a letter, then letters, digits, - and _; 64 characters at most."
        raise Refusal(f"{one_line(name, 60)!r} cannot be a hook's name.", rule, code=2)
    if name.lower() in RESERVED or fault_of_pack_name(name):
        raise Refusal(f"{name} is a reserved name.", "Choose another.", code=2)


def check_description(text: str) -> None:
    """Raise Refusal for a text that a one-line header cannot hold."""
    if text != one_line(text, 300) or "`" in text:
        raise Refusal("The description needs one line of at most 300 characters, without backticks.", code=2)


def kind_named(text: str) -> ScaffoldKind:
    """Return the kind with this name; a product with module hooks means `stream`. Raises Refusal."""
    for kind in KINDS:
        if text == kind:
            return kind
    streams = {one.product.lower() for one in DIALECTS.values() if "stream" in one.kinds}
    if text.lower() in streams:
        return "stream"
    raise Refusal(f"There is no kind {one_line(text, 40)!r}.", f"Use one of {', '.join(KINDS)}.", code=2)


ENDINGS: dict[ScriptLanguage, tuple[str, ...]] = {
    "python": (".py",),
    "typescript": (".ts",),
    "javascript": (".js", ".mjs"),
}

LANGUAGE_NAMES: dict[ScriptLanguage, str] = {
    "python": "Python",
    "typescript": "TypeScript",
    "javascript": "JavaScript",
}


@dataclass(frozen=True, slots=True)
class TargetHost:
    """A dialect, and its hook system of the requested kind."""

    dialect: Dialect
    system: FolderSystem | PluginSystem | StreamSystem

    @property
    def name(self) -> str:
        """The dialect's name."""
        return self.dialect.name

    @property
    def catalogue(self) -> Catalogue:
        """The events of the host."""
        return self.dialect.catalogue()

    @property
    def namespace(self) -> str:
        """The namespace below `metadata` of a HOOK.md; empty if there is none."""
        return self.system.shape.namespace if isinstance(self.system, FolderSystem) else ""

    @property
    def runs_python(self) -> bool:
        """True if the host itself runs Python handlers."""
        if isinstance(self.system, StreamSystem):
            return not self.system.marks_python
        return not self.system.shape.marks_python


@dataclass(frozen=True, slots=True)
class TargetHosts:
    """The chosen hosts in order, and the programs behind the guides among them."""

    chosen: tuple[TargetHost, ...]
    programs: tuple[TargetHost, ...]

    @property
    def all(self) -> tuple[TargetHost, ...]:
        """The chosen hosts, and the programs behind them."""
        return (*self.chosen, *self.programs)

    @property
    def first(self) -> TargetHost:
        """The host that was named first."""
        return self.chosen[0]


def default_kind(names: Sequence[str], kind: ScaffoldKind | None) -> ScaffoldKind:
    """Return `kind`, or else the kind of hooks that the first dialect has. Raises Refusal."""
    if kind is not None:
        return kind
    return "hook" if "folder" in checked_dialect(names[0]).kinds else "stream"


def checked_dialect(name: str) -> Dialect:
    """Return the named dialect. Raises Refusal for an unknown one."""
    try:
        return dialect_named(name)
    except UnknownDialect as error:
        raise Refusal(str(error), code=2) from None


def target_hosts(names: Sequence[str], kind: ScaffoldKind, *, explicit: bool) -> TargetHosts:
    """Return the dialects with their systems for this kind of hook. Raises Refusal if one has no such hooks.

    `explicit`: the user named the dialects. Otherwise the first guide with such hooks may replace them.
    """
    dialects = [checked_dialect(name) for name in dict.fromkeys(names)]
    of_events = KIND_OF_SYSTEM[kind]
    if not explicit and not any(of_events in dialect.kinds for dialect in dialects):
        dialects = [next(guide for guide in GUIDES if of_events in guide.kinds)]
    chosen = tuple(_hosts_with_kind(dialects, of_events, kind))
    lacking = [dialect.name for dialect in dialects if dialect.name not in {one.name for one in chosen}]
    if lacking:
        what = {"pack": "hook packs", "plugin": "plugins"}.get(kind, f"{of_events} hooks")
        supporting = ", ".join(guide.name for guide in GUIDES if _reads_kind(guide, of_events, kind))
        raise Refusal(f"{lacking[0]} has no {what}.", f"Use {supporting}.", code=2)
    programs = [one for dialect in dialects if (one := shipped_dialect(dialect, None)) is not None]
    return TargetHosts(
        chosen, tuple(_hosts_with_kind([one for one in programs if one not in dialects], of_events, kind))
    )


def _hosts_with_kind(
    dialects: Iterable[Dialect], of_events: EventKind, kind: ScaffoldKind
) -> Iterable[TargetHost]:
    for dialect in dialects:
        if _reads_kind(dialect, of_events, kind):
            system = dialect.system_of(of_events)
            assert isinstance(system, FolderSystem | PluginSystem | StreamSystem)
            yield TargetHost(dialect, system)


def _reads_kind(dialect: Dialect, of_events: EventKind, kind: ScaffoldKind) -> bool:
    """Return whether a dialect has such hooks. A host without a package key has no packs."""
    return of_events in dialect.kinds and (kind != "pack" or bool(package_key(dialect)))


def package_key(dialect: Dialect) -> str:
    """Return this host's key in a package.json; empty if it reads none."""
    found = (system.shape.package_key for system in dialect.systems if isinstance(system, PluginSystem))
    return next(found, "")


def chosen_language(
    requested: ScriptLanguage | None, targets: TargetHosts, others: Iterable[Hook]
) -> tuple[ScriptLanguage, tuple[str, ...]]:
    """Return the requested language, else that of most other hooks, else Python or TypeScript.

    Python is chosen only if every chosen program runs it. Also returns notes about the choice, and about
    hosts that do not run Python. `others` are the hooks of the workspace.
    """
    if requested is not None:
        return requested, _no_python_notes(targets, chosen=True) if requested == "python" else ()
    runs_python = all(one.runs_python for one in targets.chosen)
    default: ScriptLanguage = "python" if runs_python else "typescript"
    counts = Counter(hook.language for hook in others)
    usual = max(LANGUAGES, key=lambda language: (counts[language], language == default))
    if not counts[usual] or usual == default or (usual == "python" and not runs_python):
        return default, _no_python_notes(targets, chosen=False)
    note = f"Written in {LANGUAGE_NAMES[usual]}, like most hooks here; `--language` chooses another."
    return usual, (note,)


def _no_python_notes(targets: TargetHosts, *, chosen: bool) -> tuple[str, ...]:
    """Return a note about hosts that do not run Python, if the hook is written in Python."""
    if not chosen and not all(one.runs_python for one in targets.chosen):
        return ()
    without = [one.dialect.product for one in targets.all if not one.runs_python]
    if not without:
        return ()
    *others, last = dict.fromkeys(without)
    products = f"{', '.join(others)} and {last} themselves" if others else f"{last} itself"
    return (f"Python runs only in Hookscope: for {products}, use `--language typescript`.",)


def handler_name(language: ScriptLanguage, targets: TargetHosts) -> str:
    """Return a file name that every chosen host looks for. Raises Refusal if there is none."""
    systems = [one.system for one in targets.chosen if isinstance(one.system, FolderSystem)]
    first = (*systems[0].shape.handlers, *PYTHON_HANDLERS)
    for candidate in first:
        ends = candidate.endswith(ENDINGS[language])
        if ends and all(candidate in system.shape.candidates for system in systems):
            return candidate
    host_names = ", ".join(one.name for one in targets.chosen)
    raise Refusal(
        f"A {language} handler would not load in {host_names}.", "Use `--language typescript`.", code=2
    )


def dialect_names() -> tuple[str, ...]:
    """Return the names of all dialects, guides and shipped ones, in order."""
    return tuple(DIALECTS)


def offered_events(dialects: Sequence[str], kind: ScaffoldKind | None, *, explicit: bool) -> tuple[str, ...]:
    """Return the events that the first host sends to hooks of this kind; none if no host has such hooks."""
    try:
        kind = default_kind(dialects, kind)
        catalogue = target_hosts(dialects, kind, explicit=explicit).first.catalogue
    except Refusal:
        return ()
    return tuple(one.key for one in catalogue.events if one.kind == KIND_OF_SYSTEM[kind] and one.emitted)

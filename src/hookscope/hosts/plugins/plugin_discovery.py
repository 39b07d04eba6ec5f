"""Finds plugins, by a manifest or an entry file, and decides which plugin wins an id."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

from hookscope.formats.json5 import locate_json5, read_json5
from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.script_values import LONGEST_SCRIPT
from hookscope.hosts.folders.hook_discovery import NOT_RUN_BY_HOST, blocking_file, os_error_reason
from hookscope.hosts.folders.search_paths import hooks_folder, subfolders, texts_listed_at
from hookscope.hosts.plugins.plugin_gates import ENTRIES, PluginAccess
from hookscope.hosts.plugins.plugin_manifest import (
    PACKAGE,
    SCHEMA,
    PackageError,
    built_entries,
    id_without_manifest,
    package_extensions,
    read_document,
    tools_of,
    version_fault,
    with_defaults,
)
from hookscope.model.hook import (
    LANGUAGE_OF,
    MAPPED_ROLE,
    FilePosition,
    Folder,
    Hook,
    Language,
    Metadata,
    MetadataFault,
    Problem,
)
from hookscope.model.hook_status import FoundHooks, Ranking, RejectedHook
from hookscope.model.host import Host
from hookscope.model.machine import Files, names_in
from hookscope.model.payload import mapping_or_empty, strings_in_list
from hookscope.model.regular_file import LARGEST_MANIFEST
from hookscope.values import dataclass

PATHS = ("plugins", "load", "paths")
PLUGINS_FOLDER = "plugins"  # in the workspace and in the state folder, according to the guides
FOLDER_ITSELF = "the folder itself"
CONFIGURED_RANK, WORKSPACE_RANK, MANAGED_RANK, EXTRA_RANK = 50, 40, 30, 20
FAULTY_RANK = 0  # of a plugin that the program cannot load: it hides no other plugin


def plugins_folder(host: Host, source: str, path: Path, rank: int, declared: str = "") -> Folder:
    """Return a folder of plugins, or the folder of one plugin. It need not exist."""
    label = f"{source} plugins"
    return replace(hooks_folder(host, source, path, rank, declared, label=label), hook_kind="plugin")


def guide_folders(host: Host) -> tuple[Path, Path]:
    """Return the folders that only the guides name; no shipped program searches them."""
    return host.workspace / PLUGINS_FOLDER, host.state / PLUGINS_FOLDER


def plugin_places(
    host: Host, *known: tuple[str, Path], manifest: str, configured_first: bool = False
) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the plugin folders, highest rank first.

    The workspace, if it is a plugin itself, precedes the `known` folders, each with its source. Configured
    paths come last, or first with `configured_first`. Absent folders are marked incidental.
    """
    ranks = {"workspace": WORKSPACE_RANK, "managed": MANAGED_RANK}
    folders = [plugins_folder(host, source, path, ranks[source]) for source, path in known]
    folders.sort(key=lambda folder: -folder.rank)
    extra, problems = _extra_plugin_folders(host, CONFIGURED_RANK if configured_first else EXTRA_RANK)
    named = {folder.real for folder in extra}
    if host.machine.files.facts(host.workspace / manifest) is not None:
        workspace_plugin = plugins_folder(host, "workspace", host.workspace, WORKSPACE_RANK, FOLDER_ITSELF)
        folders = [workspace_plugin, *folders] if workspace_plugin.real not in named else folders
    folders = [replace(folder, incidental=folder.real is None) for folder in folders]
    return tuple([*extra, *folders] if configured_first else [*folders, *extra]), problems


def _extra_plugin_folders(host: Host, rank: int) -> tuple[list[Folder], tuple[Problem, ...]]:
    """Return a folder for each configured path: a plugin itself, or a folder of plugins."""
    listed = host.settings.get(PATHS)
    folders, problems = list[Folder](), list[Problem]()
    for number, item in texts_listed_at(PATHS, listed, problems, host):
        path = host.machine.absolute(item.strip())
        folders.append(plugins_folder(host, "extra", path, rank, f"{'.'.join(PATHS)}[{number}]"))
    return [folder for folder in folders if folder.real is not None], tuple(problems)


def configured_paths(host: Host) -> tuple[Path, ...]:
    """Return the configured paths of plugins, those that do not exist too."""
    texts = map(str.strip, strings_in_list(host.settings.get(PATHS)))
    return tuple(host.machine.absolute(text) for text in texts if text)


REGISTER = "register"  # the export of an entry file
PYTHON_ENTRIES = ("plugin.py", "index.py")
TEXT_FIELDS = ("name", "description", "version")
ENTRY_KEYS = ("entry", "main")

AccessOf = Callable[[str, Folder, Host], PluginAccess]


def full_access(plugin: str, folder: Folder, host: Host) -> PluginAccess:
    """Return access to everything, for a host without settings for single hooks."""
    return PluginAccess()


@dataclass(frozen=True, slots=True)
class PluginShape:
    """The rules by which a host recognizes a folder as a plugin."""

    manifest: str
    package_key: str  # package.json → this → `extensions`: entry files
    entries: tuple[str, ...] = ("index.ts", "index.js", "index.mjs", "index.cjs", "plugin.ts", "plugin.js")
    other_manifests: tuple[str, ...] = ()  # manifests of bundles without code; ignored
    access: AccessOf = full_access
    marks_python: bool = False  # whether Python plugins are marked as not run by the host
    as_shipped: bool = False  # whether folders, packages and single files count as in the shipped program
    reads_json5: bool = True  # else a manifest is plain JSON
    checks_packages: bool = True  # whether a faulty list of entries in package.json is an error
    splits_packages: bool = False  # whether each entry file of a package is a plugin, with an id of its own
    shipped_ids: Callable[[str], Collection[str]] = lambda version: ()  # of plugins that the host ships


@dataclass(frozen=True, slots=True)
class _ManifestFacts:
    id: str
    title: str = ""
    description: str = ""
    entry: str = ""
    faults: tuple[MetadataFault, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=dict)  # of its settings
    tools: tuple[str, ...] = ()  # that it declares
    has_schema: bool = False


class _NotAPlugin(Exception):
    """The folder is not a plugin. The text is the reason."""

    def __init__(self, reason: str, place: FilePosition | None = None, host_error: str = "") -> None:
        super().__init__(reason)
        self.place = place
        self.host_error = host_error  # the shipped program's own error


@dataclass(slots=True)
class _PluginSearch:
    """The results of one scan so far."""

    host: Host
    shape: PluginShape
    hooks: list[Hook] = field(default_factory=list)
    rejected: list[RejectedHook] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def shipped_ids(self) -> Collection[str]:
        return self.shape.shipped_ids(self.host.dialect.version)

    @property
    def files(self) -> Files:
        return self.host.machine.files


def find_plugins(host: Host, shape: PluginShape) -> FoundHooks:
    """Return the plugins in the host's plugin folders, in scan order. Reads manifests; runs no code."""
    search = _PluginSearch(host, shape)
    for folder in host.folders_of("plugin"):
        if shape.as_shipped and folder.path.suffix in SCRIPT_SUFFIXES and _is_file(folder.path, search):
            _scan_folder(folder.path.parent, folder, search, folder.path)
            continue
        for path in _candidates(folder, search):
            _scan_folder(path, folder, search)
    if shape.as_shipped:
        search.rejected.extend(_misplaced_plugins(search))
    return FoundHooks(tuple(search.hooks), tuple(search.rejected), tuple(search.problems))


def _misplaced_plugins(search: _PluginSearch) -> Iterator[RejectedHook]:
    """Yield a rejection, with advice, for each plugin in a folder that only the guides name."""
    host, searched = search.host, search.host.folders_of("plugin")
    known = {folder.path for folder in searched} | {folder.real for folder in searched}
    marks = {search.shape.manifest, *_entries(search.shape)}
    short = host.machine.short
    for source, folder in zip(("workspace", "managed"), guide_folders(host), strict=True):
        better = next(
            (one.path for one in searched if one.source == source and one.declared != FOLDER_ITSELF), None
        )
        if better is None or known & {folder, search.files.real(folder)}:
            continue
        for path in subfolders(folder, host):
            if known & {path, search.files.real(path)} or not marks & names_in(path, search.files):
                continue
            reason = (
                f"{host.dialect.product} {host.dialect.version} does not search {short(folder)}; "
                f"move it to {short(better)}, or list it in {'.'.join(PATHS)}"
            )
            yield RejectedHook(path, source, reason, name=path.name, kind="plugin")


def _candidates(folder: Folder, search: _PluginSearch) -> Iterator[Path]:
    """Yield the candidate folders: the subfolders of `folder`, or `folder` itself if it is a plugin.

    Only a configured path (`plugins.load.paths`) may be a plugin itself.
    """
    try:
        children = search.files.children(folder.path)
    except FileNotFoundError:
        trouble = search.files.access_error(folder.path)
        if trouble is not None:
            search.problems.append(Problem(f"cannot read the plugins folder: {os_error_reason(trouble)}"))
        return
    except NotADirectoryError:
        blocked_by = blocking_file(folder.path, search.files)
        search.problems.append(Problem(f"{blocked_by}; a plugins folder is expected there"))
        return
    except OSError as error:
        search.problems.append(Problem(f"cannot read the plugins folder: {os_error_reason(error)}"))
        return
    names = {child.name for child in children}
    if folder.declared and _is_plugin_itself(folder.path, names, search):
        yield folder.path
        return
    for child in children:
        if child.folder and not _is_ignored(child.name.lower(), search.shape):
            yield child.path


IGNORED_FOLDERS = frozenset(
    ["node_modules", "build", "coverage", "dist", ".git", ".hg", ".svn", ".turbo", ".yarn", ".yarn-cache"]
)


def _is_ignored(name: str, shape: PluginShape) -> bool:
    """Return whether a subfolder, here by its name in lower case, is never a plugin."""
    if not shape.as_shipped:
        return name.startswith((".", "node_modules"))
    return name in IGNORED_FOLDERS or name.endswith(".bak") or ".backup-" in name or ".disabled" in name


def _is_plugin_itself(path: Path, names: set[str], search: _PluginSearch) -> bool:
    own = mapping_or_empty(read_document(path / PACKAGE, search.host).get(search.shape.package_key))
    declares = search.shape.as_shipped and own.get("extensions") is not None
    return declares or bool(names & {search.shape.manifest, *_entries(search.shape)})


def _is_file(path: Path, search: _PluginSearch) -> bool:
    facts = search.files.facts(path)
    return facts is not None and facts.file


def _scan_folder(path: Path, folder: Folder, search: _PluginSearch, file: Path | None = None) -> None:
    """Add a folder's plugins, or only the one with the entry `file` that settings name; else a rejection."""
    try:
        names = frozenset(search.files.names(path))
        if any(search.files.facts(path / name) is not None for name in search.shape.other_manifests):
            return
        if not names & {search.shape.manifest, PACKAGE, *_entries(search.shape)} and file is None:
            reason = (
                f"neither {search.shape.manifest} nor an entry file ({', '.join(_entries(search.shape))})"
            )
            raise _NotAPlugin(reason)
        if file is None and search.shape.as_shipped:
            entries = _shipped_entries(path, folder.source, names, search)  # before the manifest
            manifest_facts = _manifest(path, names, search)
            _check_host_version(path, search)
        else:
            manifest_facts = _manifest(path, names, search, file)
            entries = [file or _entry(path, names, manifest_facts, search)]
        for entry in entries:
            own_id = f"{manifest_facts.id}/{entry.stem}" if len(entries) > 1 else manifest_facts.id
            is_sound = (file is not None or manifest_facts.has_schema) and _is_file(entry, search)
            if search.shape.as_shipped and folder.source != "extra" and own_id in search.shipped_ids:
                raise _NotAPlugin(f"{search.host.dialect.product} ships a plugin {own_id}, which wins")
            place = folder if is_sound or not search.shape.as_shipped else replace(folder, rank=FAULTY_RANK)
            search.hooks.append(_plugin(path, place, replace(manifest_facts, id=own_id), entry, search))
    except OSError as error:
        reason = f"cannot be read: {os_error_reason(error)}"
        search.rejected.append(RejectedHook(path, folder.source, reason, name=path.name, kind="plugin"))
    except _NotAPlugin as no:
        search.rejected.append(_rejection(no, path, folder, search))


def _rejection(no: _NotAPlugin, path: Path, folder: Folder, search: _PluginSearch) -> RejectedHook:
    name = path.name
    if no.host_error:
        manifest = read_document(path / search.shape.manifest, search.host)
        named = manifest.get("id") if isinstance(manifest.get(SCHEMA), Mapping) else None
        package = read_document(path / PACKAGE, search.host)
        name = named.strip() if isinstance(named, str) else ""
        name = name or id_without_manifest(path, package, search.shape.package_key)
    return RejectedHook(path, folder.source, str(no), no.place, name, kind="plugin", host_error=no.host_error)


def _entries(shape: PluginShape) -> tuple[str, ...]:
    return (*shape.entries, *PYTHON_ENTRIES)


def _plugin(
    path: Path, folder: Folder, manifest_facts: _ManifestFacts, entry: Path, search: _PluginSearch
) -> Hook:
    files = search.files
    facts = files.facts(entry)
    real, target = files.real(path), files.real(entry) if facts is not None else entry
    manifest = path / search.shape.manifest
    python = entry.suffix == ".py" and search.shape.marks_python
    notes = (
        (f"the manifest calls this plugin {manifest_facts.title}",)
        if manifest_facts.title and manifest_facts.title != manifest_facts.id
        else ()
    )
    access = search.shape.access(manifest_facts.id, folder, search.host)
    language = LANGUAGE_OF.get(entry.suffix, "unknown")
    registered = events_registered_in(entry, language, search.host, path)
    return Hook(
        name=manifest_facts.id,
        kind="plugin",
        folder=folder,
        path=path,
        meta=Metadata(
            events=registered.events,
            priorities=registered.priorities,
            folder_events=registered.folder_events,
            unread_registrations=registered.unread,
            config=_config(manifest_facts, search.host),
            tools=manifest_facts.tools,
            export=REGISTER,
            faults=manifest_facts.faults,
            limits=access.limits,
            excluded_events=access.excluded_events,
            removed_fields=access.removed_fields,
        ),
        description=manifest_facts.description,
        manifest=manifest if files.facts(manifest) is not None else None,
        handler=entry,
        language=language,
        real=real,
        leads_out=None if facts is None or target.is_relative_to(real) else target,
        beyond_host=python,
        root=path,
        notes=(*notes, *((NOT_RUN_BY_HOST,) if python else ())),
    )


def _config(manifest_facts: _ManifestFacts, host: Host) -> Mapping[str, Any]:
    """Return the plugin's settings, with the defaults of its schema."""
    configured = mapping_or_empty(host.settings.get((*ENTRIES, manifest_facts.id, "config")))
    return mapping_or_empty(with_defaults(manifest_facts.schema, configured))


@dataclass(frozen=True, slots=True)
class RegisteredEvents:
    """The events that a plugin's source registers, as Metadata has them."""

    events: tuple[str, ...] | None = None  # None: known only after a load
    priorities: Mapping[str, int] = field(default_factory=dict)
    folder_events: frozenset[str] = frozenset()  # only where the host accepts `registerHook("NAME", …)`
    unread: int = 0  # registrations whose event is known only after a load


def events_registered_in(entry: Path, language: Language, host: Host, root: Path) -> RegisteredEvents:
    """Return the events registered in the source of `entry`, and of the files in `root` that it imports."""
    from hookscope.formats.plugin_source import plugin_registrations  # most hosts have no plugins

    files = host.machine.files
    try:
        source = files.read(entry, LONGEST_SCRIPT + 1)
    except OSError:
        return RegisteredEvents()
    read_module = partial(_relative_module, root=root, host=host)
    read = plugin_registrations(source, language, str(entry), read_module)
    if not read.found:  # registered elsewhere, or not at all: known after a load
        return RegisteredEvents()
    catalogue, crosses = host.dialect.catalogue(), host.dialect.load_rules.plugins_use_folder_events
    crossing = [item.names_event_directly and crosses for item in read.found]
    keys = [
        item.event.strip() if crossed else catalogue.registry_key(item.event)
        for item, crossed in zip(read.found, crossing, strict=True)
    ]
    priorities = {key: item.priority or 0 for key, item in reversed([*zip(keys, read.found, strict=True)])}
    own_events = frozenset(key for key, crossed in zip(keys, crossing, strict=True) if not crossed)
    folder_events = frozenset(compress(keys, crossing)) - own_events
    return RegisteredEvents(tuple(dict.fromkeys(keys)), priorities, folder_events, read.unread)


SCRIPT_SUFFIXES = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs")
SOURCE_OF_BUILT = {".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}  # TypeScript imports name the built file


def _relative_module(importer: str, written: str, *, root: Path, host: Host) -> tuple[str, bytes] | None:
    """Return the file that a relative import names, and its source; None if it is not in the plugin."""
    files, path = host.machine.files, host.machine.absolute(written, base=Path(importer).parent)
    if not path.is_relative_to(root):
        return None
    source_suffix = SOURCE_OF_BUILT.get(path.suffix, "")
    names = (
        path,
        *((path.with_suffix(source_suffix),) if source_suffix else ()),
        *(path.with_name(path.name + suffix) for suffix in SCRIPT_SUFFIXES),
        *(path / f"index{suffix}" for suffix in SCRIPT_SUFFIXES),
    )
    for name in names:
        facts = files.facts(name)
        if facts is not None and facts.file:
            try:
                return str(name), files.read(name, LONGEST_SCRIPT + 1)
            except OSError:
                return None
    return None


def _manifest(
    path: Path, names: frozenset[str], search: _PluginSearch, file: Path | None = None
) -> _ManifestFacts:
    """Return the manifest's facts; without one, only an id from the folder or `file`. Raises _NotAPlugin."""
    shape = search.shape
    package = read_document(path / PACKAGE, search.host) if shape.as_shipped else {}
    other_id = file.stem if file is not None else id_without_manifest(path, package, shape.package_key)
    if shape.manifest not in names:
        return _ManifestFacts(other_id)
    file = path / shape.manifest
    source, value = _document(file, search.files)
    if not shape.reads_json5:
        try:
            json.loads(source)
        except (ValueError, RecursionError) as error:
            words = f"failed to parse plugin manifest: SyntaxError: {error}"
            raise _NotAPlugin(f"{file.name} is not plain JSON: {error}", FilePosition(file), words) from None
    if not isinstance(value, Mapping):
        words = "plugin manifest must be an object"
        raise _NotAPlugin(f"{file.name} is not a JSON object", FilePosition(file), words)
    name = value.get("id")
    if not isinstance(name, str) or not name.strip():
        problem = "has no `id`" if name is None else "needs a string as `id`"
        words = "plugin manifest requires id"
        raise _NotAPlugin(f"{file.name} {problem}", _place(file, source, ("id",)), words)
    known = () if shape.as_shipped else ENTRY_KEYS
    entry = next((key for key in known if value.get(key) is not None), "")
    if entry and not isinstance(value[entry], str):
        raise _NotAPlugin(f"{file.name} needs a path as `{entry}`", _place(file, source, (entry,)))
    faults = tuple(
        MetadataFault((key,), f"`{key}` must be a string")
        for key in TEXT_FIELDS
        if value.get(key) is not None and not isinstance(value[key], str)
    )
    title, description, schema = (value.get(key) for key in ("name", "description", SCHEMA))
    has_schema = isinstance(schema, Mapping)
    return _ManifestFacts(
        id=name.strip() if has_schema or not shape.as_shipped else other_id,
        title=title if isinstance(title, str) else "",
        description=description if isinstance(description, str) else "",
        entry=value[entry] if entry else "",
        faults=faults,
        schema=mapping_or_empty(schema),
        tools=tools_of(value),
        has_schema=has_schema,
    )


def _document(file: Path, files: Files) -> tuple[bytes, Any]:
    """Return a file's bytes and its JSON value. Raises _NotAPlugin and OSError."""
    facts = files.facts(file)
    if facts is None or not facts.file:
        raise _NotAPlugin(f"{file.name} is not a readable file", FilePosition(file))
    if facts.size > LARGEST_MANIFEST:
        raise _NotAPlugin(f"{file.name} is larger than {LARGEST_MANIFEST:,} bytes", FilePosition(file))
    source = files.read(file)
    try:
        return source, read_json5(source)
    except FormatError as error:
        from hookscope.formats.json5_errors import json5_package_error  # manifests are rarely broken

        error_text = json5_package_error(source.decode("utf-8", "replace"))
        words = f"failed to parse plugin manifest: SyntaxError: {error_text}"
        raise _NotAPlugin(f"{file.name}, {error}", FilePosition.of(file, error.span), words) from None


def _place(file: Path, source: bytes, path: KeyPath) -> FilePosition:
    return FilePosition.of(file, locate_json5(source, path))


def _entry(path: Path, names: frozenset[str], manifest_facts: _ManifestFacts, search: _PluginSearch) -> Path:
    """Return the file whose `register` is called. Raises _NotAPlugin.

    Reads the manifest, then package.json, then looks for the known names. A file that a manifest names
    need not exist: the `handler` gate reports a missing one.
    """
    written, declared_in = manifest_facts.entry, search.shape.manifest
    if not written:
        written, declared_in = _package_entry(path, search), PACKAGE
    if written:
        entry = search.host.machine.absolute(written, base=path)
        if Path(written).is_absolute() or not entry.is_relative_to(path):
            raise _NotAPlugin(
                f"{declared_in} names {written}, which is not in the plugin's folder",
                FilePosition(path / declared_in),
            )
        return entry
    entry_name = next((name for name in _entries(search.shape) if name in names), None)
    if entry_name is None:
        raise _no_entry(path, names, search)
    return path / entry_name


def _package_entry(path: Path, search: _PluginSearch) -> str:
    """Return the first entry in package.json; empty if there is none."""
    own = mapping_or_empty(read_document(path / PACKAGE, search.host).get(search.shape.package_key))
    return next(iter(strings_in_list(own.get("extensions"))), "")


def _shipped_entries(path: Path, source: str, names: frozenset[str], search: _PluginSearch) -> list[Path]:
    """Return the files, perhaps missing, that the program imports for a plugin. Raises _NotAPlugin."""
    package, key = read_document(path / PACKAGE, search.host), search.shape.package_key
    try:
        listed = package_extensions(package, key)
    except PackageError as error:
        if search.shape.checks_packages:
            place = _place_of_extensions(path / PACKAGE, key, search)
            raise _NotAPlugin(str(error), place, str(error)) from None
        own = mapping_or_empty(package.get(key))
        listed = tuple((one.strip(), "") for one in strings_in_list(own.get("extensions")) if one.strip())
    entry_name = next((name for name in _entries(search.shape) if name in names), None)
    if not listed and entry_name is None:
        raise _no_entry(path, names, search)
    if not listed:
        return [path / str(entry_name)]
    found = []
    for written, built in listed if search.shape.splits_packages else listed[:1]:
        entry = search.host.machine.absolute(written, base=path)
        if Path(written).is_absolute() or not entry.is_relative_to(path):
            raise _NotAPlugin(
                f"{PACKAGE} names {written}, which is not in the plugin's folder",
                FilePosition(path / PACKAGE),
                f"extension entry escapes package directory: {written}",
            )
        # in the workspace the host looks for no other built file
        others = [] if built or source == "workspace" else built_entries(written)
        exist = (one for one in others if search.files.facts(path / one) is not None)
        found.append(path / (built or next(exist, written)))
    return found


def _check_host_version(path: Path, search: _PluginSearch) -> None:
    package = read_document(path / PACKAGE, search.host) if search.shape.checks_packages else {}
    reason, words = version_fault(package, search.shape.package_key, search.host.dialect)
    if reason:
        raise _NotAPlugin(reason, FilePosition(path / PACKAGE), words)


def _place_of_extensions(file: Path, key: str, search: _PluginSearch) -> FilePosition:
    try:
        return _place(file, search.files.read(file), (key, "extensions"))
    except OSError:
        return FilePosition(file)


def _no_entry(path: Path, names: frozenset[str], search: _PluginSearch) -> _NotAPlugin:
    """Return the rejection of a folder without an entry file, with a fix if package.json has `main`."""
    shape, looked_for = search.shape, ", ".join(_entries(search.shape))
    where, main = path / "package.json", None
    with suppress(_NotAPlugin):
        source, package = _document(where, search.files) if where.name in names else (b"", {})
        main = package.get("main") if isinstance(package, Mapping) else None
    if not isinstance(main, str) or not main.strip():
        found = f"{shape.manifest} but " if shape.manifest in names else ""
        return _NotAPlugin(f"{found}no entry file: looked for {looked_for}")
    entry = f"./{main.strip().removeprefix('./')}"
    return _NotAPlugin(
        f"no entry file: the host does not read `main` of package.json; "
        f'add "{shape.package_key}": {{"extensions": ["{entry}"]}} to it',
        _place(where, source, ("main",)),
    )


def rank_plugins(found: FoundHooks) -> Ranking:
    """Return the winners: the plugin in the folder of higher rank wins its id; in one folder, the first.

    Mapped hooks never collide. Plugins load in the order in which they were found, then mapped hooks.
    """
    plugins = [hook for hook in found.hooks if hook.role != MAPPED_ROLE]
    winners: dict[str, Hook] = {}
    for hook in sorted(plugins, key=lambda hook: -hook.folder.rank):
        winners.setdefault(hook.name, hook)
    winner_set = set(winners.values())
    order = tuple(hook for hook in found.hooks if hook in winner_set or hook.role == MAPPED_ROLE)
    losers = {hook: winners[hook.name] for hook in plugins if hook not in winner_set}
    return Ranking(order, order, losers)

"""Detects the installed host, its version, and the dialect that applies. Runs nothing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from glob import iglob
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.project_config import CONFIG
from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.dialects import DEFAULT, GUIDES, SHIPPED, UnknownDialect, dialect_named
from hookscope.hosts.dialects.catalogues import read_data_file
from hookscope.hosts.settings.host_opener import settings_file, state_folder
from hookscope.model.failure import Refusal
from hookscope.model.host import Dialect, Overrides, version_order
from hookscope.model.machine import Files, Machine, node_package_folders
from hookscope.model.text import one_line, shell_path
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.options import Options

MOST_PARENTS = 6  # folders above a program in which its package.json is looked for
LARGEST_MANIFEST = 1024 * 1024  # bytes of a file that is read
NEWEST_VERSION = "9999999"


@dataclass(frozen=True, slots=True)
class InstalledVersion:
    """A version of a host, and the file that states it."""

    version: str
    source: Path
    package: Path | None = None  # the folder of its package, if installed
    requested: str = ""  # the requested range, if not installed yet


def installed_version(
    dialect: Dialect, machine: Machine, settings: Path, workspace: Path | None = None
) -> InstalledVersion | None:
    """Return the version of this dialect's host that is installed here; None if unknown. Runs nothing.

    A host that is part of a project is looked up in `workspace` first.
    """
    folder = workspace or machine.cwd
    return (
        _by_project(dialect, machine, folder)
        or _by_requested_version(dialect, machine, folder)
        or _by_package(dialect, machine)
        or _by_settings(dialect, machine, settings)
    )


def _by_project(dialect: Dialect, machine: Machine, workspace: Path) -> InstalledVersion | None:
    """Return the version of the project's own package, for hosts that are part of a project.

    The search follows Node: in a monorepo the package may be in a folder above.
    """
    for name in dialect.layout.packages if dialect.layout.markers else ():
        for place in node_package_folders(name, workspace):
            found = _version_in(place / "package.json", dialect, machine)
            if found is not None:
                return found
    return None


def _by_requested_version(dialect: Dialect, machine: Machine, workspace: Path) -> InstalledVersion | None:
    """Return the version that the nearest package.json requests, if it is not installed yet."""
    for folder in (workspace, *workspace.parents) if dialect.layout.markers else ():
        package_json = _read_manifest(folder / "package.json", machine)
        if package_json is not None:
            requested = _requested_version(package_json, dialect)
            version = _oldest_allowed(requested) if requested is not None else ""
            return (
                InstalledVersion(version, folder / "package.json", requested=str(requested))
                if version
                else None
            )
    return None


def requesting_manifest(dialect: Dialect, machine: Machine, workspace: Path) -> Path | None:
    """Return the workspace's package.json if it requires the host of this dialect, else None."""
    manifest = workspace / "package.json"
    package_json = _read_manifest(manifest, machine) if dialect.layout.markers else None
    return (
        manifest
        if package_json is not None and _requested_version(package_json, dialect) is not None
        else None
    )


def _requested_version(manifest: dict[str, object], dialect: Dialect) -> str | None:
    """Return the version range of the host in a package.json, as written there."""
    for kind in ("dependencies", "devDependencies"):
        listed = manifest.get(kind)
        requested = [listed.get(name) for name in dialect.layout.packages] if isinstance(listed, dict) else []
        found = next((one.strip() for one in requested if isinstance(one, str)), None)
        if found is not None:
            return found
    return None


def _oldest_allowed(version_range: str) -> str:
    """Return the oldest version that `version_range` allows; "" if the range is not understood.

    For a range without a minor version, return the newest: that is what gets installed.
    """
    found = re.fullmatch(r"\s*(?:[\^~=v]\s*)*(\d+(?:\.\d+){0,2}(?:-[\w.]+)?)(?:\.[x*])*\s*", version_range)
    if found:
        return found[1] if "." in found[1] else f"{found[1]}.{NEWEST_VERSION}"
    return NEWEST_VERSION if version_range.strip() in ("latest", "*", "") else ""


def _read_manifest(manifest: Path, machine: Machine) -> dict[str, object] | None:
    try:
        document = json.loads(machine.files.read(manifest, LARGEST_MANIFEST))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _by_package(dialect: Dialect, machine: Machine) -> InstalledVersion | None:
    """Return the version of the package that contains the program on PATH. Follows links."""
    name = dialect.layout.program
    program = machine.files.program(name, machine.search_path()).path if name else None
    if program is None:
        return None
    for folder in list(machine.files.real(Path(program)).parents)[:MOST_PARENTS]:
        found = _version_in(folder / "package.json", dialect, machine)
        if found is not None:
            return found
    return None


def _version_in(manifest: Path, dialect: Dialect, machine: Machine) -> InstalledVersion | None:
    """Return the version in a package.json, if the package is the host's."""
    package_json = _read_manifest(manifest, machine)
    if package_json is None or package_json.get("name") not in dialect.layout.packages:
        return None
    version = package_json.get("version")
    return InstalledVersion(version, manifest, manifest.parent) if isinstance(version, str) else None


def _by_settings(dialect: Dialect, machine: Machine, settings: Path) -> InstalledVersion | None:
    if not dialect.layout.version_path:
        return None
    try:
        value = read_json5(machine.files.read(settings, LARGEST_MANIFEST))
    except (OSError, FormatError):
        return None
    for part in dialect.layout.version_path:
        value = value.get(part) if isinstance(value, dict) else None
    return InstalledVersion(value, settings) if isinstance(value, str) else None


def nearest_shipped(found: InstalledVersion, dialects: Iterable[Dialect]) -> Dialect | None:
    """Return the newest versioned dialect that is not newer than `found`; if all are newer, the oldest."""
    versioned = sorted((dialect for dialect in dialects if dialect.version), key=lambda one: one.order)
    older = [dialect for dialect in versioned if dialect.order <= version_order(found.version)]
    return older[-1] if older else versioned[0] if versioned else None


def version_warning(dialect: Dialect, installed: InstalledVersion | None) -> str:
    """Return a sentence if the dialect does not cover the installed version."""
    if installed is None or installed.version.endswith(NEWEST_VERSION) or not dialect.version:
        return ""
    found = version_order(installed.version)
    if dialect.order <= found and (not dialect.until or found < version_order(dialect.until)):
        return ""
    verb = "requested" if installed.requested else "found"
    rules = f"these are the rules of {dialect.version}, which may differ"
    return f"{dialect.product} {installed.requested or installed.version} {verb}; {rules}"


# of known hosts and of Hookscope: not foreign
OWN_FOLDERS = ("hooks/*/HOOK.md", "*/HOOK.md", "HOOK.md", ".hookscope")
PARENTS_SEARCHED = 4  # parent folders searched for a project
MOST_ENTRIES = 200  # entries of a folder that are read
MOST_NAMED = 3  # projects or programs that a message names
LARGEST_SIGN_FILE = 256 * 1024  # bytes of a JSON file that is read
SKIPPED_FOLDERS = frozenset({"node_modules", "vendor", "dist", "build"})


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """Another program with hooks of its own."""

    name: str
    files: tuple[str, ...] = ()
    json: tuple[str, ...] = ()


def nearby_hosts_message(folder: Path, guides: Iterable[Dialect], machine: Machine) -> str:
    """Return a message about hosts near this folder; empty if there are none."""
    if any(_matches(folder, *OWN_FOLDERS)):
        return ""
    projects = [dialect for dialect in guides if dialect.layout.markers]
    for dialect in projects:
        for near in (_project_above(folder, dialect), _projects_below(folder, dialect)):
            if near:
                paths = [one_line(machine.short(path), 200) for path in near]
                next_step = f"`--workspace {shell_path(paths[0])}` looks there"
                return f"Hooks of {dialect.product} are in {' and '.join(paths)}; {next_step}."
    signs = _foreign_signs(folder, machine.files)
    if not signs:
        return ""
    foreign_hooks = " and ".join(f"{one_line(machine.short(sign), 200)} ({name})" for name, sign in signs)
    *most, last = dict.fromkeys(dialect.product for dialect in guides)
    verb = "hold" if len(signs) > 1 else "holds"
    supported = f"It supports hooks of {', '.join(most)} and {last}; see `hookscope help start`."
    return f"{foreign_hooks} {verb} hooks that Hookscope does not support. {supported}"


def is_own_folder(marker: Path) -> bool:
    """Return whether `marker` exists and belongs to a host, not to a workspace of that name with hooks."""
    return os.path.exists(marker) and not any(_matches(marker, "*/HOOK.md"))


def _project_above(folder: Path, dialect: Dialect) -> list[Path]:
    """Return the nearest project that contains the folder, as a list of at most one."""
    above = islice(folder.parents, PARENTS_SEARCHED)
    return [near for near in above if any(is_own_folder(near / marker) for marker in dialect.layout.markers)][
        :1
    ]


def _projects_below(folder: Path, dialect: Dialect) -> list[Path]:
    """Return projects one or two folders down, as in a monorepo."""
    first = list(_child_folders(folder))
    second = (deeper for one in first for deeper in _child_folders(one))
    found = (
        near
        for near in islice((*first, *second), MOST_ENTRIES)
        if any(is_own_folder(near / marker) for marker in dialect.layout.markers)
    )
    return list(islice(found, MOST_NAMED))


def _child_folders(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name for entry in islice(entries, MOST_ENTRIES) if entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return
    for name in sorted(names):
        if not name.startswith(".") and name not in SKIPPED_FOLDERS:
            yield folder / name


def _foreign_signs(folder: Path, files: Files) -> tuple[tuple[str, Path], ...]:
    """Return the other programs that have hooks here, each with a file as evidence."""
    signs = ((program.name, _foreign_sign(program, folder, files)) for program in _known_programs())
    return tuple(islice(((name, sign) for name, sign in signs if sign is not None), MOST_NAMED))


def _foreign_sign(program: ForeignProgram, folder: Path, files: Files) -> Path | None:
    json_files = (folder / name for name in program.json)
    found = (file for file in json_files if _has_hooks(file, files))
    return next(chain(found, _matches(folder, *program.files)), None)


def _matches(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield the matching paths. Unlike Path.glob, no broken link or unreadable folder is an error."""
    names = (iglob(pattern, root_dir=folder, include_hidden=True) for pattern in patterns)
    return map(folder.joinpath, chain.from_iterable(names))


def _has_hooks(file: Path, files: Files) -> bool:
    try:
        # a larger file is truncated, so it is not valid JSON
        document = json.loads(files.read(file, LARGEST_SIGN_FILE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and bool(document.get("hooks"))


@cache
def _known_programs() -> tuple[ForeignProgram, ...]:
    documents = read_yaml(read_data_file("other_programs"))
    assert isinstance(documents, list)
    return tuple(
        ForeignProgram(document["name"], tuple(document.get("files", ())), tuple(document.get("json", ())))
        for document in documents
    )


# A `plugins` folder alone is no evidence. The last pattern matches the folder of a single plugin.
PLUGIN_SIGNS = ("plugins/*/plugin.py", "plugins/*/*.plugin.json", "*.plugin.json")
PLUGIN_SCRIPTS = "plugins/*/index.[tj]s"  # common file names: only the calls inside show the host
REGISTERING = (b"api.on(", b"registerHook(", b"definePluginEntry(")
MOST_SCRIPTS, LARGEST_SCRIPT = 20, 64 * 1024
LOGGED = frozenset(("commands.log", "commands.log.1", "commands.lock"))  # what command-logger writes
LOCK = ".hookscope-lock"  # suffix of the lock files of storage.edits, which a scan must not import


def chosen_dialect(
    options: Options, project: Mapping[str, object], machine: Machine
) -> tuple[Dialect, str, str]:
    """Return the current dialect, the reason for it, and a notice about other hosts, if any.

    Raises Refusal if the named dialect does not exist.
    """
    try:
        if options.dialect is not None:
            return dialect_named(options.dialect), options.dialect_reason, ""
        if "dialect" in project:
            return dialect_named(str(project["dialect"])), f"named in {CONFIG}", ""
    except UnknownDialect as error:
        where = "" if options.dialect is not None else f"`dialect:` in {CONFIG}: "
        raise Refusal(f"{where}{error}", code=2) from None
    signs = ((dialect, host_sign(dialect, options, machine)) for dialect in GUIDES)
    found = [(dialect, sign) for dialect, sign in signs if sign is not None and not _is_our_log(sign)]
    if not found:
        folder = machine.absolute(options.workspace or ".")
        return DEFAULT, "no host was found", nearby_hosts_message(folder, GUIDES, machine)
    if _left_by_a_run(
        found[0][1], machine
    ):  # settings are stronger evidence than a folder that a fire may create
        in_workspace = [pair for pair in found if _workspace_sign(pair[0], options, machine)]
        real = [pair for pair in found if pair not in in_workspace and not _left_by_a_run(pair[1], machine)]
        found = [*in_workspace, *real] if in_workspace else found
    dialect, sign = found[0]
    others = ", ".join(other.product for other, _ in found[1:])
    notice = (
        f"Found {dialect.product} and {others}: using {dialect.name}; --dialect picks another."
        if others
        else ""
    )
    settings = settings_file(dialect, machine, Overrides(config=options.config))
    installed = installed_version(dialect, machine, settings, machine.absolute(options.workspace or "."))
    shipped = shipped_dialect(dialect, installed) if installed is not None else None
    if installed is None or shipped is None:
        return dialect, f"found {machine.short(sign)}", notice
    source = machine.short(installed.source)
    if warning := version_warning(shipped, installed):
        return shipped, warning, notice
    if installed.requested:
        return shipped, f"{source} requires {dialect.product} {installed.requested}", notice
    return shipped, f"found {dialect.product} {installed.version} in {source}", notice


def host_sign(dialect: Dialect, options: Options, machine: Machine) -> Path | None:
    """Return the file or folder that shows that this host is here."""
    layout = dialect.layout
    if options.config is not None and options.config.name == layout.settings:
        return machine.absolute(options.config)
    if (marker := _workspace_sign(dialect, options, machine)) is not None:
        return marker
    places = [settings_file(dialect, machine, Overrides())] if layout.settings else []
    if layout.state:
        places.append(state_folder(dialect, machine))
    return next((path for path in places if os.path.lexists(path)), None)  # an unreadable file counts too


def _workspace_sign(dialect: Dialect, options: Options, machine: Machine) -> Path | None:
    """Return what shows that the workspace itself belongs to this host."""
    workspace = machine.absolute(options.workspace or ".")
    places = (workspace / marker for marker in dialect.layout.markers)
    found = next(filter(is_own_folder, places), None)
    has_hooks = any(_matches(workspace / "hooks", "*/HOOK.md"))  # stronger evidence than a package.json
    if found is not None or has_hooks:
        return found
    return requesting_manifest(dialect, machine, workspace)


def _left_by_a_run(sign: Path, machine: Machine) -> bool:
    """Return whether `sign` is only a folder in HOME without `hooks`: a hook may have created it."""
    return os.path.isdir(sign) and sign.parent == machine.home and not os.path.isdir(sign / "hooks")


def _is_our_log(sign: Path) -> bool:
    """Return whether the folder holds only the log of the bundled command-logger and lock files of undone
    edits. Hookscope created such a folder, not a host.
    """
    try:
        held = [name for name in os.listdir(sign) if not name.endswith(LOCK)]
        return held == ["logs"] and LOGGED.issuperset(os.listdir(sign / "logs"))
    except OSError:  # a file, or not readable
        return False


def has_plugins(machine: Machine) -> bool:
    """Return whether the current folder is a plugin or contains plugins."""
    folder = machine.cwd
    if any(_matches(folder, *PLUGIN_SIGNS)):
        return True
    scripts = islice(_matches(folder, PLUGIN_SCRIPTS), MOST_SCRIPTS)
    return any(_registers_hooks(script, machine.files) for script in scripts)


def _registers_hooks(script: Path, files: Files) -> bool:
    """Return whether a script looks like an OpenClaw plugin. Reads part of it, runs nothing."""
    try:
        text = files.read(script, LARGEST_SCRIPT)
    except OSError:
        return False
    return any(words in text for words in REGISTERING)


def shipped_dialect(dialect: Dialect, installed: InstalledVersion | None) -> Dialect | None:
    """Return the shipped dialect of a guide: for the installed version, else the newest known one."""
    if dialect.version:
        return None
    known = [other for other in SHIPPED if other.product == dialect.product]
    if installed is not None:
        return nearest_shipped(installed, known)
    return nearest_shipped(InstalledVersion(NEWEST_VERSION, Path()), known)


def dialect_after(dialect: Dialect) -> Dialect:
    """Return the next dialect: each guide is followed by its shipped versions; the last by the first."""
    order = [one for guide in GUIDES for one in (guide, *(o for o in SHIPPED if o.product == guide.product))]
    at = next((index for index, one in enumerate(order) if one.name == dialect.name), -1)
    return order[(at + 1) % len(order)]

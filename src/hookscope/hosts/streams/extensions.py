"""Extensions that an agent mounts, and the host's diagnostics about them when it builds the project.

Checks whether the package that a mount names exists and is a built extension, but not its contents or hooks.
Reads only through `Files`; runs nothing.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath

from hookscope.hosts.streams.content_folders import (
    ContentFolder,
    content_diagnostics,
    entries_in,
    entry_named,
    is_plain_file,
    is_plain_folder,
    module_stem,
    modules_named,
    quoted_names,
)
from hookscope.hosts.streams.module_folders import (
    MODULE_NAME,
    Diagnostic,
    FileRules,
    collation_key,
    diagnostic,
)
from hookscope.model.machine import Files, FolderItem, is_file, node_package_folders
from hookscope.model.payload import mapping_or_empty
from hookscope.values import dataclass

EXTENSIONS_FOLDER = "extensions"
BUILD_MANIFEST = "_manifest.json"  # written by a build: the host versions that it needs
LARGEST = 1_048_576  # bytes of a mount or a manifest that are read

REEXPORTED = re.compile(r"export\s*\{[^}]*\bdefault\b[^}]*\}\s*from\s*['\"]([^'\"]+)['\"]")
CALLED = re.compile(r"export\s+default\s+([A-Za-z_$][\w$]*)\s*[(;\n]")
IMPORTED = re.compile(r"import\s*(?:[A-Za-z_$][\w$]*\s*,\s*)?\{([^}]*)\}\s*from\s*['\"]([^'\"]+)['\"]")
EXTENSIONS_CONTENT = ContentFolder(EXTENSIONS_FOLDER)


@dataclass(frozen=True, slots=True)
class _Mount:
    name: str
    path: str  # in the host's form: `extensions/crm.ts`
    file: Path


def mount_file_diagnostics(
    root: Path, children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield diagnostics for `extensions/` itself and for mounts that are files. Raises OSError."""
    place = entry_named(EXTENSIONS_FOLDER, children)
    if place is None or not is_plain_folder(place):
        yield from content_diagnostics(EXTENSIONS_CONTENT, root, children, rules, files)
        return
    inner = entries_in(place.path, rules, files)
    for stem, modules in _stems(inner, rules).items():
        fault = _illegal(stem, place.path / modules[0])
        if fault is not None:
            yield fault
        elif len(modules) > 1:
            slot = f"{EXTENSIONS_FOLDER}/{stem}"
            yield diagnostic("module-slot-collision", place.path, slot=slot, files=quoted_names(modules))


def mount_diagnostics(
    workspace: Path, children: list[FolderItem], rules: FileRules, files: Files
) -> Iterator[Diagnostic]:
    """Yield the last diagnostics: for mounts that are folders, and for packages. Raises OSError."""
    place = entry_named(EXTENSIONS_FOLDER, children)
    if place is None or not is_plain_folder(place):
        return
    inner = entries_in(place.path, rules, files)
    mounts = _in_a_file(place.path, inner, rules)
    by_file, duplicates = {mount.name for mount in mounts}, []
    for child in inner:
        if is_plain_folder(child):
            found = list(_of_folder(child, rules, files))
            yield from (item for item in found if isinstance(item, Diagnostic))
            declared = [item for item in found if isinstance(item, _Mount)]
            duplicates += [item.name for item in declared if item.name in by_file]
            mounts += declared
    for name in duplicates:
        yield diagnostic("extension-mount-ambiguous", place.path, name=name)
    for mount in mounts:
        if mount.name not in duplicates:
            yield from _located(mount, workspace, files)


@dataclass(frozen=True, slots=True)
class Extension:
    """A mounted package; `root` is the folder of its sources, or else of its build."""

    name: str  # of its mount
    package: Path
    root: Path


def extensions_of(root: Path, workspace: Path, rules: FileRules, files: Files) -> tuple[Extension, ...]:
    """Return the extensions that the root agent mounts, in the host's order, without refused ones."""
    if rules.layout is None or EXTENSIONS_FOLDER not in rules.layout.folders:
        return ()
    try:
        place = entry_named(EXTENSIONS_FOLDER, entries_in(root, rules, files))
        if place is None or not is_plain_folder(place):
            return ()
        inner = entries_in(place.path, rules, files)
        mounts = [
            item for child in inner if is_plain_folder(child) for item in _of_folder(child, rules, files)
        ]
        groups = (_in_a_file(place.path, inner, rules), (item for item in mounts if isinstance(item, _Mount)))
        found = [_extension(mount, workspace, files) for group in groups for mount in group]
    except OSError:
        return ()
    return tuple(item for item in found if item is not None)


def _in_a_file(folder: Path, inner: list[FolderItem], rules: FileRules) -> list[_Mount]:
    return [
        _Mount(stem, f"{EXTENSIONS_FOLDER}/{modules[0]}", folder / modules[0])
        for stem, modules in _stems(inner, rules).items()
        if len(modules) == 1 and _illegal(stem, folder) is None
    ]


def _extension(mount: _Mount, workspace: Path, files: Files) -> Extension | None:
    package = mounted_package(files.read(mount.file, LARGEST).decode(errors="replace"))
    folder = _folder_of(package, mount.file.parent, workspace, files) if package else None
    package_data = _manifest(folder / "package.json", files) if folder is not None else None
    declared = mapping_or_empty(mapping_or_empty(mapping_or_empty(package_data).get("eve")).get("extension"))
    paths = (declared.get("source"), declared.get("dist"))
    if folder is None:
        return None
    for place in (folder / path for path in paths if isinstance(path, str)):
        facts = files.facts(place)
        if facts is not None and facts.folder:
            return Extension(mount.name, folder, place)
    return None


def _stems(children: list[FolderItem], rules: FileRules) -> dict[str, list[str]]:
    stems = {module_stem(child.name, rules) for child in children if is_plain_file(child)}
    known = sorted((stem for stem in stems if stem is not None), key=collation_key)
    return {stem: modules_named(stem, children, rules) for stem in known}


def _illegal(name: str, path: Path) -> Diagnostic | None:
    if name == "eve" or name.startswith("eve__"):
        return diagnostic("extension-name-invalid, reserved", path, name=name)
    return None if MODULE_NAME.fullmatch(name) else diagnostic("extension-name-invalid", path, name=name)


def _of_folder(child: FolderItem, rules: FileRules, files: Files) -> Iterator[Diagnostic | _Mount]:
    fault = _illegal(child.name, child.path)
    if fault is not None:
        yield fault
        return
    modules = modules_named("extension", entries_in(child.path, rules, files), rules)
    if len(modules) > 1:
        yield diagnostic("module-slot-collision", child.path, slot="extension", files=quoted_names(modules))
    if len(modules) == 1:
        yield _Mount(child.name, f"{EXTENSIONS_FOLDER}/{child.name}/{modules[0]}", child.path / modules[0])
    else:
        yield diagnostic("extension-mount-missing-declaration", child.path, name=child.name)


def _located(mount: _Mount, workspace: Path, files: Files) -> Iterator[Diagnostic]:
    package = mounted_package(files.read(mount.file, LARGEST).decode(errors="replace"))
    if package is None:
        yield diagnostic("extension-mount-unresolved, no package", mount.file, path=mount.path)
        return
    folder = _folder_of(package, mount.file.parent, workspace, files)
    if folder is None:
        yield diagnostic("extension-mount-unresolved", mount.file, package=package, path=mount.path)
        return
    manifest = folder / "package.json"
    package_data = _manifest(manifest, files)
    if package_data is None:
        yield diagnostic("extension-package-invalid, unreadable", manifest, package=package, file=manifest)
        return
    build = _build_of(package_data, package)
    if build is None:
        yield diagnostic("extension-package-invalid", manifest, package=package)
    elif not build[1] and not is_file(built := folder / build[0] / BUILD_MANIFEST, files):
        name = mapping_or_empty(package_data).get("name")
        package = name if isinstance(name, str) and name else package
        yield diagnostic("extension-compatibility-invalid", built, package=package, file=built)


def mounted_package(text: str) -> str | None:
    """Return the package that a mount exports, found by searching its text as the host does; else None."""
    reexport = REEXPORTED.search(text)
    if reexport is not None:
        return reexport[1]
    called = CALLED.search(text)
    if called is None:
        return None
    name = called[1]
    pattern = rf"import\s+{re.escape(name)}\s*(?:,\s*\{{[^}}]*\}})?\s*from\s*['\"]([^'\"]+)['\"]"
    imported = re.search(pattern, text)
    if imported is not None:
        return imported[1]
    for part in IMPORTED.finditer(text):
        for specifier in part[1].split(","):
            words = re.split(r"\s+as\s+", specifier.strip())
            if (words[1] if len(words) > 1 else words[0]).strip() == name:
                return part[2]
    return None


def _folder_of(package: str, mount_folder: Path, workspace: Path, files: Files) -> Path | None:
    if package.startswith((".", "/")):
        folder = Path(normpath(mount_folder / package))
        return folder if is_file(folder / "package.json", files) else None
    parts = package.split("/")
    name = "/".join(parts[: 2 if package.startswith("@") else 1])
    own = _manifest(workspace / "package.json", files)
    if isinstance(own, dict) and own.get("name") == name:
        return workspace
    places = node_package_folders(name, workspace)
    return next((place for place in places if is_file(place / "package.json", files)), None)


def _manifest(file: Path, files: Files) -> object:
    try:
        return json.loads(files.read(file, LARGEST))
    except (OSError, ValueError, RecursionError):
        return None


def _build_of(package_data: object, package: str) -> tuple[str, bool] | None:
    """Return the folder of an extension's build, and whether it is one of several in its package."""
    eve = mapping_or_empty(mapping_or_empty(package_data).get("eve"))
    parts = package.split("/")[2 if package.startswith("@") else 1 :]
    declared = mapping_or_empty(eve.get("builtInExtensions")).get("/".join((".", *parts)))
    for one, is_one_of_several in ((declared, True), (eve.get("extension"), False)):
        dist = mapping_or_empty(one).get("dist")
        if isinstance(dist, str) and dist:
            return dist, is_one_of_several
    return None

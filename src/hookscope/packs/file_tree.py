"""FileTree: a package's files by path, in memory.

Reads folders and archives into one; walks and removes deep folders.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path

from hookscope.model.text import error_reason
from hookscope.packs.errors import PackError
from hookscope.packs.package_checks import (
    DEFAULT_LIMITS,
    PackageEntry,
    PackLimits,
    UnpackedSize,
    checked_names,
    display_name,
    package_error,
    size_in_words,
)
from hookscope.values import dataclass

# What no package means to bring: it is left out wherever it stands.
EXCLUDED_NAMES = frozenset({".git", ".hg", ".svn", "__MACOSX", ".DS_Store", "__pycache__"})
DEPENDENCIES_FOLDER = "node_modules"


@dataclass(frozen=True, slots=True)
class PackFile:
    """One file. Of its permissions only one thing is kept: whether it may be run."""

    content: bytes
    runnable: bool = False

    @property
    def mode(self) -> int:
        """Its permissions where it is put."""
        return 0o755 if self.runnable else 0o644

    @property
    def digest(self) -> str:
        """SHA-256 of its content, as hex digits."""
        return sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files by their path below the package, `/` between the parts, in the order of the paths."""

    files: Mapping[str, PackFile] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()  # the folders and files that were passed over

    @property
    def size(self) -> int:
        """Of all its files together, in bytes."""
        return sum(len(file.content) for file in self.files.values())

    def names(self, folder: str = "") -> frozenset[str]:
        """What stands in one folder of it."""
        return frozenset(path.partition("/")[0] for path, _ in self._below(folder))

    def below(self, folder: str) -> FileTree:
        """One folder of it as a tree of its own."""
        return FileTree(dict(self._below(folder)), self.excluded)

    def read(self, path: str) -> bytes | None:
        """The content of the file at this path; None: there is none."""
        file = self.files.get(path)
        return file.content if file is not None else None

    def _below(self, folder: str) -> Iterator[tuple[str, PackFile]]:
        start = f"{folder}/" if folder else ""
        for path, file in self.files.items():
            if path.startswith(start):
                yield path[len(start) :], file


def tree_of(files: Mapping[str, PackFile], *excluded: str) -> FileTree:
    """The tree of these files, without what no package means to bring."""
    excluded_paths: dict[str, None] = dict.fromkeys(excluded)
    kept: dict[str, PackFile] = {}
    for path in sorted(files):
        parts = path.split("/")
        at = next((number for number, part in enumerate(parts) if part in EXCLUDED_NAMES), None)
        if at is None:
            kept[path] = files[path]
        else:
            excluded_paths["/".join(parts[: at + 1])] = None
    return FileTree(kept, tuple(excluded_paths))


def digest_of(files: Mapping[str, str]) -> str:
    """One digest for many, by path."""
    lines = "".join(f"{path}\0{files[path]}\n" for path in sorted(files))
    return sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def entries_below(
    folder: Path, excluded: frozenset[str] = frozenset()
) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Every name below, and whether it is a folder: a folder before what is in it, in order. Follows no link.

    Names that are `excluded` are, with all below them; so is what a folder holds that cannot be listed.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name in excluded:
                continue
            is_folder = False
            with suppress(OSError):  # it is gone
                is_folder = entry.is_dir(follow_symlinks=False)
            yield entry, is_folder
            if is_folder:
                waiting.append(entry.path)


def remove_tree(folder: Path) -> None:
    """Take the folder away, and all below it. What cannot be removed stays, and nothing is raised."""
    if os.path.islink(folder):
        return
    folders = [os.fspath(folder)]
    for entry, is_folder in entries_below(folder):
        if is_folder:
            folders.append(entry.path)
        else:
            with suppress(OSError):
                os.unlink(entry.path)
    for path in reversed(folders):
        with suppress(OSError):
            os.rmdir(path)


EXCLUDED_FROM_FOLDERS = EXCLUDED_NAMES | {DEPENDENCIES_FOLDER}


def read_folder_tree(folder: Path, limits: PackLimits = DEFAULT_LIMITS) -> FileTree:
    """All files below a folder, without version control and installed dependencies. Raises PackError."""
    excluded: list[str] = []
    try:
        found = dict(_files_below(Path(os.path.realpath(folder)), excluded, limits))
        checked_names([PackageEntry(path, "file") for path in found], limits)
        measure = UnpackedSize(limits, 0)
        return tree_of({path: _read_file(path, file, measure) for path, file in found.items()}, *excluded)
    except OSError as error:
        where = error.filename or folder
        what = f"Cannot read {where}: {error_reason(error)}."
        raise PackError(what, "Make it readable, or name another folder. Nothing was written.") from None


def _files_below(root: Path, excluded: list[str], limits: PackLimits) -> Iterator[tuple[str, Path]]:
    waiting, seen = [("", root)], 0
    while waiting:
        path, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                seen += 1
                if seen > limits.entries:
                    raise package_error(
                        f"It has more than {limits.entries:,} entries; so many are not copied."
                    )
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.name in EXCLUDED_FROM_FOLDERS:
                    excluded.append(below)
                elif entry.is_dir(follow_symlinks=False):
                    if below.count("/") >= limits.depth:
                        raise package_error(
                            f"{display_name(below)} lies more than {limits.depth} folders deep."
                        )
                    waiting.append((below, Path(entry.path)))
                else:
                    yield below, _readable_file(below, Path(entry.path), root)


def _readable_file(path: str, file: Path, root: Path) -> Path:
    """Where a file's bytes are. Raises PackError for what is none, and for a link that leads out."""
    if file.is_symlink():
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(root):
            raise package_error(f"{display_name(path)} is a link that leads out of the folder.")
        if not real.is_file():
            raise package_error(f"{display_name(path)} is a link to no file.")
        return real
    if not stat.S_ISREG(file.lstat().st_mode):
        raise package_error(f"{display_name(path)} is a device, a pipe or a socket.")
    return file


def _read_file(path: str, file: Path, measure: UnpackedSize) -> PackFile:
    measure.begin(path)
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as opened:
        facts = os.fstat(opened.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise package_error(f"{display_name(path)} is a device, a pipe or a socket.")
        measure.count(facts.st_size)
        content = opened.read(measure.limits.file + 1)
        measure.count(max(len(content) - facts.st_size, 0))
    return PackFile(content, bool(facts.st_mode & 0o111))


ARCHIVE_SUFFIXES = (".zip", ".tgz", ".tar.gz", ".tar")
TOP_MANIFESTS = ("HOOK.md", "package.json")


def is_archive(name: str) -> bool:
    """Does its name say that it is an archive that can be read."""
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def read_archive(source: bytes, name: str, limits: PackLimits = DEFAULT_LIMITS) -> FileTree:
    """The files of an archive of that name, its one top folder taken off. Raises PackError."""
    if len(source) > limits.archive:
        raise package_error(f"{display_name(name)} is larger than {size_in_words(limits.archive)}.")
    lowered = name.lower()
    if lowered.endswith(".zip"):
        from hookscope.packs.fetch.archives import files_of_zip

        tree = tree_of(files_of_zip(source, display_name(name), limits))
    elif lowered.endswith(ARCHIVE_SUFFIXES):
        from hookscope.packs.fetch.archives import files_of_tar

        packed = not lowered.endswith(".tar")
        tree = tree_of(files_of_tar(source, display_name(name), limits, is_gzipped=packed))
    else:
        known = ", ".join(ARCHIVE_SUFFIXES)
        raise PackError(f"{display_name(name)} is no archive that can be read.", f"There are {known}.")
    return without_top_folder(tree)


def without_top_folder(tree: FileTree) -> FileTree:
    """Of an archive with one folder at its top and nothing beside it: what is in that folder."""
    top = tree.names()
    if len(top) != 1 or top & set(TOP_MANIFESTS):
        return tree
    (folder,) = top
    inside = tree.below(folder)
    return inside if inside.files else tree

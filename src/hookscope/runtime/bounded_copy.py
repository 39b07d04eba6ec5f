"""Copies of folders within bounds, top levels first. The originals are only read; skipped files are reported.

Files keep their mode and time; hard links become separate files. A link into a copied folder leads into the
copy. With bubblewrap, the rest of the disk is read-only: any other link keeps its target, and `node_modules`
becomes a link to the original. Without it, copies are self-contained: packages and the targets of links are
copied too, or are missing if they exceed the bounds, and nothing in a copy leads to an original that its user
can write. Git reads its objects in the original and writes to the copy; but if it writes an object that
exists already, it sets the original's time. Folders that contain no file are copied but not compared.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path

from hookscope.model.text import error_reason
from hookscope.runtime.file_changes import Fingerprint, OriginalsWatch, open_regular_file
from hookscope.values import dataclass

MIB = 1024 * 1024
MAX_GIT_FILE = 4096  # bytes of a file that holds one path
RESERVED_FRACTION = 4  # one part in so many of the remaining bounds is reserved for later folders
NAMED_ENTRIES = 3  # skipped names that a sentence lists

# Folders that handlers rarely need and that would use up the bounds. By name, at any depth:
SKIPPED_ANYWHERE = {"__pycache__": "caches", ".venv": "installed packages", "venv": "installed packages"}
# By their path below the top of a copied folder:
SKIPPED_AT_TOP = {
    **dict.fromkeys((".cache", "Library/Caches", ".npm", ".gradle", ".m2", ".ccache"), "caches"),
    **dict.fromkeys(
        (".cargo", ".rustup", ".pyenv", ".nvm", ".bun", ".deno", "go", "snap"), "installed programs"
    ),
    **dict.fromkeys((".local/share/uv", ".local/lib", ".local/pipx", "Applications"), "installed programs"),
    **dict.fromkeys((".local/share/Trash", ".Trash"), "trash"),
}
LINKED_TO_ORIGINAL = "linked to the original"
GIT_OBJECTS = "git reads the originals"
PACKAGE_FOLDER = "node_modules"
SPECIAL_FILES = "devices, sockets and pipes"
OTHER_FILE_SYSTEM = "on another file system"  # a network file system may block forever
GIT_WRITES_TO_ORIGINAL = "git would write to the original"
HARMLESS_DEVICES = frozenset(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
KERNEL_FOLDERS = ("/proc", "/sys", "/dev")  # no files on a disk; reading some of them has effects


@dataclass(frozen=True, slots=True)
class CopyBounds:
    """Limits of a copy."""

    files: int = 5_000  # files, folders and links, including skipped ones
    total: int = 64 * MIB  # bytes of all files
    largest: int = 4 * MIB  # bytes of one file


DEFAULT_BOUNDS = CopyBounds()
PACKAGE_BOUNDS = CopyBounds(files=20_000, total=256 * MIB, largest=64 * MIB)  # all `node_modules` together


class CopyBudget:
    """What remains of the bounds of a copy."""

    def __init__(self, bounds: CopyBounds) -> None:
        self.bounds = bounds
        self.files, self.total = bounds.files, bounds.total

    def reserve(self) -> tuple[int, int]:
        """Set a part aside for later folders; `release` returns it."""
        files, total = self.files // RESERVED_FRACTION, self.total // RESERVED_FRACTION
        self.files, self.total = self.files - files, self.total - total
        return files, total

    def release(self, part: tuple[int, int]) -> None:
        """Return a reserved part."""
        self.files, self.total = self.files + part[0], self.total + part[1]


@dataclass(frozen=True, slots=True)
class CopiedPath:
    """A folder and its copy, both without links in their paths."""

    folder: str
    copy: str


class CopyPaths:
    """Maps paths to their copies. `/a/b` becomes `disk/a/b`.

    So `../x` works in a copy as in the original, and nested folders stay nested.
    """

    def __init__(self, folders: Sequence[Path], root: str) -> None:
        self.disk = os.path.join(root, "disk")
        named: dict[str, str] = {}  # real path → path as given, preferably the real one
        for folder in folders:
            real, name = os.path.realpath(folder), os.path.abspath(folder)
            named[real] = name if name == real else named.get(real, name)
        tops = [
            path for path in named if not any(path != other and is_within(path, other) for other in named)
        ]
        self.areas = (self.disk,)
        self.copied: tuple[CopiedPath, ...] = tuple(self._copied_path(path) for path in named)  # as ordered
        self._copies = {place.folder: place.copy for place in self.copied}
        self._copies |= {os.path.abspath(path): self._copies[os.path.realpath(path)] for path in folders}
        self._reached = dict(self._copies)
        self._originals = [(self.mirrored(top), named[top]) for top in tops if named[top] != top]
        self._originals.append((self.disk, ""))

    def copy_of(self, path: str) -> str:
        """Return the path's place in the copies, existing or not; outside the copied folders, the path."""
        copy = _path_in_copy(path, self._copies)
        if copy != os.path.abspath(path):
            return copy
        real = os.path.realpath(path)  # a link from outside may lead into a folder
        inside = _path_in_copy(real, self._copies)
        return inside if inside != real and os.path.isdir(os.path.dirname(inside)) else path

    def copy_of_reached(self, path: str) -> str:
        """Return the path in the copies, also for what `add` has added; else the path itself."""
        return _path_in_copy(path, self._reached)

    def add(self, path: str) -> CopiedPath:
        """Return the path for the copy of another file or folder, given its real path. Only `copy_of_reached`
        knows this path, not `copy_of`."""
        place = self._copied_path(path)
        self._reached[path] = place.copy
        return place

    def original_of(self, text: str) -> str:
        """Return the text with the paths of copies replaced by the paths of originals."""
        for copy, original in self._originals:
            text = text.replace(f"{copy}/", f"{original.rstrip('/')}/").replace(copy, original or "/")
        return text

    def link_target_of(self, path: str, target: str) -> str:
        """Return the target of the copy of a link."""
        parent = os.path.dirname(path)
        real = os.path.realpath(path)
        if (copy := self.copy_of_reached(real)) == real:
            return os.path.join(parent, target)
        climbs = os.path.normpath(target).split("/").count("..")
        plain = os.path.normpath(os.path.join(parent, target)) == real and climbs <= parent.count("/")
        return target if not os.path.isabs(target) and (plain or ".." not in target.split("/")) else copy

    def _copied_path(self, path: str) -> CopiedPath:
        return CopiedPath(path, self.mirrored(path))

    def mirrored(self, path: str) -> str:
        """Return the place below `disk` for any absolute path."""
        return self.disk if path == "/" else f"{self.disk}{path}"


class FolderCopier:
    """Copies the folders of `paths`, the most important first. Never copies `excluded`.

    `self_contained`: nothing in the copies may lead to an original. `start_folders`: where handlers start.
    """

    def __init__(
        self,
        paths: CopyPaths,
        bounds: CopyBounds,
        excluded: Collection[str],
        packages: CopyBounds = PACKAGE_BOUNDS,
        *,
        self_contained: bool = False,
        start_folders: Sequence[str] = (),
    ) -> None:
        self.fingerprints: dict[str, Fingerprint] = {}  # path of a copy → its copied content
        self.originals = OriginalsWatch(excluded)
        self._paths, self._self_contained = paths, self_contained
        self._budget, self._package_budget = CopyBudget(bounds), CopyBudget(packages)
        self._existing = [place for place in paths.copied if os.path.isdir(place.folder)]
        self._devices = {os.stat(place.folder).st_dev for place in self._existing}
        self._excluded = frozenset(excluded)
        self._copied_separately = {
            *excluded,
            *(place.folder for place in self._existing),
        }  # not copied as part of another folder
        self._skipped: dict[tuple[str, str], list[str]] = {}  # copy of a folder, reason → names
        self._folders: list[tuple[str, os.stat_result]] = []
        self._link_targets: deque[CopiedPath] = deque()  # of links, to be copied
        self._start_folders = [os.path.realpath(path) for path in start_folders]

    def copy(self) -> None:
        """Copy everything. Raises OSError only if the folder of the copies cannot be created."""
        os.mkdir(self._paths.disk)
        for place in self._existing:  # first, so that no copied link takes the place of a folder
            os.makedirs(place.copy, exist_ok=True)
        for place in self._existing:
            last = place is self._existing[-1]
            reserved = (0, 0) if last else self._budget.reserve()
            self._copy_folder(place, self._budget, only_needed_packages=last and len(self._existing) > 1)
            self._copy_targets()
            self._budget.release(reserved)
        for path in filter(os.path.isdir, self._start_folders):
            self._devices.add(os.stat(path).st_dev)  # it may be on a file system of its own
            if why := self._add_link_target(path):
                self._skip(CopiedPath(path, self._paths.copy_of_reached(path)), why, ".")
        self._copy_targets()
        for folder, status in sorted(self._folders, key=lambda pair: -len(pair[0])):
            with suppress(OSError):  # then the copy stays private
                os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))
                os.chmod(folder, stat.S_IMODE(status.st_mode) & 0o777)

    def skipped_notes(self) -> tuple[str, ...]:
        """Return one sentence on skipped files for each combination of folder and reason."""
        return tuple(
            f"Not copied from {self._paths.original_of(copy)}: {_name_list(names)} ({reason})."
            for (copy, reason), names in self._skipped.items()
        )

    def _copy_folder(
        self, place: CopiedPath, budget: CopyBudget, *, only_needed_packages: bool = False
    ) -> None:
        """Copy a folder recursively.

        `only_needed_packages`: copy `node_modules` only if another copied folder lies below the same parent.
        """
        waiting = deque([(place.folder, place.copy, budget)])
        device = self._note_folder(place.folder, place.copy)
        while waiting:
            source, copy, budget = waiting.popleft()
            for entry in self._entries(place, source, budget):
                if entry.path in self._copied_separately:
                    continue
                name = os.path.relpath(entry.path, place.folder)
                if budget.files <= 0:
                    self._skip(place, f"over the limit of {budget.bounds.files:,} files and folders", name)
                    continue
                budget.files -= 1
                to = os.path.join(copy, entry.name)
                try:
                    self.originals.add(entry.path, entry.stat(follow_symlinks=False))
                    if why := self._skip_reason(
                        entry, name, device, only_needed_packages=only_needed_packages
                    ):
                        self._make_replacement(entry, to, why)
                    elif entry.is_dir(follow_symlinks=False):
                        self._make_folder(entry.path, to)
                        below = (
                            self._package_budget
                            if self._self_contained and entry.name == PACKAGE_FOLDER
                            else budget
                        )
                        waiting.append((entry.path, to, below))
                    else:
                        why = self._copy_entry(place, entry, to, budget)
                except OSError as error:  # gone meanwhile, not readable, no space left, …
                    why = error_reason(error)
                if why:
                    self._skip(place, why, name)

    def _make_folder(self, folder: str, to: str) -> None:
        with suppress(FileExistsError):  # made before a folder inside it
            os.mkdir(to, 0o700)
        self._note_folder(folder, to)

    def _copy_entry(self, place: CopiedPath, entry: os.DirEntry[str], to: str, budget: CopyBudget) -> str:
        """Copy a link or a file. Return why it was not copied; empty if it was."""
        if not entry.is_symlink():
            return self._copy_file(entry.path, to, budget)
        why = self._add_link_target(os.path.realpath(entry.path)) if self._self_contained else ""
        self._link(self._paths.link_target_of(entry.path, os.readlink(entry.path)), to)
        return f"a link to {why}" if why else ""

    # The targets of links

    def _add_link_target(self, real: str) -> str:
        """Add a place for the target of a link. Return why it cannot be copied; otherwise empty."""
        if self._paths.copy_of_reached(real) != real or real in HARMLESS_DEVICES:
            return ""
        try:
            status = os.lstat(real)
        except OSError:  # a missing target, which a handler may create
            copy = self._paths.add(real).copy
            if os.path.isdir(os.path.dirname(real)):
                os.makedirs(os.path.dirname(copy), exist_ok=True)
            return ""
        if _is_read_only(real, status):
            return ""
        place = self._paths.add(real)
        folder = stat.S_ISDIR(status.st_mode)
        os.makedirs(place.copy if folder else os.path.dirname(place.copy), exist_ok=True)
        if any(is_within(real, path) for path in self._excluded):
            return ""
        if not (folder or stat.S_ISREG(status.st_mode)) or any(
            is_within(real, top) for top in KERNEL_FOLDERS
        ):
            return SPECIAL_FILES
        if folder and status.st_dev not in self._devices:
            return f"a folder {OTHER_FILE_SYSTEM}"
        self._copied_separately.add(real)
        self._link_targets.append(place)
        return ""

    def _copy_targets(self) -> None:
        while self._link_targets:
            place = self._link_targets.popleft()
            budget = (
                self._package_budget if os.path.basename(place.folder) == PACKAGE_FOLDER else self._budget
            )
            if os.path.isdir(place.folder):
                with suppress(OSError):  # it is gone
                    self._copy_folder(place, budget)
                continue
            parent, name = os.path.split(place.folder)
            try:
                self.originals.add(place.folder, os.lstat(place.folder))
                why = self._copy_file(place.folder, place.copy, budget)
            except OSError as error:
                why = error_reason(error)
            if why:
                self._skip(CopiedPath(parent, os.path.dirname(place.copy)), why, name)

    # Folders

    def _note_folder(self, folder: str, copy: str) -> int:
        status = os.stat(folder)
        self._folders.append((copy, status))
        return status.st_dev

    def _entries(self, place: CopiedPath, folder: str, budget: CopyBudget) -> list[os.DirEntry[str]]:
        most = max(budget.files, 0) + 1
        try:
            status = os.lstat(folder)
            with os.scandir(folder) as listing:
                found = sorted(islice(listing, most), key=lambda entry: entry.name)
        except OSError as error:
            name = os.path.relpath(folder, place.folder)
            self._skip(place, error_reason(error), f"the content of {name}")
            return []
        if len(found) < most:
            self.originals.add_folder(folder, status, [entry.name for entry in found])
        return found

    def _skip_reason(
        self, entry: os.DirEntry[str], name: str, device: int, *, only_needed_packages: bool
    ) -> str:
        """Return why an entry is skipped without being read; empty if it is to be copied."""
        if entry.is_symlink():
            return ""
        if entry.is_file(follow_symlinks=False):
            return (
                GIT_WRITES_TO_ORIGINAL
                if self._self_contained and entry.name == ".git" and _has_absolute_gitdir(entry.path)
                else ""
            )
        if not entry.is_dir(follow_symlinks=False):
            return SPECIAL_FILES
        if entry.name == PACKAGE_FOLDER:
            if not self._self_contained:
                return LINKED_TO_ORIGINAL
            return (
                "" if not only_needed_packages or self._is_above_another(entry.path) else "installed packages"
            )
        if entry.name == "objects" and os.path.basename(os.path.dirname(entry.path)) == ".git":
            return GIT_OBJECTS
        if entry.stat(follow_symlinks=False).st_dev != device:
            return OTHER_FILE_SYSTEM
        return SKIPPED_AT_TOP.get(name) or SKIPPED_ANYWHERE.get(entry.name) or ""

    def _is_above_another(self, packages: str) -> bool:
        """Return True if the folder with these packages contains another copied folder."""
        parent = os.path.dirname(packages)
        return any(is_within(place.folder, parent) for place in self._existing[:-1])

    def _make_replacement(self, entry: os.DirEntry[str], to: str, reason: str) -> None:
        if reason == LINKED_TO_ORIGINAL:
            self._link(entry.path, to)
        elif reason == GIT_OBJECTS:
            os.makedirs(os.path.join(to, "info"))
            self._write(os.path.join(to, "info", "alternates"), os.fsencode(f"{entry.path}\n"))

    # Links and files

    def _link(self, target: str, to: str) -> None:
        os.symlink(target, to)
        self.fingerprints[to] = Fingerprint(len(os.fsencode(target)), link=target)

    def _copy_file(self, source: str, to: str, budget: CopyBudget) -> str:
        with open_regular_file(source) as file:
            status = os.fstat(file.fileno())
            room = min(budget.bounds.largest, budget.total)
            content = file.read(room + 1) if status.st_size <= room else b""
        if max(status.st_size, len(content)) > room:  # it may have grown while it was read
            large = status.st_size > budget.bounds.largest
            most = f"over the limit of {_size_text(budget.bounds.total)} in total"
            return f"larger than {_size_text(budget.bounds.largest)}" if large else most
        budget.total -= len(content)
        self._write(to, content, status)
        return ""

    def _write(self, to: str, content: bytes, like: os.stat_result | None = None) -> None:
        try:
            with open(to, "xb") as copy:
                copy.write(content)
                copy.flush()
                if like is not None:
                    os.fchmod(copy.fileno(), stat.S_IMODE(like.st_mode) & 0o777)
                    os.utime(copy.fileno(), ns=(like.st_atime_ns, like.st_mtime_ns))
        except FileExistsError:
            raise
        except OSError:
            with suppress(OSError):
                os.unlink(to)
            raise
        self.fingerprints[to] = Fingerprint(len(content), sha256(content).digest())

    def _skip(self, place: CopiedPath, reason: str, name: str) -> None:
        self._skipped.setdefault((place.copy, reason), []).append(name)


def is_within(path: str, folder: str) -> bool:
    """Return True if the path is the folder or lies inside it, judged by the text of the paths."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _path_in_copy(path: str, copies: Mapping[str, str]) -> str:
    """Return the path in the copy of the innermost copied folder that contains it; unchanged if none does."""
    path = f"/{os.path.abspath(path).lstrip('/')}"
    folder = path
    while folder not in copies:
        if folder == "/":
            return path
        folder = os.path.dirname(folder)
    return os.path.normpath(os.path.join(copies[folder], os.path.relpath(path, folder)))


def _is_read_only(path: str, status: os.stat_result) -> bool:
    """Return True if the user cannot write the path: a read-only disk, or a file of another user."""
    with suppress(OSError):
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            return True
    own = status.st_uid == os.geteuid()  # an owner can make the file writable
    return stat.S_ISREG(status.st_mode) and not own and not os.access(path, os.W_OK)


def _has_absolute_gitdir(file: str) -> bool:
    """Return True if a `.git` file names its repository by an absolute path, as in a working tree."""
    with open_regular_file(file) as content:
        return content.read(MAX_GIT_FILE).removeprefix(b"gitdir:").lstrip().startswith(b"/")


def _name_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED_ENTRIES:,} more" if len(names) > NAMED_ENTRIES else ""
    return ", ".join(names[:NAMED_ENTRIES]) + more


def _size_text(size: int) -> str:
    return f"{size / MIB:g} MiB" if size >= MIB else f"{size:,} bytes"

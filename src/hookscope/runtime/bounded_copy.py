"""Copies of folders within bounds, the nearest to the top first. Reads only; what is left out is said.

Files keep their mode and time; hard links become files of their own. A link that leads into one of the
folders leads into its copy; any other leads where it led, so what is written through it is written there,
unless a wall is in the way. `node_modules` becomes such a link. Git finds its objects in the original and
writes to the copy; where it would write an object that the original has, it sets that one's time instead.
Folders without a file in them are no content: they are copied, and not compared.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path

from hookscope.core.text import why_of
from hookscope.runtime.file_changes import Print, open_file
from hookscope.values import dataclass

MIB = 1024 * 1024
KEPT_BACK = 4  # one part in so many of what is left stays for the folders behind
NAMED = 3  # names that a sentence has, of what was left out

# Folders that handlers hardly need and that would use up the bounds. By name, wherever they lie:
ANYWHERE = {"__pycache__": "caches", ".venv": "installed packages", "venv": "installed packages"}
# By their path below the top of a copied folder:
AT_TOP = {
    **dict.fromkeys((".cache", "Library/Caches", ".npm", ".gradle", ".m2", ".ccache"), "caches"),
    **dict.fromkeys(
        (".cargo", ".rustup", ".pyenv", ".nvm", ".bun", ".deno", "go", "snap"), "installed programs"
    ),
    **dict.fromkeys((".local/share/uv", ".local/lib", ".local/pipx", "Applications"), "installed programs"),
    **dict.fromkeys((".local/share/Trash", ".Trash"), "thrown away"),
}
LINKED = "a link leads to the original itself"
LENT = "git reads them in the original"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is copied at most."""

    files: int = 5_000  # files, folders and links, and those that are looked at and left out
    total: int = 64 * MIB  # bytes of all files
    largest: int = 4 * MIB  # bytes of one file


USUAL = Bounds()


@dataclass(frozen=True, slots=True)
class Place:
    """A folder and its copy, both without links in their paths."""

    folder: str
    copy: str
    top: str  # the outermost folder that holds this one


class Places:
    """Which path lies where in the copies. A folder inside of another lies inside of its copy.

    Each outermost folder has an area of its own below `root`, which stands for the folder around it:
    what a handler writes to `../x` is found there.
    """

    def __init__(self, folders: Sequence[Path], root: str) -> None:
        named: dict[str, str] = {}  # without links → as given, the plain name before others
        for folder in folders:
            real, name = os.path.realpath(folder), os.path.abspath(folder)
            named[real] = name if name == real else named.get(real, name)
        tops = [path for path in named if not any(path != other and within(path, other) for other in named)]
        self.areas = tuple(os.path.join(root, f"{number:03}") for number in range(len(tops)))
        copies = {
            top: os.path.join(area, os.path.basename(named[top]) or "root")
            for top, area in zip(tops, self.areas, strict=True)
        }
        self.all: tuple[Place, ...] = tuple(_place(path, copies) for path in named)  # in the order given
        pairs = {place.folder: place.copy for place in self.all}
        pairs |= {os.path.abspath(folder): pairs[os.path.realpath(folder)] for folder in folders}
        self._copies = sorted(pairs.items(), key=lambda pair: -len(pair[0]))
        self._back = [(copies[top], named[top]) for top in tops]
        self._back += [
            (area, os.path.dirname(named[top])) for top, area in zip(tops, self.areas, strict=True)
        ]

    def copy_of(self, path: str) -> str:
        """Where an absolute path lies in the copies, copied or not; itself outside of all folders."""
        path = os.path.abspath(path)
        for folder, copy in self._copies:
            if within(path, folder):
                return os.path.normpath(os.path.join(copy, os.path.relpath(path, folder)))
        return path

    def original_of(self, text: str) -> str:
        """The text with the copies' paths put back."""
        for copy, original in self._back:
            text = text.replace(f"{copy}/", f"{original.rstrip('/')}/").replace(copy, original)
        return text

    def link_of(self, path: str, target: str, top: str) -> str:
        """Where the copy of a link shall lead. `top`: the outermost folder that holds the link."""
        parent = os.path.dirname(path)
        real = os.path.realpath(os.path.join(parent, target))
        if (copy := self.copy_of(real)) == real:
            return os.path.join(parent, target)
        depth = len(Path(parent).relative_to(top).parts)
        stays = os.path.normpath(target).split("/").count("..") <= depth  # never climbs above the top
        return target if stays and not os.path.isabs(target) and within(real, top) else copy


class Copier:
    """Copies the folders of `places`, the first the most important. What is `apart` is never copied."""

    def __init__(self, places: Places, bounds: Bounds, apart: Collection[str]) -> None:
        self.prints: dict[str, Print] = {}  # path of a copy → what was copied there
        self.sources: dict[str, tuple[int, int]] = {}  # path of an original file → its size and time then
        self._places = places
        self._bounds = bounds
        self._files, self._total = bounds.files, bounds.total
        self._there = [place for place in places.all if os.path.isdir(place.folder)]
        self._apart = {*apart, *(place.folder for place in self._there)}  # not copied as part of another
        self._left: dict[tuple[str, str], list[str]] = {}  # folder, reason → names
        self._folders: list[tuple[str, os.stat_result]] = []

    def copy(self) -> None:
        """Copy all that is there. Raises OSError only where the areas themselves cannot be made."""
        for area in self._places.areas:
            os.mkdir(area)
        for place in self._there:  # all of them first: no link of one can stand in the way of another
            os.makedirs(place.copy, exist_ok=True)
        for number, place in enumerate(self._there, 1):
            last = number == len(self._there)
            files, total = (0, 0) if last else (self._files // KEPT_BACK, self._total // KEPT_BACK)
            self._files, self._total = self._files - files, self._total - total
            self._copy_folder(place)
            self._files, self._total = self._files + files, self._total + total
        for folder, status in sorted(self._folders, key=lambda pair: -len(pair[0])):
            with suppress(OSError):  # at worst it stays private
                os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))
                os.chmod(folder, stat.S_IMODE(status.st_mode) & 0o777)

    def left_out(self) -> tuple[str, ...]:
        """What was not copied and why: one sentence a folder and reason."""
        named = {place.folder: self._places.original_of(place.copy) for place in self._places.all}
        return tuple(
            f"Not copied from {named[folder]}: {_few(names)} ({reason})."
            for (folder, reason), names in self._left.items()
        )

    def _copy_folder(self, place: Place) -> None:
        waiting = deque([(place.folder, place.copy)])
        device = self._enter(place.folder, place.copy)
        while waiting:
            source, copy = waiting.popleft()
            for entry in self._entries(place, source):
                if entry.path in self._apart:
                    continue
                name = os.path.relpath(entry.path, place.folder)
                if self._files <= 0:
                    self._leave(
                        place, f"among others: {self._bounds.files:,} files and folders are the most", name
                    )
                    continue
                self._files -= 1
                to = os.path.join(copy, entry.name)
                try:
                    if why := self._why_not(entry, name, device):
                        self._instead(entry, to, why)
                    elif entry.is_dir(follow_symlinks=False):
                        self._make_folder(entry.path, to)
                        waiting.append((entry.path, to))
                    else:
                        why = self._copy_entry(place, entry, to)
                except OSError as error:  # gone meanwhile, not readable, no space left, …
                    why = why_of(error)
                if why:
                    self._leave(place, why, name)

    def _make_folder(self, folder: str, to: str) -> None:
        with suppress(FileExistsError):  # made for a folder inside of it
            os.mkdir(to, 0o700)
        self._enter(folder, to)

    def _copy_entry(self, place: Place, entry: os.DirEntry[str], to: str) -> str:
        """Copy a link or a file; why it was not, mostly empty."""
        if not entry.is_symlink():
            return self._copy_file(entry.path, to)
        self._link(self._places.link_of(entry.path, os.readlink(entry.path), place.top), to)
        return ""

    def _enter(self, folder: str, copy: str) -> int:
        status = os.stat(folder)
        self._folders.append((copy, status))
        return status.st_dev

    def _entries(self, place: Place, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as listing:
                return sorted(islice(listing, max(self._files, 0) + 1), key=lambda entry: entry.name)
        except OSError as error:
            name = os.path.relpath(folder, place.folder)
            self._leave(place, why_of(error), f"what {name} holds")
            return []

    def _why_not(self, entry: os.DirEntry[str], name: str, device: int) -> str:
        """Why this is left out before anybody looks into it; empty for what is to be copied."""
        if entry.is_symlink() or entry.is_file(follow_symlinks=False):
            return ""
        if not entry.is_dir(follow_symlinks=False):
            return "devices, sockets and pipes"
        if entry.name == "node_modules":
            return LINKED
        if entry.name == "objects" and os.path.basename(os.path.dirname(entry.path)) == ".git":
            return LENT
        if entry.stat(follow_symlinks=False).st_dev != device:
            return "on another file system"  # a network's may take for ever
        return AT_TOP.get(name) or ANYWHERE.get(entry.name) or ""

    def _instead(self, entry: os.DirEntry[str], to: str, why: str) -> None:
        if why == LINKED:
            self._link(entry.path, to)
        elif why == LENT:
            os.makedirs(os.path.join(to, "info"))
            self._write(os.path.join(to, "info", "alternates"), os.fsencode(f"{entry.path}\n"))

    def _link(self, target: str, to: str) -> None:
        os.symlink(target, to)
        self.prints[to] = Print(len(os.fsencode(target)), link=target)

    def _copy_file(self, source: str, to: str) -> str:
        with open_file(source) as file:
            status = os.fstat(file.fileno())
            room = min(self._bounds.largest, self._total)
            content = file.read(room + 1) if status.st_size <= room else b""
        if max(status.st_size, len(content)) > room:  # it may have grown while it was read
            large = status.st_size > self._bounds.largest
            most = f"{_in_mib(self._bounds.total)} in all are the most"
            return f"larger than {_in_mib(self._bounds.largest)}" if large else most
        self._total -= len(content)
        self._write(to, content, status)
        self.sources[source] = status.st_size, status.st_mtime_ns
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
        self.prints[to] = Print(len(content), sha256(content).digest())

    def _leave(self, place: Place, why: str, name: str) -> None:
        self._left.setdefault((place.folder, why), []).append(name)


def within(path: str, folder: str) -> bool:
    """Is this the folder, or inside of it? By the text of the paths alone."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _place(path: str, copies: dict[str, str]) -> Place:
    top = next(top for top in copies if within(path, top))
    return Place(path, os.path.normpath(os.path.join(copies[top], os.path.relpath(path, top))), top)


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _in_mib(size: int) -> str:
    return f"{size / MIB:g} MiB" if size >= MIB else f"{size:,} bytes"

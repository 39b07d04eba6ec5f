"""Digests of hook folders and names for the content of handlers.

a changed file gets another name, and everything loads again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import time_ns
from typing import TypeAlias

from hookscope.model.run import Code
from hookscope.values import dataclass

MAX_FILES = 2000  # files looked at; a folder with more changes with the first of them only
MAX_KNOWN_SCANS = 1024  # folders whose last look is remembered
SMALL_FOLDER = 100  # files of such a one; a look at more costs no more than asking for each
SETTLED_AGE = 3_000_000_000  # nanoseconds since a folder's last change: some systems count in two seconds

FileFacts: TypeAlias = tuple[int, int, int, int]  # size, two times, inode
_known_scans: dict[str, _FolderScan] = {}


def digest_of(folder: Path) -> str:
    """The names, sizes and times of all files in the folder, hashed. Reads no file; never raises.

    Skips `__pycache__`, `node_modules` and whatever begins with a dot. A folder that is not there
    has a digest too.
    """
    root = os.fspath(folder)
    known = _known_scans.get(root)
    if known is not None and known.is_current():
        return known.digest
    now, scan, digest = time_ns(), _FolderScan(), sha256()
    for number, entry in enumerate(_file_lines(root, "", scan)):
        if number == MAX_FILES:
            break
        digest.update(entry.encode("utf-8", "surrogateescape"))
    scan.digest = digest.hexdigest()[:32]
    _known_scans.pop(root, None)
    if os.path.isabs(root) and len(scan.files) <= SMALL_FOLDER and scan.is_settled(now):
        if len(_known_scans) >= MAX_KNOWN_SCANS:
            _known_scans.clear()
        _known_scans[root] = scan
    return scan.digest


class _FolderScan:
    """What a look into a folder has met. While all of it stays as it is, another look meets the same.

    A folder's time changes with each name that comes or goes in it, unless that is in the very moment of
    the look: so only folders whose last change lies some seconds back are taken at their word.
    """

    __slots__ = ("digest", "files", "folders")

    def __init__(self) -> None:
        self.digest = ""
        self.folders: list[tuple[str, FileFacts | None]] = []
        self.files: list[tuple[str, FileFacts | None]] = []

    def is_settled(self, now: int) -> bool:
        """May these folders be taken at their word."""
        return all(facts is not None and max(facts[1:3]) < now - SETTLED_AGE for _, facts in self.folders)

    def is_current(self) -> bool:
        """Is all of it as it was."""
        return all(_facts_of(path) == facts for path, facts in chain(self.folders, self.files))


def _facts_of(path: str) -> FileFacts | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def with_digest(code: Code) -> Code:
    """The Code with the digest that its folder has now, unless it brings one."""
    return code if code.digest else replace(code, digest=digest_of(code.root))


def content_name(code: Code) -> str:
    """A name for the present content of the Code's folder, and for no other."""
    return _name_from_digest(os.fspath(code.root), code.digest or digest_of(code.root))


@lru_cache(maxsize=4096)
def _name_from_digest(root: str, digest: str) -> str:
    return sha256(f"{root}\0{digest}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _file_lines(folder: str, below: str, scan: _FolderScan) -> Iterator[str]:
    """One text a file, in an order of its own. Links to folders are not followed: they may lead round."""
    waiting = _folder_entries(
        folder, below, scan
    )  # the next one last; no recursion: folders may lie very deep
    while waiting:
        entry, below = waiting.pop()
        name = entry.name
        if name.startswith(".") or name in ("__pycache__", "node_modules"):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                waiting += _folder_entries(entry.path, f"{below}{name}/", scan)
                continue
        except OSError:  # gone
            pass
        facts = _facts_of(entry.path)
        scan.files.append((entry.path, facts))
        if facts is None:  # gone, or a link to nowhere: then the name is all there is
            yield f"{below}{name}\0"
            continue
        size, mtime, ctime, inode = facts
        yield f"{below}{name}\0{size} {mtime} {ctime} {inode}\0"


def _folder_entries(folder: str, below: str, scan: _FolderScan) -> list[tuple[os.DirEntry[str], str]]:
    """What the folder holds, the first name last, each with the path of the folder below the root."""
    scan.folders.append((folder, _facts_of(folder)))  # first: what comes while we look makes it another
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return []
    return [(entry, below) for entry in entries]


MAX_SHARED_FILES = 500  # files outside of hooks' folders that are looked at


@dataclass(slots=True)
class ContentNames:
    """Knows which files outside of its own folder a handler has imported: a pack's `../lib`."""

    _outside_files: dict[Path, frozenset[str]] = field(default_factory=dict)  # handler → files
    _all_outside: tuple[str, ...] = ()  # of them
    version: int = 0  # how often `learn` has changed what is known

    def learn(self, code: Code, files: Iterable[str]) -> None:
        """Note what a handler's import has reached."""
        reached = frozenset(list(files)[:MAX_SHARED_FILES])
        if reached != self._outside_files.get(code.path):
            self._outside_files[code.path] = reached
            self.version += 1
            self._all_outside = tuple(sorted(frozenset[str]().union(*self._outside_files.values())))

    def shared_name(self) -> str:
        """A name for the present content of all files that hooks share."""
        if not self._all_outside:
            return ""
        facts = "\0".join(f"{file} {_facts_text(file)}" for file in self._all_outside[:MAX_SHARED_FILES])
        return sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def name_of(self, code: Code, shared: str) -> str:
        """A name for the content of a handler, its folder and what it shares with others."""
        own = content_name(code)
        if not self._all_outside or not self._outside_files.get(code.path):
            return own
        return sha256(f"{own}\0{shared}".encode()).hexdigest()[:16]


def _facts_text(file: str) -> str:
    try:
        status = os.stat(file)
    except OSError:
        return "gone"
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"

"""A folder's files become a Tree. Links that stay inside are read as files; all others are refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hookscope.core.text import why_of
from hookscope.packs.errors import PackError
from hookscope.packs.limits import LIMITS, PackLimits
from hookscope.packs.measure import Measure
from hookscope.packs.names import Named, checked_names, refused, shown
from hookscope.packs.tree import DEPENDENCIES, LEFT_OUT, PackFile, Tree, tree_of

PASSED_OVER = LEFT_OUT | {DEPENDENCIES}


def read_folder(folder: Path, limits: PackLimits = LIMITS) -> Tree:
    """All files below a folder, without version control and installed dependencies. Raises PackError."""
    left_out: list[str] = []
    try:
        found = dict(_files_below(Path(os.path.realpath(folder)), left_out, limits))
        checked_names([Named(path, "file") for path in found], limits)
        measure = Measure(limits, 0)
        return tree_of({path: _read(path, file, measure) for path, file in found.items()}, *left_out)
    except OSError as error:
        where = error.filename or folder
        what = f"Cannot read {where}: {why_of(error)}."
        raise PackError(what, "Make it readable, or name another folder. Nothing was written.") from None


def _files_below(root: Path, left_out: list[str], limits: PackLimits) -> Iterator[tuple[str, Path]]:
    waiting, seen = [("", root)], 0
    while waiting:
        path, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                seen += 1
                if seen > limits.entries:
                    raise refused(f"It has more than {limits.entries:,} entries; so many are not copied.")
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.name in PASSED_OVER:
                    left_out.append(below)
                elif entry.is_dir(follow_symlinks=False):
                    if below.count("/") >= limits.depth:
                        raise refused(f"{shown(below)} lies more than {limits.depth} folders deep.")
                    waiting.append((below, Path(entry.path)))
                else:
                    yield below, _file(below, Path(entry.path), root)


def _file(path: str, file: Path, root: Path) -> Path:
    """Where a file's bytes are. Raises PackError for what is none, and for a link that leads out."""
    if file.is_symlink():
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(root):
            raise refused(f"{shown(path)} is a link that leads out of the folder.")
        if not real.is_file():
            raise refused(f"{shown(path)} is a link to no file.")
        return real
    if not stat.S_ISREG(file.lstat().st_mode):
        raise refused(f"{shown(path)} is a device, a pipe or a socket.")
    return file


def _read(path: str, file: Path, measure: Measure) -> PackFile:
    measure.begin(path)
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as opened:
        facts = os.fstat(opened.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise refused(f"{shown(path)} is a device, a pipe or a socket.")
        measure.count(facts.st_size)
        content = opened.read(measure.limits.file + 1)
        measure.count(max(len(content) - facts.st_size, 0))
    return PackFile(content, bool(facts.st_mode & 0o111))

"""What lies below a folder, however deep. `os.walk` before Python 3.12 and `shutil.rmtree` before 3.13 go
down by recursion, and a stranger's package chooses how deep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def entries_below(
    folder: Path, left_out: frozenset[str] = frozenset()
) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Every name below, and whether it is a folder: a folder before what is in it, in order. Follows no link.

    Names that are `left_out` are, with all below them; so is what a folder holds that cannot be listed.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name in left_out:
                continue
            is_folder = False
            with suppress(OSError):  # it is gone
                is_folder = entry.is_dir(follow_symlinks=False)
            yield entry, is_folder
            if is_folder:
                waiting.append(entry.path)


def remove(folder: Path) -> None:
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

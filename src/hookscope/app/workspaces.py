"""Other workspaces: folders that match a partly typed path, and a workbench for one of them."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.options import WORKSPACE_SIGNS, Options

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench

MOST_READ = 2_000  # entries of a folder that are read
MOST_LISTED = 50  # folders that are listed


def matching_folders(typed: str, base: Path) -> tuple[Path, ...]:
    """Return the folders whose path begins as typed, workspaces first. Reads one folder."""
    path = typed_path(typed, base)
    inside = not typed.strip() or typed.rstrip().endswith(("/", os.sep, "~"))
    above, begins = (path, "") if inside else (path.parent, path.name)
    try:
        with os.scandir(above) as entries:
            names = [entry.name for entry in islice(entries, MOST_READ) if _fits(entry, begins)]
    except (OSError, ValueError):  # ValueError: a null byte
        return ()
    found = [above / name for name in sorted(names)]
    found.sort(key=lambda folder: not is_workspace(folder))
    return tuple(found[:MOST_LISTED])


def typed_path(typed: str, base: Path) -> Path:
    """Return the typed path; a relative one starts at `base`."""
    return Path(os.path.normpath(base / os.path.expanduser(typed.strip())))


def _fits(entry: os.DirEntry[str], begins: str) -> bool:
    hidden = entry.name.startswith(".") and not begins.startswith(".")
    try:
        return entry.name.startswith(begins) and not hidden and entry.is_dir()
    except OSError:
        return False


def is_workspace(folder: Path) -> bool:
    """Return whether a folder has what workspaces have."""
    return any(os.path.isdir(folder / sign) for sign in WORKSPACE_SIGNS)


def workbench_in(bench: Workbench, began: Options, workspace: Path) -> Workbench:
    """Return a workbench as if the program had started in that workspace. Raises Refusal.

    A what-if is left behind: it is about one place.
    """
    options = Options(
        dialect=began.dialect if "host" not in began.supposed else None,
        workspace=workspace,
        home=began.home,
        bundled=began.bundled,
        config=began.config,
        environment=None,
    )
    return bench.sibling(options)

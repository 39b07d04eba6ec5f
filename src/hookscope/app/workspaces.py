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
    searched, prefix = (path, "") if inside else (path.parent, path.name)
    try:
        with os.scandir(searched) as entries:
            names = [entry.name for entry in islice(entries, MOST_READ) if _fits(entry, prefix)]
    except (OSError, ValueError):  # ValueError: a null byte
        return ()
    found = [searched / name for name in sorted(names)]
    found.sort(key=lambda folder: not is_workspace(folder))
    return tuple(found[:MOST_LISTED])


def typed_path(typed: str, base: Path) -> Path:
    """Return the typed path; a relative one starts at `base`."""
    return Path(os.path.normpath(base / os.path.expanduser(typed.strip())))


def _fits(entry: os.DirEntry[str], prefix: str) -> bool:
    hidden = entry.name.startswith(".") and not prefix.startswith(".")
    try:
        return entry.name.startswith(prefix) and not hidden and entry.is_dir()
    except OSError:
        return False


def is_workspace(folder: Path) -> bool:
    """Return whether a folder has what workspaces have."""
    return any(os.path.isdir(folder / sign) for sign in WORKSPACE_SIGNS)


def workbench_in(bench: Workbench, first_options: Options, workspace: Path) -> Workbench:
    """Return a workbench as if the program had started in that workspace. Raises Refusal.

    A what-if is left behind: it is about one place.
    """
    options = Options(
        dialect=first_options.dialect if "host" not in first_options.supposed else None,
        workspace=workspace,
        home=first_options.home,
        bundled=first_options.bundled,
        config=first_options.config,
        environment=None,
    )
    return bench.with_options(options)

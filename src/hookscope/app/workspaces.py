"""Other workspaces: the folders that a half-typed path may mean, and a workbench for one of them."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.options import WORKSPACE_SIGNS, Options

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench

MOST_READ = 2_000  # entries of a folder that are looked through
MOST_LISTED = 50  # folders that are listed


def matching_folders(typed: str, base: Path) -> tuple[Path, ...]:
    """The folders whose path begins as typed, those that look like workspaces first. Reads one folder."""
    path = typed_path(typed, base)
    inside = not typed.strip() or typed.rstrip().endswith(("/", os.sep, "~"))
    above, begins = (path, "") if inside else (path.parent, path.name)
    try:
        with os.scandir(above) as entries:
            names = [entry.name for entry in islice(entries, MOST_READ) if _fits(entry, begins)]
    except (OSError, ValueError):  # the latter: a null byte
        return ()
    found = [above / name for name in sorted(names)]
    found.sort(key=lambda folder: not is_workspace(folder))
    return tuple(found[:MOST_LISTED])


def typed_path(typed: str, base: Path) -> Path:
    """The path that was typed, a relative one from `base` on."""
    return Path(os.path.normpath(base / os.path.expanduser(typed.strip())))


def _fits(entry: os.DirEntry[str], begins: str) -> bool:
    hidden = entry.name.startswith(".") and not begins.startswith(".")
    try:
        return entry.name.startswith(begins) and not hidden and entry.is_dir()
    except OSError:
        return False


def is_workspace(folder: Path) -> bool:
    """Has it what workspaces have."""
    return any(os.path.isdir(folder / sign) for sign in WORKSPACE_SIGNS)


def workbench_in(bench: Workbench, began: Options, workspace: Path) -> Workbench:
    """A workbench as though the program had begun there, with the options that it began with. Raises Refusal.

    What was assumed stays behind: a what-if is about one place.
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

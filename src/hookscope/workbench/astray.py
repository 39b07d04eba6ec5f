"""A hook that lies where its host looks for none: in a skill, a clone, too deep. Reads; runs nothing."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.surroundings import Files
from hookscope.settings.opening import agents_of, configured_workspace
from hookscope.systems.folders.shapes import MANIFEST

DEEPEST = 5  # folders below the workspace and the host's own folder
MOST = 3000  # folders that are looked at: somebody waits for the answer
HEADER = 4096  # bytes
PASSED_OVER = frozenset(
    {"node_modules", "__pycache__", "site-packages", "sessions"}
)  # and what begins with a dot


def other_workspaces(host: Host) -> dict[str, Path]:
    """The workspaces of the agents that the settings list, but for the one that is looked at, by agent."""
    names = agents_of(host.dialect, host.settings)
    given = host.dialect, host.surroundings, host.settings, host.state
    found = {name: configured_workspace(*given, name) for name in names}
    return {name: folder for name, folder in found.items() if folder != host.workspace}


def astray_of(name: str, host: Host) -> Path | None:
    """The folder of a hook of that name, by its folder or its header, that no look has found."""
    roots = dict.fromkeys((host.workspace, host.state, *other_workspaces(host).values()))
    files = host.surroundings.files
    is_named = re.compile(rf"^name:\s*[\"']?{re.escape(name)}[\"']?\s*$", re.MULTILINE)
    for folder in islice(_folders(tuple(roots), files), MOST):
        manifest = folder / MANIFEST
        if files.facts(manifest) is not None and (
            folder.name == name or is_named.search(_head(manifest, files))
        ):
            return folder
    return None


def _folders(roots: tuple[Path, ...], files: Files) -> Iterator[Path]:
    """All folders below these, the nearest first; links are not followed."""
    left = deque((root, 0) for root in roots)
    while left:
        folder, depth = left.popleft()
        yield folder
        if depth == DEEPEST:
            continue
        try:
            items = files.children(folder)
        except OSError:
            continue
        left.extend(
            (folder / item.name, depth + 1)
            for item in items
            if item.folder
            and not item.linked
            and not item.name.startswith(".")
            and item.name not in PASSED_OVER
        )


def _head(file: Path, files: Files) -> str:
    try:
        return files.read(file, HEADER).decode("utf-8", "replace")
    except OSError:
        return ""

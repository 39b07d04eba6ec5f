"""What stands where no host was found: a project of one nearby, or hooks of programs that are none of ours.

A newcomer who begins in the wrong folder is told so in one sentence. Only names are looked at, and whether
a JSON file has hooks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from hookscope.core.dialect import Dialect
from hookscope.core.surroundings import Files, Surroundings
from hookscope.core.text import as_typed, one_line
from hookscope.dialects.catalogues import source
from hookscope.formats import read_yaml
from hookscope.values import dataclass

OWN = ("hooks/*/HOOK.md", "*/HOOK.md", "HOOK.md", ".hookscope")  # of hosts and ours: told of elsewhere
UPWARDS = 4  # folders above in which a project is looked for
ENTRIES = 200  # of a folder that are gone through
NAMED = 3  # projects below that a sentence names
LARGEST = 256 * 1024  # bytes of a JSON file that is read
PASSED_OVER = frozenset({"node_modules", "vendor", "dist", "build"})


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A program with hooks of its own."""

    name: str
    files: tuple[str, ...] = ()
    json: tuple[str, ...] = ()


def said_of(folder: Path, guides: Iterable[Dialect], surroundings: Surroundings) -> str:
    """What is to be said to whom looks at this folder; empty where nothing is known of it."""
    if _any(folder, OWN):
        return ""
    projects = [dialect for dialect in guides if dialect.layout.markers]
    for dialect in projects:
        for near in (_above(folder, dialect), _below(folder, dialect)):
            if near:
                paths = [one_line(surroundings.short(path), 200) for path in near]
                there = f"`--workspace {as_typed(paths[0])}` looks there"
                return f"Hooks of {dialect.product} are in {' and '.join(paths)}; {there}."
    signs = _signs_in(folder, surroundings.files)
    if not signs:
        return ""
    theirs = " and ".join(f"{one_line(surroundings.short(sign), 200)} ({name})" for name, sign in signs)
    *most, last = dict.fromkeys(dialect.product for dialect in guides)
    verb = "hold" if len(signs) > 1 else "holds"
    ours = f"it knows those of {', '.join(most)} and {last}, and `hookscope help start` shows how they look"
    return f"{theirs} {verb} hooks that Hookscope does not look at; {ours}."


def shows(marker: Path) -> bool:
    """Is this a host's own folder: where HOOK.md hooks lie in it, it is a workspace's that has the name."""
    return os.path.exists(marker) and not any(marker.glob("*/HOOK.md"))


def _above(folder: Path, dialect: Dialect) -> list[Path]:
    """The project that the folder is inside of."""
    above = islice(folder.parents, UPWARDS)
    return [near for near in above if any(shows(near / marker) for marker in dialect.layout.markers)][:1]


def _below(folder: Path, dialect: Dialect) -> list[Path]:
    """Projects one or two folders down, as in a repository of several packages."""
    first = list(_folders(folder))
    second = (deeper for one in first for deeper in _folders(one))
    found = (
        near
        for near in islice((*first, *second), ENTRIES)
        if any(shows(near / marker) for marker in dialect.layout.markers)
    )
    return list(islice(found, NAMED))


def _folders(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, ENTRIES) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for name in sorted(names):
        if not name.startswith(".") and name not in PASSED_OVER:
            yield folder / name


def _signs_in(folder: Path, files: Files) -> tuple[tuple[str, Path], ...]:
    """The programs that have hooks here, each with a file that shows it."""
    signs = ((neighbour.name, _sign_of(neighbour, folder, files)) for neighbour in _known())
    return tuple(islice(((name, sign) for name, sign in signs if sign is not None), NAMED))


def _sign_of(neighbour: Neighbour, folder: Path, files: Files) -> Path | None:
    told = (folder / name for name in neighbour.json)
    return next((file for file in told if _has_hooks(file, files)), None) or _any(folder, neighbour.files)


def _any(folder: Path, patterns: Iterable[str]) -> Path | None:
    try:
        return next((path for pattern in patterns for path in folder.glob(pattern)), None)
    except OSError:
        return None


def _has_hooks(file: Path, files: Files) -> bool:
    try:
        told = json.loads(files.read(file, LARGEST))  # a larger one is cut, and no JSON
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and bool(told.get("hooks"))


@cache
def _known() -> tuple[Neighbour, ...]:
    told = read_yaml(source("neighbours"))
    assert isinstance(told, list)
    return tuple(
        Neighbour(one["name"], tuple(one.get("files", ())), tuple(one.get("json", ()))) for one in told
    )

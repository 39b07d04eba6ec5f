"""Which version of a host is installed here: what its package says, else what it wrote into its settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from hookscope import formats
from hookscope.core.dialect import Dialect
from hookscope.core.surroundings import Surroundings
from hookscope.formats import FormatError
from hookscope.values import dataclass

UPWARDS = 6  # folders above a program in which its package.json is looked for
LARGEST = 1024 * 1024  # bytes of a file that is read


@dataclass(frozen=True, slots=True)
class Installed:
    """A version of a host, and where it is told."""

    version: str
    told_by: Path
    package: Path | None = None  # the folder of its package, where that is here


def installed(
    dialect: Dialect, surroundings: Surroundings, settings: Path, workspace: Path | None = None
) -> Installed | None:
    """The version of this dialect's host that is here; None where nothing tells. Runs nothing.

    A host that is part of a project tells it in the `workspace` first.
    """
    return (
        _by_project(dialect, surroundings, workspace or surroundings.cwd)
        or _by_package(dialect, surroundings)
        or _by_settings(dialect, surroundings, settings)
    )


def _by_project(dialect: Dialect, surroundings: Surroundings, workspace: Path) -> Installed | None:
    """The package among the project's own, where a host shows itself by what stands in a project."""
    for name in dialect.layout.packages if dialect.layout.markers else ():
        found = _told_by(workspace / "node_modules" / name / "package.json", dialect, surroundings)
        if found is not None:
            return found
    return None


def _by_package(dialect: Dialect, surroundings: Surroundings) -> Installed | None:
    """The program on PATH leads, through its link, into its package."""
    name = dialect.layout.program
    program = surroundings.files.program(name, surroundings.search_path()).path if name else None
    if program is None:
        return None
    for folder in list(surroundings.files.real(Path(program)).parents)[:UPWARDS]:
        found = _told_by(folder / "package.json", dialect, surroundings)
        if found is not None:
            return found
    return None


def _told_by(manifest: Path, dialect: Dialect, surroundings: Surroundings) -> Installed | None:
    """The version in a package.json, if that is the host's."""
    try:
        told = json.loads(surroundings.files.read(manifest, LARGEST))
    except (OSError, ValueError):
        return None
    if not isinstance(told, dict) or told.get("name") not in dialect.layout.packages:
        return None
    version = told.get("version")
    return Installed(version, manifest, manifest.parent) if isinstance(version, str) else None


def _by_settings(dialect: Dialect, surroundings: Surroundings, settings: Path) -> Installed | None:
    if not dialect.layout.version_path:
        return None
    try:
        value = formats.read_json5(surroundings.files.read(settings, LARGEST))
    except (OSError, FormatError):
        return None
    for part in dialect.layout.version_path:
        value = value.get(part) if isinstance(value, dict) else None
    return Installed(value, settings) if isinstance(value, str) else None


def nearest_shipped(found: Installed, dialects: Iterable[Dialect]) -> Dialect | None:
    """Of dialects that follow a version, the newest that is not newer than this one; else the oldest."""
    versioned = sorted((dialect for dialect in dialects if dialect.version), key=_since)
    older = [dialect for dialect in versioned if _since(dialect) <= _order(found.version)]
    return older[-1] if older else versioned[0] if versioned else None


def _since(dialect: Dialect) -> tuple[int, ...]:
    return _order(dialect.since or dialect.version)


def _order(version: str) -> tuple[int, ...]:
    """`2.0.0-alpha.76` → 2, 0, 0, 0, 76: stages before a release, then its numbers."""
    head, _, stage = version.partition("-")
    numbers = [int(part) for part in re.findall(r"\d+", head)]
    stages = {"alpha": 0, "beta": 1, "rc": 2}
    word = re.match(r"[a-z]+", stage)
    level = 3 if not stage else stages.get(word[0] if word else "", 2)
    return (*[*numbers, 0, 0, 0][:3], level, *(int(part) for part in re.findall(r"\d+", stage)))

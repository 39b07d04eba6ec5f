"""Which version of a host is installed here: what its package says, else what it wrote into its settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from hookscope import formats
from hookscope.core.dialect import Dialect
from hookscope.core.node_packages import places_of
from hookscope.core.surroundings import Surroundings
from hookscope.formats import FormatError
from hookscope.values import dataclass

UPWARDS = 6  # folders above a program in which its package.json is looked for
LARGEST = 1024 * 1024  # bytes of a file that is read
LONGEST = 20  # digits of a number in a version
NEWEST = "9999999"


@dataclass(frozen=True, slots=True)
class Installed:
    """A version of a host, and where it is told."""

    version: str
    told_by: Path
    package: Path | None = None  # the folder of its package, where that is here
    asked: str = ""  # what a project asks for that has none of it yet, as it writes it


def installed(
    dialect: Dialect, surroundings: Surroundings, settings: Path, workspace: Path | None = None
) -> Installed | None:
    """The version of this dialect's host that is here; None where nothing tells. Runs nothing.

    A host that is part of a project tells it in the `workspace` first.
    """
    folder = workspace or surroundings.cwd
    return (
        _by_project(dialect, surroundings, folder)
        or _by_demand(dialect, surroundings, folder)
        or _by_package(dialect, surroundings)
        or _by_settings(dialect, surroundings, settings)
    )


def _by_project(dialect: Dialect, surroundings: Surroundings, workspace: Path) -> Installed | None:
    """The package among the project's own, where a host shows itself by what stands in a project.

    Looked for as Node does: in a project of several packages it may lie in a folder above.
    """
    for name in dialect.layout.packages if dialect.layout.markers else ():
        for place in places_of(name, workspace):
            found = _told_by(place / "package.json", dialect, surroundings)
            if found is not None:
                return found
    return None


def _by_demand(dialect: Dialect, surroundings: Surroundings, workspace: Path) -> Installed | None:
    """What the nearest package.json asks for, where nobody has installed it yet."""
    for folder in (workspace, *workspace.parents) if dialect.layout.markers else ():
        told = _read_manifest(folder / "package.json", surroundings)
        if told is not None:
            asked = _asked(told, dialect)
            version = _least(asked) if asked is not None else ""
            return Installed(version, folder / "package.json", asked=str(asked)) if version else None
    return None


def asking(dialect: Dialect, surroundings: Surroundings, workspace: Path) -> Path | None:
    """The package.json of this folder, where it asks for the host and the host shows itself in projects."""
    manifest = workspace / "package.json"
    told = _read_manifest(manifest, surroundings) if dialect.layout.markers else None
    return manifest if told is not None and _asked(told, dialect) is not None else None


def _asked(manifest: dict[str, object], dialect: Dialect) -> str | None:
    """Which version of the host a package.json asks for, in its own words."""
    for kind in ("dependencies", "devDependencies"):
        listed = manifest.get(kind)
        asked = [listed.get(name) for name in dialect.layout.packages] if isinstance(listed, dict) else []
        found = next((one.strip() for one in asked if isinstance(one, str)), None)
        if found is not None:
            return found
    return None


def _least(asked: str) -> str:
    """The oldest version that a range allows; the newest where it leaves open all but the first number, or
    that too, since that is what gets installed; "" for other words."""
    found = re.fullmatch(r"\s*(?:[\^~=v]\s*)*(\d+(?:\.\d+){0,2}(?:-[\w.]+)?)(?:\.[x*])*\s*", asked)
    if found:
        return found[1] if "." in found[1] else f"{found[1]}.{NEWEST}"
    return NEWEST if asked.strip() in ("latest", "*", "") else ""


def _read_manifest(manifest: Path, surroundings: Surroundings) -> dict[str, object] | None:
    try:
        told = json.loads(surroundings.files.read(manifest, LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


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
    told = _read_manifest(manifest, surroundings)
    if told is None or told.get("name") not in dialect.layout.packages:
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
    numbers = _numbers(head)
    stages = {"alpha": 0, "beta": 1, "rc": 2}
    word = re.match(r"[a-z]+", stage)
    level = 3 if not stage else stages.get(word[0] if word else "", 2)
    return (*[*numbers, 0, 0, 0][:3], level, *_numbers(stage))


def _numbers(text: str) -> list[int]:
    """A longer one than Python reads is no version's, and cut."""
    return [int(part[:LONGEST]) for part in re.findall(r"\d+", text)]

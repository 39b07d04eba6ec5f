"""The packages that a pack depends on: of the registry alone, checked before npm runs and after it."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hookscope.core.surroundings import RealFiles
from hookscope.packs.below import entries_below
from hookscope.packs.errors import PackError
from hookscope.packs.names import NOTHING_WRITTEN, fault_of_pack_name, refused, shown
from hookscope.packs.tree import DEPENDENCIES as MODULES
from hookscope.packs.tree import Tree

DEPENDENCIES, OPTIONAL, PEERS = "dependencies", "optionalDependencies", "peerDependencies"
INSTALLED = (DEPENDENCIES, OPTIONAL)  # the members of package.json that npm is given
MOST = 500  # packages that one pack may name
# A range of versions or a tag. Everything else (paths, addresses, other schemes) has a character of its own.
RANGE = re.compile(r"(?!\.|~ *$|.*\.(?:tgz|tar.gz|tar) *$)[0-9a-z*^~<>=|.+_ -]*", re.IGNORECASE)
ALIAS = re.compile(r"npm:(?P<name>(?:@[^@/\s]+/)?[^@/\s]+)(?:@(?P<range>.*))?")
SETTINGS = ("overrides", "resolutions", "workspaces", "bundledDependencies", "bundleDependencies")
FILES = (
    *(".npmrc", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", ".yarnrc", ".yarnrc.yml"),
    *("pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "bun.lock", "bun.lockb", "bunfig.toml"),
)
INSTEAD = f"Install it without --dependencies. {NOTHING_WRITTEN}"
LOCK = ".package-lock.json"  # what npm 7 and later write of all that they installed


def needs_of(package_json: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dependencies as they are written, for people: `name range`."""
    parts = (package_json.get(part) for part in INSTALLED)
    return tuple(
        f"{name} {wanted}" for part in parts if isinstance(part, dict) for name, wanted in part.items()
    )


def registry_dependencies(package_json: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the part of package.json that npm is given.

    Raises PackError for a dependency that is no package of the registry, or that has a name which is none.
    """
    found = {part: dict(_checked(package_json, part, "")) for part in INSTALLED if package_json.get(part)}
    if sum(map(len, found.values())) > MOST:
        raise PackError(f"It depends on more than {MOST} packages.", INSTEAD)
    return found


def ignored_parts(tree: Tree, package_json: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of what a pack says to npm and npm does not get: its files, and of package.json."""
    files = [name for name in FILES if tree.read(name) is not None]
    modules = [MODULES] if tree.names(MODULES) else []
    members = [f"{name} of package.json" for name in (*SETTINGS, PEERS) if package_json.get(name)]
    return (*files, *modules, *members)


def _checked(package: Mapping[str, Any], part: str, of: str) -> Iterator[tuple[str, str]]:
    """Yield name and range of each dependency in one member. Raises PackError for one that is refused."""
    listed = package.get(part) or {}
    if not isinstance(listed, dict):
        raise PackError(f"{part} of package.json{of} wants an object.", INSTEAD)
    for name, wanted in listed.items():
        if fault := _fault_of_name(name):
            raise PackError(f"It depends on {shown(name)}{of}, which {fault}.", INSTEAD)
        if not isinstance(wanted, str) or not is_of_registry(wanted):
            said = shown(wanted if isinstance(wanted, str) else json.dumps(wanted))
            what = (
                f"It depends on {shown(name)} from {said}{of}: only packages of the registry are installed."
            )
            raise PackError(what, INSTEAD)
        yield name, wanted


def is_of_registry(wanted: str) -> bool:
    """Return whether npm would take this from the registry: a range, a tag, or another name with one."""
    if alias := ALIAS.fullmatch(wanted):
        return not _fault_of_name(alias["name"]) and RANGE.fullmatch(alias["range"] or "") is not None
    return RANGE.fullmatch(wanted) is not None


def _fault_of_name(name: str) -> str:
    scope, slash, rest = name.partition("/")
    if slash and not scope.startswith("@"):
        return "has a slash"
    parts = (scope.removeprefix("@"), rest) if slash else (name,)
    if any(not part.isascii() or " " in part or "@" in part for part in parts):
        return "is no name of a package"
    return next(filter(None, map(fault_of_pack_name, parts)), "")


def check_installed(modules: Path) -> None:
    """Raise PackError where what npm installed leads out of its folder or came from elsewhere.

    The packages of the registry have dependencies too, and npm follows those to any address.
    """
    real = Path(os.path.realpath(modules))
    for entry, is_folder in entries_below(modules):
        name = shown(os.path.relpath(entry.path, modules))
        if entry.is_symlink():
            target = os.readlink(entry.path)
            if os.path.isabs(target) or not Path(os.path.realpath(entry.path)).is_relative_to(real):
                raise refused(f"npm made {name} a link that leads out of {MODULES}.")
        elif not is_folder and not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            raise refused(f"npm made {name}, which is a device, a pipe or a socket.")
    for place, package in _installed_packages(modules / LOCK):
        of = f" (of {shown(place.removeprefix(f'{MODULES}/'))})"
        if package.get("link"):
            raise PackError(f"npm linked a folder{of} instead of a package of the registry.", INSTEAD)
        for part in (*INSTALLED, PEERS):
            for _ in _checked(package, part, of):
                pass


def _installed_packages(lock: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each package that npm says it installed, by its folder. Raises PackError for a damaged file."""
    try:
        packages = json.loads(RealFiles().read(lock))["packages"]
        yield from ((str(place), dict(package)) for place, package in packages.items())
    except FileNotFoundError:
        return  # npm 6
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise refused(f"What npm says of the packages that it installed cannot be read: {LOCK}.") from None

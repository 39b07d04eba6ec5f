"""Packages from the npm registry, and dependencies of a pack: fetched by npm without scripts, and checked."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookscope.helpers import is_user_program
from hookscope.model.machine import RealFiles
from hookscope.model.text import one_line
from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import DEPENDENCIES_FOLDER, FileTree, entries_below, read_archive
from hookscope.packs.package_checks import (
    DEFAULT_LIMITS,
    NOTHING_WRITTEN,
    display_name,
    fault_of_pack_name,
    package_error,
)
from hookscope.packs.programs import ProgramExit, run_program
from hookscope.packs.specs import FetchedPackage, FetchOptions, PackageSpec, is_prerelease, sha512_integrity

DEPENDENCIES, OPTIONAL_DEPENDENCIES, PEER_DEPENDENCIES = (
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
)
INSTALLED_MEMBERS = (DEPENDENCIES, OPTIONAL_DEPENDENCIES)  # the members of package.json that npm receives
MOST_DEPENDENCIES = 500  # packages that one pack may name
# A range of versions or a tag. Everything else (paths, addresses, other schemes) has other characters.
VERSION_RANGE = re.compile(r"(?!\.|~ *$|.*\.(?:tgz|tar.gz|tar) *$)[0-9a-z*^~<>=|.+_ -]*", re.IGNORECASE)
NPM_ALIAS = re.compile(r"npm:(?P<name>(?:@[^@/\s]+/)?[^@/\s]+)(?:@(?P<range>.*))?")
IGNORED_MEMBERS = ("overrides", "resolutions", "workspaces", "bundledDependencies", "bundleDependencies")
IGNORED_FILES = (
    *(".npmrc", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", ".yarnrc", ".yarnrc.yml"),
    *("pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs", "bun.lock", "bun.lockb", "bunfig.toml"),
)
WITHOUT_DEPENDENCIES = f"Install it without --dependencies. {NOTHING_WRITTEN}"
LOCK_FILE = ".package-lock.json"  # the list of installed packages, which npm 7 and later write


def dependency_ranges(package_json: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the dependencies for display: `name range`."""
    parts = (package_json.get(part) for part in INSTALLED_MEMBERS)
    return tuple(
        f"{name} {wanted}" for part in parts if isinstance(part, dict) for name, wanted in part.items()
    )


def registry_dependencies(package_json: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the part of package.json that npm receives.

    Raises PackError for a dependency that is not a package of the registry, or has an invalid name.
    """
    found = {
        part: dict(_checked_dependencies(package_json, part, ""))
        for part in INSTALLED_MEMBERS
        if package_json.get(part)
    }
    if sum(map(len, found.values())) > MOST_DEPENDENCIES:
        raise PackError(f"It depends on more than {MOST_DEPENDENCIES} packages.", WITHOUT_DEPENDENCIES)
    return found


def ignored_by_npm(tree: FileTree, package_json: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the pack's npm files, `node_modules`, and package.json members that npm does not receive."""
    files = [name for name in IGNORED_FILES if tree.read(name) is not None]
    modules = [DEPENDENCIES_FOLDER] if tree.names(DEPENDENCIES_FOLDER) else []
    members = [
        f"{name} of package.json" for name in (*IGNORED_MEMBERS, PEER_DEPENDENCIES) if package_json.get(name)
    ]
    return (*files, *modules, *members)


def _checked_dependencies(package: Mapping[str, Any], part: str, of: str) -> Iterator[tuple[str, str]]:
    """Yield name and range of each dependency in one member. Raises PackError for a refused one."""
    listed = package.get(part) or {}
    if not isinstance(listed, dict):
        raise PackError(f"`{part}` in package.json{of} must be an object.", WITHOUT_DEPENDENCIES)
    for name, wanted in listed.items():
        if fault := _fault_of_dependency_name(name):
            raise PackError(f"It depends on {display_name(name)}{of}, which {fault}.", WITHOUT_DEPENDENCIES)
        if not isinstance(wanted, str) or not is_from_registry(wanted):
            shown = display_name(wanted if isinstance(wanted, str) else json.dumps(wanted))
            what = (
                f"It depends on {display_name(name)} from {shown}{of}: only packages of the "
                f"registry are installed."
            )
            raise PackError(what, WITHOUT_DEPENDENCIES)
        yield name, wanted


def is_from_registry(version_range: str) -> bool:
    """Return whether npm would fetch this from the registry: a range, a tag, or an alias with one."""
    if alias := NPM_ALIAS.fullmatch(version_range):
        return (
            not _fault_of_dependency_name(alias["name"])
            and VERSION_RANGE.fullmatch(alias["range"] or "") is not None
        )
    return VERSION_RANGE.fullmatch(version_range) is not None


def _fault_of_dependency_name(name: str) -> str:
    scope, slash, rest = name.partition("/")
    if slash and not scope.startswith("@"):
        return "has a slash"
    parts = (scope.removeprefix("@"), rest) if slash else (name,)
    if any(not part.isascii() or " " in part or "@" in part for part in parts):
        return "is not a package name"
    return next(filter(None, map(fault_of_pack_name, parts)), "")


def check_installed(modules: Path) -> None:
    """Raise PackError if a link in npm's result leaves its folder, or a package is not from the registry.

    Packages of the registry may have dependencies from any address, which npm fetches.
    """
    real = Path(os.path.realpath(modules))
    for entry, is_folder in entries_below(modules):
        name = display_name(os.path.relpath(entry.path, modules))
        if entry.is_symlink():
            target = os.readlink(entry.path)
            if os.path.isabs(target) or not Path(os.path.realpath(entry.path)).is_relative_to(real):
                raise package_error(f"npm created {name}, a link that leads out of {DEPENDENCIES_FOLDER}.")
        elif not is_folder and not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            raise package_error(f"npm created {name}, which is a device, a pipe or a socket.")
    for place, package in _installed_packages(modules / LOCK_FILE):
        of = f" (of {display_name(place.removeprefix(f'{DEPENDENCIES_FOLDER}/'))})"
        if package.get("link"):
            raise PackError(
                f"npm linked a folder{of} instead of a package of the registry.", WITHOUT_DEPENDENCIES
            )
        for part in (*INSTALLED_MEMBERS, PEER_DEPENDENCIES):
            for _ in _checked_dependencies(package, part, of):
                pass


def _installed_packages(lock: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each installed package of npm's lock file by folder. Raises PackError for a damaged file."""
    try:
        packages = json.loads(RealFiles().read(lock))["packages"]
        yield from ((str(place), dict(package)) for place, package in packages.items())
    except FileNotFoundError:
        return  # npm 6
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise package_error(f"npm's list of installed packages cannot be read: {LOCK_FILE}.") from None


# Keep npm away from projects, workspaces, and programs that a project names. `--allow-…` needs npm 11.
ISOLATING_OPTIONS = (
    *("--no-workspaces", "--no-global", "--no-dry-run", f"--git={os.devnull}"),
    *("--allow-git=none", "--allow-file=none", "--allow-directory=none"),
)
# The user's npm settings that are kept: the registry, and how to reach it.
CONNECTION_SETTINGS = frozenset(
    {
        *("registry", "replace-registry-host", "userconfig", "globalconfig", "user-agent"),
        *("proxy", "http-proxy", "https-proxy", "noproxy", "no-proxy", "local-address", "maxsockets"),
        *("ca", "cafile", "cert", "key", "strict-ssl", "before", "min-release-age"),
        *("offline", "prefer-offline", "prefer-online", "fetch-timeout", "fetch-retries"),
        *("fetch-retry-factor", "fetch-retry-mintimeout", "fetch-retry-maxtimeout"),
        *("_auth", "_authtoken", "_password", "username", "email"),
    }
)
FILE_SETTINGS = frozenset({"userconfig", "globalconfig"})  # settings that name a file with more configuration
NODE_VARIABLES = frozenset(
    {"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PREFIX", "DESTDIR", "INIT_CWD"}
)
CONFIG_PREFIX, SCRIPT_PREFIXES = "npm_config_", ("npm_package_", "npm_lifecycle_")
QUIET_OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
NEWEST_TAG = "latest"
# below `FetchOptions.work_folder`
PROJECT_FOLDER_NAME, CACHE_FOLDER, PACKAGE_JSON = "npm", "npm-cache", "package.json"
REASONS: Mapping[str, str] = {
    "E404": "The registry has no package {what}.",
    "ETARGET": "The registry has no such version or tag: {what}.",
    "EINTEGRITY": "The data of the registry for {what} failed the integrity check.",
    "ECONNREFUSED": "The registry cannot be reached to fetch {what}.",
    "ENOTFOUND": "The registry cannot be reached to fetch {what}.",
    "EAI_AGAIN": "The registry cannot be reached to fetch {what}.",
    "ETIMEDOUT": "The registry did not answer in time for {what}.",
    "E401": "The registry needs a login for {what}.",
    "E403": "The registry does not allow you to fetch {what}.",
}


def fetch_npm(spec: PackageSpec, options: FetchOptions) -> FetchedPackage:
    """Fetch one version with `npm pack`, which checks its integrity. Raises PackError, PackCancelled."""
    options.progress.step(f"fetching {spec.text} with npm")
    # else npm chooses a version that suits its own Node
    requested = spec.text if spec.revision else f"{spec.name}@{NEWEST_TAG}"
    ran = _run_npm(
        ["pack", *QUIET_OPTIONS, "--json", f"--pack-destination={options.work_folder}", "--", requested],
        {},
        options,
    )
    if ran.code != 0:
        raise _npm_error(spec.text, ran)
    archives = sorted(options.work_folder.glob("*.tgz"))
    if len(archives) != 1:
        raise _no_package_error(spec)
    with archives[0].open("rb") as file:
        source = file.read(DEFAULT_LIMITS.archive + 1)
    options.progress.step("unpacking")
    tree = read_archive(source, f"{spec.name}.tgz")  # first: too many files make the report too long
    report = _npm_message(ran.stdout)
    if report is None:
        raise _no_package_error(spec)
    integrity = sha512_integrity(source)
    stated_integrity = report.get("integrity")
    if (
        isinstance(stated_integrity, str)
        and stated_integrity.startswith("sha512-")
        and stated_integrity != integrity
    ):
        raise PackError(REASONS["EINTEGRITY"].format(what=spec.text), "Nothing was written.")
    name, version = one_line(str(report.get("name") or spec.name)), one_line(str(report.get("version") or ""))
    if spec.revision in ("", NEWEST_TAG) and is_prerelease(version):
        raise PackError(
            f"The newest version of {name} is {version}, a pre-release.",
            f"Use `{name}@{version}` to install it. Nothing was written.",
        )
    return FetchedPackage(spec, tree, f"{name}@{version}", integrity, version)


def _no_package_error(spec: PackageSpec) -> PackError:
    return PackError(f"npm returned no package for {spec.text}.", "Run `npm pack` to see why.")


def install_dependencies(package_json: Mapping[str, Any], target: Path, options: FetchOptions) -> None:
    """Install a package's dependencies into `target`, a new folder, without scripts.

    npm receives the dependencies of package.json and nothing else of the package: it runs in its own folder.
    Raises PackError.
    """
    dependencies = registry_dependencies(package_json)
    options.progress.step("installing the dependencies with npm, without scripts")
    ran = _run_npm(
        ["install", *QUIET_OPTIONS, "--omit=dev", "--no-package-lock", "--no-save"], dependencies, options
    )
    if ran.code != 0:
        raise _npm_error("its dependencies", ran)
    modules = options.work_folder / PROJECT_FOLDER_NAME / DEPENDENCIES_FOLDER
    if os.path.lexists(modules):
        if modules.is_symlink():
            raise package_error(f"npm created {DEPENDENCIES_FOLDER} as a link.")
        check_installed(modules)
        shutil.move(modules, target)


def _run_npm(words: Sequence[str], package_json: Mapping[str, object], options: FetchOptions) -> ProgramExit:
    """Run npm in a new folder with only this package.json, and with a temporary cache."""
    folder = options.work_folder / PROJECT_FOLDER_NAME
    folder.mkdir()
    (folder / PACKAGE_JSON).write_text(json.dumps(package_json), encoding="utf-8")
    cache = f"--cache={options.work_folder / CACHE_FOLDER}"
    return run_program(
        ["npm", *words[:1], *ISOLATING_OPTIONS, cache, *words[1:]],
        options,
        cwd=folder,
        env=_environment(options),
    )


def _environment(options: FetchOptions) -> dict[str, str]:
    """Return the environment without variables that configure npm or its Node."""
    env = {}
    for name, value in options.env.items():
        lowered = name.lower()
        if name.upper() in NODE_VARIABLES or lowered.startswith(SCRIPT_PREFIXES):
            continue
        if not lowered.startswith(CONFIG_PREFIX) or _is_connection(
            name[len(CONFIG_PREFIX) :], value, options
        ):
            env[name] = value
    return {
        **env,
        "npm_config_ignore_scripts": "true",
        "npm_config_yes": "false",
        "COREPACK_ENABLE_PROJECT_SPEC": "0",  # else a parent folder decides which npm is downloaded
    }


def _is_connection(name: str, value: str, options: FetchOptions) -> bool:
    """Return whether a variable only configures the connection to a registry."""
    if name.startswith(("//", "@")):
        return True
    key = name[:1] + name[1:].lower().replace("_", "-")
    return key in CONNECTION_SETTINGS and (
        key not in FILE_SETTINGS or is_user_program(value, options.project_folders)
    )


def _npm_message(out: str) -> Mapping[str, object] | None:
    try:
        documents = json.loads(out[out.index("[") :])
    except ValueError:
        return None
    first = documents[0] if isinstance(documents, list) and documents else None
    return first if isinstance(first, dict) else None


def _npm_error(what: str, ran: ProgramExit) -> PackError:
    lines = [line.removeprefix("npm error ").strip() for line in ran.stderr.splitlines()]
    code = next((line.removeprefix("code ") for line in lines if line.startswith("code ")), "")
    if code in REASONS:
        return PackError(REASONS[code].format(what=what), "Nothing was written.")
    reason = next((line for line in lines if line and not line.startswith("code ")), f"exit code {ran.code}")
    return PackError(f"npm cannot fetch {what}: {one_line(reason).rstrip('.')}.", "Nothing was written.")

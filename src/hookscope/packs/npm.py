"""Packages of the registry that npm is configured with, fetched by npm itself with scripts off."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookscope.core.text import one_line
from hookscope.helpers import is_users
from hookscope.packs.archives import unpacked
from hookscope.packs.dependencies import check_installed, registry_dependencies
from hookscope.packs.errors import PackError
from hookscope.packs.fetched import Fetched, Fetching, integrity_of
from hookscope.packs.limits import LIMITS
from hookscope.packs.names import refused
from hookscope.packs.programs import Ran, run
from hookscope.packs.specs import Spec
from hookscope.packs.tree import DEPENDENCIES
from hookscope.packs.versions import is_prerelease

# No project, no workspace, no program that a package or its user's project names. `--allow-…` is of npm 11.
ALONE = (
    *("--no-workspaces", "--no-global", "--no-dry-run", f"--git={os.devnull}"),
    *("--allow-git=none", "--allow-file=none", "--allow-directory=none"),
)
# What npm may read of its user's environment: where the registry is, and how to reach it.
CONNECTION = frozenset(
    {
        *("registry", "replace-registry-host", "userconfig", "globalconfig", "user-agent"),
        *("proxy", "http-proxy", "https-proxy", "noproxy", "no-proxy", "local-address", "maxsockets"),
        *("ca", "cafile", "cert", "key", "strict-ssl", "before", "min-release-age"),
        *("offline", "prefer-offline", "prefer-online", "fetch-timeout", "fetch-retries"),
        *("fetch-retry-factor", "fetch-retry-mintimeout", "fetch-retry-maxtimeout"),
        *("_auth", "_authtoken", "_password", "username", "email"),
    }
)
FILES = frozenset({"userconfig", "globalconfig"})  # of them those that name a file with more configuration
OF_NODE = frozenset(
    {"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PREFIX", "DESTDIR", "INIT_CWD"}
)
CONFIG, OF_SCRIPTS = "npm_config_", ("npm_package_", "npm_lifecycle_")
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
NEWEST = "latest"
PROJECT, CACHE, PACKAGE_JSON = "npm", "npm-cache", "package.json"  # what npm works in, below `Fetching.work`
REASONS: Mapping[str, str] = {
    "E404": "The registry has no package {what}.",
    "ETARGET": "The registry has no such version or tag: {what}.",
    "EINTEGRITY": "What the registry sent for {what} is not what it says it is: the integrity differs.",
    "ECONNREFUSED": "The registry cannot be reached to fetch {what}.",
    "ENOTFOUND": "The registry cannot be reached to fetch {what}.",
    "EAI_AGAIN": "The registry cannot be reached to fetch {what}.",
    "ETIMEDOUT": "The registry did not answer in time for {what}.",
    "E401": "The registry wants a login for {what}.",
    "E403": "The registry does not give {what} to you.",
}


def fetch_npm(spec: Spec, how: Fetching) -> Fetched:
    """One package at one version, as `npm pack` gets it; npm checks it against the registry's integrity.

    Raises PackError, Cancelled.
    """
    how.progress.step(f"fetching {spec.text} with npm")
    asked = spec.text if spec.wanted else f"{spec.name}@{NEWEST}"  # else npm takes what suits its own Node
    ran = _npm(["pack", *QUIET, "--json", f"--pack-destination={how.work}", "--", asked], {}, how)
    if ran.code != 0:
        raise _failed(spec.text, ran)
    archives = sorted(how.work.glob("*.tgz"))
    if len(archives) != 1:
        raise _gave_none(spec)
    with archives[0].open("rb") as file:
        source = file.read(LIMITS.archive + 1)
    how.progress.step("unpacking")
    tree = unpacked(source, f"{spec.name}.tgz")  # first: of one with too many files npm tells too much
    told = _told(ran.out)
    if told is None:
        raise _gave_none(spec)
    integrity = integrity_of(source)
    said = told.get("integrity")
    if isinstance(said, str) and said.startswith("sha512-") and said != integrity:
        raise PackError(REASONS["EINTEGRITY"].format(what=spec.text), "Nothing was written.")
    name, version = one_line(str(told.get("name") or spec.name)), one_line(str(told.get("version") or ""))
    if spec.wanted in ("", NEWEST) and is_prerelease(version):
        raise PackError(
            f"The newest version of {name} is {version}, which is none that is finished.",
            f"`{name}@{version}` names it. Nothing was written.",
        )
    return Fetched(spec, tree, f"{name}@{version}", integrity, version)


def _gave_none(spec: Spec) -> PackError:
    return PackError(f"npm gave no package for {spec.text}.", "`npm pack` by hand may say why.")


def install_dependencies(package_json: Mapping[str, Any], target: Path, how: Fetching) -> None:
    """Put what a package depends on into `target`, a folder that is not there yet; scripts off.

    npm gets the dependencies of package.json and nothing else of the package: it runs in a folder of its own.
    Raises PackError.
    """
    wanted = registry_dependencies(package_json)
    how.progress.step("installing its dependencies with npm, scripts off")
    ran = _npm(["install", *QUIET, "--omit=dev", "--no-package-lock", "--no-save"], wanted, how)
    if ran.code != 0:
        raise _failed("its dependencies", ran)
    modules = how.work / PROJECT / DEPENDENCIES
    if os.path.lexists(modules):
        if modules.is_symlink():
            raise refused(f"npm made {DEPENDENCIES} a link.")
        check_installed(modules)
        shutil.move(modules, target)


def _npm(words: Sequence[str], package_json: Mapping[str, object], how: Fetching) -> Ran:
    """Run npm in a new folder with this package.json alone, and with a cache that goes with it."""
    folder = how.work / PROJECT
    folder.mkdir()
    (folder / PACKAGE_JSON).write_text(json.dumps(package_json), encoding="utf-8")
    cache = f"--cache={how.work / CACHE}"
    return run(["npm", *words[:1], *ALONE, cache, *words[1:]], how, cwd=folder, env=_environment(how))


def _environment(how: Fetching) -> dict[str, str]:
    """Return the environment without what npm or its Node would take for an order."""
    env = {}
    for name, value in how.env.items():
        lowered = name.lower()
        if name.upper() in OF_NODE or lowered.startswith(OF_SCRIPTS):
            continue
        if not lowered.startswith(CONFIG) or _is_connection(name[len(CONFIG) :], value, how):
            env[name] = value
    return {
        **env,
        "npm_config_ignore_scripts": "true",
        "npm_config_yes": "false",
        "COREPACK_ENABLE_PROJECT_SPEC": "0",  # else a folder above says which npm is downloaded
    }


def _is_connection(name: str, value: str, how: Fetching) -> bool:
    """Return whether a variable says how to reach a registry, of all or of one scope, and nothing else."""
    if name.startswith(("//", "@")):
        return True
    key = name[:1] + name[1:].lower().replace("_", "-")
    return key in CONNECTION and (key not in FILES or is_users(value, how.project))


def _told(out: str) -> Mapping[str, object] | None:
    try:
        told = json.loads(out[out.index("[") :])
    except ValueError:
        return None
    first = told[0] if isinstance(told, list) and told else None
    return first if isinstance(first, dict) else None


def _failed(what: str, ran: Ran) -> PackError:
    lines = [line.removeprefix("npm error ").strip() for line in ran.err.splitlines()]
    code = next((line.removeprefix("code ") for line in lines if line.startswith("code ")), "")
    if code in REASONS:
        return PackError(REASONS[code].format(what=what), "Nothing was written.")
    said = next(
        (line for line in lines if line and not line.startswith("code ")), f"it ended with {ran.code}"
    )
    return PackError(f"npm cannot fetch {what}: {one_line(said).rstrip('.')}.", "Nothing was written.")

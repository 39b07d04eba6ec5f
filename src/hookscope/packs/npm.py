"""Packages of the registry that npm is configured with, fetched by npm itself with scripts off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hookscope.core.text import one_line
from hookscope.packs.archives import unpacked
from hookscope.packs.errors import PackError
from hookscope.packs.fetched import Fetched, Fetching, integrity_of
from hookscope.packs.limits import LIMITS
from hookscope.packs.programs import Ran, run
from hookscope.packs.specs import Spec
from hookscope.packs.versions import is_prerelease

QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
NEWEST = "latest"
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
    ran = _npm(["pack", *QUIET, "--json", f"--pack-destination={how.work}", "--", asked], how.work, how)
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


def install_dependencies(folder: Path, how: Fetching) -> None:
    """Put what a package depends on beside it, scripts off, development ones left out. Raises PackError."""
    how.progress.step("installing its dependencies with npm, scripts off")
    ran = _npm(["install", *QUIET, "--omit=dev", "--no-package-lock", "--no-save"], folder, how)
    if ran.code != 0:
        raise _failed("its dependencies", ran)


def _npm(words: Sequence[str], cwd: Path, how: Fetching) -> Ran:
    env = {**how.env, "npm_config_ignore_scripts": "true", "npm_config_yes": "false"}
    return run(["npm", *words], cwd=cwd, env=env, seconds=how.seconds, progress=how.progress)


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

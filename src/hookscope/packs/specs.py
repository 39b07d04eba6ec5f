"""Package specs as users write them, how each is fetched, and version comparison."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha512
from pathlib import Path
from typing import Literal

from hookscope.packs.errors import NO_PROGRESS, PackError, Progress
from hookscope.packs.file_tree import ARCHIVE_SUFFIXES, FileTree, is_archive
from hookscope.packs.package_checks import display_name, fault_of_pack_name
from hookscope.values import dataclass

SourceKind = Literal["folder", "archive", "npm", "git", "python"]
NPM_PART = r"[a-z0-9~-][a-z0-9._~-]*"
NPM_SPEC = re.compile(rf"(?P<name>(?:@{NPM_PART}/)?{NPM_PART})(?:@(?P<wanted>[^@\s]+))?", re.IGNORECASE)
EXACT_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
NPM_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
GIT_URL = re.compile(r"git\+(?P<url>(?:https|ssh|file)://[^\s-][^\s]*)")
PLAIN_GIT_URL = re.compile(
    r"(?:https://[^\s-][^\s]*\.git|ssh://[^\s-][^\s]*|[\w][\w.-]*@[\w][\w.-]*:[^\s-][^\s]*)"
)
GIT_REF = re.compile(r"[\w][\w./+-]*")
DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
SEPARATOR_RUNS = re.compile(r"[-_.]+")  # all equal in names of distributions, as is case
URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
SOURCE_KINDS = "Use a folder, an archive, `name` or `name@version` of npm, `python:NAME` or `git+https://…`."


@dataclass(frozen=True, slots=True)
class PackageSpec:
    """The source of a package. `text` is independent of the current folder."""

    source: SourceKind
    text: str
    path: Path | None = None  # of a folder or an archive
    name: str = ""  # of an npm or a Python package
    revision: str = ""  # its version or tag; of git: a branch, tag or commit; empty: the newest
    url: str = ""

    @property
    def is_exact(self) -> bool:
        """True for an npm package at one version."""
        return self.source == "npm" and EXACT_VERSION.fullmatch(self.revision) is not None


def parse_spec(text: str, absolute: Callable[[str], Path]) -> PackageSpec:
    """Parse a spec. `absolute` resolves a user's path. Raises PackError."""
    text = text.strip()
    if not text:
        raise PackError("The package name is empty.", SOURCE_KINDS)
    if text.startswith("python:"):
        return _parse_python(text)
    if is_git(text):
        return _parse_git(text)
    if "://" in text:
        scheme = text.partition("://")[0]
        first = "Name its path" if scheme == "file" else "Download it and install the file"
        git = scheme if scheme in ("ssh", "file") else "https"
        raise PackError(
            f"{display_name(text)} is a URL.", f"{first}, or write `git+{git}://…` for a repository."
        )
    if _is_path(text) or os.path.lexists(absolute(text)):
        return _parse_path(absolute(text))
    return _parse_npm(text.removeprefix("npm:"))


def without_login(text: str) -> str:
    """Return an address without the name and password in it."""
    return URL_LOGIN.sub("…", text)


def is_git(text: str) -> bool:
    """Return True if a text names a git repository."""
    return text.startswith("git+") or PLAIN_GIT_URL.fullmatch(text.partition("#")[0]) is not None


def _is_path(text: str) -> bool:
    if text.startswith((".", "/", "~", os.sep)) or is_archive(text):
        return True
    return "/" in text and not text.removeprefix("npm:").startswith("@")


def _parse_path(path: Path) -> PackageSpec:
    if os.path.isdir(path):
        return PackageSpec("folder", str(path), path)
    if not os.path.lexists(path):
        raise PackError(f"There is no folder or archive {path}.", SOURCE_KINDS)
    if not os.path.isfile(path) or not is_archive(path.name):
        raise PackError(f"{path} is not a supported archive.", f"Supported: {', '.join(ARCHIVE_SUFFIXES)}.")
    return PackageSpec("archive", str(path), path)


def _parse_python(text: str) -> PackageSpec:
    name = text.removeprefix("python:")
    if DISTRIBUTION.fullmatch(name) is None:
        raise PackError(
            f"{display_name(text)} is not a valid Python package name.",
            "`python:NAME` needs an installed package.",
        )
    return PackageSpec("python", text, name=SEPARATOR_RUNS.sub("-", name).lower())


def _parse_git(text: str) -> PackageSpec:
    address, _, ref = text.partition("#")
    found = GIT_URL.fullmatch(address)
    url = found["url"] if found else address
    if not found and address.startswith("git+"):
        next_step = "Write a space as %20." if " " in address else "Use git+https, git+ssh or git+file."
        raise PackError(f"{display_name(text)} is not a git address that Hookscope accepts.", next_step)
    if ref and GIT_REF.fullmatch(ref) is None:
        raise PackError(f"{display_name(text)} has no branch, tag or commit after its #.", SOURCE_KINDS)
    return PackageSpec(
        "git", text if found else f"git+{text}" if "://" in text else text, revision=ref, url=url
    )


def _parse_npm(text: str) -> PackageSpec:
    found = NPM_SPEC.fullmatch(text)
    if found is None:
        raise PackError(f"{display_name(text)} is not a package that can be installed.", SOURCE_KINDS)
    for part in found["name"].removeprefix("@").split("/"):
        if fault := fault_of_pack_name(part):
            raise PackError(
                f"{display_name(text)} is not a package name: {display_name(part)} {fault}.", SOURCE_KINDS
            )
    revision = found["wanted"] or ""
    if revision and not EXACT_VERSION.fullmatch(revision) and not NPM_TAG.fullmatch(revision):
        raise PackError(
            f"{display_name(text)} does not name one version or a tag.",
            "Name an exact version (1.2.3) or a tag (latest).",
        )
    return PackageSpec("npm", text, name=found["name"], revision=revision)


FETCH_SECONDS = 120.0  # time limit of a fetch


@dataclass(frozen=True, slots=True)
class FetchedPackage:
    """A fetched package, not yet checked."""

    spec: PackageSpec
    tree: FileTree
    resolved: str  # the exact source: name@version, a commit, a path
    integrity: str  # changes with any change of the package
    version: str = ""
    may_be_hook_folder: bool = False  # a plain folder of hooks is accepted


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The options of a fetch."""

    work_folder: Path  # an empty folder for this fetch; the caller removes it
    env: Mapping[str, str]
    python: str  # the interpreter to search for packages
    progress: Progress = NO_PROGRESS
    seconds: float = FETCH_SECONDS
    # folders whose programs and settings are not the user's: the workspace's
    project_folders: tuple[Path, ...] = ()


def sha512_integrity(source: bytes) -> str:
    """Return a package's SHA-512 as registries write it: `sha512-` and base64."""
    return f"sha512-{b64encode(sha512(source).digest()).decode()}"


NUMBERED_VERSION = re.compile(
    r"v?(?P<numbers>\d+(?:\.\d+)+)(?:-(?P<stage>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
VersionOrder = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


def is_older(version: str, other: str) -> bool:
    """Return True if the version is older. False if the two are not comparable."""
    mine, theirs = _version_order(version), _version_order(other)
    return mine is not None and theirs is not None and mine < theirs


def is_prerelease(version: str) -> bool:
    """Return True for a version with a stage: `1.0.0-beta.2`."""
    found = NUMBERED_VERSION.fullmatch(version)
    return found is not None and found["stage"] is not None


def _version_order(version: str) -> VersionOrder | None:
    """Return a sort key: numbers; stages before none; in a stage, numbers before words."""
    found = NUMBERED_VERSION.fullmatch(version)
    if found is None:
        return None
    numbers = [int(part) for part in found["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    parts = (found["stage"] or "").split(".") if found["stage"] else []
    stage = tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)
    return tuple(numbers), found["stage"] is None, stage

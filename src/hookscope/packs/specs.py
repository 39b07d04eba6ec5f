"""What a user names: a folder, an archive, an npm package, a Python package, a git repository."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from hookscope.packs.archives import SUFFIXES, is_archive
from hookscope.packs.errors import PackError
from hookscope.packs.names import fault_of_pack_name, shown
from hookscope.values import dataclass

Source = Literal["folder", "archive", "npm", "git", "python"]
PART = r"[a-z0-9~-][a-z0-9._~-]*"
NPM = re.compile(rf"(?P<name>(?:@{PART}/)?{PART})(?:@(?P<wanted>[^@\s]+))?", re.IGNORECASE)
EXACT = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
GIT = re.compile(r"git\+(?P<url>(?:https|ssh|file)://[^\s-][^\s]*)")
PLAIN_GIT = re.compile(
    r"(?:https://[^\s-][^\s]*\.git|ssh://[^\s-][^\s]*|[\w][\w.-]*@[\w][\w.-]*:[^\s-][^\s]*)"
)
REF = re.compile(r"[\w][\w./+-]*")
DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
RUNS = re.compile(r"[-_.]+")  # a distribution has one name, however these and capitals are written
LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
KINDS = "A folder, an archive, `name` or `name@version` of npm, `python:NAME` or `git+https://…` is taken."


@dataclass(frozen=True, slots=True)
class Spec:
    """Where a package comes from. `text` names the same thing whatever the current folder is."""

    source: Source
    text: str
    path: Path | None = None  # of a folder or an archive
    name: str = ""  # of an npm or a Python package
    wanted: str = ""  # its version or tag; of git: a branch, tag or commit; empty: the newest
    url: str = ""

    @property
    def exact(self) -> bool:
        """Is it an npm package at one version."""
        return self.source == "npm" and EXACT.fullmatch(self.wanted) is not None


def spec_of(text: str, absolute: Callable[[str], Path]) -> Spec:
    """What a text names. `absolute`: a path as its user writes it. Raises PackError."""
    text = text.strip()
    if not text:
        raise PackError("An empty text names no package.", KINDS)
    if text.startswith("python:"):
        return _python(text)
    if is_git(text):
        return _git(text)
    if "://" in text:
        scheme = text.partition("://")[0]
        first = "Name its path" if scheme == "file" else "Download it and install the file"
        git = scheme if scheme in ("ssh", "file") else "https"
        raise PackError(
            f"{shown(text)} is an address.", f"{first}, or write `git+{git}://…` of a repository."
        )
    if _is_path(text) or os.path.lexists(absolute(text)):
        return _of_path(absolute(text))
    return _npm(text.removeprefix("npm:"))


def without_login(text: str) -> str:
    """The same for people: an address without the name and password in it."""
    return LOGIN.sub("…", text)


def is_git(text: str) -> bool:
    """Does a text name a git repository."""
    return text.startswith("git+") or PLAIN_GIT.fullmatch(text.partition("#")[0]) is not None


def _is_path(text: str) -> bool:
    if text.startswith((".", "/", "~", os.sep)) or is_archive(text):
        return True
    return "/" in text and not text.removeprefix("npm:").startswith("@")


def _of_path(path: Path) -> Spec:
    if os.path.isdir(path):
        return Spec("folder", str(path), path)
    if not os.path.lexists(path):
        raise PackError(f"There is no folder or archive {path}.", KINDS)
    if not os.path.isfile(path) or not is_archive(path.name):
        raise PackError(f"{path} is no archive that can be read.", f"There are {', '.join(SUFFIXES)}.")
    return Spec("archive", str(path), path)


def _python(text: str) -> Spec:
    name = text.removeprefix("python:")
    if DISTRIBUTION.fullmatch(name) is None:
        raise PackError(f"{shown(text)} names no Python package.", "`python:NAME` wants an installed one.")
    return Spec("python", text, name=RUNS.sub("-", name).lower())


def _git(text: str) -> Spec:
    address, _, ref = text.partition("#")
    found = GIT.fullmatch(address)
    url = found["url"] if found else address
    if not found and address.startswith("git+"):
        then = "Write a blank as %20." if " " in address else "git+https, git+ssh and git+file are."
        raise PackError(f"{shown(text)} is no git address that is taken.", then)
    if ref and REF.fullmatch(ref) is None:
        raise PackError(f"{shown(text)} names no branch, tag or commit after its #.", KINDS)
    return Spec("git", text if found else f"git+{text}" if "://" in text else text, wanted=ref, url=url)


def _npm(text: str) -> Spec:
    found = NPM.fullmatch(text)
    if found is None:
        raise PackError(f"{shown(text)} names nothing that can be installed.", KINDS)
    for part in found["name"].removeprefix("@").split("/"):
        if fault := fault_of_pack_name(part):
            raise PackError(f"{shown(text)} is no name of a package: {shown(part)} {fault}.", KINDS)
    wanted = found["wanted"] or ""
    if wanted and not EXACT.fullmatch(wanted) and not TAG.fullmatch(wanted):
        raise PackError(
            f"{shown(text)} wants a range of versions.", "Name an exact version (1.2.3) or a tag (latest)."
        )
    return Spec("npm", text, name=found["name"], wanted=wanted)

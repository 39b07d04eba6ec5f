"""What a source gave: the files, and what is known of them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha512
from pathlib import Path

from hookscope.packs.progress import QUIETLY, Progress
from hookscope.packs.specs import Spec
from hookscope.packs.tree import Tree
from hookscope.values import dataclass

SECONDS = 120.0  # that fetching may take


@dataclass(frozen=True, slots=True)
class Fetched:
    """A package, not yet looked at."""

    spec: Spec
    tree: Tree
    resolved: str  # what exactly it was: name@version, a commit, a path
    integrity: str  # changes when anything of it does
    version: str = ""
    side_by_side: bool = False  # may it be a folder of hooks


@dataclass(frozen=True, slots=True)
class Fetching:
    """Where and how something is fetched."""

    work: Path  # an empty folder for it alone; whoever made it removes it
    env: Mapping[str, str]
    python: str  # the interpreter whose packages are meant
    progress: Progress = QUIETLY
    seconds: float = SECONDS
    project: tuple[Path, ...] = ()  # folders whose programs and settings are not the user's: the workspace's


def integrity_of(source: bytes) -> str:
    """The SHA-512 of a package in the form that registries write: `sha512-` and base64."""
    return f"sha512-{b64encode(sha512(source).digest()).decode()}"

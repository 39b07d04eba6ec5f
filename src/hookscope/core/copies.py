"""What became of a user's files where a run was on copies of them. Frozen data."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one file or link. It is foreign text, controls and all."""

    path: Path
    kind: Literal["written", "changed", "deleted"]
    before: int | None  # bytes; None: there was none
    after: int | None
    diff: str = ""  # unified; empty for what is no text, or long; of a link, where it leads
    digest: str = ""  # of what it holds now, hexadecimal; empty: not known


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a run on copies did to them, and which walls stood meanwhile."""

    walls: str  # for people
    network: bool  # there was none
    disk: bool  # outside of the copies it was read-only
    changes: tuple[FileChange, ...] = ()  # with the originals' paths
    more: int = 0  # changes that are not listed
    notes: tuple[str, ...] = ()  # what was not copied; what changed beside the copies

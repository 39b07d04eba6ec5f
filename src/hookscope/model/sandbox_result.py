"""What a run on copies did to a user's files, and what the sandbox guaranteed. Frozen data."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hookscope.values import dataclass

MOST_NAMED = 20  # changed originals that have a sentence


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
class TouchedFile:
    """An original that is not as it was before the run: by a handler, or by another program."""

    path: Path
    kind: Literal["written", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class OriginalsCheck:
    """The originals compared after the run with what they were before it."""

    compared: int  # files, links and folders
    changed: tuple[TouchedFile, ...] = ()
    more: int = 0  # that have changed and are not listed


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """What a run on copies did to them, and which walls stood meanwhile."""

    walls: str  # for people
    network: bool  # there was none
    disk: bool  # outside of the copies it was read-only
    changes: tuple[FileChange, ...] = ()  # with the originals' paths
    more: int = 0  # changes that are not listed
    notes: tuple[str, ...] = ()  # what was not copied; what changed beside the copies
    sockets: bool = False  # no Unix socket could be opened
    complete: bool = False  # every copy was compared; False also where a record does not say
    originals: OriginalsCheck | None = None  # None: they were not compared

    @property
    def unchanged(self) -> str:
        """See `unchanged`."""
        return unchanged_summary(disk=self.disk, complete=self.complete)

    @property
    def touched(self) -> tuple[str, ...]:
        """Sentences about originals that handlers could write: how many were compared, which have changed."""
        if self.originals is None or self.disk:
            return ()
        found = self.originals
        if not found.changed:
            none = f"Of the originals, {found.compared:,} files and folders were compared: none has changed."
            return (none,)
        by = "by a handler past its copy, or by another program"
        lines = [f"{one.path} itself was {one.kind} meanwhile, {by}." for one in found.changed[:MOST_NAMED]]
        if more := len(found.changed[MOST_NAMED:]) + found.more:
            lines.append(f"{more:,} more originals have changed.")
        return tuple(lines)


def unchanged_summary(*, disk: bool, complete: bool) -> str:
    """Return what is known about files where no copy shows a change: only what was checked."""
    if not complete:
        return "no change was found, but not everything could be compared"
    if disk:
        return "none was written, changed or deleted"
    return "none was written, changed or deleted in the copies; other files were not all checked"

"""Changes that a sandboxed run made to copies of a user's files, and its isolation. Frozen data."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hookscope.values import dataclass

MOST_NAMED = 20  # changed originals listed one by one


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file or link. Its texts are untrusted and may hold control characters."""

    path: Path
    kind: Literal["written", "changed", "deleted"]
    before: int | None  # bytes; None: it did not exist
    after: int | None
    diff: str = ""  # unified; empty if long or no text; a link's target
    digest: str = ""  # of the new content, hexadecimal; empty: unknown


@dataclass(frozen=True, slots=True)
class TouchedFile:
    """An original file that changed during the run, by a handler or by another program."""

    path: Path
    kind: Literal["written", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class OriginalsCheck:
    """The comparison of the original files before and after the run."""

    compared: int  # files, links and folders
    changed: tuple[TouchedFile, ...] = ()
    unlisted: int = 0  # changed originals that are not listed


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """The changes of a sandboxed run, and the isolation that was in place."""

    isolation: str  # for display
    no_network: bool  # there was no network
    read_only_disk: bool  # read-only outside the copies
    changes: tuple[FileChange, ...] = ()  # with the originals' paths
    more: int = 0  # changes that are not listed
    notes: tuple[str, ...] = ()  # files not copied, and changes outside the copies
    no_unix_sockets: bool = False  # no Unix socket could be opened
    complete: bool = False  # every copy was compared; False if a record lacks it
    originals: OriginalsCheck | None = None  # None: they were not compared

    @property
    def unchanged_text(self) -> str:
        """See `unchanged_summary`."""
        return unchanged_summary(read_only_disk=self.read_only_disk, complete=self.complete)

    @property
    def originals_text(self) -> tuple[str, ...]:
        """Sentences on the originals that handlers could write: how many were compared, changed."""
        if self.originals is None or self.read_only_disk:
            return ()
        check = self.originals
        if not check.changed:
            none = f"Of the originals, {check.compared:,} files and folders were compared: none has changed."
            return (none,)
        suspects = "by a handler past its copy, or by another program"
        lines = [
            f"{one.path} itself was {one.kind} meanwhile, {suspects}." for one in check.changed[:MOST_NAMED]
        ]
        if more := len(check.changed[MOST_NAMED:]) + check.unlisted:
            lines.append(f"{more:,} more originals have changed.")
        return tuple(lines)


def unchanged_summary(*, read_only_disk: bool, complete: bool) -> str:
    """Return what is known about the files if no copy changed; it claims only what was checked."""
    if not complete:
        return "no change was found, but not everything could be compared"
    if read_only_disk:
        return "none was written, changed or deleted"
    return "none was written, changed or deleted in the copies; other files were not all checked"

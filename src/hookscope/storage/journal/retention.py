"""How much the journal keeps. Imports no database: the CLI reads it before it needs one."""

from __future__ import annotations

from hookscope.values import dataclass

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept of each workspace. Ordinary runs have these bounds, and failed ones the same again, so
    that no flood of ordinary runs drives a failed one out. Pinned runs are kept whatever comes.

    The newest run is kept whatever its size. All workspaces together have eight times as much; those that
    were not used for longest go first.
    """

    runs: int = 1_000_000
    size: int = 128 * MIB  # bytes, of documents; the file is larger by a third or so
    entries: int = 10_000  # of all workspaces


DEFAULT_RETENTION = Retention()

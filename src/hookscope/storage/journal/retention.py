"""How much the journal keeps. Imports no database: the CLI reads this first."""

from __future__ import annotations

from hookscope.values import dataclass

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Retention:
    """Limits for each workspace. Failed runs have separate limits of the same size, so that ordinary runs
    cannot displace them. Pinned runs are always kept.

    The newest run is kept whatever its size. All workspaces together may use eight times as much; the least
    recently used lose their runs first.
    """

    runs: int = 1_000_000
    size: int = 128 * MIB  # bytes of documents; the file is about a third larger
    entries: int = 10_000  # of all workspaces


DEFAULT_RETENTION = Retention()

"""Cache of what interpreters report about themselves (version, features), in the state folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from hookscope.model.machine import RealFiles
from hookscope.runtime.executors import NodeReport, ask_node
from hookscope.storage.state_files import merged_state, state_members

FILE = "programs.json"
VERSIONS = "versions"  # the member of its file
MOST = 32  # programs that are kept
LONGEST_WAIT = 2  # seconds to wait for another process to write
# The first bytes of native programs: Linux, macOS for one architecture and for several.
NATIVE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


class KnownPrograms:
    """`programs.json`: program → its report, while its file is unchanged. Merged by key under a lock."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._new_reports: dict[str, dict[str, Any]] = {}

    def report_of(self, program: str, workspace: tuple[Path, ...] = ()) -> NodeReport | None:
        """Return a program's report, cached while its file is unchanged."""
        stamp = _stamp(program)
        if stamp is None:
            return ask_node(program, workspace)
        known = _cached_answer(state_members(self.file, VERSIONS).get(program), stamp)
        if known is not None:
            return known
        report = ask_node(program, workspace)
        if report is not None and _stamp(program) == stamp:
            self._new_reports[program] = {
                "of": stamp,
                "version": list(report.version),
                "types": report.runs_typescript,
            }
        return report

    def save(self) -> None:
        """Write new reports. If that fails, the next command runs the programs again."""
        new_reports, self._new_reports = self._new_reports, {}
        if not new_reports:
            return
        with suppress(OSError), merged_state(self.file, VERSIONS, patience=LONGEST_WAIT) as members:
            kept = {**members[VERSIONS], **new_reports}
            members[VERSIONS] = dict([*kept.items()][-MOST:])


def _stamp(program: str) -> list[object] | None:
    """Return a stamp that changes with the program; None for scripts and shims, which may run others."""
    real = os.path.realpath(program)
    try:
        if not os.path.basename(real).startswith(os.path.basename(program)) or not _is_native(real):
            return None
        status = os.stat(real)
    except OSError:
        return None
    return [real, status.st_size, status.st_mtime_ns, status.st_ino]


def _is_native(path: str) -> bool:
    return RealFiles().read(Path(path), 4).startswith(NATIVE)


def _cached_answer(entry: Any, stamp: list[object]) -> NodeReport | None:
    """Return the report of a cache entry; None if it is damaged or has another stamp."""
    if not isinstance(entry, dict) or entry.get("of") != stamp:
        return None
    version, types = entry.get("version"), entry.get("types")
    if not isinstance(version, list) or len(version) != 3 or not all(type(part) is int for part in version):
        return None
    return NodeReport(tuple(version), types) if isinstance(types, bool) else None

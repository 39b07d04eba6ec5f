"""Who began a run: a process, told from a later one of the same number by when it started."""

from __future__ import annotations

import os
from pathlib import Path

from hookscope.helpers import answer_of
from hookscope.values import dataclass

DEAD = "ZXx"  # states of a process that has ended and was not yet waited for


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. `started` is opaque: it is only ever compared."""

    pid: int
    started: str

    @staticmethod
    def here() -> Owner:
        """This process."""
        return Owner(os.getpid(), start_of(os.getpid()) or "")

    @property
    def alive(self) -> bool:
        """Is it still there? A process that took over its number is not it."""
        return start_of(self.pid) == self.started


def start_of(pid: int) -> str | None:
    """When this process started; None where there is none that lives."""
    return _from_proc(pid) if Path("/proc/self/stat").exists() else start_by_ps(pid)


def _from_proc(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may hold blanks and brackets
    # Fields 3 and 22 of proc(5). Ticks count from the boot, so the boot is part of the answer.
    return None if fields[0] in DEAD else f"{_boot()} {fields[19]}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def start_by_ps(pid: int) -> str | None:
    """As `start_of`, on macOS and the BSDs. Fixed language and time zone: two consoles read the same."""
    try:
        answer = answer_of(["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)], seconds=5)
    except OSError:
        return None
    state, _, started = answer.text.strip().partition(" ")
    return None if not state or state[0] in DEAD else started.strip()

"""The worker's process before any handler: its end, its size, its dumps, its text."""

from __future__ import annotations

import ctypes
import faulthandler
import io
import resource
import signal
import sys
from contextlib import suppress

PR_SET_PDEATHSIG = 1
M_ARENA_MAX = -8


def prepare(memory: int) -> None:
    """Set it up. `memory`: bytes of address space it may take, 0 for any."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        with suppress(ValueError, OSError):  # more than its user may have, or a system without this limit
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    faulthandler.enable(file=2)
    faulthandler.register(signal.SIGUSR2, file=2)  # for handlers that let no code of ours run
    if sys.platform.startswith("linux"):
        # For handlers that never let the listening thread run.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(AttributeError, OSError):  # glibc: a heap for each thread would use up the address space
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # those that Python itself has opened are
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")

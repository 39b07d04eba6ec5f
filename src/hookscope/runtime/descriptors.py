"""Reading descriptors that never block."""

from __future__ import annotations

import os

CHUNK = 64 * 1024  # bytes of one read: what a pipe holds


def read_now(descriptor: int) -> bytes | None:
    """What lies in it. None where there is nothing now, no bytes where it is at its end or broken."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""

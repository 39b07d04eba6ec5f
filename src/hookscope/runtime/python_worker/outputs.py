"""What the handlers print into: are 1 and 2 still those pipes, and does anything lie in them."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import time
from typing import Any

NUMBERS = (1, 2)
PRIVATE = 200  # our own descriptor stands here: above what programs count on

# Bound before any handler runs.
_fstat, _ioctl, _now = os.fstat, fcntl.ioctl, time.perf_counter
_WAITING = getattr(termios, "FIONREAD", 0)


class Outputs:
    """Looked at once, before any handler, and asked behind each."""

    def __init__(self) -> None:
        self._known = [_identity(number) for number in NUMBERS]
        self._watch = _watching()
        self._size = bytearray(4)
        self._nothing = bytes(4)
        self._counts = self._can_count()

    def hold(self) -> bool:
        """Are 1 and 2 what they were. Raises OSError where one is closed."""
        try:
            # Takes only what it knows, by number and by what is open there: a tenth of a look at both.
            self._watch.modify(1, 0)
            self._watch.modify(2, 0)
        except BaseException:  # another one, perhaps the same pipe opened anew; or no such system
            return [_identity(number) for number in NUMBERS] == self._known
        return True

    def are_empty(self, until: float) -> bool:
        """Has nobody printed anything, since they were known to be empty and as nobody reads `until` then.

        Of perf_counter. False where that cannot be known.
        """
        if not self._counts or not until:
            return False
        size, nothing = self._size, self._nothing
        _ioctl(1, _WAITING, size, True)
        if size != nothing:
            return False
        _ioctl(2, _WAITING, size, True)
        return size == nothing and _now() < until

    def _can_count(self) -> bool:
        """Does this system tell at a pipe's writing end how much lies in it."""
        read, write = os.pipe()
        try:
            os.write(write, b"123")
            _ioctl(write, _WAITING, self._size, True)
            return struct.unpack("i", self._size) == (3,)
        except OSError:
            return False
        finally:
            os.close(read)
            os.close(write)


def _watching() -> Any:
    """Knows what is open at 1 and 2. None where the system has no such thing."""
    if not hasattr(select, "epoll"):
        return None
    low = select.epoll()
    try:
        watch = select.epoll.fromfd(fcntl.fcntl(low.fileno(), fcntl.F_DUPFD_CLOEXEC, PRIVATE))
        for number in NUMBERS:
            watch.register(number, 0)
    except OSError:  # something that cannot be watched, a file; or few descriptors are allowed
        return None
    finally:
        low.close()
    return watch


def _identity(number: int) -> tuple[int, int]:
    status = _fstat(number)
    return status.st_dev, status.st_ino

"""What handlers print, kept within bounds: the beginning and the end, and how much lay between."""

from __future__ import annotations

import os

HEAD = 48 * 1024  # bytes
TAIL = 16 * 1024
CHUNK = 64 * 1024  # of one read: what a pipe holds
DRAIN = 64  # reads at most, where somebody prints faster than we read


class Capture:
    """Takes any number of bytes; keeps the first HEAD and the last TAIL of them."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        room = HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > TAIL:
            self._dropped += len(self._tail) - TAIL
            del self._tail[:-TAIL]

    def take(self) -> tuple[str, int]:
        """The text so far and how many bytes of it are left out; then begins anew."""
        head, tail, dropped = bytes(self._head), bytes(self._tail), self._dropped
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0
        if not dropped:
            return (head + tail).decode("utf-8", "replace"), 0
        between = f"\n… {dropped:,} bytes are left out here …\n"
        return head.decode("utf-8", "replace") + between + tail.decode("utf-8", "replace"), dropped


class Pipe:
    """The reading end of a pipe that handlers print into, and what was read from it.

    Owns its descriptor. Never waits: the end of a handler is told by the protocol, and a process it
    left behind may keep the pipe open for ever.
    """

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.open = True
        self._capture = Capture()

    def read(self) -> bool:
        """Read one portion. False where there is nothing to read now."""
        try:
            data = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        self.open = bool(data)
        self._capture.feed(data)
        return self.open

    def drain(self) -> None:
        """Read all that is there now."""
        for _ in range(DRAIN):
            if not self.open or not self.read():
                break

    def take(self) -> tuple[str, int]:
        """All up to now, as Capture.take."""
        self.drain()
        return self._capture.take()

    def close(self) -> None:
        """Read what is left and close the descriptor. `take` still gives what was read."""
        self.drain()
        self.open = False
        os.close(self.descriptor)

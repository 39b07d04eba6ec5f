"""What handlers print, kept within bounds: the beginning and the end, and how much lay between."""

from __future__ import annotations

import os
import select
from collections import deque

from hookscope.runtime.descriptors import read_now

HEAD = 48 * 1024  # bytes
TAIL = 16 * 1024
DRAIN = 64  # reads at most, where somebody prints faster than we read
SILENCE = ("", 0)  # what is taken where nothing was printed: this very one


class Capture:
    """Takes any number of bytes; keeps the first HEAD and the last TAIL of them."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def is_empty(self) -> bool:
        """Was nothing fed since it was last taken."""
        return not self._head

    def feed(self, data: bytes) -> None:
        """Keep this behind what there is: the first HEAD bytes and the last TAIL of all."""
        if not data:
            return
        room = HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > TAIL:
            self._dropped += len(self._tail) - TAIL
            del self._tail[:-TAIL]

    @property
    def beginning(self) -> str:
        """The text so far, without what came behind the first HEAD bytes."""
        return self._head.decode("utf-8", "ignore")

    def take(self) -> tuple[str, int]:
        """The text so far and how many bytes of it are left out; then begins anew."""
        if not self._head:
            return SILENCE
        head, tail, dropped = bytes(self._head), bytes(self._tail), self._dropped
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0
        if not dropped:
            return (head + tail).decode("utf-8", "replace"), 0
        between = f"\n… {dropped:,} bytes are left out here …\n"
        return head.decode("utf-8", "replace") + between + tail.decode("utf-8", "replace"), dropped


class Pipe:
    """The reading end of a pipe that handlers print into, and what was read from it.

    Owns its descriptor. Never waits: the end of a handler is told by the protocol, and a process it
    left behind may keep the pipe open for ever. A `fence` in what is printed ends the part of one call.
    """

    def __init__(self, descriptor: int, fence: bytes) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.open = True
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._capture = Capture()
        self._fence = fence
        self._begun = b""  # what may be the beginning of a fence
        self._parts: deque[tuple[str, int]] = deque()  # of calls that have ended, not yet asked for

    @property
    def holds(self) -> bool:
        """Is there something that was read and not asked for."""
        return bool(self._parts or self._begun) or not self._capture.is_empty

    def read(self) -> bool:
        """Read one portion. False where there is nothing to read now."""
        data = read_now(self.descriptor)
        if data is None:
            return False
        self.open = bool(data)
        self._feed(data)
        return self.open

    def _feed(self, data: bytes) -> None:
        if data == self._fence and not self._begun:  # nearly always
            self._parts.append(self._capture.take())
            return
        *ended, rest = (self._begun + data).split(self._fence)
        for part in ended:
            self._capture.feed(part)
            self._parts.append(self._capture.take())
        begins = rest.rfind(self._fence[:1], max(0, len(rest) - len(self._fence) + 1))
        if begins >= 0 and not self._fence.startswith(rest[begins:]):
            begins = -1
        self._begun = rest[begins:] if begins >= 0 and self.open else b""
        self._capture.feed(rest[:begins] if self._begun else rest)

    def drain(self) -> None:
        """Read all that is there now."""
        for _ in range(DRAIN):
            if not self.open or not self._poll.poll(0) or not self.read():
                break

    def so_far(self) -> str:
        """What the call that runs has printed, as Capture.beginning. It stays to be taken."""
        self.drain()
        return "" if self._parts else self._capture.beginning

    def take_part(self) -> tuple[str, int]:
        """The text of the oldest call that has ended, as Capture.take; all that is there where none has."""
        for _ in range(DRAIN):
            if self._parts:
                return self._parts.popleft()
            if not self.open or not self.read():
                break
        return self._parts.popleft() if self._parts else self.take()

    def take(self) -> tuple[str, int]:
        """All up to now, as Capture.take."""
        self.drain()
        if not self._parts and not self._begun:
            return self._capture.take()
        self._capture.feed(self._begun)
        self._begun = b""
        parts = (*self._parts, self._capture.take())
        self._parts.clear()
        return "".join(text for text, _ in parts), sum(dropped for _, dropped in parts)

    def close(self) -> None:
        """Read what is left and close the descriptor. `take` still gives what was read."""
        self.drain()
        self.open = False
        os.close(self.descriptor)

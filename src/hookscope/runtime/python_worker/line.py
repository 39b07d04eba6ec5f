"""The worker's end of the line to its host: two descriptors, and a thread that listens."""

from __future__ import annotations

import _thread
import fcntl
import os
import queue
import signal
from typing import Any, Callable, Optional  # noqa: UP035  (3.9)

PRIVATE = 200  # descriptors of the protocol start here: above what programs count on

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_read, _write, _getpid, _exit, _killpg = os.read, os.write, os.getpid, os._exit, os.killpg


class Line:
    """The protocol's two descriptors. A thread listens, so that the host's end is noticed at once."""

    def __init__(self, protocol: Any, read: int, write: int) -> None:
        self._protocol = protocol
        self._in, self._out = _private(read), _private(write)
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._owner = _getpid()
        self._turn = _thread.allocate_lock()  # a handler's thread may speak too: ctx.cancel()

    def listen(self, where: Callable[[Any], Optional[list[Any]]]) -> None:  # noqa: UP045
        """Start the thread. Not one of `threading`: a handler that counts threads shall not meet it.

        `where` tells the frames of the call that runs, by its number where several do; None where it has
        stopped that in another way.
        """
        _thread.start_new_thread(self._listen, (where,))

    def hear(self) -> Any:
        """The next message."""
        return self._inbox.get()

    def say(self, message: Any) -> None:
        """Send a message, or end: without the protocol there is nothing left to do here."""
        if _getpid() != self._owner:  # a copy that a handler forked, and which came back from it
            _exit(0)
        left = memoryview(self._protocol.pack(message))
        try:
            with self._turn:
                while left:
                    left = left[_write(self._out, left) :]
        except OSError:
            _exit(self._protocol.SPOILT)

    def _listen(self, where: Callable[[Any], Optional[list[Any]]]) -> None:  # noqa: UP045
        unpacker = self._protocol.Unpacker()
        try:
            while data := _read(self._in, 65536):
                for message in unpacker.feed(data):
                    if message["do"] != "stack":
                        self._inbox.put(message)
                    elif (frames := where(message.get("call"))) is not None:
                        self.say({"id": message["id"], "stack": frames})
        finally:  # the host is gone, or the line is: in both cases nobody wants an answer
            end_of_all(self._protocol.SPOILT)


def _private(descriptor: int) -> int:
    """Moved out of the way, and not inherited by what handlers start."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, PRIVATE)
    except OSError:  # fewer descriptors than that are allowed here
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def end_of_all(status: int) -> None:
    """End this process and its group, which is all that its handlers started and that stayed with it."""
    if os.getpgrp() == _getpid():
        _killpg(0, signal.SIGKILL)
    _exit(status)

"""The worker's end of the line to its host: two descriptors, and a third that a thread listens to."""

from __future__ import annotations

import _thread
import fcntl
import os
import signal
import sys
from collections import deque
from typing import Any, Callable, Optional  # noqa: UP035  (3.9)

PRIVATE = 200  # descriptors of the protocol start here: above what programs count on
PORTION = 65536  # bytes of one read
ROOM = 4096  # bytes that any pipe takes, however few its system gives it
RING, MUCH = b"\0", b"\1"  # look now; and go on looking: more comes than the pipe may take

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_read, _write, _dup, _close = os.read, os.write, os.dup, os.close
_getpid, _exit, _killpg, _audit = os.getpid, os._exit, os.killpg, sys.audit


class Line:
    """The protocol's descriptors. A thread listens to one, so that the host's end is noticed at once.

    Where there is a bell, the host looks at the line when it is rung, and by itself now and then. So an
    answer that waits for the next one costs no turn of the host's: it lies in the pipe, and survives us.
    """

    def __init__(self, protocol: Any, read: int, write: int, control: int, bell: int = -1) -> None:
        self._protocol = protocol
        self._in, self._out, self._control = _private(read), _private(write), _private(control)
        self._bell = _private(bell) if bell >= 0 else -1
        self._unheard = 0  # bytes said since the bell was rung
        self._unpacker = protocol.Unpacker()
        self._inbox: deque[Any] = deque()
        self._owner = _getpid()
        self._turn = _thread.allocate_lock()  # a handler's thread may speak too: ctx.cancel()

    def listen(self, where: Callable[[Any], Optional[list[Any]]], debug: Callable[[Any], Any]) -> None:  # noqa: UP045
        """Start the thread. Not one of `threading`: a handler that counts threads shall not meet it.

        `where` tells the frames of the call that runs, by its number where several do; None where it has
        stopped that in another way. `debug` hears the words to a handler that stands in the debugger.
        """
        begun = _thread.allocate_lock()
        begun.acquire()
        _thread.start_new_thread(self._listen, (where, debug, begun))
        begun.acquire()  # from here on it is among the threads that are counted

    def hear(self) -> Any:
        """The next message. Read in this very thread: to be handed it by another takes as long as a call."""
        while not self._inbox:
            try:
                data = _read(self._in, PORTION)
                self._inbox.extend(self._unpacker.feed(data))
            except BaseException:  # the line is spoilt
                data = b""
            if not data:
                end_of_all(self._protocol.SPOILT)
        return self._inbox.popleft()

    def say(self, message: Any) -> None:
        """Send a message, or end: without the protocol there is nothing left to do here."""
        self.put(self._protocol.pack(message), True)

    def put(self, frame: bytes, ring: bool) -> None:
        """As `say`, of what is packed. Without `ring` the host may hear it with what follows."""
        if _getpid() != self._owner:  # a copy that a handler forked, and which came back from it
            _exit(0)
        size = len(frame)
        try:
            with self._turn:
                self._unheard += size
                if self._unheard > ROOM and self._bell >= 0:
                    _write(self._bell, MUCH)
                    ring = True
                sent = _write(self._out, frame)
                while sent < size:
                    sent += _write(self._out, memoryview(frame)[sent:])
                if ring and self._bell >= 0:
                    _write(self._bell, RING)
                    self._unheard = 0
        except OSError:
            _exit(self._protocol.SPOILT)

    def free(self) -> int:
        """The lowest free descriptor: it rises with those that are left open. -1 where none is free.

        Raises what an audit hook raises: nothing can be opened any more where one does.
        """
        _audit("open", ".", None, os.O_RDONLY)
        try:
            found = _dup(self._out)
            _close(found)
            return found
        except OSError:
            return -1

    def _listen(self, where: Any, debug: Any, begun: Any) -> None:
        begun.release()
        unpacker = self._protocol.Unpacker()
        try:
            while data := _read(self._control, PORTION):
                for message in unpacker.feed(data):
                    if message["do"] == "word":
                        debug(message)
                        continue
                    frames = where(message.get("call"))
                    if frames is not None:
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

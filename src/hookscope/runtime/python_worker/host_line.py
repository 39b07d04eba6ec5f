"""The worker's side of the connection to its host: descriptors, answers, and the output of handlers."""

from __future__ import annotations

import _thread
import ctypes
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from .protocol import ENDED, LINE_LOST, NEXT, Unpacker, encode, frame_of, pack, short_frame

PRIVATE = 200  # lowest number of our descriptors, above those that programs use
READ_SIZE = 65536  # bytes
SMALLEST_PIPE = 4096  # bytes that every pipe holds
RING, RING_AND_KEEP_READING = b"\0", b"\1"  # "read now"; "keep reading: more follows than the pipe holds"
MAX_DELAY = 0.001  # seconds that an answer may wait for the next one
PLAIN_ANSWER = 3  # members of an answer with nothing to report: run, call, duration

# Bound before any handler runs, so that handlers cannot replace functions that the protocol uses.
_read, _write, _dup, _close = os.read, os.write, os.dup, os.close
_getpid, _exit, _killpg, _audit = os.getpid, os._exit, os.killpg, sys.audit
_fstat, _ioctl, _len, _now = os.fstat, fcntl.ioctl, len, time.perf_counter
_UNREAD_BYTES = getattr(termios, "FIONREAD", 0)


class HostLine:
    """The protocol's descriptors. A thread reads the control descriptor, and so notices when the host ends.

    If there is a bell, the host reads the line when the bell rings, and otherwise only occasionally. So an
    answer that waits for the next one does not wake the host. It stays in the pipe even if this process ends.
    """

    def __init__(self, read: int, write: int, control: int, bell: int = -1) -> None:
        self._in, self._out, self._control = _private(read), _private(write), _private(control)
        self._bell = _private(bell) if bell >= 0 else -1
        self._unrung = 0  # bytes sent since the bell rang
        self._unpacker = Unpacker()
        self._inbox: deque[Any] = deque()
        self._owner = _getpid()
        self._write_lock = _thread.allocate_lock()  # handlers' threads may send too, by `ctx.cancel()`

    def listen(self, stack_of: Callable[[int | None], list[Any] | None], debug: Callable[[Any], Any]) -> None:
        """Start the thread. It is not one of `threading`: handlers that count threads must not see it.

        `stack_of` returns the stack of the running call (by its number if several run), or None if it has
        ended the call in another way. `debug` receives the debugger's commands.
        """
        started = _thread.allocate_lock()
        started.acquire()
        _thread.start_new_thread(self._listen, (stack_of, debug, started))
        started.acquire()  # now the thread is counted

    def receive(self) -> Any:
        """Return the next message. Reads in this thread: passing it from another one would take too long."""
        while not self._inbox:
            try:
                data = _read(self._in, READ_SIZE)
                self._inbox.extend(self._unpacker.feed(data))
            except BaseException:  # the line is broken
                data = b""
            if not data:
                end_process_group(LINE_LOST)
        return self._inbox.popleft()

    def send(self, message: Any) -> None:
        """Send a message. Ends the process if that fails: a worker without its host is useless."""
        self.send_frame(pack(message), True)

    def send_frame(self, frame: bytes, ring: bool) -> None:
        """Send a packed message. Without `ring` the host may read it together with the next one."""
        if _getpid() != self._owner:  # in a forked process that returned from the handler
            _exit(0)
        size = len(frame)
        try:
            with self._write_lock:
                self._unrung += size
                if self._unrung > SMALLEST_PIPE and self._bell >= 0:
                    _write(self._bell, RING_AND_KEEP_READING)
                    ring = True
                sent = _write(self._out, frame)
                while sent < size:
                    sent += _write(self._out, memoryview(frame)[sent:])
                if ring and self._bell >= 0:
                    _write(self._bell, RING)
                    self._unrung = 0
        except OSError:
            _exit(LINE_LOST)

    def lowest_free_descriptor(self) -> int:
        """Return the lowest free descriptor, which rises with each leaked one; -1 if none is free.

        Raises what an audit hook raises.
        """
        _audit("open", ".", None, os.O_RDONLY)
        try:
            found = _dup(self._out)
            _close(found)
            return found
        except OSError:
            return -1

    def _listen(self, stack_of: Any, debug: Any, started: Any) -> None:
        started.release()
        unpacker = Unpacker()
        try:
            while data := _read(self._control, READ_SIZE):
                for message in unpacker.feed(data):
                    if message["do"] == "word":
                        debug(message)
                        continue
                    frames = stack_of(message.get("call"))
                    if frames is not None:
                        self.send({"id": message["id"], "stack": frames})
        finally:  # the host has ended or the line is broken
            end_process_group(LINE_LOST)


class AnswerSender:
    """Sends the answers of calls, and separates the output of each call from the next one's.

    Answers omit default values, see protocol.py. `baseline` knows whether descriptors 1 and 2 are unchanged.
    """

    def __init__(self, line: HostLine, outputs: StandardOutputs, baseline: Any) -> None:
        self._line, self._outputs, self._baseline = line, outputs, baseline
        self._fflush = ctypes.CDLL(None).fflush
        self._streams = sys.stdout, sys.stderr
        self._owner = _getpid()
        self._fence = b""
        self._unread_until = 0.0  # perf_counter time before which the host reads no output; 0: it may read
        self._all_sent_at = 0.0  # perf_counter time at which the host last knew all answers

    def begin_run(self, message: Any) -> None:
        """Prepare for the calls of a run message."""
        self._fence = message["fence"].encode("ascii")
        self._unread_until = 0.0 if message.get("together") else message.get("quiet", 0.0)
        self._all_sent_at = _now()

    def send(self, answer: dict[str, Any], follows: bool = False) -> None:
        """Send the answer of a call. If another call `follows`, the answer may wait for that one's answer."""
        self.flush()  # first: the output must be in the pipe when the answer arrives
        if not self._is_silent():
            self._unread_until = 0.0  # the host reads from now on, so an empty pipe does not prove silence
            answer["printed"] = True
            self._write_fence()
        if _len(answer) == PLAIN_ANSWER:
            kind = NEXT if follows else ENDED
            frame = short_frame(kind, answer["id"], answer["result"], answer["took"])
        else:
            if follows:
                answer["next"] = True
            frame = frame_of(encode(answer))
        ring = True
        if follows:
            now = _now()
            ring = now - self._all_sent_at > MAX_DELAY
            if ring:
                self._all_sent_at = now
        self._line.send_frame(frame, ring)

    def flush_replaced_streams(self) -> None:
        """Flush the streams that a handler has put in place of the standard ones, before they are removed."""
        out, err = self._streams
        if getattr(sys, "stdout", None) is not out or getattr(sys, "stderr", None) is not err:
            self.flush()

    def flush(self) -> None:
        """Flush Python's buffers and those of C code."""
        try:  # noqa: SIM105  (runs after each call: `suppress` takes longer than the flush)
            sys.stdout.flush()
        except BaseException:  # closed, gone, or a handler's own object
            pass
        try:  # noqa: SIM105  (as above)
            sys.stderr.flush()
        except BaseException:  # as above
            pass
        self._fflush(None)

    def _is_silent(self) -> bool:
        """Return True if the call has certainly printed nothing."""
        try:
            return bool(self._baseline.has_standard_outputs and self._outputs.are_empty(self._unread_until))
        except OSError:
            return False

    def _write_fence(self) -> None:
        if _getpid() != self._owner:  # in a forked process that returned from the handler
            _exit(0)
        try:
            if self._baseline.has_standard_outputs:
                _write(1, self._fence)
                _write(2, self._fence)
        except OSError:  # closed or not read: the host takes what is there
            pass


class StandardOutputs:
    """Descriptors 1 and 2 as they were before any handler ran."""

    def __init__(self) -> None:
        self._known = [_identity(1), _identity(2)]
        self._watch = _watch_outputs()
        self._size, self._zero = bytearray(4), bytes(4)
        self._can_count = self._counts_unread_bytes()

    def are_unchanged(self) -> bool:
        """Return True if descriptors 1 and 2 are still the same files. Raises OSError if one is closed."""
        try:
            # epoll accepts only the registered number with the registered file: ten times faster than fstat.
            self._watch.modify(1, 0)
            self._watch.modify(2, 0)
        except BaseException:  # another file, perhaps the same pipe reopened; or there is no epoll
            return [_identity(1), _identity(2)] == self._known
        return True

    def are_empty(self, unread_until: float) -> bool:
        """Return True if nothing was printed since both were empty; False if that is unknown.

        Args:
            unread_until: perf_counter time before which nobody reads from the other end.
        """
        if not self._can_count or not unread_until:
            return False
        size, zero = self._size, self._zero
        _ioctl(1, _UNREAD_BYTES, size, True)
        if size != zero:
            return False
        _ioctl(2, _UNREAD_BYTES, size, True)
        return size == zero and _now() < unread_until

    def _counts_unread_bytes(self) -> bool:
        """Return True if this system reports a pipe's unread bytes at the writing end."""
        read, write = os.pipe()
        try:
            os.write(write, b"123")
            _ioctl(write, _UNREAD_BYTES, self._size, True)
            return struct.unpack("i", self._size) == (3,)
        except OSError:
            return False
        finally:
            os.close(read)
            os.close(write)


def _watch_outputs() -> Any:
    """Return an epoll object with 1 and 2 registered, or None if this system cannot do that."""
    if not hasattr(select, "epoll"):
        return None
    low = select.epoll()
    try:
        watch = select.epoll.fromfd(fcntl.fcntl(low.fileno(), fcntl.F_DUPFD_CLOEXEC, PRIVATE))
        watch.register(1, 0)
        watch.register(2, 0)
    except OSError:  # a file, which epoll rejects; or too few descriptors are allowed
        return None
    finally:
        low.close()
    return watch


def _identity(descriptor: int) -> tuple[int, int]:
    status = _fstat(descriptor)
    return status.st_dev, status.st_ino


def _private(descriptor: int) -> int:
    """Move a descriptor to a high number, where started programs do not inherit it."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, PRIVATE)
    except OSError:  # the limit of descriptors is lower
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def end_process_group(status: int) -> None:
    """End this process and its group, with all processes of handlers that stayed in the group."""
    if os.getpgrp() == _getpid():
        _killpg(0, signal.SIGKILL)
    _exit(status)

"""How a worker tells the end of a call: what is said of it, when the host hears it, and what it printed.

An answer says only what is not as usual; see protocol.py for what may be left out.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any

SOON = 0.001  # seconds that an answer may wait for the next one
AT_REST = 3  # parts of the answer of one that did nothing but return: whose it is, and what it took

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_write, _getpid, _exit, _len, _now = os.write, os.getpid, os._exit, len, time.perf_counter


class Telling:
    """Tells answers over the line. Owns the fence between what two calls print."""

    def __init__(self, line: Any, protocol: Any, outputs: Any, baseline: Any) -> None:
        self._line = line
        self._encode, self._framed, self._short = protocol.encode, protocol.framed, protocol.short
        self._ended, self._next = protocol.ENDED, protocol.NEXT
        self._outputs, self._baseline = outputs, baseline
        self._fflush = ctypes.CDLL(None).fflush
        self._streams = sys.stdout, sys.stderr
        self._pid = _getpid()
        self._fence = b""
        self._quiet = 0.0  # of perf_counter: until then nobody reads what is printed; 0: somebody may
        self._told = 0.0  # of perf_counter: since then the host knows all answers

    def begin(self, message: Any) -> None:
        """The calls of this run message come now."""
        self._fence = message["fence"].encode("ascii")
        self._quiet = 0.0 if message.get("together") else message.get("quiet", 0.0)
        self._told = _now()

    def tell(self, answer: dict[str, Any], follows: bool = False) -> None:
        """Tell that a call has ended. Where another `follows` at once, perhaps together with that one."""
        self.flush()  # before the answer: then all that was printed is in the pipe when it arrives
        if not self._is_silent():
            self._quiet = 0.0  # the host reads from now on: what lies in the pipes says no more
            answer["printed"] = True
            self._put_fence()
        if _len(answer) == AT_REST:
            what = self._next if follows else self._ended
            frame = self._short(what, answer["id"], answer["result"], answer["took"])
        else:
            if follows:
                answer["next"] = True
            frame = self._framed(self._encode(answer))
        is_time = True
        if follows:
            now = _now()
            is_time = now - self._told > SOON
            if is_time:
                self._told = now
        self._line.put(frame, is_time)

    def keep_streams(self) -> None:
        """Flush what a handler has put in their place, before it is taken away."""
        out, err = self._streams
        if getattr(sys, "stdout", None) is not out or getattr(sys, "stderr", None) is not err:
            self.flush()

    def flush(self) -> None:
        """Python's buffers, and those of C code."""
        try:  # noqa: SIM105  (behind every call: `suppress` takes longer than the flush)
            sys.stdout.flush()
        except BaseException:  # closed, gone, or a handler's own object; nothing of ours is lost
            pass
        try:  # noqa: SIM105  (as above)
            sys.stderr.flush()
        except BaseException:  # as above
            pass
        self._fflush(None)

    def _is_silent(self) -> bool:
        """Is it known that the call has printed nothing."""
        try:
            return bool(self._baseline.holds_outputs and self._outputs.are_empty(self._quiet))
        except OSError:
            return False

    def _put_fence(self) -> None:
        """Tell apart what this call printed from what the next one prints."""
        if _getpid() != self._pid:  # a copy that a handler forked, and which came back from it
            _exit(0)
        try:
            if self._baseline.holds_outputs:
                _write(1, self._fence)
                _write(2, self._fence)
        except OSError:  # closed, or nobody reads: then the host takes what is there
            pass

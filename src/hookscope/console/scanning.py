"""Threads that the end of the program does not wait for, and that end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import NoReturn


def in_background(work: Callable[[], object], name: str) -> None:
    """Run `work` in a thread that the end of the program abandons: it only reads.

    Textual's workers run in the event loop's executor, whose threads are awaited when the loop closes:
    a scan of many hooks takes longer than its user waits. `work` must not raise.
    """
    Thread(target=copy_context().run, args=(work,), name=name, daemon=True).start()


def exit_now(code: int) -> NoReturn:
    """End the process, though threads still scan, and free nothing: the hooks found are a million objects.

    All that lasts is written by then: `console.run` has ended the workers and closed the journal.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)

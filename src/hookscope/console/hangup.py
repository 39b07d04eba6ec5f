"""The end of the terminal that the console is shown in.

Mostly the system tells its programs by a signal. It does not where that is ignored (`nohup`) or the terminal
leads no session (another program holds it): then Textual would read its end for ever, a core's work.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from time import sleep

NAME = "terminal"
GRACE = 5.0  # seconds until a console is ended that waits for a terminal which takes nothing any more
STATUS = 129  # as of one that the signal has ended


def on_hangup(leave: Callable[[], object]) -> None:
    """Call `leave` from another thread when the terminal at our input is gone; end the process where that is
    of no use. Nothing where there is none, or the system does not tell."""
    if sys.stdin is not None and hasattr(select, "poll") and os.isatty(0):
        Thread(target=_wait, args=(leave,), name=NAME, daemon=True).start()


def _wait(leave: Callable[[], object]) -> None:
    terminal = select.poll()
    terminal.register(0, 0)  # asks for nothing: an end is told all the same, and no key wakes us
    if not any(events & select.POLLHUP for _, events in terminal.poll()):
        return  # a system that cannot watch terminals says so at once
    _let_go()
    with suppress(RuntimeError):  # its loop is closed: it is about to end by itself
        leave()
    sleep(GRACE)
    os._exit(STATUS)


def _let_go() -> None:
    """What is still written to the terminal goes nowhere and fails nobody: else Python ends with 120."""
    outputs = select.poll()
    for descriptor in (1, 2):
        outputs.register(descriptor, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor, events in outputs.poll(0):
        if events & select.POLLHUP:
            os.dup2(nowhere, descriptor)
    os.close(nowhere)

"""The console's process: garbage collection, background threads, and the end of the terminal.

Imports no Textual.
"""

from __future__ import annotations

import asyncio
import gc
import os
import select
import sys
from collections.abc import Callable, Sized
from contextlib import suppress
from contextvars import copy_context
from importlib import import_module
from threading import Thread
from time import sleep
from typing import NoReturn

PRELOAD_THREAD = "loads ahead"
# What the first press of `/`, `k`, `2`, `4`, `?` and ctrl+p loads. Nothing of a user's is among it.
PRELOADED_MODULES = (
    "hookscope.console.widgets.input_fields",
    "hookscope.console.panes.hook_sheets",
    "hookscope.console.panes.fire.fire_pane",
    "hookscope.console.controllers.fire_controller",
    "hookscope.authoring.testing.test_runs",
    "hookscope.app.near_misses",
    "hookscope.console.dialogs.palette",
    "hookscope.console.dialogs.help",
    "hookscope.console.panes.hosts_pane",
    "hookscope.console.controllers.hosts_controller",
)


def preload() -> None:
    """Import modules in a thread, once per process. The program does not wait for it at its end."""
    if not sys.modules.keys() >= set(PRELOADED_MODULES):
        Thread(target=_import_modules, name=PRELOAD_THREAD, daemon=True).start()


def _import_modules() -> None:
    for name in PRELOADED_MODULES:
        with suppress(Exception):  # whoever goes there meets it again, and says it
            import_module(name)


MANY_HOOKS = 1_000  # hooks; with fewer the search is not felt
RARE_COLLECTION = (20_000, 20, 50)  # objects more than before; then how often of the younger before the older
IDLE_SECONDS = 0.3  # seconds without a key: nobody waits for an answer
MANY_NEW_OBJECTS = 5_000  # objects more than before: in a pause, a search among them is worth its while


def disable_collection() -> None:
    """Disable garbage collection until the first hooks are shown: a start creates many lasting objects."""
    gc.disable()


def resume_collection() -> None:
    """Enable garbage collection again, except for the objects of the start. No effect if enabled."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def freeze_scan_result(found: Sized) -> None:
    """Exclude a large scan result from garbage collection.

    A scan result has no cycles: reference counting frees it when the next one replaces it.
    """
    if len(found) >= MANY_HOOKS:
        gc.collect(1)  # the young ones, which may hold some
        gc.freeze()
        gc.set_threshold(*RARE_COLLECTION)


class IdleCollector:
    """Collects garbage while no key is pressed, if many hooks make collection rare otherwise."""

    def __init__(self) -> None:
        self._next: asyncio.TimerHandle | None = None

    def end(self) -> None:
        """Note that a key was pressed."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if gc.get_threshold() == RARE_COLLECTION:
            self._next = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._search)

    def _search(self) -> None:
        self._next = None
        young, _, searches = gc.get_count()
        if young >= MANY_NEW_OBJECTS:
            gc.collect(2 if searches >= RARE_COLLECTION[2] else 1)


def run_in_background(work: Callable[[], object], name: str) -> None:
    """Run `work` in a thread that the program does not wait for at its end: it only reads.

    Textual's workers run in the event loop's executor, whose threads are awaited when the loop closes; a scan
    of many hooks would delay the exit. `work` must not raise.
    """
    Thread(target=copy_context().run, args=(work,), name=name, daemon=True).start()


def exit_now(code: int) -> NoReturn:
    """End the process while threads still scan, without freeing a million hook objects.

    Everything lasting is written by then: `console.run` has ended the workers and closed the journal.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


HANGUP_THREAD = "terminal"
HANGUP_GRACE = 5.0  # seconds until a console is ended that waits for a terminal which takes nothing any more
HANGUP_EXIT_CODE = 129  # as of one that the signal has ended


def on_hangup(leave: Callable[[], object]) -> None:
    """Call `leave` from another thread when the terminal of our input is gone; if that fails, end the
    process.

    No effect without a terminal, or on a system that does not report it.
    """
    if sys.stdin is not None and hasattr(select, "poll") and os.isatty(0):
        Thread(target=_wait_for_hangup, args=(leave,), name=HANGUP_THREAD, daemon=True).start()


def _wait_for_hangup(leave: Callable[[], object]) -> None:
    terminal = select.poll()
    terminal.register(0, 0)  # asks for nothing: an end is told all the same, and no key wakes us
    if not any(events & select.POLLHUP for _, events in terminal.poll()):
        return  # a system that cannot watch terminals says so at once
    _discard_output()
    with suppress(RuntimeError):  # its loop is closed: it is about to end by itself
        leave()
    sleep(HANGUP_GRACE)
    os._exit(HANGUP_EXIT_CODE)


def _discard_output() -> None:
    """Discard later output to the terminal; otherwise Python would exit with 120."""
    outputs = select.poll()
    for descriptor in (1, 2):
        outputs.register(descriptor, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor, events in outputs.poll(0):
        if events & select.POLLHUP:
            os.dup2(nowhere, descriptor)
    os.close(nowhere)

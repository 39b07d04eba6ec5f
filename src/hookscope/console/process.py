"""The console's process: garbage collection, threads, loss of the terminal. Does not import Textual."""

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
# Modules that the first press of `/`, `k`, `2`, `4`, `?` and ctrl+p needs. None is a user's code.
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
    """Import `PRELOADED_MODULES` once, in a thread that does not delay the exit."""
    if not sys.modules.keys() >= set(PRELOADED_MODULES):
        Thread(target=_import_modules, name=PRELOAD_THREAD, daemon=True).start()


def _import_modules() -> None:
    for name in PRELOADED_MODULES:
        with suppress(Exception):  # the regular import fails again, and reports it
            import_module(name)


MANY_HOOKS = 1_000  # with fewer hooks, a collection is not noticeable
RARE_COLLECTION = (20_000, 20, 50)  # for gc.set_threshold
IDLE_SECONDS = 0.3  # seconds without a key press, after which a collection delays nothing
MANY_NEW_OBJECTS = 5_000  # new objects that are worth a collection in a pause


def disable_collection() -> None:
    """Disable garbage collection until the first hooks are shown: the start creates many lasting objects."""
    gc.disable()


def resume_collection() -> None:
    """Enable garbage collection, except for existing objects. No effect if it is enabled already."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def freeze_scan_result(found: Sized) -> None:
    """Exclude a large scan result from garbage collection.

    A scan result has no cycles: reference counting frees it when the next one replaces it.
    """
    if len(found) >= MANY_HOOKS:
        gc.collect(1)  # young objects, which may be in cycles
        gc.freeze()
        gc.set_threshold(*RARE_COLLECTION)


class IdleCollector:
    """Collects garbage in pauses between keys, if many hooks have made automatic collection rare."""

    def __init__(self) -> None:
        self._next: asyncio.TimerHandle | None = None

    def end(self) -> None:
        """Handle a key press, which ends the current pause and begins the next."""
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
    """Run `work` in a thread that does not delay the exit. `work` must only read, and must not raise.

    Textual's workers run in the event loop's executor, whose threads are awaited when the loop closes; a scan
    of many hooks would delay the exit.
    """
    Thread(target=copy_context().run, args=(work,), name=name, daemon=True).start()


def exit_now(code: int) -> NoReturn:
    """End the process at once, without waiting for scanning threads or freeing a million hook objects.

    Nothing is lost: `console.run` has already ended the workers and closed the journal.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


HANGUP_THREAD = "terminal"
HANGUP_GRACE = 5.0  # seconds; a console that still waits for the lost terminal is killed
HANGUP_EXIT_CODE = 129  # as if SIGHUP had ended the process


def on_hangup(leave: Callable[[], object]) -> None:
    """Call `leave` from another thread when the terminal of our input is gone. If the process still exists
    `HANGUP_GRACE` seconds later, end it.

    No effect without a terminal, or on a system that does not report its loss.
    """
    if sys.stdin is not None and hasattr(select, "poll") and os.isatty(0):
        Thread(target=_wait_for_hangup, args=(leave,), name=HANGUP_THREAD, daemon=True).start()


def _wait_for_hangup(leave: Callable[[], object]) -> None:
    terminal = select.poll()
    terminal.register(0, 0)  # no events: a hangup is reported anyway, and keys do not wake us
    if not any(events & select.POLLHUP for _, events in terminal.poll()):
        return  # this system cannot poll terminals
    _discard_output()
    with suppress(RuntimeError):  # the event loop is closed: the console is ending
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

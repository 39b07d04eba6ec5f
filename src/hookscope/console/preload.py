"""Modules for the likely next keys, loaded in a thread while the first hooks are read."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread

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
    """Load it beside the console's own thread; the end of the program does not wait for it.

    Once a process: later calls find all there.
    """
    if not sys.modules.keys() >= set(PRELOADED_MODULES):
        Thread(target=_import_modules, name=PRELOAD_THREAD, daemon=True).start()


def _import_modules() -> None:
    for name in PRELOADED_MODULES:
        with suppress(Exception):  # whoever goes there meets it again, and says it
            import_module(name)

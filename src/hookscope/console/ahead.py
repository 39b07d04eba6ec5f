"""What a user goes to next is loaded while the first hooks are read: so the first key costs less."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread

NAME = "loads ahead"
# What the first press of `/`, `k`, `2`, `4`, `?` and ctrl+p loads. Nothing of a user's is among it.
NEXT = (
    "hookscope.console.hooks.filter_box",
    "hookscope.console.hooks.registry",
    "hookscope.console.log.filter_input",
    "hookscope.console.fire.pane",
    "hookscope.console.firing",
    "hookscope.workbench.testing",
    "hookscope.workbench.near_misses",
    "hookscope.console.palette_screen",
    "hookscope.console.help",
    "hookscope.console.hosts.pane",
    "hookscope.console.hosts.desk",
)


def load_ahead() -> None:
    """Load it beside the console's own thread; the end of the program does not wait for it.

    Once a process: later calls find all there.
    """
    if not sys.modules.keys() >= set(NEXT):
        Thread(target=_load, name=NAME, daemon=True).start()


def _load() -> None:
    for name in NEXT:
        with suppress(Exception):  # whoever goes there meets it again, and says it
            import_module(name)

"""Hears the plugin hooks that only observe, and keeps each event in a file.

Made by `hookscope tap install --plugin-hooks`, taken away by `hookscope tap remove`. Its handlers return
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .spool import tap


def heard(name: str) -> Callable[..., None]:
    """The handler of one hook."""

    def observe(event: Any, ctx: Any = None) -> None:
        def told() -> dict[str, object]:
            beside = ctx if ctx is not None else {}
            return {
                "kind": "plugin",
                "key": name,
                "type": name,
                "session": beside.get("sessionKey") or event.get("sessionKey"),
                "timestamp": event.get("timestamp"),
                "context": event,
                "ctx": beside,
            }

        tap(told, ["cfg", "config"])

    return observe


def register(api: Any) -> None:
    """Ask for every hook that only observes."""
    tap(lambda: {"kind": "loaded"})
    api.on("EVENT", heard("EVENT"))

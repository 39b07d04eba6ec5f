"""Receives the events of plugin hooks that only observe, and stores each in a file.

Installed by `hookscope tap install --plugin-hooks`, removed by `hookscope tap remove`. Its handlers return
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .spool import tap


def observer(name: str) -> Callable[..., None]:
    """Return the handler for one hook."""

    def observe(event: Any, ctx: Any = None) -> None:
        def describe() -> dict[str, object]:
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

        tap(describe, ["cfg", "config"])

    return observe


def register(api: Any) -> None:
    """Register a handler for each hook that only observes."""
    tap(lambda: {"kind": "loaded"})
    api.on("EVENT", observer("EVENT"))

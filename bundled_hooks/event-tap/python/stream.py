"""Receives every event of its agent and stores it in a file on this machine.

Installed by `hookscope tap install`, removed by `hookscope tap remove`. It is meant for development
machines: if the file's folder does not exist, it does nothing.
"""

from __future__ import annotations

from typing import Any

from hookscope import define_hook

from .spool import tap

tap(lambda: {"kind": "loaded"})


def every(event: Any, ctx: Any) -> None:
    """Append the event to the spool."""

    def describe() -> dict[str, object]:
        meta = event.get("meta") or {}
        return {
            "kind": "stream",
            "key": event["type"],
            "type": event["type"],
            "session": (ctx.get("session") or {}).get("id"),
            "timestamp": meta.get("at"),
            "context": event.get("data") or {},
            "meta": meta,
            "ctx": {name: ctx.get(name) for name in ("agent", "channel", "session")},
        }

    tap(describe)


default = define_hook(events={"*": every})

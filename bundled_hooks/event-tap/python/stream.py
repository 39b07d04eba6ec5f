"""Hears every event of its agent and keeps it in a file on this machine.

Made by `hookscope tap install`, taken away by `hookscope tap remove`. It is meant for a development machine;
where that file's folder is not there, it does nothing.
"""

from __future__ import annotations

from typing import Any

from hookscope import define_hook

from .spool import tap

tap(lambda: {"kind": "loaded"})


def every(event: Any, ctx: Any) -> None:
    """Append the event to the spool."""

    def heard() -> dict[str, object]:
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

    tap(heard)


default = define_hook(events={"*": every})

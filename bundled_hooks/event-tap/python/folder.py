"""Receives every event of its host and stores it in a file. HOOK.md says which events, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .spool import tap

if TYPE_CHECKING:
    from hookscope import HookEvent

tap(lambda: {"kind": "loaded"})


def handler(event: HookEvent) -> None:
    """Append the event to the spool."""

    def describe() -> dict[str, object]:
        return {
            "kind": "folder",
            "key": event.key,
            "type": event.type,
            "action": event.action,
            "session": event.session_key,
            "timestamp": event.timestamp,
            "context": event.context,
        }

    tap(describe, ["cfg"])

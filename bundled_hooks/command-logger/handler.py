"""Writes one line of JSON for every command."""

import json
import os
from datetime import timezone
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope import HookEvent


def handler(event: "HookEvent") -> None:
    """Append the event to `logs/commands.log` of the host's state folder."""
    moment = event.timestamp.astimezone(timezone.utc)  # noqa: UP017  (workers may run Python 3.9)
    line = {
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "action": event.action,
        "sessionKey": event.session_key,
        "senderId": event.context.get("senderId", "unknown"),
        "source": event.context.get("commandSource", "unknown"),
    }
    append_line(state_folder() / "logs" / "commands.log", json.dumps(line, default=str))


def state_folder() -> Path:
    """The host's state folder: Hookscope says which; an embedding program without it means OpenClaw's."""
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw")


def append_line(path: Path, line: str) -> None:
    """One write to a file opened for appending: lines of several writers never mix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab", buffering=0) as file:
        file.write(line.encode() + b"\n")

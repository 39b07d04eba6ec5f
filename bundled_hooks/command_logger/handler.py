"""Writes one line of JSON for every command."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from contextlib import suppress
from datetime import timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope import HookEvent

LIMIT = 5 * 1024 * 1024  # bytes of the log; then it becomes the old one


def handler(event: HookEvent) -> None:
    """Append the event to `logs/commands.log` of the host's state folder."""
    moment = event.timestamp.astimezone(timezone.utc)
    line = {
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "action": event.action,
        "sessionKey": event.session_key,
        "senderId": named(event, "senderId"),
        "source": named(event, "commandSource"),
    }
    # As its host writes it: people grep for it.
    text = json.dumps(line, default=str, separators=(",", ":"), ensure_ascii=False)
    append_line(state_folder() / "logs" / "commands.log", text)


def named(event: HookEvent, member: str) -> Any:
    """What the event's context says; null says nothing."""
    value = event.context.get(member)
    return "unknown" if value is None else value


def state_folder() -> Path:
    """The host's state folder: Hookscope says which; an embedding program without it means OpenClaw's."""
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw")


def append_line(path: Path, line: str) -> None:
    """Append under a lock: no writer is at work while the full log is moved aside, so no line is lost."""
    data = line.encode(errors="backslashreplace") + b"\n"  # half a character is escaped, as in any JSON
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held until the file closes, or this process dies
        with suppress(FileNotFoundError):
            if path.stat().st_size + len(data) > LIMIT:
                path.replace(path.with_suffix(".log.1"))
        append(path, data)


def append(path: Path, data: bytes) -> None:
    """All of it or nothing: half a line would spoil the next one too."""
    with open(path, "ab", buffering=0) as file:  # unbuffered: one write
        end = file.tell()
        if file.write(data) < len(data):
            file.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

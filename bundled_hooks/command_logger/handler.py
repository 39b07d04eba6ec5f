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

LIMIT = 5 * 1024 * 1024  # bytes of the log; then it is moved to commands.log.1


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
    # In the format of the host's own log, for which people grep.
    text = json.dumps(line, default=str, separators=(",", ":"), ensure_ascii=False)
    append_line(state_folder() / "logs" / "commands.log", text)


def named(event: HookEvent, member: str) -> Any:
    """Return a member of the event's context; `unknown` if it is missing or null."""
    value = event.context.get(member)
    return "unknown" if value is None else value


def state_folder() -> Path:
    """Return the host's state folder, which Hookscope passes in a variable; else OpenClaw's."""
    return Path(os.environ.get("HOOKSCOPE_HOST_STATE") or Path.home() / ".openclaw")


def append_line(path: Path, line: str) -> None:
    """Append under a lock, so that no line is lost while another writer moves the full log."""
    data = line.encode(errors="backslashreplace") + b"\n"  # lone surrogates are escaped as in JSON
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held until the file closes, or this process dies
        with suppress(FileNotFoundError):
            if path.stat().st_size + len(data) > LIMIT:
                path.replace(path.with_suffix(".log.1"))
        append(path, data)


def append(path: Path, data: bytes) -> None:
    """Append all of the data or nothing: a partial line would also spoil the next one."""
    with open(path, "ab", buffering=0) as file:  # unbuffered: one write
        end = file.tell()
        if file.write(data) < len(data):
            file.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

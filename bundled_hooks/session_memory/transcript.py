"""Reads a session's transcript: one JSON object per line, some of which are messages."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE = 1024 * 1024  # bytes; a longer line contains an image or a file, not a message


class Message(NamedTuple):
    role: str
    text: str


class Conversation(NamedTuple):
    topic: str  # the first message of the user
    last: list[Message]


def read_conversation(path: Path, wanted: int, command: str) -> Conversation:
    """Return the topic and the last `wanted` messages, except those that are the command itself."""
    topic = ""
    last: deque[Message] = deque(maxlen=wanted)
    with path.open("rb") as file:
        for line in lines_of(file):
            message = message_in(line)
            if message is not None and message.text.split()[0] != command:
                last.append(message)
                if message.role == "user":
                    topic = topic or message.text
    return Conversation(topic, list(last))


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of up to LINE bytes. Longer ones are skipped without being read as a whole."""
    while line := file.readline(LINE):
        if line.endswith(b"\n") or len(line) < LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LINE)


def message_in(line: bytes) -> Message | None:
    """Return the message of `{role, content}` or `{type: "message", message: {…}}`; None for other lines."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return None
    if isinstance(entry, dict) and entry.get("type") == "message":
        entry = entry.get("message")
    if not isinstance(entry, dict) or entry.get("role") not in ("user", "assistant"):
        return None
    text = text_of(entry.get("content"))
    return Message(entry["role"], text) if text else None


def text_of(content: Any) -> str:
    """Return the text of a content, which is a string or a list of parts, some with a `text`."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str)).strip()

"""Reads a session's transcript: one JSON object a line, of which some are messages."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE = 1024 * 1024  # bytes; what is longer holds a picture or a file, and no talk


class Message(NamedTuple):
    role: str
    text: str


class Conversation(NamedTuple):
    topic: str  # the first thing that the user said
    last: list[Message]


def read_conversation(path: Path, wanted: int, command: str) -> Conversation:
    """The topic and the last `wanted` messages, without those that are the command itself."""
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
    """The lines of up to LINE bytes. Longer ones are passed over and never held as a whole."""
    while line := file.readline(LINE):
        if line.endswith(b"\n") or len(line) < LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LINE)


def message_in(line: bytes) -> Message | None:
    """`{role, content}`, or the same as `message` of a `{type: "message"}`. None for all else."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # not JSON, or nested without end
        return None
    if isinstance(entry, dict) and entry.get("type") == "message":
        entry = entry.get("message")
    if not isinstance(entry, dict) or entry.get("role") not in ("user", "assistant"):
        return None
    text = text_of(entry.get("content"))
    return Message(entry["role"], text) if text else None


def text_of(content: Any) -> str:
    """Content is a text, or a list of parts of which some have a text."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str)).strip()

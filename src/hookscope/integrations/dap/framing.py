"""The protocol's frames: `Content-Length: N`, an empty line, N bytes of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

DapMessage = dict[str, Any]

LARGEST_BODY = 64 * 1024 * 1024  # bytes of one body
LARGEST_HEADER = 4096  # bytes of its headers
HEADER_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"^content-length: *(\d{1,9}) *$", re.IGNORECASE | re.MULTILINE)


class InvalidFrame(Exception):
    """The input is not a frame, so the start of the next frame is unknown."""


class FrameReader:
    """Splits bytes that arrive in chunks of any size into whole message bodies."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the complete bodies. Raises InvalidFrame after the last valid one; then nothing is read."""
        self._buffer += data
        while (size := self._next_size()) is not None and len(self._buffer) >= sum(size):
            header_length, body_length = size
            body = bytes(self._buffer[header_length : header_length + body_length])
            del self._buffer[: header_length + body_length]
            yield body

    def _next_size(self) -> tuple[int, int] | None:
        """Return the header and body lengths of the next frame; None if its header is incomplete."""
        end = self._buffer.find(HEADER_END, 0, LARGEST_HEADER)
        if end < 0:
            if len(self._buffer) >= LARGEST_HEADER:
                raise InvalidFrame(f"no frame begins within {LARGEST_HEADER:,} bytes")
            return None
        match = _LENGTH.search(bytes(self._buffer[:end]).replace(b"\r", b""))
        if match is None:
            raise InvalidFrame("a frame without a Content-Length")
        length = int(match[1])
        if length > LARGEST_BODY:
            raise InvalidFrame(f"a frame of {length:,} bytes; the limit is {LARGEST_BODY:,}")
        return end + len(HEADER_END), length


def encode_message(message: DapMessage) -> bytes:
    """Return the frame of a message. It is ASCII, so that lone surrogates survive."""
    body = json.dumps(message).encode("ascii")
    return b"Content-Length: %d" % len(body) + HEADER_END + body


def decode_message(body: bytes) -> DapMessage:
    """Return the message in a body. Raises ValueError if there is none."""
    try:
        message = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(message, dict) or not isinstance(message.get("seq"), int):
        raise ValueError("it is not an object with a `seq`")
    return message

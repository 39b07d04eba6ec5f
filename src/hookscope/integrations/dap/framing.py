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
    """What came is no frame: nobody knows where the next one begins."""


class FrameReader:
    """Bytes in any portions in, whole bodies out."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies that are complete now. Raises Garbled behind the last good one; that is the end."""
        self._bytes += data
        while (size := self._size()) is not None and len(self._bytes) >= sum(size):
            head, length = size
            body = bytes(self._bytes[head : head + length])
            del self._bytes[: head + length]
            yield body

    def _size(self) -> tuple[int, int] | None:
        """Of head and body of the next frame; None where its head has not come yet."""
        end = self._bytes.find(HEADER_END, 0, LARGEST_HEADER)
        if end < 0:
            if len(self._bytes) >= LARGEST_HEADER:
                raise InvalidFrame(f"no frame begins within {LARGEST_HEADER:,} bytes")
            return None
        found = _LENGTH.search(bytes(self._bytes[:end]).replace(b"\r", b""))
        if found is None:
            raise InvalidFrame("a frame without a Content-Length")
        length = int(found[1])
        if length > LARGEST_BODY:
            raise InvalidFrame(f"a frame of {length:,} bytes; the limit is {LARGEST_BODY:,}")
        return end + len(HEADER_END), length


def encode_message(message: DapMessage) -> bytes:
    """The frame of a message. ASCII, so that lone surrogates of foreign texts get through."""
    body = json.dumps(message).encode("ascii")
    return b"Content-Length: %d" % len(body) + HEADER_END + body


def decode_message(body: bytes) -> DapMessage:
    """The message in a body. Raises ValueError where it is none."""
    try:
        message = json.loads(body)
    except RecursionError:
        raise ValueError("it is too deep") from None
    if not isinstance(message, dict) or not isinstance(message.get("seq"), int):
        raise ValueError("it is no object with a `seq`")
    return message

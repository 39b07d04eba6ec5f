"""Bytes of files, kept in documents of ours; None stands for a file that is not there."""

from base64 import b64decode, b64encode


def as_text(side: bytes | None) -> str | None:
    """The bytes as JSON can hold them: base64."""
    return None if side is None else b64encode(side).decode()


def as_bytes(side: str | None) -> bytes | None:
    """What `as_text` was given. Raises ValueError for what it has not made."""
    return None if side is None else b64decode(side)

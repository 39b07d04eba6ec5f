"""Read regular files only, without waiting for a pipe; detect the limit of open files."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path
from typing import NoReturn

LARGEST_MANIFEST = 1_048_576  # bytes; what OpenClaw 2026.9 reads (disc-13), and far more than any needs
LARGEST_READ = 64 * 2**20  # the default limit of `read_regular` in bytes
NOT_REGULAR = "not a regular file"
BUFFER_SIZE = 65_536  # bytes

_READING = os.O_RDONLY
for _flag in ("O_BINARY", "O_NONBLOCK", "O_NOCTTY"):  # Windows lacks the last two
    _READING |= getattr(os, _flag, 0)


def read_regular(path: str | Path, limit: int = -1) -> bytes:
    """Return the content of a regular file, or its first `limit` bytes.

    Raises OSError if it cannot be read or is not a regular file, and without a limit also if it is
    larger than `LARGEST_READ`.
    """
    descriptor = _open_descriptor(path)
    try:
        return _read_content(descriptor, path, limit)
    finally:
        os.close(descriptor)


def open_regular(path: str | Path) -> BufferedReader:
    """Return a regular file opened for buffered reading. Raises OSError as `read_regular`."""
    descriptor = _open_descriptor(path)
    try:
        return BufferedReader(_Readable(descriptor, path), BUFFER_SIZE)
    except BaseException:
        os.close(descriptor)
        raise


class _Readable(FileIO):
    """A file whose reads never block: a regular file that has no data yet is refused."""

    def __init__(self, descriptor: int, path: str | Path) -> None:
        super().__init__(descriptor)
        self._path = path

    def readinto(self, buffer: object, /) -> int:
        count: int | None = super().readinto(buffer)  # type: ignore[arg-type]  # typeshed wants a bytearray
        return _refuse(self._path) if count is None else count

    def readall(self) -> bytes:
        content: bytes | None = super().readall()
        return _refuse(self._path) if content is None else content


def _open_descriptor(path: str | Path) -> int:
    """Return a non-blocking descriptor of a regular file."""
    try:
        descriptor = os.open(path, _READING)
    except ValueError:  # a null byte in the name, or a character that the file system cannot encode
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            _refuse(path)
        raise
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    _refuse(path)


def _read_content(descriptor: int, path: str | Path, limit: int) -> bytes:
    """Return the content or its first `limit` bytes, in one read if the reported size is right."""
    size = os.fstat(descriptor).st_size
    byte_limit = limit if limit >= 0 else LARGEST_READ + 1
    if limit < 0 and size > LARGEST_READ:
        _too_large(path)
    try:
        content = os.read(descriptor, min(size + 1, byte_limit))
        if len(content) not in (size, limit):  # it is growing, or has no size
            parts = [content]
            while parts[-1] and (remaining := byte_limit - sum(map(len, parts))) > 0:
                parts.append(os.read(descriptor, min(remaining, BUFFER_SIZE)))
            content = b"".join(parts)
    except BlockingIOError:
        _refuse(path)
    except OSError as error:  # the error of a descriptor has no file name
        why = error.strerror or os.strerror(error.errno or errno.EIO)
        raise OSError(error.errno, why, str(path)) from None
    if limit < 0 and len(content) > LARGEST_READ:
        _too_large(path)
    return content


def _refuse(path: object) -> NoReturn:
    raise OSError(errno.EINVAL, NOT_REGULAR, str(path))


def _too_large(path: str | Path) -> NoReturn:
    raise OSError(errno.EFBIG, f"larger than {LARGEST_READ // 2**20} MiB", str(path))


FILE_LIMIT_ERRNOS = frozenset({errno.EMFILE, errno.ENFILE})
FILE_LIMIT_REACHED = "the limit of open files is reached"
FILE_LIMIT_HINT = "`ulimit -n 1024` raises it for this shell."


def is_file_limit(error: BaseException) -> bool:
    """Return whether an error means that no more files may be opened."""
    return isinstance(error, OSError) and error.errno in FILE_LIMIT_ERRNOS


def reraise_file_limit(error: BaseException) -> None:
    """Raise the error again if it is the limit of open files, which does not mean that a file is absent."""
    if is_file_limit(error):
        raise error


LARGEST_DIGEST = 8 * 1_048_576  # bytes; larger files get no digest

"""Rename system calls that never drop a file unseen: exchange two files, or move one to a free name."""

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

NOT_OFFERED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
HERE = -100  # AT_FDCWD of Linux: relative paths count from the current folder
LINUX_FREE, LINUX_EXCHANGE = 1, 2  # RENAME_NOREPLACE, RENAME_EXCHANGE
MACOS_EXCHANGE, MACOS_FREE = 2, 4  # RENAME_SWAP, RENAME_EXCL


class NotOffered(OSError):
    """This system, or the file system of the file, has no such call."""


def exchange(one: Path, other: Path) -> None:
    """Exchange two files in one step, so that both names always lead to a whole file.

    Raises NotOffered, or OSError where the system refuses.
    """
    _rename(one, other, LINUX_EXCHANGE, MACOS_EXCHANGE)


def move_to_free(one: Path, to: Path) -> None:
    """Give a file a name that nothing has. Raises FileExistsError where something has it, else OSError."""
    try:
        _rename(one, to, LINUX_FREE, MACOS_FREE)
    except NotOffered:
        if os.path.lexists(to):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to)) from None
        os.rename(one, to)


def _rename(one: Path, other: Path, linux: int, macos: int) -> None:
    source, target = os.fsencode(one), os.fsencode(other)
    library = _library()
    if hasattr(library, "renameat2"):
        failed = library.renameat2(HERE, source, HERE, target, linux)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(source, target, macos)
    else:
        raise NotOffered(errno.ENOSYS, os.strerror(errno.ENOSYS), str(other))
    if failed:
        number = ctypes.get_errno()
        error = NotOffered if number in NOT_OFFERED else OSError
        raise error(number, os.strerror(number), str(other))


@cache
def _library() -> Any:
    return ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None

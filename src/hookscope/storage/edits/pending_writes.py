"""Wait for another program that is writing a file, and refuse to edit if it takes too long."""

import errno
import os
import signal
import time
from pathlib import Path

from hookscope.formats.json5 import LARGEST_JSON5
from hookscope.model.machine import read_or_none
from hookscope.model.text import error_reason
from hookscope.storage.edits.atomic_files import CannotEdit, CannotWrite
from hookscope.storage.edits.json5_edit import is_blank

SETTLE = 2.0  # seconds; editors truncate a file and then write it within milliseconds
POLL = 0.02  # seconds between two checks of a file


def read_settled(file: Path) -> bytes | None:
    """Return the bytes of a document to edit; None if it does not exist. Follows links.

    Editors truncate a file and then write it. A file that is blank, or open for writing in another program,
    is read again for `SETTLE` seconds.

    Raises:
        CannotEdit: the file stays blank, or is too large.
        CannotWrite: it cannot be read, or another program keeps it open for writing.
    """
    end = time.monotonic() + SETTLE
    while True:
        try:
            busy = is_open_for_writing(file)
            source = read_or_none(file, LARGEST_JSON5 + 1)
        except OSError as error:
            raise CannotWrite(f"Cannot read {file}: {error_reason(error)}. Nothing was written.") from None
        if source is None:
            return None
        if len(source) > LARGEST_JSON5:
            raise CannotEdit(f"{file} is larger than {LARGEST_JSON5:,} bytes; nothing was written")
        if not busy and not is_blank(source):
            return source
        if time.monotonic() > end:
            raise (
                still_open_error(file)
                if busy
                else CannotEdit(
                    f"{file} is empty; another program may be writing it. Nothing was written. "
                    "Try again, or delete the file to start afresh"
                )
            )
        time.sleep(POLL)


def wait_until_written(file: Path) -> None:
    """Wait until no other program has the file open to write. Raises CannotWrite after `SETTLE` seconds."""
    end = time.monotonic() + SETTLE
    while is_open_for_writing(file):
        if time.monotonic() > end:
            raise still_open_error(file)
        time.sleep(POLL)


def still_open_error(file: Path) -> CannotWrite:
    """Return the refusal to write a file that another program is still writing."""
    return CannotWrite(
        f"Another program has had {file} open for writing for {SETTLE:g} s. Nothing was written. "
        "Close it there, or try again."
    )


def is_open_for_writing(file: Path) -> bool:
    """Return whether another process has the file open for writing; False if the system cannot tell.

    Linux grants a read lease only while no process has the file open for writing.
    """
    try:
        import fcntl

        take, signalled = fcntl.F_SETLEASE, fcntl.F_SETSIG
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    except (ImportError, AttributeError, OSError, ValueError):
        return False
    try:
        # A program that opens the file meanwhile breaks the lease. This signal of it is ignored by default.
        fcntl.fcntl(handle, signalled, signal.SIGURG)
        fcntl.fcntl(handle, take, fcntl.F_RDLCK)
        fcntl.fcntl(handle, take, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(handle)
    return False

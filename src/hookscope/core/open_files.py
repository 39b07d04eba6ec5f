"""Errors that mean one thing: no further file, pipe or process can be opened."""

import errno

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})
REACHED = "the limit of open files is reached"
THEN = "`ulimit -n 1024` raises it for this shell."


def is_exhausted(error: BaseException) -> bool:
    """True if an error says that the process, or the system, may open no more files."""
    return isinstance(error, OSError) and error.errno in EXHAUSTED


def raise_exhausted(error: BaseException) -> None:
    """Raise the error again if it is of this kind.

    For code that takes another error for "it is not there": this one says nothing about that.
    """
    if is_exhausted(error):
        raise error

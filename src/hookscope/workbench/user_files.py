"""One file of the user's written at once: a saved event, what it expects, an export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hookscope.changes import Change, ChangeError, apply
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import state_folder

Write = Callable[[Change], None]  # makes it so, or raises Refusal


def lock_aside() -> Path:
    """The lock for users' files. It is in our folder: none may stay beside a file that somebody keeps in
    version control."""
    return state_folder() / "files.lock"


def write(change: Change) -> None:
    """Make it so. Raises Refusal; then the file is as it was."""
    lock: Path | None = lock_aside()
    try:
        lock_aside().parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # such a folder is nothing that this file needs: its lock is then beside it
        lock = None
    try:
        apply(change, lock=lock)
    except ChangeError as error:
        raise Refusal(str(error)) from None

"""Write one file of the user's own: a saved event, its expectations, an export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hookscope.model.refusal import Refusal
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change, apply_change
from hookscope.storage.state_files import state_folder

WriteChange = Callable[[Change], None]  # makes it so, or raises Refusal


def user_files_lock() -> Path:
    """The lock for users' files. It is in our folder: none may stay beside a file that somebody keeps in
    version control."""
    return state_folder() / "files.lock"


def write_user_file(change: Change) -> None:
    """Make it so. Raises Refusal; then the file is as it was."""
    lock: Path | None = user_files_lock()
    try:
        user_files_lock().parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # such a folder is nothing that this file needs: its lock is then beside it
        lock = None
    try:
        apply_change(change, lock=lock)
    except ChangeError as error:
        raise Refusal(str(error)) from None

"""What speaks against replacing a file although the system would allow it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import CannotWrite

if TYPE_CHECKING:
    from .change import Change

ANY_WRITE = 0o222


def refuse_obstacles(change: "Change", real: Path) -> None:
    """Refuse to replace or remove a file that its owner made read-only, or that has other names.

    The folder decides whether a file can be replaced, so a file without write permission could be. A new file
    under one of several names (hard links) would leave the old text under the others.

    Raises CannotWrite.
    """
    _refuse_read_only_folder(change, real)
    if change.old is None or change.modes is not None or change.to is not None:
        return
    facts = os.stat(real)
    if not facts.st_mode & ANY_WRITE or not os.access(real, os.W_OK):
        raise CannotWrite(
            f"{change.path} is read-only. Nothing was written. `chmod u+w` on it allows the change."
        )
    if change.new is not None and facts.st_nlink > 1:
        raise CannotWrite(
            f"{change.path} has {facts.st_nlink} names (hard links), and replacing it would leave the others "
            "with the old text. Nothing was written. Make it a file of its own, or edit it by hand."
        )


def _refuse_read_only_folder(change: "Change", real: Path) -> None:
    """Root may write into every folder; that its owner made it read-only counts all the same."""
    folder = real.parent
    if os.path.isdir(folder) and not os.stat(folder).st_mode & ANY_WRITE:
        raise CannotWrite(
            f"{folder} is read-only. {change.path} was not written. "
            "`chmod u+w` on the folder allows the change."
        )

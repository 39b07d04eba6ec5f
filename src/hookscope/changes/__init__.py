"""Users' files are written here and nowhere else: an edit, previewed as a Change, applied, undone.

    change = change_of(file, [Edit(file, ("hooks", "enabled"), True, "hooks.enabled: true")])
    print(change.preview())
    apply(change)

What always holds:

- An edit changes no byte but those of its value; the result is read again before it is believed.
- A file that is not what the change was made from is never overwritten: Stale, and nothing is written.
  What another program writes at the very moment of the replacement is put back.
- A file that is blank, open for writing elsewhere, read-only, or known under several names is refused.
- Every reader sees the old or the new file, whole; so does whoever comes after a crash. The one exception
  is told: `Applied.in_place`.
- Links, mode and owner stay.
- Every refusal is a ChangeError: one sentence, with the next step.
"""

from .change import (
    Applied,
    Change,
    apply,
    change_of,
    composed,
    equal_ends,
    holds,
    lines_of,
    missing_folders,
    read_now,
    remove_empty,
)
from .errors import CannotEdit, CannotWrite, ChangeError, Stale
from .header_edit import (
    header_of,
    with_header_first,
    with_header_key,
    with_header_value,
    with_one_line,
    with_wrapped,
    without_header_member,
)
from .settings_edit import dotted, edited, edited_all, without
from .settling import read_settled
from .undo import UndoStack, inverse_of

__all__ = [
    "Applied",
    "CannotEdit",
    "CannotWrite",
    "Change",
    "ChangeError",
    "Stale",
    "UndoStack",
    "apply",
    "change_of",
    "composed",
    "dotted",
    "edited",
    "edited_all",
    "equal_ends",
    "header_of",
    "holds",
    "inverse_of",
    "lines_of",
    "missing_folders",
    "read_now",
    "read_settled",
    "remove_empty",
    "with_header_first",
    "with_header_key",
    "with_header_value",
    "with_one_line",
    "with_wrapped",
    "without",
    "without_header_member",
]

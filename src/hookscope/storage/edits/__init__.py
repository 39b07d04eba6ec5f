"""The only code that writes users' files. An edit is previewed as a Change, applied, and can be undone.

    change = change_of(file, [Edit(file, ("hooks", "enabled"), True, "hooks.enabled: true")])
    print(change.preview())
    apply_change(change)

Guarantees:

- An edit changes only the bytes of its value; the result is parsed again before it is used.
- A file that has changed since the change was made is never overwritten: Stale, and nothing is written. What
  another program writes at the moment of the replacement is restored.
- A file that is blank, open for writing elsewhere, read-only, or has several names is refused.
- Readers see the complete old or new file, even after a crash. The only exception is reported:
  `Applied.in_place`.
- Links, mode and owner stay.
- Every refusal is a ChangeError: one sentence, with the next step.
"""

from hookscope.storage.edits.atomic_files import CannotEdit, CannotWrite, ChangeError, Stale
from hookscope.storage.edits.change import (
    Applied,
    Change,
    apply_change,
    change_of,
    combined_changes,
    count_equal_ends,
    is_applied,
    missing_folders,
    read_current,
    remove_empty,
    split_lines,
)
from hookscope.storage.edits.header_edit import (
    parse_header_text,
    with_header_first,
    with_header_key,
    with_header_value,
    with_one_line,
    with_wrapped,
    without_header_member,
)
from hookscope.storage.edits.json5_edit import dotted_path, with_setting, with_settings, without_setting
from hookscope.storage.edits.pending_writes import read_settled
from hookscope.storage.edits.undo import UndoStack, inverse_change

__all__ = [
    "Applied",
    "CannotEdit",
    "CannotWrite",
    "Change",
    "ChangeError",
    "Stale",
    "UndoStack",
    "apply_change",
    "change_of",
    "combined_changes",
    "count_equal_ends",
    "dotted_path",
    "inverse_change",
    "is_applied",
    "missing_folders",
    "parse_header_text",
    "read_current",
    "read_settled",
    "remove_empty",
    "split_lines",
    "with_header_first",
    "with_header_key",
    "with_header_value",
    "with_one_line",
    "with_setting",
    "with_settings",
    "with_wrapped",
    "without_header_member",
    "without_setting",
]

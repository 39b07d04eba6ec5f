"""The saved events of a workspace: once for programs, once for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.cli.cells import column, fitted, names_apart
from hookscope.core.text import as_typed, one_line
from hookscope.workbench.documents import Document
from hookscope.workbench.saved import SavedRow


def document(row: SavedRow) -> Document:
    """One of `events --saved --json`."""
    return {
        "file": str(row.file),
        "name": row.name,
        "event": row.key or None,
        "session": row.session,
        "tags": list(row.tags),
        "notes": row.notes,
        "expects": row.expects,
        "problem": row.problem or None,
    }


def listed(rows: Sequence[SavedRow], key: str = "") -> str:
    """`events --saved`: a line for each: name, event, session, tags; `expects` where it is a test.

    `key` is the event that alone was asked for.
    """
    if not rows:
        key = one_line(key, 60)
        what = f"No event {key}" if key else "No event"
        return f"{what} is saved here; `hookscope fire {as_typed(key) or 'KEY'} --save NAME` saves one."
    names = [one_line(name) for name in names_apart([(row.name, row.file) for row in rows])]
    width = column(names, 40)
    keys = column((one_line(row.key) for row in rows), 32)
    named = zip(rows, names, strict=True)
    return "\n".join(" ".join(_cells(row, fitted(name, width), keys)).rstrip() for row, name in named)


def _cells(row: SavedRow, name: str, keys: int) -> Iterator[str]:
    yield "✗" if row.problem else " "
    yield name
    if row.problem:
        yield one_line(row.problem, 400)
        return
    yield f" {fitted(one_line(row.key), keys)} "
    yield "expects" if row.expects else "       "
    yield " ".join(f"#{one_line(tag, 40)}" for tag in row.tags)
    yield one_line(row.notes, 120)

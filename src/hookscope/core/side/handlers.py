"""The names of handlers that hosts look for, and those that stand in a folder."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.core.side.model import NO_HOOK, Cell, Line


def common_handlers(line: Line) -> list[str]:
    """The names of handlers that all hosts look for, in the first host's order."""
    reads = [cell.side.reads for cell in line.cells if cell.side.reads is not None]
    first = reads[0].handlers if reads else ()
    return [name for name in first if all(name in one.handlers for one in reads)]


def stranger_in(cell: Cell) -> str:
    """The handler that a rejected folder has under a name that this host does not look for; empty where that
    is not what is wrong with it."""
    reads = cell.side.reads
    if cell.state != NO_HOOK or reads is None:
        return ""
    names = _names_in(cell)
    handlers = [name for name in names if name.startswith(("handler", "index"))]
    if "HOOK.md" not in names or any(name in reads.handlers for name in handlers):
        return ""
    return handlers[0] if handlers else ""


def _names_in(cell: Cell) -> Sequence[str]:
    try:
        return sorted(cell.side.host.surroundings.files.names(cell.path)) if cell.path else []
    except OSError:
        return []

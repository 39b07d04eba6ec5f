"""Entries of the settings that belong to no hook, as `list` and `check` show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.cli.cells import spot
from hookscope.core.orphans import orphans_of
from hookscope.core.text import one_line

if TYPE_CHECKING:
    from hookscope.core.inventory import Inventory
    from hookscope.workbench import View


def left_over(view: View, found: Inventory | None = None) -> list[str]:
    """Each entry with its place: none of them does anything. `found`: as documents.inventory has it."""
    lines = []
    for item in orphans_of(found or view.inventory, view.host):
        at = f"  ({spot(item.place)})" if item.place else ""
        lines.append(f"  ! {one_line(item.key, 60)}{at}  no such hook was found; {one_line(item.then, 300)}")
    return ["", "entries without a hook", *lines] if lines else []

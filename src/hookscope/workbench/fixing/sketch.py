"""What would be found after some changes, by the same look at an overlaid disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hookscope.changes import Change, composed
from hookscope.core.dialect import Host
from hookscope.core.examine import examine
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory, Rejected
from hookscope.core.look import look
from hookscope.core.standing import Standing
from hookscope.core.surroundings import RealFiles
from hookscope.settings import open_host
from hookscope.values import dataclass
from hookscope.workbench.fixing.overlay import Overlaid


@dataclass(frozen=True, slots=True)
class Sketch:
    """A host and its inventory after these changes."""

    host: Host
    inventory: Inventory
    changes: tuple[Change, ...] = ()

    def after(self, *more: Change) -> Sketch:
        """With more changes, each made on what the earlier ones have left."""
        changes = (*composed(self.changes), *more)
        files = Overlaid(RealFiles(), changes)
        host = self.host
        here = replace(host.surroundings, files=files)
        then = open_host(host.dialect, here, host.choices, trust=host.trust)
        return Sketch(then, examine(look(then), then), changes)

    def read(self, path: Path) -> bytes | None:
        """The bytes of a file as it would be; None where there is none. Raises OSError."""
        files = self.host.surroundings.files
        try:
            return files.read(path)
        except FileNotFoundError:
            if (trouble := files.trouble(path)) is not None:
                raise trouble from None
            return None

    def find(self, sought: Standing | Rejected) -> Standing | Rejected | None:
        """The same thing as it would stand: a hook by its folder or name, what was none by its path."""
        if isinstance(sought, Standing):
            return next((row for row in self.inventory.hooks if _same(row.hook, sought.hook)), None)
        row = next((row for row in self.inventory.hooks if row.hook.path == sought.path), None)
        same = (item for item in self.inventory.rejected if item.path == sought.path)
        return row or next(same, None)


def _same(one: Hook, other: Hook) -> bool:
    if one.kind != other.kind:
        return False
    if one.path is not None or other.path is not None:
        return one.path == other.path and (one.kind == "folder" or one.name == other.name)
    return (one.name, one.meta.events) == (other.name, other.meta.events)

"""What an install or uninstall changes for hooks that are none of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from hookscope.core.inventory import Inventory
from hookscope.workbench.toggle import Effect


def effects(inventory: Inventory, seen: Inventory, mine: set[Path], gone: Iterable[Path]) -> Iterator[Effect]:
    """Hooks that are none of the pack, and stand otherwise then."""
    away = tuple(gone)
    for row in inventory.hooks:
        hook = row.hook
        if hook.path is not None and (
            hook.path in mine or any(hook.path.is_relative_to(one) for one in away)
        ):
            continue
        then = next(
            (
                other
                for other in seen.hooks
                if (other.hook.path, other.hook.name, other.hook.kind) == (hook.path, hook.name, hook.kind)
            ),
            None,
        )
        if then is not None and then.state is not row.state:
            yield Effect(hook.name, hook.folder.source, row.state, then.state)

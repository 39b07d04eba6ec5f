"""A hook that stands ready and listens to a slip of the pen: nobody sends that, and no host says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.core.bystanders import kind_of_key, kinds_of

if TYPE_CHECKING:
    from hookscope.core.standing import Standing
    from hookscope.workbench.view import View


def slip_of(row: Standing, view: View) -> tuple[str, str] | None:
    """A key of the hook that its host's documents do not list, and the listed one that was surely meant."""
    catalogue = view.host.dialect.catalogue()
    strange = [key for key in row.events or () if catalogue.canonical(key) not in catalogue.by_key]
    if not strange:
        return None
    from hookscope.core.meant import meant  # here: most hooks listen to what is listed

    known = {kind: catalogue.keys_of(kind) for kind in kinds_of(row)}
    return next(((key, near) for key in strange if (near := meant(key, known[kind_of_key(key, row)]))), None)

"""A hook that stands ready and listens to what nobody sends, beside what is sent: no host says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.core.bystanders import kind_of_key, kinds_of

if TYPE_CHECKING:
    from hookscope.core.standing import Standing
    from hookscope.workbench.view import View


def slip_of(row: Standing, view: View) -> tuple[str, str] | None:
    """A key of the hook that its host's documents do not list, and the listed one that was surely meant."""
    catalogue = view.host.dialect.catalogue()
    strange = [key for key in row.events or () if catalogue.registered(key) not in catalogue.by_key]
    if not strange:
        return None
    from hookscope.core.meant import meant  # here: most hooks listen to what is listed

    known = {kind: catalogue.keys_of(kind) for kind in kinds_of(row)}
    return next(((key, near) for key in strange if (near := meant(key, known[kind_of_key(key, row)]))), None)


def hint_of(row: Standing, view: View) -> str:
    """Of a hook that hears some of its events: the first that it never hears, and how many more there are.

    Empty where it hears all of them, or where another version of its host sends them.
    """
    host = view.host
    slip = slip_of(row, view)
    if slip is not None:
        return f"{host.dialect.product} lists no {slip[0]}; did you mean {slip[1]}?"
    catalogue = host.dialect.catalogue()
    later = {**host.dialect.later, **host.dialect.later_plugin}
    dead = [
        key
        for key in dict.fromkeys(row.events or ())
        if key not in later and not catalogue.sends(key, kind_of_key(key, row))
    ]
    if not dead:
        return ""
    from hookscope.core.look import notes_on  # here, as above

    more = f" (and {len(dead) - 1} more like it)" if len(dead) > 1 else ""
    return next(iter(notes_on(dead[:1], row.hook, host, row.of_folders)), "") + more

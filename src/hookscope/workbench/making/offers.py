"""What a form offers while a wish is written."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.dialects import DIALECTS
from hookscope.workbench.making.readers import kind_of, readers_of
from hookscope.workbench.making.wish import OF_KIND, Kind
from hookscope.workbench.refusal import Refusal


def dialect_names() -> tuple[str, ...]:
    """The names of all dialects, guides and shipped ones, in their order."""
    return tuple(DIALECTS)


def event_names(dialects: Sequence[str], kind: Kind | None, *, asked: bool) -> tuple[str, ...]:
    """The events that the first of these hosts sends to such hooks; none where nobody has such hooks."""
    try:
        kind = kind_of(dialects, kind)
        catalogue = readers_of(dialects, kind, asked=asked).first.catalogue
    except Refusal:
        return ()
    return tuple(one.key for one in catalogue.events if one.kind == OF_KIND[kind] and one.emitted)

"""What a change does to files: each with its place, then the difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookscope.core.text import one_line, printable
from hookscope.workbench.shown import NOTE, masks, preview_of

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench import Change


def lines(change: Change, surroundings: Surroundings) -> Iterator[str]:
    """Of each file that changes its path, as people write it, and its diff: that has the bare name alone."""
    for part in change.parts:
        if preview := preview_of(part):
            yield one_line(surroundings.short(part.path))
            yield printable(preview).rstrip()
            if masks(part):
                yield NOTE

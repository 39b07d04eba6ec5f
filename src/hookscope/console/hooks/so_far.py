"""What has come of a hook so far, below its checks: a line, or all links of the chain. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.hooks.sheet import Sheet, foreign
from hookscope.console.theme import MUTED

if TYPE_CHECKING:
    from hookscope.workbench.links import Link

TITLE = 28  # cells of a link's title, its sign included
SIGNS = {True: ("✓", MUTED), False: ("✗", "$text-error"), None: ("–", MUTED)}


def so_far(sheet: Sheet, links: Sequence[Link], unfolded: bool) -> None:
    """The links behind the checks: loaded, registered, an event that came, its last run."""
    if not links:
        return
    if not unfolded:
        from hookscope.workbench.links import in_short  # here: the first paint needs no database

        passed, text = in_short(tuple(links))
        sign, style = SIGNS[passed]
        sheet.put([(Content.styled(f" {sign}", style), 3)], foreign(text).stylize(MUTED if passed else ""))
        return
    sheet.title("So far")
    for link in links:
        sign, style = SIGNS[link.passed]
        head = Content.assemble((f" {sign} ", style), (link.title, MUTED if link.passed else ""))
        sheet.put([(head, TITLE)], foreign(link.found).stylize(MUTED if link.passed else ""))
        if link.then:
            sheet.put([(Content(), TITLE)], foreign(link.then).stylize(MUTED))

"""What has come of a hook so far, below its checks: a line, or all links of the chain. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.keymap.hints import with_keys
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import MUTED
from hookscope.core.standing import Gate, Standing, State

if TYPE_CHECKING:
    from hookscope.console.state import Linted
    from hookscope.workbench.failed_loads import FailedLoad
    from hookscope.workbench.links.link import Link

TITLE = 28  # cells of a link's title, its sign included
SIGNS = {True: ("✓", MUTED), False: ("✗", "$text-error"), None: ("–", MUTED)}


def cannot_run(row: Standing, checked: Linted | None, failed: FailedLoad | None) -> str:
    """What has come out against a hook whose checks are all open; empty: nothing.

    `failed` is what the look itself knows, before anybody has asked for more.
    """
    if failed is not None:
        return failed.why
    if checked is None or not checked.links or row.state is not State.READY:
        return ""
    from hookscope.workbench.links.link import unfit  # here: the first paint does without

    return unfit(checked.links)


def with_links(gates: tuple[Gate, ...], checked: Linted | None) -> tuple[Gate, ...]:
    """The checks, with what a load has told of them."""
    if checked is None or not checked.links:
        return gates
    from hookscope.workbench.links.link import agreed  # here: the first paint does without

    return agreed(gates, checked.links)


def so_far(sheet: Sheet, links: Sequence[Link], unfolded: bool) -> None:
    """The links behind the checks: loaded, registered, an event that came, its last run."""
    if not links:
        return
    if not unfolded:
        from hookscope.workbench.links.link import in_short  # here: the first paint does without

        passed, text = in_short(tuple(links))
        sign, style = SIGNS[passed]
        sheet.put([(Content.styled(f" {sign}", style), 3)], foreign(text).stylize(MUTED if passed else ""))
        if any(link.name == "loads" and link.passed is False for link in links):
            next_step = with_keys(
                "{hooks.edit} opens it there; {hooks.fire} fires an event, which tries again"
            )
            sheet.put([(Content(), 3)], Content.styled(next_step, MUTED))
        return
    sheet.title("So far")
    for link in links:
        sign, style = SIGNS[link.passed]
        head = Content.assemble((f" {sign} ", style), (link.title, MUTED if link.passed else ""))
        sheet.put([(head, TITLE)], foreign(link.found).stylize(MUTED if link.passed else ""))
        if link.then:
            sheet.put([(Content(), TITLE)], foreign(link.then).stylize(MUTED))

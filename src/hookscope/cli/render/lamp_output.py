"""Text of `why`: a sentence for each event, and the lamps from the hook's file to its user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from hookscope.cli.render.layout import colours_allowed, fit_to_width, fold_text
from hookscope.model.text import one_line

if TYPE_CHECKING:
    from hookscope.analysis.lamp_chain import Lamp, LampChain

SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "bright_black")}


def lamp_chains_text(chains: Sequence[LampChain]) -> str:
    """Return the sentences; below each, its lamps. Lamps that are as in the first chain are not repeated."""
    lines: list[str] = []
    for chain in chains:
        new = [lamp for lamp in chain.lamps if chain is chains[0] or lamp not in chains[0].lamps]
        lines += ["", *_chain_lines(chain, new)]
    return fold_text(lines[1:])


def _chain_lines(chain: LampChain, lamps: Sequence[Lamp]) -> Iterator[str]:
    yield one_line(chain.sentence, 400)
    for lamp in lamps:
        sign, colour = SIGNS[lamp.passed]
        sign = click.style(sign, fg=colour) if colours_allowed() else sign
        yield f"  {sign} {fit_to_width(lamp.title, 14)} {one_line(lamp.found, 300)}".rstrip()
        if lamp.fix and lamp is chain.first_dark:
            yield f"    → {one_line(lamp.fix, 300)}"

"""One event fired several times: as registered each time, or in other orders too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from hookscope.cli import repeat_tables
from hookscope.core.runs import Plan, Run
from hookscope.core.surroundings import Surroundings
from hookscope.values import dataclass
from hookscope.workbench import Firing, View, Workbench
from hookscope.workbench.documents import Document
from hookscope.workbench.repeating import firings, repetition

if TYPE_CHECKING:
    from hookscope.workbench.shuffling import Shuffling

Done: TypeAlias = Sequence[tuple[Run, Plan]]


@dataclass(frozen=True, slots=True)
class Told:
    """What all runs together say: under its name in the document, and for people."""

    name: str
    document: Document
    text: str


@dataclass(frozen=True, slots=True)
class Several:
    """Fires of one plan, and what they say together."""

    bench: Workbench
    view: View
    plan: Plan
    times: int
    sandbox: bool
    shuffling: Shuffling | None

    def firings(self) -> AsyncGenerator[Firing]:
        """Raises OSError where copies cannot be made."""
        if self.shuffling is not None:
            return self.shuffling.firings()
        return firings(self.bench, self.view, self.plan, self.times, sandbox=self.sandbox)

    def told(self, done: Done, here: Surroundings) -> Told:
        """Of the runs that there are."""
        if self.shuffling is not None:
            from hookscope.cli import order_tables  # here, and below: few ask for it

            found = self.shuffling.told()
            text = order_tables.text(done, found, here, copies=self.sandbox)
            return Told("shuffled", order_tables.document(found), text)
        again = repetition([run for run, _ in done])
        text = repeat_tables.text(done, again, here)
        return Told("repeated", repeat_tables.document(again, self.times), text)


def several_of(
    bench: Workbench, view: View, plan: Plan, times: int | None, *, seed: int | None, sandbox: bool
) -> Several | None:
    """None where an event is fired once. Raises Refusal where there is nothing to shuffle."""
    if times is None:
        return None
    shuffling = None
    if seed is not None:
        from hookscope.workbench.shuffling import Shuffling

        shuffling = Shuffling(bench, view, plan, times, seed=seed, sandbox=sandbox)
    return Several(bench, view, plan, times, sandbox, shuffling)

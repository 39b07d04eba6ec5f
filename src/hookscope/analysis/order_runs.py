"""One event fired with its handlers in several orders: does the order matter, and which handlers interact."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hookscope.analysis.order_facts import run_facts
from hookscope.analysis.order_findings import OrderFinding, OrderFindings, finding_sentences
from hookscope.analysis.order_search import FEWEST_RUNS, OrderSearch, call_blocks, order_count
from hookscope.app.trust_requests import trust_next_steps
from hookscope.engine.plan_variants import reordered
from hookscope.model.refusal import Refusal
from hookscope.model.run import Plan
from hookscope.model.text import one_line
from hookscope.runtime.firing import Firing

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

__all__ = ["FEWEST_RUNS", "OrderFinding", "OrderFindings", "OrderRuns", "finding_sentences"]


class OrderRuns:
    """Fires a plan in several orders, at most so many times, and narrows down what differs between them.

    Twice as registered, then the other way round, then in all orders where there are at most so many, else in
    random ones of that seed. What differs is narrowed down before the next order is tried, to two handlers
    that follow each other and, changed about, come to something else; others are left out as far as it still
    shows. Only handlers of one group change places: those that begin at once stay, and a host's groups follow
    each other. The order of messages follows that of handlers, and is no difference.

    Every fire has the event anew, of now. With `sandbox` each has fresh copies and workers too; without, what
    handlers keep in memory and in files is there the next time, as it is in their host.

    Raises Refusal where fewer than two handlers could change places, or there are too few fires to tell.

    Args:
        times: the most fires; at least LEAST.
        seed: of the random orders.
    """

    def __init__(
        self, bench: Workbench, view: Snapshot, plan: Plan, times: int, *, seed: int, sandbox: bool = False
    ) -> None:
        blocks = call_blocks(plan)
        if times < FEWEST_RUNS:
            raise Refusal(f"To compare orders takes {FEWEST_RUNS} fires at least.", "Ask for more.", code=2)
        if order_count(blocks) == 1:
            key = one_line(plan.event.key)
            untrusted = trust_next_steps(view, plan)
            then = f"{untrusted[0]}." if untrusted else f"`hookscope plan {key}` says why."
            raise Refusal(f"There is nothing to shuffle: {_call_name(plan)} for {key}.", then)
        self._bench, self._view, self._sandbox = bench, view, sandbox
        self._registered = plan
        self.plan = plan  # of the fire that was begun last
        self._search = OrderSearch(blocks, times, seed)

    async def firings(self) -> AsyncGenerator[Firing]:
        """The fires, one after another; `told` says what has come of them.

        Each is yielded when it has begun; the next begins when it has ended, and none after one that was
        cancelled. Close the generator (`contextlib.aclosing`). Raises OSError where
        copies cannot be made.
        """
        asking = self._search.run()
        order = next(asking, None)
        while order is not None:
            event = replace(self._registered.event, timestamp=datetime.now(UTC))
            self.plan = reordered(replace(self._registered, event=event), order)
            firing = await self._begun()
            yield firing
            run = await firing
            if run.cancelled:
                return
            try:
                order = asking.send(run_facts(run, self._registered.calls, order))
            except StopIteration:
                return

    def told(self) -> OrderFindings:
        """What is known by now."""
        return self._search.told(_call_names(self._registered))

    async def _begun(self) -> Firing:
        if self._sandbox:
            return await self._bench.fire_guarded(self._view, self.plan)
        return self._bench.fire(self._view, self.plan)


def _call_names(plan: Plan) -> list[str]:
    """What handlers are called, in order: a hook that hears an event under two keys has two."""
    names = [call.name for call in plan.calls]
    return [
        one_line(call.name if names.count(call.name) == 1 else f"{call.name} ({call.key})")
        for call in plan.calls
    ]


def _call_name(plan: Plan) -> str:
    if len(plan.calls) > 1:
        return f"its {len(plan.calls)} handlers begin at once, or in groups that follow each other,"
    return f"{one_line(plan.calls[0].name)} alone runs" if plan.calls else "nobody runs"

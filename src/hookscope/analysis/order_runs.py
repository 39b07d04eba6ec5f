"""One event fired in several call orders: whether the order matters, and which handlers interact."""

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
    """Fires a plan in several orders, up to `times`, and narrows down the differences.

    The event is fired twice as registered, then in reverse, then in all orders if there are at most
    `times`, else in random ones from the seed. A difference is narrowed down before the next order is
    tried: to two consecutive handlers whose exchange changes the result; other handlers are left out as
    long as the difference shows. Only handlers of one group change places: concurrent calls stay, and a
    host's groups follow each other. The order of messages follows the handlers, and is no difference.

    Every fire has a new event with the current time. With `sandbox` each has fresh copies and workers;
    without, what handlers keep in memory and in files stays, as in their host.

    Raises Refusal if fewer than two handlers can change places, or `times` is too small.

    Args:
        times: the most fires; at least FEWEST_RUNS.
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
            next_step = f"{untrusted[0]}." if untrusted else f"`hookscope plan {key}` says why."
            raise Refusal(f"There is nothing to shuffle: {_call_name(plan)} for {key}.", next_step)
        self._bench, self._view, self._sandbox = bench, view, sandbox
        self._registered = plan
        self.plan = plan  # plan of the latest fire
        self._search = OrderSearch(blocks, times, seed)

    async def firings(self) -> AsyncGenerator[Firing]:
        """Yield the fires, one after another; `findings` returns the result.

        Each is yielded when it has started; the next starts when it has ended, and none after a cancelled
        one. Close the generator (`contextlib.aclosing`). Raises OSError if copies cannot be made.
        """
        orders = self._search.run()
        order = next(orders, None)
        while order is not None:
            event = replace(self._registered.event, timestamp=datetime.now(UTC))
            self.plan = reordered(replace(self._registered, event=event), order)
            firing = await self._start()
            yield firing
            run = await firing
            if run.cancelled:
                return
            try:
                order = orders.send(run_facts(run, self._registered.calls, order))
            except StopIteration:
                return

    def findings(self) -> OrderFindings:
        """Return the findings so far."""
        return self._search.findings(_call_names(self._registered))

    async def _start(self) -> Firing:
        if self._sandbox:
            return await self._bench.fire_sandboxed(self._view, self.plan)
        return self._bench.fire(self._view, self.plan)


def _call_names(plan: Plan) -> list[str]:
    """Return the handlers' names in order; a hook with two keys of the event has two."""
    names = [call.name for call in plan.calls]
    return [
        one_line(call.name if names.count(call.name) == 1 else f"{call.name} ({call.key})")
        for call in plan.calls
    ]


def _call_name(plan: Plan) -> str:
    if len(plan.calls) > 1:
        return f"its {len(plan.calls)} handlers begin at once, or in groups that follow each other,"
    return f"{one_line(plan.calls[0].name)} alone runs" if plan.calls else "nobody runs"

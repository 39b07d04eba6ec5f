"""A real event fired again at the hooks as they are now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.core.runs import Plan, Run
from hookscope.values import dataclass
from hookscope.workbench.left_out import could_not, not_yet_trusted
from hookscope.workbench.tap.events import event_of, marked
from hookscope.workbench.tap.spool import Heard

if TYPE_CHECKING:
    from hookscope.runtime import Firing
    from hookscope.workbench.bench import Workbench


@dataclass(frozen=True, slots=True)
class Fired:
    """A real event, and what came of it here."""

    heard: Heard
    plan: Plan
    run: Run
    left: tuple[str, ...]  # sentences: who should have run and could not

    @property
    def well(self) -> bool:
        """Did everybody run who should, and end well."""
        failed = self.run.failed or self.run.cancelled or self.run.ending.failure is not None
        return not (self.left or failed)


async def fire_real(
    bench: Workbench,
    heard: Heard,
    *,
    only: str | None = None,
    sandbox: bool = False,
    dry: bool = False,
    told: Callable[[Firing], object] | None = None,
) -> Fired | Plan:
    """Fire it now, marked as replayed; with `dry` only the plan. `told` hears of the firing, to cancel it.

    On copies with `sandbox`. Raises Refusal; OSError where the copies cannot be made.
    """
    view = bench.look()
    event = marked(event_of(heard, view.host), heard)
    plan = bench.plan(view, event, only=only)
    if dry:
        return plan
    view = await bench.ready(view, event.kind)
    plan = bench.plan(view, event, only=only)
    untrusted = tuple(f"{said}, `--trust` this once." for said in not_yet_trusted(view, plan))
    left = (*untrusted, *could_not(view, plan, only=only))
    firing = await bench.fire_guarded(view, plan) if sandbox else bench.fire(view, plan)
    if told is not None:
        told(firing)
    run = await firing
    return Fired(heard, plan, run, left)

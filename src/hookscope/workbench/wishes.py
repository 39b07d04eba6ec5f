"""What is asked of a fire by hand, and the plan that follows: the event, who is called, who may run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.core.called import with_left_out
from hookscope.core.runs import Event, Plan
from hookscope.core.trust import TrustTarget
from hookscope.values import dataclass
from hookscope.workbench.breaking import Breakage, broken_plan
from hookscope.workbench.forcing import forced_plan
from hookscope.workbench.left_out import waiting_for_trust
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import EVENTS, event_of, is_saved_event, read_saved_event, saved_in
from hookscope.workbench.sections import Section

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

Asks = Callable[["View", Sequence[TrustTarget]], bool]  # the user, about folders; was any of them allowed
What = str | Mapping[str, Any]  # an event key, the file of a saved event, or what stands in such a file


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be otherwise than the event says, and than its host would call."""

    session: str | None = None
    context: Mapping[str, object] | None = None
    ctx: Mapping[str, object] | None = None
    only: str | None = None
    left_out: Sequence[str] = ()
    force: bool = False
    breaks: Mapping[str, Breakage] = field(default_factory=dict)


async def planned(bench: Workbench, what: What, wish: Wish, trusts: Asks | None = None) -> tuple[View, Plan]:
    """The plan of one event that is to be fired; the view has what only a load can tell.

    `trusts` is asked about folders that wait for trust: did it allow any. Raises Refusal.
    """
    view = bench.look()
    event = _event(bench, view, what, wish)
    names = {bench.hook(view, name).hook.name for name in wish.left_out}
    plan = with_left_out(bench.plan(view, event, only=wish.only), names)
    folders = waiting_for_trust(view, plan)
    if folders and trusts is not None and trusts(view, folders):
        view = bench.look()
    view = await bench.ready(view, event.kind)
    if wish.force and wish.only is not None:
        plan = await forced_plan(bench, view, event, wish.only)
    else:
        plan = with_left_out(bench.plan(view, event, only=wish.only), names)
    return view, broken_plan(view, plan, wish.breaks)


def _event(bench: Workbench, view: View, what: What, wish: Wish) -> Event:
    if not isinstance(what, str):
        event = event_of(bench, view, saved_in(Section(Path("event"), b"", what)))
    elif is_saved_event(what):
        if not os.path.exists(what):
            from hookscope.workbench.testing import meant_file  # here: most files are there

            then = meant_file(view.host.workspace, Path(what), (EVENTS,))
            raise Refusal(f"There is no file {what}.", then, code=2)
        event = read_saved_event(bench, view, Path(what))
    else:
        event = bench.template(view, what)
    if wish.session is not None:
        event = replace(event, session_key=wish.session)
    if wish.context is not None:
        event = replace(event, context=dict(wish.context))
    if wish.ctx is not None:
        event = replace(event, ctx={**event.ctx, **wish.ctx})
    return event

"""What `fire` is asked for, and the plan that follows: the event, who is called, whether they may run."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from hookscope.core.called import with_left_out
from hookscope.core.runs import Event, Plan
from hookscope.core.text import printable
from hookscope.values import dataclass
from hookscope.workbench import View, Workbench
from hookscope.workbench.breaking import Breakage, broken_plan
from hookscope.workbench.forcing import forced_plan
from hookscope.workbench.left_out import waiting_for_trust
from hookscope.workbench.saved import is_saved_event, read_saved_event
from hookscope.workbench.saving import place_of, save_event


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of every event."""

    session: str | None
    context: Mapping[str, object] | None
    ctx: Mapping[str, object] | None
    only: str | None
    left_out: Sequence[str]
    force: bool
    breaks: Mapping[str, Breakage]
    repeat: int | None
    seed: int | None  # of the orders to try; None: as registered
    step: bool
    debug: bool
    stream: bool
    sandbox: bool
    save: str | None
    warns: bool  # somebody sits there and wonders
    ask: bool


def saved(bench: Workbench, view: View, event: Event, name: str) -> str:
    """Keep the event, before anything can become of it; a sentence that says where. Raises Refusal."""
    surroundings = view.host.surroundings
    file = place_of(name, view.host.workspace, surroundings.cwd)
    known = bench.template(view, event.key)
    variables = save_event(event, known, file, bench.secrets, writing=bench.edits.keep)
    then = f" Its secrets are taken from the environment: {', '.join(variables)}." if variables else ""
    return f"Saved as {surroundings.short(file)}.{then}"


async def planned(bench: Workbench, item: str, asked: Asked) -> tuple[View, Plan]:
    """The plan of one event that is to be fired; the view has what only a load can tell. Raises Refusal."""
    view = bench.look()
    event = _event(bench, view, item, asked)
    names = {bench.hook(view, name).hook.name for name in asked.left_out}
    plan = with_left_out(bench.plan(view, event, only=asked.only), names)
    folders = waiting_for_trust(view, plan)
    if folders and asked.ask and _trusted_now(bench, folders):
        view = bench.look()
    view = await bench.ready(view, event.kind)
    if asked.force and asked.only is not None:
        plan = await forced_plan(bench, view, event, asked.only)
    else:
        plan = with_left_out(bench.plan(view, event, only=asked.only), names)
    return view, broken_plan(view, plan, asked.breaks)


def _event(bench: Workbench, view: View, item: str, asked: Asked) -> Event:
    event = read_saved_event(bench, view, Path(item)) if is_saved_event(item) else bench.template(view, item)
    if asked.session is not None:
        event = replace(event, session_key=asked.session)
    if asked.context is not None:
        event = replace(event, context=dict(asked.context))
    if asked.ctx is not None:
        event = replace(event, ctx={**event.ctx, **asked.ctx})
    return event


def _trusted_now(bench: Workbench, folders: Sequence[Path]) -> bool:
    """Ask the user, folder by folder; has anything changed."""
    changed = False
    for folder in folders:
        where = printable(bench.setup.surroundings.short(folder))
        if agreed(f"Handlers in {where} have never run here. Trust them?"):
            bench.trust(folder)
            changed = True
    return changed


def agreed(question: str) -> bool:
    """Ask on the terminal. Ctrl-C stops at once: an event loop would only hear of it after the answer."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return click.confirm(question, err=True)
    finally:
        signal.signal(signal.SIGINT, before)

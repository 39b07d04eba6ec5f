"""What `fire` is asked for, and the questions that it asks before."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import click

from hookscope.core.runs import Event
from hookscope.core.text import printable
from hookscope.core.trust import TrustTarget
from hookscope.values import dataclass
from hookscope.workbench import View, Workbench
from hookscope.workbench.named_programs import NamedProgram
from hookscope.workbench.saving import place_of, save_event
from hookscope.workbench.trust_requests import trust_requests
from hookscope.workbench.wishes import Wish


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of every event."""

    wish: Wish
    repeat: int | None
    seed: int | None  # of the orders to try; None: as registered
    step: bool
    debug: bool
    stop_at: Sequence[str]  # lines, as they were typed
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
    variables = save_event(event, known, file, bench.redaction_of(view.host), writing=bench.edits.keep)
    then = f" Its secrets are taken from the environment: {', '.join(variables)}." if variables else ""
    return f"Saved as {surroundings.short(file)}.{then}"


def trusted_now(bench: Workbench, view: View, targets: Sequence[TrustTarget]) -> bool:
    """Ask the user, folder by folder, about those that may be trusted; has anything changed."""
    changed = False
    for request in trust_requests(view, [target for target in targets if not target.refused]):
        if agreed(printable(request.question)):
            bench.trust(request.folder, as_asked=True)
            changed = True
    return changed


def _listed(programs: Sequence[NamedProgram]) -> str:
    return " and ".join(f"{printable(one.path)} (`{one.key}:` in its configuration)" for one in programs)


def agreed(question: str) -> bool:
    """Ask on the terminal. Ctrl-C stops at once: an event loop would only hear of it after the answer."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return click.confirm(question, err=True)
    finally:
        signal.signal(signal.SIGINT, before)

"""Real events as they can be shown, fired again and saved."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.dialect import Host
from hookscope.core.event import iso
from hookscope.core.runs import Event
from hookscope.core.text import one_line
from hookscope.journal.redaction import Redaction
from hookscope.values import dataclass
from hookscope.workbench.compose import as_plain, template
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.replay import with_mark
from hookscope.workbench.saved import EVENTS
from hookscope.workbench.saving import save_event
from hookscope.workbench.tap.places import spool_place
from hookscope.workbench.tap.spool import Heard, last, named

if TYPE_CHECKING:
    from hookscope.workbench.view import View

SHOWN = 8  # characters of an id that people see, and type
SHORTEST = 4  # characters by which an event may be named
CFG = "cfg"


def event_of(heard: Heard, host: Host) -> Event:
    """The event as it was, to be fired now; the settings in force stand where they stood.

    Raises Refusal where the dialect in force has no such events.
    """
    if heard.kind == "loaded" or heard.kind not in host.dialect.kinds:
        raise Refusal(
            f"{host.dialect.product} has no events of the kind of {heard.key}.",
            f"It was heard under {heard.host}: --dialect {heard.host}.",
        )
    kind, _, action = heard.key.partition(":") if heard.kind == "folder" else (heard.key, "", "")
    settings = {CFG: as_plain(host.settings.value)} if CFG in heard.left_out else {}
    of_folder = heard.kind == "folder"
    return Event(
        kind,
        action,
        heard.session,
        context={**heard.context, **settings} if of_folder else heard.context,
        kind=heard.kind,
        meta=heard.meta,
        ctx=heard.ctx,
    )


def marked(event: Event, heard: Heard) -> Event:
    """The event of now, with a mark that its handlers can see: which real event it was, and when."""
    return with_mark(event, {"real": heard.id, "at": iso(heard.at)})


def picked(view: View, names: Sequence[str], newest: int = 1) -> tuple[Heard, ...]:
    """The real events of those ids; where none is named the newest ones, oldest of them first.

    Raises Refusal where there is none, or a name fits several; OSError.
    """
    spool = spool_place(view.host)
    if names:
        return tuple(_named(spool, name) for name in names)
    found, _ = last(spool, newest)
    if not found:
        raise Refusal("No real event was recorded here yet.", "`hookscope tap status` says why.")
    return found


def _named(spool: Path, name: str) -> Heard:
    then = "`hookscope tap events` lists them."
    if len(name) < SHORTEST:
        raise Refusal(f"{name!r} is too short for the id of an event.", then, code=2)
    found = named(spool, name.lower())
    if not found:
        raise Refusal(f"No real event {name!r} is recorded here.", then)
    if len(found) > 1:
        raise Refusal(f"{len(found)} real events have ids that begin with {name}.", "Type more of it.")
    return found[0]


def brief(heard: Heard) -> str:
    """One line of what it holds."""
    told = one_line(json.dumps(heard.context, ensure_ascii=False), 400)
    return told if heard.context else ""


@dataclass(frozen=True, slots=True)
class Saved:
    """Where a real event was kept, and the variables that stand for its secrets."""

    file: Path
    variables: tuple[str, ...]


def save_real(heard: Heard, view: View, redaction: Redaction, file: Path | None = None) -> Saved:
    """Keep it as a saved event, named after its key and id where no file is. Raises Refusal."""
    event = event_of(heard, view.host)
    name = re.sub(r"[^\w.-]+", "-", heard.key).strip("-.") or "event"
    place = file or view.host.workspace / EVENTS / f"{name}-{short_id(heard)}.yaml"
    return Saved(place, save_event(event, template(event.key, view.host), place, redaction))


def short_id(heard: Heard) -> str:
    """As much of the id as people see."""
    return heard.id[:SHOWN]

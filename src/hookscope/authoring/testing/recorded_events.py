"""Events recorded by taps: shown, fired again with the current hooks, and saved as tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.event_templates import as_plain, template_event
from hookscope.app.project_config import EVENTS_FOLDER
from hookscope.app.trust_requests import cannot_run_messages, trust_next_steps
from hookscope.app.variables import folders_of
from hookscope.authoring.testing.replay import event_with_mark
from hookscope.authoring.testing.saved_events import save_event
from hookscope.model.failure import Refusal
from hookscope.model.hook_event import iso
from hookscope.model.host import Host
from hookscope.model.run import Event, Plan, Run
from hookscope.model.text import one_line
from hookscope.recording.spool import RecordedEvent, events_by_id, newest_events
from hookscope.recording.taps import spool_path
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.runtime.firing import Firing

SHORT_ID_LENGTH = 8  # characters of an id that are shown
SHORTEST_ID_PREFIX = 4  # characters that an id prefix needs
SETTINGS_MEMBER = "cfg"


def event_from_recorded(recorded: RecordedEvent, host: Host) -> Event:
    """Return the recorded event, to be fired now with the current settings in place of its own.

    Raises Refusal if the current dialect has no events of this kind.
    """
    if recorded.kind == "loaded" or recorded.kind not in host.dialect.kinds:
        raise Refusal(
            f"{host.dialect.product} has no events of the same kind as {recorded.key}.",
            f"It was recorded under {recorded.host}: use `--dialect {recorded.host}`.",
        )
    kind, _, action = recorded.key.partition(":") if recorded.kind == "folder" else (recorded.key, "", "")
    settings = (
        {SETTINGS_MEMBER: as_plain(host.settings.value)}
        if SETTINGS_MEMBER in recorded.excluded_members
        else {}
    )
    of_folder = recorded.kind == "folder"
    return Event(
        kind,
        action,
        recorded.session,
        context={**recorded.context, **settings} if of_folder else recorded.context,
        kind=recorded.kind,
        meta=recorded.meta,
        ctx=recorded.ctx,
    )


def marked_as_real(event: Event, recorded: RecordedEvent) -> Event:
    """Return the event with a mark for its handlers: the id and time of the recorded event."""
    return event_with_mark(event, {"real": recorded.id, "at": iso(recorded.at)})


def select_recorded(view: Snapshot, names: Sequence[str], newest: int = 1) -> tuple[RecordedEvent, ...]:
    """Return the recorded events with these ids; without ids the newest, oldest first.

    Raises Refusal if there is none, or an id is ambiguous; OSError.
    """
    spool = spool_path(view.host)
    if names:
        return tuple(_recorded_by_id(spool, name) for name in names)
    found, _ = newest_events(spool, newest)
    if not found:
        raise Refusal("No real event was recorded here yet.", "`hookscope tap status` shows why.")
    return found


def _recorded_by_id(spool: Path, name: str) -> RecordedEvent:
    next_step = "`hookscope tap events` lists them."
    if len(name) < SHORTEST_ID_PREFIX:
        raise Refusal(f"{name!r} is too short for the id of an event.", next_step, code=2)
    found = events_by_id(spool, name.lower())
    if not found:
        raise Refusal(f"No real event {name!r} is recorded here.", next_step)
    if len(found) > 1:
        raise Refusal(f"{len(found)} real events have ids that begin with {name}.", "Type more of the id.")
    return found[0]


def context_summary(recorded: RecordedEvent) -> str:
    """Return the context as one line."""
    text = one_line(json.dumps(recorded.context, ensure_ascii=False), 400)
    return text if recorded.context else ""


@dataclass(frozen=True, slots=True)
class SavedRecordedEvent:
    """The file of a saved recorded event, and the variables that replace its secrets."""

    file: Path
    variables: tuple[str, ...]


def save_recorded(
    recorded: RecordedEvent, bench: Workbench, view: Snapshot, file: Path | None = None
) -> SavedRecordedEvent:
    """Save a recorded event, by default under a name from its key and id. Raises Refusal."""
    redaction, write = bench.redaction_of(view.host), bench.edits.write_new_file
    event = event_from_recorded(recorded, view.host)
    name = re.sub(r"[^\w.-]+", "-", recorded.key).strip("-.") or "event"
    place = file or view.host.workspace / EVENTS_FOLDER / f"{name}-{short_id(recorded)}.yaml"
    template, folders = template_event(event.key, view.host), folders_of(view.host)
    variables = save_event(event, template, place, redaction, folders=folders, write=write)
    return SavedRecordedEvent(place, variables)


def short_id(recorded: RecordedEvent) -> str:
    """Return the part of the id that is shown."""
    return recorded.id[:SHORT_ID_LENGTH]


@dataclass(frozen=True, slots=True)
class RefiredEvent:
    """A recorded event that was fired again, and its run."""

    recorded: RecordedEvent
    plan: Plan
    run: Run
    could_not_run: tuple[str, ...]  # a sentence for each handler that could not run

    @property
    def passed(self) -> bool:
        """True if every handler that should run did, and none failed."""
        failed = self.run.failed or self.run.cancelled or self.run.ending.failure is not None
        return not (self.could_not_run or failed)


async def fire_recorded(
    bench: Workbench,
    recorded: RecordedEvent,
    *,
    only: str | None = None,
    sandbox: bool = False,
    dry: bool = False,
    on_start: Callable[[Firing], object] | None = None,
) -> RefiredEvent | Plan:
    """Fire a recorded event now, marked as replayed; with `dry` return only the plan.

    `on_start` gets the firing, to cancel it. `sandbox`: on copies. Raises Refusal; OSError if the copies
    cannot be made.
    """
    view = bench.scan()
    event = marked_as_real(event_from_recorded(recorded, view.host), recorded)
    plan = bench.plan(view, event, only=only)
    if dry:
        return plan
    view = await bench.load_modules(view, event.kind)
    plan = bench.plan(view, event, only=only)
    untrusted = tuple(f"{sentence}, `--trust` this once." for sentence in trust_next_steps(view, plan))
    could_not_run = (*untrusted, *cannot_run_messages(view, plan, only=only))
    firing = await bench.fire_sandboxed(view, plan) if sandbox else bench.fire(view, plan)
    if on_start is not None:
        on_start(firing)
    run = await firing
    return RefiredEvent(recorded, plan, run, could_not_run)

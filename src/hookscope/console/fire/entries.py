"""A run from top to bottom: its calls, what it has to say, who did not run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, TypeAlias

from hookscope.console.fire import expected
from hookscope.console.fire.compare import compared
from hookscope.console.fire.model import CallRow, RunSheet
from hookscope.console.keymap.hints import key_of
from hookscope.console.marks import MUTED, count, word
from hookscope.core.copies import Guarded, Originals
from hookscope.core.missed import told_and_counted
from hookscope.core.runs import NotRun, Run
from hookscope.core.told import log_told
from hookscope.values import dataclass

KINDS: tuple[Literal["written", "changed", "deleted"], ...] = ("written", "changed", "deleted")
MOST_SAID = 4  # lines of the host's log
FEW = 2  # listeners that did not run and are shown without unfolding


@dataclass(frozen=True, slots=True)
class Remark:
    """A line of our own: what the run has to say, or who is not listed."""

    text: str
    folds: bool = False  # enter lists the others, or folds them
    about: Literal["", "copies", "expected"] = ""  # what is shown below while the cursor is on it
    style: str = MUTED


@dataclass(frozen=True, slots=True)
class Heading:
    """The host's word for the calls below it, where an event goes through several lanes."""

    lane: str
    note: str = ""


Entry: TypeAlias = CallRow | NotRun | Remark | Heading
LANES: Mapping[str, str] = {
    "channel": "the channel's own handler, before the event is on record",
    "typed": "hooks of this very event",
    "*": "hooks of every event",
    "dynamic": "resolvers of tools and instructions",
}
RECORDED = "recorded"


def entries(sheet: RunSheet | None, unfolded: bool) -> tuple[Entry, ...]:
    """The rows from top to bottom."""
    if sheet is None:
        return ()
    told, others = told_and_counted(sheet.not_run)
    listeners = [item for item in told if item.listens]
    near = told[len(listeners) :]
    rows = headed(sheet)
    if unfolded:
        return (
            *rows,
            *remarks(sheet),
            *told,
            *others,
            *_fold([f"{key_of('run.others')} folds these"] if sheet.not_run else []),
        )
    shown = told if len(told) <= FEW else listeners if len(listeners) <= FEW else []
    folded = []
    if len(listeners) > len(shown):
        folded.append(f"{len(listeners)} listen and did not run")
    if near and len(told) > len(shown):
        folded.append(f"{count(len(near), 'other')} nearly heard it")
    if others:
        folded.append(
            f"{count(len(others), 'other')} {'listens' if len(others) == 1 else 'listen'} to other events"
        )
    return (
        *rows,
        *remarks(sheet),
        *shown,
        *_fold([*folded, f"{key_of('run.others')} lists them"] if folded else []),
    )


def headed(sheet: RunSheet) -> tuple[Entry, ...]:
    """The calls; in front of each lane its name, and behind the channel that the event is on record."""
    if not any(row.lane for row in sheet.rows):
        return sheet.rows
    listed: list[Entry] = []
    lane, recorded = "", False
    for row in sheet.rows:
        if not recorded and row.lane != "channel":
            listed.append(Heading(RECORDED, _record(sheet)))
            recorded = True
        if row.lane != lane:
            lane = row.lane
            listed += [Heading(lane, LANES.get(lane, ""))] if lane else []
        listed.append(row)
    return tuple(listed)


def _record(sheet: RunSheet) -> str:
    """What is known of the event on record."""
    event = sheet.run.event if sheet.run is not None else sheet.plan.event
    return word(str(event.meta.get("id", "")), 60)


def remarks(sheet: RunSheet) -> tuple[Remark, ...]:
    """What the run itself has to say: what changed since the last, why it failed, what it assumed."""
    if sheet.run is None:
        return (Remark(word(sheet.problem, 300)),) if sheet.problem else ()
    against: tuple[str, ...] = ()
    if sheet.before is not None:
        against = (f"against run {sheet.before[0]}: {compared(sheet.before[1], sheet.run)}",)
    of_stream = sheet.run.event.kind == "stream"  # there it is the error of a call, and what follows tells
    failure = (sheet.run.ending.failure,) if sheet.run.ending.failure and not of_stream else ()
    assumed = (
        (f"fired under a what-if: {', '.join(sorted(sheet.run.assumed))} assumed",)
        if sheet.run.assumed
        else ()
    )
    forced = dict.fromkeys(result.call.name for result in sheet.run.results if result.forced)
    called = (f"forced: without that {', '.join(map(word, forced))} would not have run",) if forced else ()
    texts = (
        *called,
        *against,
        *failure,
        *_said(sheet.run),
        *_followed(sheet.run),
        *sheet.run.notes[:FEW],
        *assumed,
    )
    copies = (_on_copies(sheet.run.guarded),) if sheet.run.guarded is not None else ()
    return (*_expected(sheet), *copies, *(Remark(word(text, 300)) for text in texts))


def _expected(sheet: RunSheet) -> tuple[Remark, ...]:
    if sheet.checked is None:
        return ()
    said, style = expected.remark(sheet.checked)
    return (Remark(said, about="expected", style=style),)


def _said(run: Run) -> list[str]:
    return [line.text for line in log_told(run)[:MOST_SAID]]


def _followed(run: Run) -> list[str]:
    """The events that this one caused; the calls of those that somebody heard stand above."""
    return [f"↳ {caused.event.key} follows{_heard(caused)}" for caused in run.caused]


def _heard(caused: Run) -> str:
    return "" if caused.results else "; no hook hears it"


def _on_copies(guarded: Guarded) -> Remark:
    kinds = Counter(change.kind for change in guarded.changes)
    counts = ", ".join(f"{count(kinds[kind], 'file')} {kind}" for kind in KINDS if kinds[kind])
    walls = "no network, no other disk" if guarded.network and guarded.disk else "no walls but the copies"
    found = guarded.originals
    past = "" if guarded.disk or not found or not found.changed else _originals(found)
    counts = ", ".join(filter(None, (counts, past)))
    none = "no copy was touched" if guarded.complete else "not everything could be compared"
    return Remark(f"on copies ({walls}): {counts or none}", about="copies")


def _originals(found: Originals) -> str:
    return f"{count(len(found.changed) + found.more, 'original')} changed"


def _fold(parts: list[str]) -> tuple[Remark, ...]:
    return (Remark(" · ".join(parts), folds=True),) if parts else ()

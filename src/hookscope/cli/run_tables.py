"""What handlers did, for people: runs and loads, aligned plain text. Everything foreign is made safe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from pathlib import Path

from hookscope.cli.cells import column, fitted
from hookscope.cli.folding import folds
from hookscope.cli.plan_tables import not_run_lines
from hookscope.core.answer_words import other_word
from hookscope.core.answers import merge_steps
from hookscope.core.copies import Guarded
from hookscope.core.failure import Failure
from hookscope.core.had import Had, had, wants_something
from hookscope.core.registry import LoadReport
from hookscope.core.runs import Event, Patch, Plan, Registration, Result, Run
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import duration, one_line, printable
from hookscope.core.told import log_told
from hookscope.workbench.run_documents import plain

MOST_OF_A_DIFF = 60  # lines
BEFORE_RECORD = "channel"  # the lane that an event goes through before it is on record
MOST_CHANGES = 8  # of the context that one handler made
MOST_OF_A_MESSAGE = 6  # lines of an error's text
MOST_KEYS = 40
STATUS_MARKS = {"ok": "✓", "error": "✗", "timeout": "◷", "crashed": "☠", "cancelled": "⊘"}


def run(item: Run, here: Surroundings, plan: Plan | None = None) -> str:
    """`fire`: what each handler did, then messages and what did not run.

    With the plan, lanes stand above their handlers, and below each what its answer added to the merged one.
    """
    lines = [f"{one_line(item.event.key)}  {len(item.results)} ran  {duration(item.took)}  {outcome(item)}"]
    lines.append("")
    width = width_of([entry.call for entry in item.results])
    merged = _merged(item, plan)
    recorded = item.event.kind != "stream" or not item.results
    for label, entries in _lanes(item, plan):
        if not recorded and label != BEFORE_RECORD:
            lines.append(f"  recorded  {one_line(str(item.event.meta.get('id', '')))}")
            recorded = True
        lines += [f"  {one_line(label)}"] if label else []
        for entry in entries:
            given = given_to(entry, item.event, item.results)
            lines += [*result(entry, width, here, given), *merged.get(entry.call, ())]
    lines += folds(not_run_lines(item.not_run))
    lines += [f"  ! {one_line(item.ending.failure, 400)}"] if item.ending.failure else []
    lines += folds(f"  {line.level}: {one_line(line.text, 400)}" for line in log_told(item))
    lines += [f"  ↳ {text}" for text in _followed(item)]
    if item.messages:
        fate = "delivered to the user" if item.delivers else "ignored by this host"
        lines += ["", f"messages ({fate})", *(f"  {one_line(text, 2000)}" for text in item.messages)]
    lines += folds(f"note: {one_line(note, 400)}" for note in item.notes)
    if item.guarded is not None:
        lines += ["", *sandbox(item.guarded, here)]
    return "\n".join(line.rstrip() for line in lines)


def width_of(calls: Sequence[Registration]) -> int:
    """Cells of the column that their names stand in."""
    return column((one_line(call.name) for call in calls), 32)


def outcome(item: Run) -> str:
    """A sign and a word or two."""
    failed = len(item.failed)
    if item.cancelled:
        return "cancelled"
    if item.ending.verdict:
        return one_line(item.ending.verdict, 200)
    if failed:
        return f"✗ {failed} failed"
    return "–" if not item.results and any(left.listens for left in item.not_run) else "✓"


def _lanes(item: Run, plan: Plan | None) -> Iterator[tuple[str, list[Result]]]:
    """The results by the host's words for them, in the order of ending within each."""
    label_of = {call: group.label for group in plan.groups for call in group.calls} if plan else {}
    for label, entries in groupby(item.results, key=lambda entry: label_of.get(entry.call, "")):
        yield label, list(entries)


def _merged(item: Run, plan: Plan | None) -> dict[Registration, list[str]]:
    """For each call of a plugin's event: what it answered, and what that made of the merged answer."""
    if plan is None or item.event.kind == "folder":
        return {}
    lines: dict[Registration, list[str]] = {}
    for entry in item.results:
        asked = [f"      asked: {', '.join(entry.asked)}"] if entry.asked else []
        answered = [f"      answered {_brief(entry.returned)}"] if entry.returned is not None else []
        lines[entry.call] = asked + answered
    if item.event.kind == "plugin":
        done = {entry.call: entry for entry in item.results}
        in_order = [done[call] for call in plan.calls if call in done]
        for entry, step in zip(in_order, merge_steps(plan.policy, item.event, in_order), strict=False):
            more = [f"      → {one_line(name)} = {_brief(value)}" for name, value in step.changed.items()]
            vain = entry.returned is not None and not (more or step.stopped or entry.error)
            more += [f"      → changes nothing{_meant(plan, item, entry)}"] if vain else []
            ends = ["      ⊘ later handlers are not asked"] if step.stopped and entry.error is None else []
            lines[entry.call] += more + ends
    return lines


def _meant(plan: Plan, item: Run, entry: Result) -> str:
    """A member by another host's name, or in other letters, most of the time."""
    word = other_word(plan.policy, item.event, entry)
    return f"; {one_line(item.event.key)} has `{word[1]}` for `{one_line(word[0], 40)}`" if word else ""


def _brief(value: object) -> str:
    return one_line(json.dumps(plain(value), ensure_ascii=False), 200)


def _followed(item: Run) -> Iterator[str]:
    """The events that this one caused, with what came of them."""
    for caused in item.caused:
        nobody = "none ran" if any(left.listens for left in caused.not_run) else "no hook hears it"
        heard = f"{len(caused.results)} ran" if caused.results else nobody
        failed = f", {len(caused.failed)} failed" if caused.failed else ""
        yield f"{one_line(caused.event.key)}  {heard}{failed}"
        yield from (f"  {text}" for text in _followed(caused))


def sandbox(item: Guarded, here: Surroundings) -> list[str]:
    """Each file that handlers touched in their copies, with its diff; then which walls stood."""
    return [*copied(item, here), *walls(item)]


def copied(item: Guarded, here: Surroundings) -> list[str]:
    """Each file that handlers touched in their copies, with its diff."""
    lines = ["files (in copies, thrown away)"]
    for change in item.changes:
        sizes = " → ".join("–" if size is None else f"{size:,}" for size in (change.before, change.after))
        lines.append(f"  {change.kind:<8} {printable(here.short(change.path))}  {sizes} bytes")
        lines += [f"      {line}" for line in printable(change.diff).splitlines()[2:MOST_OF_A_DIFF]]
    if not item.changes:
        lines.append(f"  {item.unchanged}")
    if item.more:
        lines.append(f"  and {item.more:,} more")
    return lines


def walls(item: Guarded) -> list[str]:
    """Which walls stood around the copies, and what is to be known of them."""
    return [one_line(item.walls, 2000), *(f"note: {one_line(note, 400)}" for note in item.notes)]


def given_to(item: Result, event: Event, results: Sequence[Result]) -> Had | None:
    """What a handler had been given that failed because something was not there. `results`: of its event."""
    if item.error is None or not wants_something(item.error):
        return None
    earlier = takewhile(lambda other: other is not item, results)
    return had(event, (other.patch for other in earlier), item.error)


def result(item: Result, width: int, here: Surroundings, given: Had | None = None) -> list[str]:
    """One handler's line, then its error, what it had been `given`, and its output."""
    name = fitted(one_line(item.call.name), width)
    pushed = f"  +{len(item.messages)} msg" if item.messages else ""
    forced = "  forced" if item.forced else ""
    took = f"{duration(item.took):>9}"
    lines = [f"  {STATUS_MARKS[item.status]} {name}  {item.status:<9} {took}{pushed}{forced}"]
    lines += [f"      {text}" for text in error_lines(item.error, here)]
    lines += folds(f"      {text}" for text in _had(given))
    if item.error is not None and item.error.phase == "load":
        lines.append("      It failed while it was loaded; it never ran.")
    if item.stale is not None:
        lines.append("      the version loaded before ran; the saved one does not load:")
        lines += [f"        {text}" for text in error_lines(item.stale, here)]
    lines += [f"      {text}" for text in _changed(item.patch)]
    for sign, output in (("out", item.stdout), ("err", item.stderr)):
        lines += [f"      {sign} │ {text}" for text in printable(output).splitlines()[:40]]
    lines += [f"      note: {one_line(note, 400)}" for note in item.notes]
    return lines


def _had(given: Had | None) -> Iterator[str]:
    if given is not None:
        keys = [one_line(key, 40) for key in given.keys]
        more = f" and {len(keys) - MOST_KEYS:,} more" if len(keys) > MOST_KEYS else ""
        yield f"{given.name} had  {', '.join(keys[:MOST_KEYS]) or 'no keys at all'}{more}"
        if given.meant:
            yield f"Did you mean {one_line(given.meant, 80)}?"


def _changed(patch: Patch) -> list[str]:
    """What it changed in the event's context, as one would write it in code."""
    found = [step for step in patch if str(step["path"]).startswith("/context")]
    lines = []
    for step in found[:MOST_CHANGES]:
        name = ".".join(
            part.replace("~1", "/").replace("~0", "~") for part in str(step["path"])[1:].split("/")
        )
        became = "is gone" if step["op"] == "remove" else f"= {_brief(step.get('value'))}"
        lines.append(f"changed {one_line(name)} {became}")
    more = len(found) - MOST_CHANGES
    return [*lines, *([f"and {more:,} more changes of the context"] if more > 0 else [])]


def error_lines(item: Failure | None, here: Surroundings) -> list[str]:
    """The error, then where it came from, innermost first."""
    if item is None:
        return []
    lines = [f"{one_line(item.type)}: {one_line(item.message, 500)}"]
    said = [line for line in printable(item.message).splitlines() if line.strip()]
    lines += [f"    {one_line(line, 500)}" for line in said[1:MOST_OF_A_MESSAGE]]
    for frame in reversed(item.frames[-4:]):
        column = f":{frame.column}" if frame.column else ""
        within = f" in {one_line(frame.function)}" if frame.function else ""
        lines.append(f"{printable(here.short(Path(frame.file)))}:{frame.line}{column}{within}")
        if frame.source:
            lines.append(f"    {one_line(frame.source)}")
    return lines


def load(item: LoadReport, here: Surroundings) -> str:
    """`load`: the report in the words of the guides."""
    lines = [
        f"{item.registered} of {item.discovered} registered, {item.eligible} eligible, "
        f"{len(item.skipped)} skipped, {len(item.failed)} failed"
    ]
    lines += [f"  skipped  {one_line(text, 300)}" for text in item.skipped]
    for name in item.failed:
        fault = item.failures.get(name)
        first = error_lines(fault, here)[:3]
        lines.append(f"  failed   {one_line(name)}" + (f": {first[0]}" if first else ""))
        lines += [f"             {text}" for text in first[1:]]
    lines += [
        f"  {'note' if line.level == 'info' else line.level:<7}  {one_line(line.text, 300)}"
        for line in item.told
    ]
    if item.stopped:
        lines.append(f"  stopped  {one_line(item.stopped, 300)}; later hooks were never reached")
    return "\n".join(lines)

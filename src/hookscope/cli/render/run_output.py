"""Runs and loads as text: what each handler did, returned, changed and printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from pathlib import Path

from hookscope.analysis.run_explanation import (
    HandlerInput,
    failed_on_missing_value,
    handler_input,
    intended_member,
    merge_steps,
)
from hookscope.app.json_documents import plain_value
from hookscope.cli.render.layout import column_width, fit_to_width, fold_lines
from hookscope.cli.render.plan_output import not_run_lines
from hookscope.engine.registry import LoadReport
from hookscope.model.failure import Failure
from hookscope.model.machine import Machine
from hookscope.model.run import Event, Patch, Plan, Registration, Result, Run, reported_log
from hookscope.model.sandbox_result import SandboxResult
from hookscope.model.text import duration, one_line, printable

DIFF_LINE_LIMIT = 60  # lines
UNRECORDED_EXECUTOR = "channel"  # the executor that runs before the event is recorded
CHANGE_LIMIT = 8  # changes of the context by one handler
MESSAGE_LINE_LIMIT = 6  # lines of an error's text
KEY_LIMIT = 40
STATUS_MARKS = {"ok": "✓", "error": "✗", "timeout": "◷", "crashed": "☠", "cancelled": "⊘"}


def run_text(item: Run, here: Machine, plan: Plan | None = None) -> str:
    """Return the text of `fire`: what each handler did, then messages and what did not run.

    With the plan, executors are shown above their handlers, and below each what its answer added to
    the merged one.
    """
    lines = [
        f"{one_line(item.event.key)}  {len(item.results)} ran  {duration(item.took)}  "
        f"{run_outcome_text(item)}"
    ]
    lines.append("")
    width = handler_column_width([entry.call for entry in item.results])
    merged = _merged_answer_lines(item, plan)
    recorded = item.event.kind != "stream" or not item.results
    for label, entries in _results_by_executor(item, plan):
        if not recorded and label != UNRECORDED_EXECUTOR:
            lines.append(f"  recorded  {one_line(str(item.event.meta.get('id', '')))}")
            recorded = True
        lines += [f"  {one_line(label)}"] if label else []
        for entry in entries:
            given = input_of_failed_handler(entry, item.event, item.results)
            lines += [*result_lines(entry, width, here, given), *merged.get(entry.call, ())]
    lines += fold_lines(not_run_lines(item.not_run))
    lines += [f"  ! {one_line(item.ending.failure, 400)}"] if item.ending.failure else []
    lines += fold_lines(f"  {line.level}: {one_line(line.text, 400)}" for line in reported_log(item))
    lines += [f"  ↳ {text}" for text in _caused_event_lines(item)]
    if item.messages:
        fate = "delivered to the user" if item.delivers else "ignored by this host"
        lines += ["", f"messages ({fate})", *(f"  {one_line(text, 2000)}" for text in item.messages)]
    lines += fold_lines(f"note: {one_line(note, 400)}" for note in item.notes)
    if item.guarded is not None:
        lines += ["", *sandbox_lines(item.guarded, here)]
    return "\n".join(line.rstrip() for line in lines)


def handler_column_width(calls: Sequence[Registration]) -> int:
    """Return the width in cells of the column of handler names."""
    return column_width((one_line(call.name) for call in calls), 32)


def run_outcome_text(item: Run) -> str:
    """Return the outcome of a run in a word or two."""
    failed = len(item.failed)
    if item.cancelled:
        return "cancelled"
    if item.ending.verdict:
        return one_line(item.ending.verdict, 200)
    if failed:
        return f"✗ {failed} failed"
    return "–" if not item.results and any(left.listens for left in item.not_run) else "✓"


def _results_by_executor(item: Run, plan: Plan | None) -> Iterator[tuple[str, list[Result]]]:
    """Yield the results by the host's name for their executor, each in the order in which they ended."""
    label_of = {call: group.label for group in plan.groups for call in group.calls} if plan else {}
    for label, entries in groupby(item.results, key=lambda entry: label_of.get(entry.call, "")):
        yield label, list(entries)


def _merged_answer_lines(item: Run, plan: Plan | None) -> dict[Registration, list[str]]:
    """Return for each call of a plugin's event its answer, and the effect on the merged answer."""
    if plan is None or item.event.kind == "folder":
        return {}
    lines: dict[Registration, list[str]] = {}
    for entry in item.results:
        asked = [f"      asked: {', '.join(entry.asked)}"] if entry.asked else []
        answered = [f"      answered {_short_value(entry.returned)}"] if entry.returned is not None else []
        lines[entry.call] = asked + answered
    if item.event.kind == "plugin":
        done = {entry.call: entry for entry in item.results}
        in_order = [done[call] for call in plan.calls if call in done]
        for entry, step in zip(in_order, merge_steps(plan.policy, item.event, in_order), strict=False):
            more = [
                f"      → {one_line(name)} = {_short_value(value)}" for name, value in step.changed.items()
            ]
            vain = entry.returned is not None and not (more or step.stopped or entry.error)
            more += [f"      → changes nothing{_misnamed_member_hint(plan, item, entry)}"] if vain else []
            ends = ["      ⊘ later handlers are not asked"] if step.stopped and entry.error is None else []
            lines[entry.call] += more + ends
    return lines


def _misnamed_member_hint(plan: Plan, item: Run, entry: Result) -> str:
    """Return a hint for an ignored member: mostly another host's name, or another spelling."""
    word = intended_member(plan.policy, item.event, entry)
    return f"; {one_line(item.event.key)} has `{word[1]}` for `{one_line(word[0], 40)}`" if word else ""


def _short_value(value: object) -> str:
    return one_line(json.dumps(plain_value(value), ensure_ascii=False), 200)


def _caused_event_lines(item: Run) -> Iterator[str]:
    """Yield the events that this one caused, with their outcome."""
    for caused in item.caused:
        nobody = "none ran" if any(left.listens for left in caused.not_run) else "no hook hears it"
        heard = f"{len(caused.results)} ran" if caused.results else nobody
        failed = f", {len(caused.failed)} failed" if caused.failed else ""
        yield f"{one_line(caused.event.key)}  {heard}{failed}"
        yield from (f"  {text}" for text in _caused_event_lines(caused))


def sandbox_lines(item: SandboxResult, here: Machine) -> list[str]:
    """Return each file that handlers touched in their copies, with its diff; then the sandbox's limits."""
    return [*sandboxed_file_lines(item, here), *sandbox_protection_lines(item)]


def sandboxed_file_lines(item: SandboxResult, here: Machine) -> list[str]:
    """Return each file that handlers touched in their copies, with its diff."""
    lines = ["files (in copies, thrown away)"]
    for change in item.changes:
        sizes = " → ".join("–" if size is None else f"{size:,}" for size in (change.before, change.after))
        lines.append(f"  {change.kind:<8} {printable(here.short(change.path))}  {sizes} bytes")
        lines += [f"      {line}" for line in printable(change.diff).splitlines()[2:DIFF_LINE_LIMIT]]
    if not item.changes:
        lines.append(f"  {item.unchanged}")
    if item.more:
        lines.append(f"  and {item.more:,} more")
    return lines


def sandbox_protection_lines(item: SandboxResult) -> list[str]:
    """Return which protections the sandbox had, and notes on them."""
    return [one_line(item.walls, 2000), *(f"note: {one_line(note, 400)}" for note in item.notes)]


def input_of_failed_handler(item: Result, event: Event, results: Sequence[Result]) -> HandlerInput | None:
    """Return the input of a handler that failed because a value was missing, else None.

    `results`: of its event.
    """
    if item.error is None or not failed_on_missing_value(item.error):
        return None
    earlier = takewhile(lambda other: other is not item, results)
    return handler_input(event, (other.patch for other in earlier), item.error)


def result_lines(item: Result, width: int, here: Machine, given: HandlerInput | None = None) -> list[str]:
    """Return one handler's line, then its error, its input (`failed_input`), and its output."""
    name = fit_to_width(one_line(item.call.name), width)
    pushed = f"  +{len(item.messages)} msg" if item.messages else ""
    forced = "  forced" if item.forced else ""
    took = f"{duration(item.took):>9}"
    lines = [f"  {STATUS_MARKS[item.status]} {name}  {item.status:<9} {took}{pushed}{forced}"]
    lines += [f"      {text}" for text in error_lines(item.error, here)]
    lines += fold_lines(f"      {text}" for text in _handler_input_lines(given))
    if item.error is not None and item.error.phase == "load":
        lines.append("      It failed while it was loaded; it never ran.")
    if item.stale is not None:
        lines.append("      the version loaded before ran; the saved one does not load:")
        lines += [f"        {text}" for text in error_lines(item.stale, here)]
    lines += [f"      {text}" for text in _context_change_lines(item.patch)]
    for sign, output in (("out", item.stdout), ("err", item.stderr)):
        lines += [f"      {sign} │ {text}" for text in printable(output).splitlines()[:40]]
    lines += [f"      note: {one_line(note, 400)}" for note in item.notes]
    return lines


def _handler_input_lines(given: HandlerInput | None) -> Iterator[str]:
    if given is not None:
        keys = [one_line(key, 40) for key in given.keys]
        more = f" and {len(keys) - KEY_LIMIT:,} more" if len(keys) > KEY_LIMIT else ""
        yield f"{given.name} had  {', '.join(keys[:KEY_LIMIT]) or 'no keys at all'}{more}"
        if given.meant:
            yield f"Did you mean {one_line(given.meant, 80)}?"


def _context_change_lines(patch: Patch) -> list[str]:
    """Return the handler's changes to the event's context, written as code."""
    found = [step for step in patch if str(step["path"]).startswith("/context")]
    lines = []
    for step in found[:CHANGE_LIMIT]:
        name = ".".join(
            part.replace("~1", "/").replace("~0", "~") for part in str(step["path"])[1:].split("/")
        )
        became = "is gone" if step["op"] == "remove" else f"= {_short_value(step.get('value'))}"
        lines.append(f"changed {one_line(name)} {became}")
    more = len(found) - CHANGE_LIMIT
    return [*lines, *([f"and {more:,} more changes of the context"] if more > 0 else [])]


def error_lines(item: Failure | None, here: Machine) -> list[str]:
    """Return the error, then its stack trace, innermost frame first."""
    if item is None:
        return []
    lines = [f"{one_line(item.type)}: {one_line(item.message, 500)}"]
    said = [line for line in printable(item.message).splitlines() if line.strip()]
    lines += [f"    {one_line(line, 500)}" for line in said[1:MESSAGE_LINE_LIMIT]]
    for frame in reversed(item.frames[-4:]):
        column = f":{frame.column}" if frame.column else ""
        within = f" in {one_line(frame.function)}" if frame.function else ""
        lines.append(f"{printable(here.short(Path(frame.file)))}:{frame.line}{column}{within}")
        if frame.source:
            lines.append(f"    {one_line(frame.source)}")
    return lines


def load_text(item: LoadReport, here: Machine) -> str:
    """Return the text of `load`: the report in the words of the guides."""
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

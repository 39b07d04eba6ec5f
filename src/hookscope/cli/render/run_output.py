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
from hookscope.app import json_documents
from hookscope.app.snapshot import Snapshot
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import column_width, fit_to_width, fold_lines, fold_text
from hookscope.engine.registry import LoadReport
from hookscope.model.failure import Failure
from hookscope.model.machine import Machine
from hookscope.model.run import (
    Event,
    NotRun,
    Patch,
    Plan,
    Registration,
    Result,
    Run,
    SandboxResult,
    reported_log,
)
from hookscope.model.text import duration, one_line, printable, printable_line
from hookscope.model.uncalled_hooks import not_called_reason, split_excluded, split_listed
from hookscope.storage.journal.records import plain_json


def plan_text(plan: Plan, view: Snapshot | None = None) -> str:
    """Return the text of `plan`; with a view, also which files are known not to load."""
    lines = [f"{one_line(plan.event.key)}  {_would_run(len(plan.calls))}", ""]
    width = column_width((one_line(entry.name) for entry in plan.calls), 32)
    number, digits = 0, len(str(len(plan.calls)))
    for group in plan.groups:
        lines += [f"  {one_line(group.label)}"] if group.label else []
        for entry in group.calls:
            number += 1
            together = "  at once" if group.concurrent and len(group.calls) > 1 else ""
            name = fit_to_width(one_line(entry.name), width)
            failed = view.failed_load(entry) if view is not None else None
            failure_text = f"  but it {one_line(failed.why, 300)}" if failed is not None else ""
            lines.append(
                f"  {number:>{digits}}  {name}  as "
                f"{one_line(entry.key)}{_priority(entry)}{together}{failure_text}"
            )
    lines += not_run_lines(plan.not_run)
    return fold_text(lines)


def _priority(entry: Registration) -> str:
    return f"  priority {entry.priority}" if entry.priority else ""


def _would_run(count: int) -> str:
    return "nothing would run" if not count else f"{count} handler{'s' * (count != 1)} would run"


def not_run_lines(not_run: Sequence[NotRun]) -> list[str]:
    """Return subscribed hooks and near misses that do not run, one by one; the rest counted."""
    excluded, not_run = split_excluded(not_run)
    listed, counted = split_listed(not_run)
    others = len(counted)
    lines = [
        f"  –  {one_line(item.name)}  not run: {one_line(not_called_reason(item), 300)}" for item in listed
    ]
    if excluded:
        why = f"{len(excluded)} other{'s' * (len(excluded) != 1)} {excluded[0].reason}"
        lines.append(f"  –  {one_line(why, 300)}")
    if others:
        lines.append(
            f"  –  {others} other hook{'s' * (others != 1)} subscribe{'s' * (others == 1)} to other events"
        )
    return lines


def dry_run_answer(plans: Sequence[Plan], failures: Sequence[str]) -> Answer:
    """Return a plan for each event; `failures`: a sentence for each event without one."""
    documents = [json_documents.plan_document(plan) for plan in plans]
    return Answer(documents, "\n\n".join(map(plan_text, plans)), not failures, tuple(failures))


DIFF_LINE_LIMIT = 60  # lines
UNRECORDED_EXECUTOR = "channel"  # the executor that runs before the event is recorded
CHANGE_LIMIT = 8  # changes of the context by one handler
MESSAGE_LINE_LIMIT = 6  # lines of an error's text
KEY_LIMIT = 40
STATUS_MARKS = {"ok": "✓", "error": "✗", "timeout": "◷", "crashed": "☠", "cancelled": "⊘"}


def run_text(run: Run, machine: Machine, plan: Plan | None = None) -> str:
    """Return the text of `fire`: what each handler did, then messages and what did not run.

    With the plan, each executor is shown above its handlers. Below each handler is its answer, and what
    that adds to the merged answer.
    """
    lines = [
        f"{one_line(run.event.key)}  {len(run.results)} ran  {duration(run.took)}  {run_outcome_text(run)}"
    ]
    lines.append("")
    width = handler_column_width([entry.call for entry in run.results])
    merged = _merged_answer_lines(run, plan)
    recorded = run.event.kind != "stream" or not run.results
    for label, entries in _results_by_executor(run, plan):
        if not recorded and label != UNRECORDED_EXECUTOR:
            lines.append(f"  recorded  {one_line(str(run.event.meta.get('id', '')))}")
            recorded = True
        lines += [f"  {one_line(label)}"] if label else []
        for entry in entries:
            input_shown = input_of_failed_handler(entry, run.event, run.results)
            lines += [*result_lines(entry, width, machine, input_shown), *merged.get(entry.call, ())]
    lines += fold_lines(not_run_lines(run.not_run))
    lines += [f"  ! {one_line(run.ending.failure, 400)}"] if run.ending.failure else []
    lines += fold_lines(f"  {line.level}: {one_line(line.text, 400)}" for line in reported_log(run))
    lines += [f"  ↳ {text}" for text in _caused_event_lines(run)]
    if run.messages:
        delivery = "delivered to the user" if run.delivers else "ignored by this host"
        lines += ["", f"messages ({delivery})", *(f"  {one_line(text, 2000)}" for text in run.messages)]
    lines += fold_lines(f"note: {one_line(note, 400)}" for note in run.notes)
    if run.guarded is not None:
        lines += ["", *sandbox_lines(run.guarded, machine)]
    return "\n".join(line.rstrip() for line in lines)


def handler_column_width(calls: Sequence[Registration]) -> int:
    """Return the width in cells of the column of handler names."""
    return column_width((one_line(call.name) for call in calls), 32)


def run_outcome_text(run: Run) -> str:
    """Return the outcome of a run in a word or two."""
    failed = len(run.failed)
    if run.cancelled:
        return "cancelled"
    if run.ending.verdict:
        return one_line(run.ending.verdict, 200)
    if failed:
        return f"✗ {failed} failed"
    return "–" if not run.results and any(not_run.subscribed for not_run in run.not_run) else "✓"


def _results_by_executor(run: Run, plan: Plan | None) -> Iterator[tuple[str, list[Result]]]:
    """Yield the results by the host's name for their executor, in the order in which they ended."""
    label_of = {call: group.label for group in plan.groups for call in group.calls} if plan else {}
    for label, entries in groupby(run.results, key=lambda entry: label_of.get(entry.call, "")):
        yield label, list(entries)


def _merged_answer_lines(run: Run, plan: Plan | None) -> dict[Registration, list[str]]:
    """Return for each call of a plugin's event its answer, and the effect on the merged answer."""
    if plan is None or run.event.kind == "folder":
        return {}
    lines: dict[Registration, list[str]] = {}
    for entry in run.results:
        asked_lines = [f"      requested: {', '.join(entry.asked)}"] if entry.asked else []
        answer_lines = (
            [f"      answered {_short_value(entry.returned)}"] if entry.returned is not None else []
        )
        lines[entry.call] = asked_lines + answer_lines
    if run.event.kind == "plugin":
        results = {entry.call: entry for entry in run.results}
        in_order = [results[call] for call in plan.calls if call in results]
        for entry, step in zip(in_order, merge_steps(plan.policy, run.event, in_order), strict=False):
            change_lines = [
                f"      → {one_line(name)} = {_short_value(value)}" for name, value in step.changed.items()
            ]
            ignored = entry.returned is not None and not (change_lines or step.stopped or entry.error)
            change_lines += (
                [f"      → changes nothing{_misnamed_member_hint(plan, run, entry)}"] if ignored else []
            )
            stop_lines = (
                ["      ⊘ later handlers are not called"] if step.stopped and entry.error is None else []
            )
            lines[entry.call] += change_lines + stop_lines
    return lines


def _misnamed_member_hint(plan: Plan, run: Run, entry: Result) -> str:
    """Return a hint for an ignored member of an answer: often another host's name for it, or a typo."""
    members = intended_member(plan.policy, run.event, entry)
    return (
        f"; {one_line(run.event.key)} has `{members[1]}`, not `{one_line(members[0], 40)}`" if members else ""
    )


def _short_value(value: object) -> str:
    return one_line(json.dumps(plain_json(value), ensure_ascii=False), 200)


def _caused_event_lines(run: Run) -> Iterator[str]:
    for caused in run.caused:
        none_ran = (
            "none ran"
            if any(not_run.subscribed for not_run in caused.not_run)
            else "no hook subscribes to it"
        )
        outcome = f"{len(caused.results)} ran" if caused.results else none_ran
        failed = f", {len(caused.failed)} failed" if caused.failed else ""
        yield f"{one_line(caused.event.key)}  {outcome}{failed}"
        yield from (f"  {text}" for text in _caused_event_lines(caused))


def sandbox_lines(sandbox: SandboxResult, machine: Machine) -> list[str]:
    """Return each file that handlers touched in their copies, with its diff; then the sandbox's limits."""
    return [*sandboxed_file_lines(sandbox, machine), *sandbox_protection_lines(sandbox)]


def sandboxed_file_lines(sandbox: SandboxResult, machine: Machine) -> list[str]:
    """Return each file that handlers touched in their copies, with its diff."""
    lines = ["files (in copies, discarded)"]
    for change in sandbox.changes:
        sizes = " → ".join("–" if size is None else f"{size:,}" for size in (change.before, change.after))
        lines.append(f"  {change.kind:<8} {printable_line(machine.short(change.path))}  {sizes} bytes")
        lines += [f"      {line}" for line in printable(change.diff).splitlines()[2:DIFF_LINE_LIMIT]]
    if not sandbox.changes:
        lines.append(f"  {sandbox.unchanged_text}")
    if sandbox.more:
        lines.append(f"  and {sandbox.more:,} more")
    return lines


def sandbox_protection_lines(sandbox: SandboxResult) -> list[str]:
    """Return which protections the sandbox had, and notes on them."""
    return [one_line(sandbox.isolation, 2000), *(f"note: {one_line(note, 400)}" for note in sandbox.notes)]


def input_of_failed_handler(result: Result, event: Event, results: Sequence[Result]) -> HandlerInput | None:
    """Return the input of a handler that failed because a value was missing, else None.

    `results`: all results of the event.
    """
    if result.error is None or not failed_on_missing_value(result.error):
        return None
    earlier = takewhile(lambda other: other is not result, results)
    return handler_input(event, (other.patch for other in earlier), result.error)


def result_lines(
    result: Result, width: int, machine: Machine, failed_input: HandlerInput | None
) -> list[str]:
    """Return one handler's line, then its error, its input (`failed_input`), and its output."""
    name = fit_to_width(one_line(result.call.name), width)
    pushed = f"  +{len(result.messages)} msg" if result.messages else ""
    forced = "  forced" if result.forced else ""
    took = f"{duration(result.took):>9}"
    lines = [f"  {STATUS_MARKS[result.status]} {name}  {result.status:<9} {took}{pushed}{forced}"]
    lines += [f"      {text}" for text in error_lines(result.error, machine)]
    lines += fold_lines(f"      {text}" for text in _handler_input_lines(failed_input))
    if result.error is not None and result.error.phase == "load":
        lines.append("      It failed to load, so it never ran.")
    if result.stale is not None:
        lines.append("      the previous version ran; the saved one does not load:")
        lines += [f"        {text}" for text in error_lines(result.stale, machine)]
    lines += [f"      {text}" for text in _context_change_lines(result.patch)]
    for sign, output in (("out", result.stdout), ("err", result.stderr)):
        lines += [f"      {sign} │ {text}" for text in printable(output).splitlines()[:40]]
    lines += [f"      note: {one_line(note, 400)}" for note in result.notes]
    return lines


def _handler_input_lines(failed_input: HandlerInput | None) -> Iterator[str]:
    if failed_input is not None:
        keys = [one_line(key, 40) for key in failed_input.keys]
        more = f" and {len(keys) - KEY_LIMIT:,} more" if len(keys) > KEY_LIMIT else ""
        yield f"{failed_input.name} had  {', '.join(keys[:KEY_LIMIT]) or 'no keys at all'}{more}"
        if failed_input.closest_key:
            yield f"Did you mean {one_line(failed_input.closest_key, 80)}?"


def _context_change_lines(patch: Patch) -> list[str]:
    """Return the handler's changes to the event's context, written as code."""
    changes = [step for step in patch if str(step["path"]).startswith("/context")]
    lines = []
    for step in changes[:CHANGE_LIMIT]:
        name = ".".join(
            part.replace("~1", "/").replace("~0", "~") for part in str(step["path"])[1:].split("/")
        )
        value_text = ": removed" if step["op"] == "remove" else f" = {_short_value(step.get('value'))}"
        lines.append(f"changed {one_line(name)}{value_text}")
    more = len(changes) - CHANGE_LIMIT
    return [*lines, *([f"and {more:,} more changes of the context"] if more > 0 else [])]


def error_lines(failure: Failure | None, machine: Machine) -> list[str]:
    """Return the error, then its stack trace, innermost frame first."""
    if failure is None:
        return []
    lines = [f"{one_line(failure.type)}: {one_line(failure.message, 500)}"]
    message_lines = [line for line in printable(failure.message).splitlines() if line.strip()]
    lines += [f"    {one_line(line, 500)}" for line in message_lines[1:MESSAGE_LINE_LIMIT]]
    for frame in reversed(failure.frames[-4:]):
        column = f":{frame.column}" if frame.column else ""
        within = f" in {one_line(frame.function)}" if frame.function else ""
        lines.append(f"{printable_line(machine.short(Path(frame.file)))}:{frame.line}{column}{within}")
        if frame.source:
            lines.append(f"    {one_line(frame.source)}")
    return lines


def load_text(report: LoadReport, machine: Machine) -> str:
    """Return the text of `load`: the report in the words of the guides."""
    lines = [
        f"{report.registered} of {report.discovered} registered, {report.eligible} eligible, "
        f"{len(report.skipped)} skipped, {len(report.failed)} failed"
    ]
    lines += [f"  skipped  {one_line(text, 300)}" for text in report.skipped]
    for name in report.failed:
        failure = report.failures.get(name)
        first = error_lines(failure, machine)[:3]
        lines.append(f"  failed   {one_line(name)}" + (f": {first[0]}" if first else ""))
        lines += [f"             {text}" for text in first[1:]]
    lines += [
        f"  {'note' if line.level == 'info' else line.level:<7}  {one_line(line.text, 300)}"
        for line in report.told
    ]
    if report.stopped:
        lines.append(f"  stopped  {one_line(report.stopped, 300)}; later hooks were never reached")
    return "\n".join(lines)

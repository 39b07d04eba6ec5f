"""A plan as text, and the answer of `--dry`: which handlers would run, in order, and which not."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.app import json_documents
from hookscope.app.snapshot import Snapshot
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import column_width, fit_to_width, fold_text
from hookscope.model.run import NotRun, Plan, Registration
from hookscope.model.text import one_line
from hookscope.model.uncalled_hooks import not_called_reason, split_excluded, split_listed


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
            f"  –  {others} other hook{'s' * (others != 1)} listen{'s' * (others == 1)} to other events"
        )
    return lines


def dry_run_answer(plans: Sequence[Plan], failures: Sequence[str]) -> Answer:
    """Return a plan for each event; `failures`: a sentence for each event without one."""
    documents = [json_documents.plan_document(plan) for plan in plans]
    return Answer(documents, "\n\n".join(map(plan_text, plans)), not failures, tuple(failures))

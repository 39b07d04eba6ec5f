"""Changes to users' files as text and JSON: diffs, and what `fix` would change."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookscope.app.json_documents import Document, effect_document, gate_document
from hookscope.app.load_record import retry_hint
from hookscope.app.snapshot import Snapshot
from hookscope.authoring.fix.model import Fix, Repair, WorkspaceRepair
from hookscope.cli.render.hook_output import near_miss_lines
from hookscope.cli.render.layout import state_word
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import one_line, printable, printable_line, shell_path
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.masked_preview import MASKED_NOTE, hides_secrets, masked_preview
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.authoring.lint.model import LintFinding
    from hookscope.model.machine import Machine


def diff_lines(change: Change, machine: Machine) -> Iterator[str]:
    """Yield the short path and the diff of each changed file; the diff has only the file's name."""
    for part in change.parts:
        if preview := masked_preview(part):
            yield one_line(machine.short(part.path))
            yield printable(preview).rstrip()
            if hides_secrets(part):
                yield MASKED_NOTE


FINDING_LIMIT = 10  # findings to list


@dataclass(frozen=True, slots=True)
class RepairContext:
    """Facts that are shown with a repair."""

    view: Snapshot
    written: bool
    failed_run: ActivationLink | None  # the last run, if it failed
    command: str  # this command without values and --apply


def repair_document(repair: Repair, context: RepairContext) -> Document:
    """Return the document of `fix --json`."""
    return {
        "hook": repair.name,
        "state": _state_document(repair.before),
        "after": _state_document(repair.after),
        "ready": repair.ready,
        "written": context.written,
        "fixes": [_fix_document(fix) for fix in repair.fixes],
        "changes": [_change_document(change) for change in repair.changes],
        "still_shut": [gate_document(item) for item in repair.remaining_gates],
        "others": [effect_document(other) for other in repair.others],
        "notices": repair.notices if repair.changes else "",
        "remarks": [_finding_document(finding) for finding in repair.remarks],
        "failed_run": context.failed_run.run if context.failed_run is not None else None,
        "next": _next_command(repair, context) if repair.required_values else None,
    }


def workspace_repair_document(repair: WorkspaceRepair, view: Snapshot, written: bool) -> Document:
    """Return the document of `fix --all --json`."""
    context = RepairContext(view, written, None, "")
    return {
        "hooks": [repair_document(one, context) for one in repair.repairs],
        "ready": repair.ready_count,
        "written": written,
        "changes": [_change_document(change) for change in repair.changes],
        "left": [one.name for one in repair.left],
    }


def workspace_repair_text(repair: WorkspaceRepair, view: Snapshot, written: bool) -> str:
    """Return each hook with its fixes, all diffs, and what remains to do."""
    lines: list[str] = []
    for one in repair.repairs:
        lines += [f"{_status_word(one.before)} → {_status_word(one.after)}  {one_line(one.name)}"]
        lines += [f"  {one_line(fix.gate)}: {one_line(fix.title, 300)}" for fix in one.fixes if fix.changes]
    for change in repair.changes:
        lines += ["", *diff_lines(change, view.host.machine)]
    if repair.repairs:
        hooks = f"{len(repair.repairs)} hook{'s' * (len(repair.repairs) != 1)}"
        ready = f"{repair.ready_count} {'are' if written else 'would be'} ready"
        lines += ["", f"{hooks} {'changed' if written else 'would change'}; {ready}."]
        steps = len(repair.steps)
        times = "" if steps == 1 else f", {steps} times,"
        lines += [f"`hookscope undo`{times} undoes it." if written else "`--apply` writes it."]
    else:
        lines += ["No hook has a mistake in its own files that an edit can fix."]
    if repair.left:
        names = ", ".join(one_line(one.name) for one in repair.left)
        lines += [f"`hookscope fix NAME` shows what the others need: {one_line(names, 1_000)}."]
    return "\n".join(line.rstrip() for line in lines)


def _finding_document(finding: LintFinding) -> Document:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "file": str(finding.place.file),
        "line": finding.place.line,
        "text": finding.text,
        "then": finding.next_step,
        "by_hand": not finding.fix,
    }


def _state_document(row: HookStatus | None) -> str | None:
    return None if row is None else row.state.value


def _fix_document(fix: Fix) -> Document:
    return {
        "gate": fix.gate,
        "reason": fix.failed_gate.reason if fix.failed_gate is not None else "",
        "near": list(fix.failed_gate.near) if fix.failed_gate is not None else [],
        "title": fix.title,
        "files": [str(change.path) for change in fix.changes],
        "asks": list(fix.required_values),
        "hint": fix.hint,
        "why_not": fix.why_not,
    }


def _change_document(change: Change) -> Document:
    return {
        "file": str(change.path),
        "to": None if change.renamed_to is None else str(change.renamed_to),
        "meaning": change.meaning,
        "diff": masked_preview(change),
    }


def repair_text(repair: Repair, context: RepairContext) -> str:
    """Return each failed gate with its fix, the diffs, and the hook's status afterwards."""
    return "\n".join(line.rstrip() for line in _repair_lines(repair, context))


def _repair_lines(repair: Repair, context: RepairContext) -> Iterator[str]:
    if not repair.fixes:
        yield from _no_failed_gate_lines(repair, context)
        return
    yield f"{_status_word(repair.before)}  {one_line(repair.name)}"
    for fix in repair.fixes:
        yield ""
        yield from _fix_lines(fix)
    if repair.remarks:
        yield ""
        yield from _finding_lines(repair, context)
    for change in repair.changes:
        yield ""
        yield from diff_lines(change, context.view.host.machine)
    yield ""
    yield from _outcome_lines(repair, context)


def _no_failed_gate_lines(repair: Repair, context: RepairContext) -> Iterator[str]:
    """Yield what is known of a hook without a failed gate: an error, lint findings, or nothing."""
    name = one_line(repair.name)
    row = context.view.inventory.find(repair.name)
    load = context.view.failed_loads.get(row.hook) if row is not None else None
    if not repair.ready:
        yield f"Nothing stops {name} there."
    elif load is not None:
        why = one_line(load.why, 300)
        yield (
            f"{name}: no check fails, but it {why}. Only its author can fix that; {retry_hint(repair.name)}."
        )
    elif repair.remarks or context.failed_run is not None:
        yield f"{name} is ready: no check stops it."
    else:
        info = f"`hookscope info {one_line(shell_path(repair.name))}`"
        yield f"{name} is ready: there is nothing to fix. {info} shows its history."
    if context.failed_run is not None and load is None:
        message = one_line(context.failed_run.found, 300)
        yield f"Its last run failed: {message}. `hookscope log {context.failed_run.run}` shows it."
    yield from _finding_lines(repair, context)


def _finding_lines(repair: Repair, context: RepairContext) -> Iterator[str]:
    """Yield the lint findings to fix by hand, and how many a command fixes."""
    by_hand = [finding for finding in repair.remarks if not finding.fix]
    others = len(repair.remarks) - len(by_hand)
    for finding in by_hand[:FINDING_LIMIT]:
        where = printable_line(context.view.host.machine.short(finding.place.file))
        text = one_line(f"{finding.text} {finding.next_step}".strip(), 400)
        yield f"by hand: {where}:{finding.place.line}  {text} [{finding.rule}]"
    if len(by_hand) > FINDING_LIMIT:
        lint = f"`hookscope lint {one_line(shell_path(repair.name))}`"
        yield f"and {len(by_hand) - FINDING_LIMIT} more by hand: {lint} lists all."
    if others:
        count_text = "1 finding" if others == 1 else f"{others} findings"
        yield f"`--lint` also fixes {count_text} of lint: `{context.command} --lint`."


def _fix_lines(fix: Fix) -> Iterator[str]:
    gate = fix.failed_gate
    reason = one_line(gate.reason, 300) if gate is not None else ""
    sign = "·" if " " in fix.gate else "✗"
    yield f"{sign} {fix.gate:<9} {reason or one_line(fix.title, 300)}"
    if gate is not None:
        yield from near_miss_lines(gate, places=False)
    if fix.required_values:
        yield f"      fix: {one_line(fix.title, 300)}"
        yield "      needs: " + " ".join(f"--value {one_line(name)}=…" for name in fix.required_values)
    elif fix.hint:
        yield f"      by hand: {one_line(fix.hint, 400)}"
    elif fix.why_not:
        yield f"      {'by hand' if fix.is_manual else 'no fix'}: {one_line(fix.why_not, 400)}"
    elif reason:
        yield f"      fix: {one_line(fix.title, 300)}"


def _outcome_lines(repair: Repair, context: RepairContext) -> Iterator[str]:
    for other in repair.others:
        yield f"also {one_line(other.name)} ({other.source}): {other.before} → {other.after}"
    for item in repair.remaining_gates:
        yield f"still failing: {item.name} – {one_line(item.reason, 300)}"
    if repair.changes:
        yield _status_after_lines(repair, context.written)
    elif not repair.required_values:
        yield "Nothing was written." if context.written else "No edit can fix this."
        if repair.before is None:
            yield f"`hookscope lint {one_line(shell_path(repair.name))}` shows what to write."
    if repair.required_values:
        others = "" if not repair.changes or context.written else " too"
        yield f"Replace each `…`. Then this command shows the edit{others}, and `--apply` writes it:"
        yield f"  {one_line(_next_command(repair, context), 2_000)}"
    steps = len(repair.changes)
    if context.written and steps:
        times = "" if steps == 1 else f", {steps} times"
        yield f"`hookscope undo`{times} undoes it. {repair.notices}"


def _status_after_lines(repair: Repair, written: bool) -> str:
    """Return the hook's status. If a gate still fails, also the gates that pass now.

    Without them, a successful write would look like a failure.
    """
    before, after = _status_word(repair.before), _status_word(repair.after)
    if not repair.remaining_gates or repair.before is None:
        return f"{before} → {after}" + ("." if written else ", once `--apply` has written it.")
    fixed_gates = ", ".join(repair.fixed_gates) or "a part of it"
    progress = (
        f"Written; {fixed_gates} {'are' if len(repair.fixed_gates) > 1 else 'is'} fixed now."
        if written
        else f"`--apply` fixes {fixed_gates}."
    )
    failed_gates = tuple(dict.fromkeys(gate.name for gate in repair.remaining_gates))
    status = f"{after} still" if before == after else f"{before} → {after}"
    names = ", ".join(failed_gates)
    return f"{progress} {names} still {'fail' if len(failed_gates) > 1 else 'fails'}: {status} (exit code 1)."


def _next_command(repair: Repair, context: RepairContext) -> str:
    """Return the next command, with each required value."""
    return (
        f"{context.command} "
        f"{shlex.join(word for name in repair.required_values for word in ('--value', f'{name}=…'))}"
    )


def _status_word(row: HookStatus | None) -> str:
    return "✗ no hook" if row is None else state_word(row.state).rstrip()

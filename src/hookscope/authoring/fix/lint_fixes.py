"""Safe fixes for lint findings, as edits that can be previewed, written and undone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from hookscope.authoring.fix.model import Fix
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.authoring.lint.linting import host_facts, lint_one
from hookscope.authoring.lint.model import LintFinding
from hookscope.authoring.lint.rule_runner import run_rules
from hookscope.authoring.lint.subject_reader import read_subject, with_handler_facts
from hookscope.hosts.source.script_parsing import read_scripts
from hookscope.model.hook import Edit
from hookscope.model.hook_status import STATE_ORDER, HookStatus
from hookscope.model.inventory import RejectedHook
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.errors import ChangeError
from hookscope.storage.edits.header_edit import with_header_value
from hookscope.storage.edits.json5_edit import with_setting

MOST = 20  # findings of one hook that are fixed at once


def lint_fixes(
    row: HookStatus, simulated: SimulatedHost, rules: Collection[str]
) -> tuple[list[Fix], SimulatedHost]:
    """Return a fix for each fixable finding of these rules, or of all, each based on the one before."""
    fixes: list[Fix] = []
    seen: set[tuple[str, str]] = set()
    for _ in range(MOST):
        now = simulated.find(row)
        finding = next(_open_findings(now, simulated, rules, seen), None)
        if finding is None or not isinstance(now, HookStatus):
            break
        seen.add((finding.rule, finding.text))
        fix, simulated = _fixed_finding(finding, now, simulated, rules)
        fixes.append(fix)
    return fixes, simulated


def lint_remarks(
    row: HookStatus, simulated: SimulatedHost, rules: Collection[str] | None
) -> tuple[LintFinding, ...]:
    """Return a hook's lint findings; with rules, only their findings without a safe fix."""
    if rules is None:
        return lint_one(row, simulated.host).findings
    return tuple(finding for finding in _findings(row, simulated, rules) if not finding.fix)


def _open_findings(
    row: HookStatus | RejectedHook | None,
    simulated: SimulatedHost,
    rules: Collection[str],
    seen: set[tuple[str, str]],
) -> Iterator[LintFinding]:
    for finding in _findings(row, simulated, rules):
        if finding.fix and (finding.rule, finding.text) not in seen:
            yield finding


def _findings(
    row: HookStatus | RejectedHook | None, simulated: SimulatedHost, rules: Collection[str]
) -> tuple[LintFinding, ...]:
    if not isinstance(row, HookStatus):
        return ()
    files = simulated.host.machine.files
    subject = read_subject(row.hook, host_facts(simulated.host), files)
    read = partial(read_scripts, workspace=[simulated.host.workspace])
    return tuple(run_rules(with_handler_facts([subject], read, files), rules).findings)


def _fixed_finding(
    finding: LintFinding, row: HookStatus, simulated: SimulatedHost, rules: Collection[str]
) -> tuple[Fix, SimulatedHost]:
    """Return the finding's fix, if it resolves the finding and the hook's state gets no worse."""
    name, title = f"lint {finding.rule}", f"{finding.text} {finding.next_step}".strip()
    try:
        changes = tuple(_changes(finding.fix or (), simulated))
        after_fix = simulated.with_changes(*changes)
    except (ChangeError, OSError) as error:
        return Fix(name, title, why_not=str(error)), simulated
    now = after_fix.find(row)
    remaining = {(other.rule, other.text) for other in _findings(now, after_fix, rules)}
    worse = not isinstance(now, HookStatus) or STATE_ORDER.index(now.state) < STATE_ORDER.index(row.state)
    if worse or (finding.rule, finding.text) in remaining:
        return Fix(name, title, why_not="its edit would not mend it here"), simulated
    return Fix(name, title, changes), after_fix


def _changes(edits: Iterable[Edit], simulated: SimulatedHost) -> Iterator[Change]:
    """Yield a change for each edit of a header or of JSON."""
    for edit in edits:
        old = simulated.read(edit.file)
        if edit.file.suffix.lower() == ".md":
            new = with_header_value(old or b"", edit.path, edit.value)
        else:
            new = with_setting(old, edit.path, edit.value)
        change = Change(edit.file, f"{edit.file.parent.name}: {edit.meaning}", old, new)
        simulated = simulated.with_changes(change)
        yield change

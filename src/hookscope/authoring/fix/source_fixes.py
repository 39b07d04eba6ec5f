"""Fixes in a handler's source: a misspelt event is corrected, other errors get an instruction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from hookscope.authoring.fix.model import Fix, FixValues
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.authoring.lint.linting import host_facts, lint_one, run_rules
from hookscope.authoring.lint.model import LintFinding
from hookscope.authoring.lint.rule_helpers import dead_events
from hookscope.authoring.lint.subject_reader import read_subject, with_handler_facts
from hookscope.hosts.source.script_parsing import read_scripts
from hookscope.hosts.streams.agent_layout import FIRST_INSTRUCTIONS
from hookscope.model.hook import Edit, FilePosition
from hookscope.model.hook_status import STATE_ORDER, Gate, HookStatus, RejectedHook
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change
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
    """Return a hook's lint findings; with `rules`, only findings of these rules without a safe fix."""
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
        return Fix(name, title, why_not="the edit would not resolve the finding"), simulated
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


NAME_INVALID = "-name-invalid"  # suffix of such error codes
QUOTES = (b'"', b"'", b"`")


def fix_event_names(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield the correction of each event that is never sent and has exactly one replacement."""
    file = row.hook.handler
    source = simulated.read(file) if file is not None else None
    if file is None or source is None:
        return
    subject = read_subject(row.hook, host_facts(simulated.host), simulated.host.machine.files)
    corrections = {dead.key: dead.instead[0] for dead in dead_events(subject) if len(dead.instead) == 1}
    if not corrections:
        return
    title = f"Correct the event: {', '.join(f'{key} → {near}' for key, near in corrections.items())}"
    new: bytes | None = source
    for key, near in corrections.items():
        new = _replaced(new, key.encode(), near.encode()) if new is not None else None
    if new is not None:
        yield Fix(gate.name, title, (Change(file, f"{file.name}: {title[9:]}", source, new),))
        return
    places = {key: source_place(subject.event_position(key), simulated) for key in corrections}
    instructions = (f"replace {key} with {near} at {places[key]}" for key, near in corrections.items())
    yield Fix(gate.name, title, why_not="; ".join(instructions))


def _replaced(source: bytes, key: bytes, replacement: bytes) -> bytes | None:
    """Return the source with the quoted `key` replaced; None unless it occurs exactly once."""
    quotes = [quote for quote in QUOTES for _ in range(source.count(quote + key + quote))]
    if len(quotes) != 1:
        return None
    return source.replace(quotes[0] + key + quotes[0], quotes[0] + replacement + quotes[0])


def source_place(place: FilePosition, simulated: SimulatedHost) -> str:
    """Return `~/project/handler.ts:3`; for a folder its path."""
    machine = simulated.host.machine
    facts = machine.files.facts(place.file)
    line = f":{place.line}" if facts is None or facts.file else ""
    return f"{machine.short(place.file)}{line}"


def advise_syntax(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for a source that does not parse or cannot be read."""
    if gate.place is not None:
        place = source_place(gate.place, simulated)
        why = f"correct it at {place}, then scan again; only its author knows the intended code"
        yield Fix(gate.name, gate.reason, why_not=why)


def advise_build(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for an error that stops the whole project. A missing instructions file is created."""
    missing_file = row.hook.build.missing_file if row.hook.build is not None else None
    if missing_file is not None:
        title = f"Create {simulated.host.machine.short(missing_file)}"
        yield Fix(gate.name, title, (Change(missing_file, title, None, FIRST_INSTRUCTIONS),))
    elif gate.place is not None:
        why = f"its host cannot build the project until {source_place(gate.place, simulated)} is corrected"
        if row.hook.build is not None and NAME_INVALID in row.hook.build.text:
            file = simulated.host.machine.short(gate.place.file)
            why = f"rename {file}, or move it to a folder that its host does not scan"
        yield Fix(gate.name, gate.reason, why_not=why)


def advise_load(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for code that failed on import."""
    why = f"its code failed ({gate.reason}): `hookscope load {row.hook.name}` shows the line"
    yield Fix(gate.name, "Let its module load", why_not=why)


def advise_path(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for a handler in the wrong place. Moving it could break its imports."""
    short, hook = simulated.host.machine.short, row.hook
    where = hook.path or simulated.host.workspace
    outside = gate.missing[0] if gate.missing else str(hook.handler)
    why = f"move {outside}, with what it imports, below {short(where)}"
    yield Fix(gate.name, gate.reason, why_not=why)


def advise_settings(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for settings that the host rejects as a whole."""
    file = simulated.host.settings.file
    others = (one for one in simulated.inventory.problems if one.place is not None and one.place.file == file)
    problems = [
        f"{source_place(one.place, simulated)}, {one.text}" if one.place is not None else one.text
        for one in dict.fromkeys((*simulated.host.settings.problems, *others))
    ]
    short = simulated.host.machine.short(file)
    why = f"correct by hand: {'; '.join(problems) or f'{short}, which the host rejects until then'}"
    yield Fix(gate.name, gate.reason, why_not=why)

"""Fixes in a handler's source: a misspelt event is corrected, other errors get an instruction."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.authoring.fix.model import Fix, FixValues
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.authoring.lint.linting import host_facts
from hookscope.authoring.lint.rule_helpers import dead_events
from hookscope.authoring.lint.subject_reader import read_subject
from hookscope.hosts.streams.agent_layout import FIRST_INSTRUCTIONS
from hookscope.model.hook import FilePosition
from hookscope.model.hook_status import Gate, HookStatus
from hookscope.storage.edits.change import Change

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
    instructions = (f"write {near} for {key} at {places[key]}" for key, near in corrections.items())
    yield Fix(gate.name, title, why_not="; ".join(instructions))


def _replaced(source: bytes, key: bytes, replacement: bytes) -> bytes | None:
    """Return the source with its one quoted text replaced; None if there are several, or none."""
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
        why = (
            f"mend it at {source_place(gate.place, simulated)}, then look again; only its "
            f"author knows what was meant"
        )
        yield Fix(gate.name, gate.reason, why_not=why)


def advise_build(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield advice for an error that stops the whole project. Missing instructions are created."""
    missing_file = row.hook.build.missing_file if row.hook.build is not None else None
    if missing_file is not None:
        title = f"Begin {simulated.host.machine.short(missing_file)}"
        yield Fix(gate.name, title, (Change(missing_file, title, None, FIRST_INSTRUCTIONS),))
    elif gate.place is not None:
        why = f"its host builds nothing before {source_place(gate.place, simulated)} is mended by hand"
        if row.hook.build is not None and NAME_INVALID in row.hook.build.text:
            file = simulated.host.machine.short(gate.place.file)
            why = f"rename {file}, or move it to a folder in which its host looks for nothing"
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
    """Yield advice for settings that the host refuses as a whole."""
    file = simulated.host.settings.file
    others = (one for one in simulated.inventory.problems if one.place is not None and one.place.file == file)
    problems = [
        f"{source_place(one.place, simulated)}, {one.text}" if one.place is not None else one.text
        for one in dict.fromkeys((*simulated.host.settings.problems, *others))
    ]
    short = simulated.host.machine.short(file)
    why = f"mend by hand: {'; '.join(problems) or f'{short}, which the host refuses as a whole until then'}"
    yield Fix(gate.name, gate.reason, why_not=why)

"""What `fix` found out: once for programs, once for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookscope.cli import diffs
from hookscope.cli.cells import state_word
from hookscope.cli.one_hook import near_lines
from hookscope.core.standing import Standing
from hookscope.core.text import as_typed, one_line, printable
from hookscope.values import dataclass
from hookscope.workbench import Change, View
from hookscope.workbench.documents import Document, effect, gate
from hookscope.workbench.failed_loads import tries_again
from hookscope.workbench.fixing.fix import Fix, Repair
from hookscope.workbench.shown import preview_of

if TYPE_CHECKING:
    from hookscope.workbench.links.link import Link
    from hookscope.workbench.linting import Finding

MOST = 10  # remarks that are listed


@dataclass(frozen=True, slots=True)
class Shown:
    """What is told beside a repair."""

    view: View
    written: bool
    failed: Link | None  # the last run, where that failed
    command: str  # this very command, without values and without --apply


def document(repair: Repair, shown: Shown) -> Document:
    """`fix --json`."""
    return {
        "hook": repair.name,
        "state": _state(repair.before),
        "after": _state(repair.after),
        "ready": repair.ready,
        "written": shown.written,
        "fixes": [_fix(fix) for fix in repair.fixes],
        "changes": [_change(change) for change in repair.changes],
        "still_shut": [gate(item) for item in repair.still],
        "others": [effect(other) for other in repair.others],
        "notices": repair.notices if repair.changes else "",
        "remarks": [_remark(finding) for finding in repair.remarks],
        "failed_run": shown.failed.run if shown.failed is not None else None,
        "next": _with_values(repair, shown) if repair.asks else None,
    }


def _remark(finding: Finding) -> Document:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "file": str(finding.place.file),
        "line": finding.place.line,
        "text": finding.text,
        "then": finding.then,
        "by_hand": not finding.fix,
    }


def _state(row: Standing | None) -> str | None:
    return None if row is None else row.state.value


def _fix(fix: Fix) -> Document:
    return {
        "gate": fix.gate,
        "reason": fix.shut.reason if fix.shut is not None else "",
        "near": list(fix.shut.near) if fix.shut is not None else [],
        "title": fix.title,
        "files": [str(change.path) for change in fix.changes],
        "asks": list(fix.asks),
        "hint": fix.hint,
        "why_not": fix.why_not,
    }


def _change(change: Change) -> Document:
    return {
        "file": str(change.path),
        "to": None if change.to is None else str(change.to),
        "meaning": change.meaning,
        "diff": preview_of(change),
    }


def text(repair: Repair, shown: Shown) -> str:
    """Each shut check with what helps, the diffs, how the hook stands then."""
    return "\n".join(line.rstrip() for line in _lines(repair, shown))


def _lines(repair: Repair, shown: Shown) -> Iterator[str]:
    if not repair.fixes:
        yield from _none_shut(repair, shown)
        return
    yield f"{_word(repair.before)}  {one_line(repair.name)}"
    for fix in repair.fixes:
        yield ""
        yield from _about(fix)
    if repair.remarks:
        yield ""
        yield from _remarks(repair, shown)
    for change in repair.changes:
        yield ""
        yield from diffs.lines(change, shown.view.host.surroundings)
    yield ""
    yield from _outcome(repair, shown)


def _none_shut(repair: Repair, shown: Shown) -> Iterator[str]:
    """What is known of a hook that no check stops: an error, what lint finds, or that there is nothing."""
    name = one_line(repair.name)
    row = shown.view.inventory.find(repair.name)
    load = shown.view.failed_loads.get(row.hook) if row is not None else None
    if not repair.ready:
        yield f"Nothing stops {name} there."
    elif load is not None:
        why = one_line(load.why, 300)
        yield (
            f"{name}: no check stops it, and it {why}. Only its author can mend that; "
            f"{tries_again(repair.name)}."
        )
    elif repair.remarks or shown.failed is not None:
        yield f"{name} is ready: no check stops it."
    else:
        info = f"`hookscope info {one_line(as_typed(repair.name))}`"
        yield f"{name} is ready: there is nothing to fix. {info} says what came of it so far."
    if shown.failed is not None and load is None:
        found = one_line(shown.failed.found, 300)
        yield f"Its last run failed: {found}. `hookscope log {shown.failed.run}` shows it."
    yield from _remarks(repair, shown)


def _remarks(repair: Repair, shown: Shown) -> Iterator[str]:
    """What lint finds: each that is to be mended by hand, and how many a command mends."""
    by_hand = [finding for finding in repair.remarks if not finding.fix]
    others = len(repair.remarks) - len(by_hand)
    for finding in by_hand[:MOST]:
        where = printable(shown.view.host.surroundings.short(finding.place.file))
        said = one_line(f"{finding.text} {finding.then}".strip(), 400)
        yield f"by hand: {where}:{finding.place.line}  {said} [{finding.rule}]"
    if len(by_hand) > MOST:
        lint = f"`hookscope lint {one_line(as_typed(repair.name))}`"
        yield f"and {len(by_hand) - MOST} more by hand: {lint} lists all."
    if others:
        what = "1 thing" if others == 1 else f"{others} things"
        yield f"`--lint` also mends {what} that lint finds: `{shown.command} --lint`."


def _about(fix: Fix) -> Iterator[str]:
    gate = fix.shut
    reason = one_line(gate.reason, 300) if gate is not None else ""
    sign = "·" if " " in fix.gate else "✗"
    yield f"{sign} {fix.gate:<9} {reason or one_line(fix.title, 300)}"
    if gate is not None:
        yield from near_lines(gate, places=False)
    if fix.asks:
        yield f"      fix: {one_line(fix.title, 300)}"
        yield "      give: " + " ".join(f"--value {one_line(name)}=…" for name in fix.asks)
    elif fix.hint:
        yield f"      by hand: {one_line(fix.hint, 400)}"
    elif fix.why_not:
        yield f"      {'by hand' if fix.by_hand else 'no fix'}: {one_line(fix.why_not, 400)}"
    elif reason:
        yield f"      fix: {one_line(fix.title, 300)}"


def _outcome(repair: Repair, shown: Shown) -> Iterator[str]:
    for other in repair.others:
        yield f"also {one_line(other.name)} ({other.source}): {other.before} → {other.after}"
    for item in repair.still:
        yield f"still shut: {item.name} – {one_line(item.reason, 300)}"
    if repair.changes:
        yield _then(repair, shown.written)
    elif not repair.asks:
        yield "Nothing was written." if shown.written else "Nothing can be written as it is."
    if repair.asks:
        others = "" if not repair.changes or shown.written else " too"
        yield f"With a value in place of each `…` this shows the edit{others}, and with `--apply` writes it:"
        yield f"  {one_line(_with_values(repair, shown), 2_000)}"
    steps = len(repair.changes)
    if shown.written and steps:
        times = "" if steps == 1 else f", {steps} times"
        yield f"`hookscope undo`{times} takes it back. {repair.notices}"


def _then(repair: Repair, written: bool) -> str:
    """How the hook stands. Where a check stays shut, what was opened too: no write looks like a failure."""
    before, after = _word(repair.before), _word(repair.after)
    if not repair.still or repair.before is None:
        return f"{before} → {after}" + ("." if written else ", once `--apply` has written it.")
    opened = ", ".join(repair.opened) or "a part of it"
    done = f"Written; {opened} {_is(repair.opened)} open now." if written else f"`--apply` opens {opened}."
    shut = tuple(dict.fromkeys(gate.name for gate in repair.still))
    stands = f"{after} still" if before == after else f"{before} → {after}"
    return f"{done} {', '.join(shut)} {_is(shut)} shut still: {stands} (exit code 1)."


def _is(names: tuple[str, ...]) -> str:
    return "are" if len(names) > 1 else "is"


def _with_values(repair: Repair, shown: Shown) -> str:
    """The next command, whole: with each value that is wanted."""
    return f"{shown.command} {shlex.join(word for name in repair.asks for word in ('--value', f'{name}=…'))}"


def _word(row: Standing | None) -> str:
    return "✗ no hook" if row is None else state_word(row.state).rstrip()

"""What `fix` found out: once for programs, once for people."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.cli import diffs
from hookscope.cli.cells import state_word
from hookscope.cli.one_hook import near_lines
from hookscope.core.standing import Standing
from hookscope.core.text import one_line
from hookscope.workbench import Change, View
from hookscope.workbench.documents import Document, effect, gate
from hookscope.workbench.failed_loads import tries_again
from hookscope.workbench.fixing.fix import Fix, Repair


def document(repair: Repair, *, written: bool) -> Document:
    """`fix --json`."""
    return {
        "hook": repair.name,
        "state": _state(repair.before),
        "after": _state(repair.after),
        "ready": repair.ready,
        "written": written,
        "fixes": [_fix(fix) for fix in repair.fixes],
        "changes": [_change(change) for change in repair.changes],
        "still_shut": [gate(item) for item in repair.still],
        "others": [effect(other) for other in repair.others],
        "notices": repair.notices if repair.changes else "",
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
        "diff": change.preview(),
    }


def text(repair: Repair, view: View, *, written: bool, linted: bool) -> str:
    """Each shut check with what helps, the diffs, how the hook stands then. `linted`: lint was asked too."""
    return "\n".join(line.rstrip() for line in _lines(repair, view, written, linted))


def _linted(linted: bool) -> str:
    return "" if linted else "`--lint` also mends what lint finds, "


def _lines(repair: Repair, view: View, written: bool, linted: bool) -> Iterator[str]:
    name = one_line(repair.name)
    row = view.inventory.find(repair.name)
    failed = view.failed_loads.get(row.hook) if row is not None else None
    if not repair.fixes and failed is not None:
        yield (
            f"{name}: no check stops it, and it {one_line(failed.why, 300)}. Only its author can mend that; "
            f"{_linted(linted)}{tries_again(repair.name)}."
        )
        return
    if not repair.fixes:
        yield (
            f"{name} is ready: there is nothing to fix. {_linted(linted)}"
            f"`hookscope info {name}` says what came of it so far."
            if repair.ready
            else f"Nothing stops {name} there."
        )
        return
    yield f"{_word(repair.before)}  {name}"
    for fix in repair.fixes:
        yield ""
        yield from _about(fix)
    for change in repair.changes:
        yield ""
        yield from diffs.lines(change, view.host.surroundings)
    yield ""
    yield from _outcome(repair, written)


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
        yield f"      no fix: {one_line(fix.why_not, 400)}"
    elif reason:
        yield f"      fix: {one_line(fix.title, 300)}"


def _outcome(repair: Repair, written: bool) -> Iterator[str]:
    for other in repair.others:
        yield f"also {one_line(other.name)} ({other.source}): {other.before} → {other.after}"
    for item in repair.still:
        yield f"still shut: {item.name} – {one_line(item.reason, 300)}"
    if not repair.changes:
        yield "Nothing was written." if written else "Nothing can be written as it is."
        return
    then = "." if written else ", once `--apply` has written it."
    yield f"{_word(repair.before)} → {_word(repair.after)}{then}"
    steps = len(repair.changes)
    if written:
        times = "" if steps == 1 else f", {steps} times"
        yield f"`hookscope undo`{times} takes it back. {repair.notices}"


def _word(row: Standing | None) -> str:
    return "✗ no hook" if row is None else state_word(row.state).rstrip()

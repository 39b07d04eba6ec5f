"""What lint has a safe fix for, as edits that are shown, written and taken back like all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from hookscope.changes import Change, ChangeError, edited, with_header_value
from hookscope.core.hooks import Edit
from hookscope.core.inventory import Rejected
from hookscope.core.standing import ORDER, Standing
from hookscope.lint.linting import lint
from hookscope.lint.model import Finding
from hookscope.lint.reading import read_subject, with_facts
from hookscope.lint.source.scripts import read_scripts
from hookscope.workbench.fixing.fix import Fix
from hookscope.workbench.fixing.sketch import Sketch
from hookscope.workbench.linting import host_facts, lint_one

MOST = 20  # findings of one hook that are mended at once


def lint_fixes(row: Standing, sketch: Sketch, rules: Collection[str]) -> tuple[list[Fix], Sketch]:
    """A fix for each finding of these rules, or of all, that has one; each made on what the last has left."""
    fixes: list[Fix] = []
    seen: set[tuple[str, str]] = set()
    for _ in range(MOST):
        now = sketch.find(row)
        finding = next(_open(now, sketch, rules, seen), None)
        if finding is None or not isinstance(now, Standing):
            break
        seen.add((finding.rule, finding.text))
        fix, sketch = _mended(finding, now, sketch, rules)
        fixes.append(fix)
    return fixes, sketch


def remarks_on(row: Standing, sketch: Sketch, rules: Collection[str] | None) -> tuple[Finding, ...]:
    """What lint says of a hook: with rules, what of theirs has no safe fix."""
    if rules is None:
        return lint_one(row, sketch.host).findings
    return tuple(finding for finding in _findings(row, sketch, rules) if not finding.fix)


def _open(
    row: Standing | Rejected | None, sketch: Sketch, rules: Collection[str], seen: set[tuple[str, str]]
) -> Iterator[Finding]:
    for finding in _findings(row, sketch, rules):
        if finding.fix and (finding.rule, finding.text) not in seen:
            yield finding


def _findings(row: Standing | Rejected | None, sketch: Sketch, rules: Collection[str]) -> tuple[Finding, ...]:
    if not isinstance(row, Standing):
        return ()
    files = sketch.host.surroundings.files
    subject = read_subject(row.hook, host_facts(sketch.host), files)
    read = partial(read_scripts, workspace=[sketch.host.workspace])
    return tuple(lint(with_facts([subject], read, files), rules).findings)


def _mended(finding: Finding, row: Standing, sketch: Sketch, rules: Collection[str]) -> tuple[Fix, Sketch]:
    """The finding's edits, where they end it and the hook stands no worse than before."""
    name, title = f"lint {finding.rule}", f"{finding.text} {finding.then}".strip()
    try:
        changes = tuple(_changes(finding.fix or (), sketch))
        then = sketch.after(*changes)
    except (ChangeError, OSError) as error:
        return Fix(name, title, why_not=str(error)), sketch
    now = then.find(row)
    left = {(other.rule, other.text) for other in _findings(now, then, rules)}
    worse = not isinstance(now, Standing) or ORDER.index(now.state) < ORDER.index(row.state)
    if worse or (finding.rule, finding.text) in left:
        return Fix(name, title, why_not="its edit would not mend it here"), sketch
    return Fix(name, title, changes), then


def _changes(edits: Iterable[Edit], sketch: Sketch) -> Iterator[Change]:
    """A change for each edit: of a header's value, or of one in JSON."""
    for edit in edits:
        old = sketch.read(edit.file)
        if edit.file.suffix.lower() == ".md":
            new = with_header_value(old or b"", edit.path, edit.value)
        else:
            new = edited(old, edit.path, edit.value)
        change = Change(edit.file, f"{edit.file.parent.name}: {edit.meaning}", old, new)
        sketch = sketch.after(change)
        yield change

"""What came of saved events that were fired as tests: for people, for programs, as JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from hookscope.cli import run_tables
from hookscope.cli.cells import column, fitted, names_apart
from hookscope.core.runs import Run
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import duration, one_line, printable
from hookscope.workbench import run_documents
from hookscope.workbench.documents import Document
from hookscope.workbench.hiding import NOTHING_KNOWN, Redaction, without_secrets
from hookscope.workbench.testing import Verified

NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, "Char"


def document(item: Verified, dialect: str) -> Document:
    """One saved event of `test --json`."""
    return {
        "file": str(item.file),
        "passed": item.passed,
        "accepted": item.accepted,
        "problem": item.problem or None,
        "could_not_run": list(item.left),
        "misses": [
            {
                "what": miss.what,
                "expected": run_documents.plain(miss.expected),
                "got": run_documents.plain(miss.got),
                "lines": list(miss.lines),
            }
            for miss in item.misses
        ],
        "run": run_documents.run(item.run, dialect) if item.run is not None else None,
        **({"steps": [document(step, dialect) for step in item.steps]} if item.steps else {}),
    }


def text(items: Sequence[Verified], copies: Surroundings | None = None) -> str:
    """`test`: a line for each, under it what was missed, item by item; the count last.

    With `copies`, the machine whose files were copied, what handlers wrote is told of each, and of all
    which walls stood.
    """
    names = [one_line(name) for name in names_apart([(item.file.stem, item.file) for item in items])]
    width = column(names, 40)
    named = zip(items, names, strict=True)
    lines = [line for item, name in named for line in _lines(item, fitted(name, width), copies)]
    missed = sum(not item.passed for item in items)
    sequences = sum(item.sequence for item in items)
    kinds = (("saved event", len(items) - sequences), ("sequence", sequences))
    count = " and ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in kinds if number)
    accepted = sum(item.accepted for item in items)
    result = f"{missed} missed" if missed else "all as expected"
    end = [f"{count}, {result}" + (f", {accepted} accepted" if accepted else "")]
    if copies is not None:
        end += dict.fromkeys(line for item in items for run in _runs(item) for line in _walls(run))
    return "\n".join([*lines, "", *end])


def _runs(item: Verified) -> list[Run]:
    return [one.run for one in (item, *item.steps) if one.run is not None]


def _walls(run: Run) -> list[str]:
    return run_tables.walls(run.guarded) if run.guarded is not None else []


def _copied(item: Verified, here: Surroundings) -> Iterator[str]:
    """The files that handlers wrote in their copies; of a sequence step by step."""
    if item.run is not None and item.run.guarded is not None:
        yield from run_tables.copied(item.run.guarded, here)
    for number, step in enumerate(item.steps, start=1):
        if step.run is not None:
            yield f"step {number} {one_line(step.run.event.key)}:"
            yield from (f"  {line}" for line in _copied(step, here))


def _lines(item: Verified, name: str, copies: Surroundings | None) -> Iterator[str]:
    took = f"{duration(item.took):>9}" if item.took is not None else ""
    sign = "✎" if item.accepted else "✓" if item.passed else "✗"
    yield f"{sign} {name}  {took}".rstrip()
    yield from (f"    {line}" for line in item.why)
    notes = dict.fromkeys(note for one in (item, *item.steps) for note in one.notes)
    yield from (f"    note: {one_line(note, 400)}" for note in notes)
    if copies is not None:
        yield from (f"    {line}" for line in _copied(item, copies))


def _writable(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)


def junit(
    items: Sequence[Verified], copies: Surroundings | None = None, redaction: Redaction = NOTHING_KNOWN
) -> str:
    """JUnit's XML, as CI systems read it: one suite, a case for each saved event. Times in seconds.

    With `copies`, as of `text`, each case has what handlers wrote as its output. Secrets are masked.
    """
    failed = sum(not item.passed for item in items)
    suite = ElementTree.Element("testsuite", name="hookscope", tests=str(len(items)), failures=str(failed))
    for item in (without_secrets(item, redaction) for item in items):
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=_writable(printable(item.file.stem)),
            classname=_writable(printable(str(item.file.parent))),
            time=f"{item.took or 0.0:.6f}",
        )
        if not item.passed:
            why = tuple(map(_writable, item.why)) or ("cancelled",)
            failure = ElementTree.SubElement(case, "failure", message=why[0])
            failure.text = "\n".join(why)
        if copies is not None and (copied := list(_copied(item, copies))):
            ElementTree.SubElement(case, "system-out").text = "\n".join(map(_writable, copied))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)

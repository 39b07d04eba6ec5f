"""Test results of saved events as text, JSON and JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.authoring.testing.masked_expectations import without_secrets
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.cli.render import run_output
from hookscope.cli.render.layout import column_width, distinct_names, fit_to_width
from hookscope.model.machine import Machine
from hookscope.model.run import Run
from hookscope.model.text import duration, one_line, printable
from hookscope.storage.journal.redaction import NOTHING_KNOWN, Redaction

NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, "Char"


def saved_event_document(item: SavedEventResult, dialect: str) -> Document:
    """Return one saved event of `test --json`."""
    return {
        "file": str(item.file),
        "passed": item.passed,
        "accepted": item.accepted,
        "problem": item.problem or None,
        "could_not_run": list(item.left),
        "misses": [
            {
                "what": miss.what,
                "expected": json_documents.plain_value(miss.expected),
                "got": json_documents.plain_value(miss.got),
                "lines": list(miss.lines),
            }
            for miss in item.misses
        ],
        "run": json_documents.run_document(item.run, dialect) if item.run is not None else None,
        **({"steps": [saved_event_document(step, dialect) for step in item.steps]} if item.steps else {}),
    }


def saved_event_results_text(items: Sequence[SavedEventResult], copies: Machine | None = None) -> str:
    """Return the text of `test`: a line for each event with its failures, then the count.

    With `copied_machine`, the machine whose files were copied, it also shows the files that
    handlers wrote and the sandbox's protections.
    """
    names = [one_line(name) for name in distinct_names([(item.file.stem, item.file) for item in items])]
    width = column_width(names, 40)
    named = zip(items, names, strict=True)
    lines = [line for item, name in named for line in _test_lines(item, fit_to_width(name, width), copies)]
    missed = sum(not item.passed for item in items)
    sequences = sum(item.sequence for item in items)
    kinds = (("saved event", len(items) - sequences), ("sequence", sequences))
    count = " and ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in kinds if number)
    accepted = sum(item.accepted for item in items)
    result = f"{missed} missed" if missed else "all as expected"
    end = [f"{count}, {result}" + (f", {accepted} accepted" if accepted else "")]
    if copies is not None:
        end += dict.fromkeys(
            line for item in items for run in _runs_of_test(item) for line in _sandbox_lines(run)
        )
    return "\n".join([*lines, "", *end])


def _runs_of_test(item: SavedEventResult) -> list[Run]:
    return [one.run for one in (item, *item.steps) if one.run is not None]


def _sandbox_lines(run: Run) -> list[str]:
    return run_output.sandbox_protection_lines(run.guarded) if run.guarded is not None else []


def _sandboxed_file_lines(item: SavedEventResult, here: Machine) -> Iterator[str]:
    """Yield the files that handlers wrote in their copies; for a sequence, step by step."""
    if item.run is not None and item.run.guarded is not None:
        yield from run_output.sandboxed_file_lines(item.run.guarded, here)
    for number, step in enumerate(item.steps, start=1):
        if step.run is not None:
            yield f"step {number} {one_line(step.run.event.key)}:"
            yield from (f"  {line}" for line in _sandboxed_file_lines(step, here))


def _test_lines(item: SavedEventResult, name: str, copies: Machine | None) -> Iterator[str]:
    took = f"{duration(item.took):>9}" if item.took is not None else ""
    sign = "✎" if item.accepted else "✓" if item.passed else "✗"
    yield f"{sign} {name}  {took}".rstrip()
    yield from (f"    {line}" for line in item.why)
    notes = dict.fromkeys(note for one in (item, *item.steps) for note in one.notes)
    yield from (f"    note: {one_line(note, 400)}" for note in notes)
    if copies is not None:
        yield from (f"    {line}" for line in _sandboxed_file_lines(item, copies))


def _xml_text(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)


def junit_xml(
    items: Sequence[SavedEventResult], copies: Machine | None = None, redaction: Redaction = NOTHING_KNOWN
) -> str:
    """Return JUnit XML for CI systems: one suite, a case for each saved event, times in seconds.

    With `copied_machine`, each case has the files that handlers wrote as its output. Secrets are
    masked.
    """
    failed = sum(not item.passed for item in items)
    suite = ElementTree.Element("testsuite", name="hookscope", tests=str(len(items)), failures=str(failed))
    for item in (without_secrets(item, redaction) for item in items):
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=_xml_text(printable(item.file.stem)),
            classname=_xml_text(printable(str(item.file.parent))),
            time=f"{item.took or 0.0:.6f}",
        )
        if not item.passed:
            why = tuple(map(_xml_text, item.why)) or ("cancelled",)
            failure = ElementTree.SubElement(case, "failure", message=why[0])
            failure.text = "\n".join(why)
        if copies is not None and (copied := list(_sandboxed_file_lines(item, copies))):
            ElementTree.SubElement(case, "system-out").text = "\n".join(map(_xml_text, copied))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)

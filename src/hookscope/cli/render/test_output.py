"""Test results of saved events as text, JSON and JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.authoring.testing.acceptance import without_secrets
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.cli.render import run_output
from hookscope.cli.render.layout import column_width, distinct_names, fit_to_width
from hookscope.model.machine import Machine
from hookscope.model.text import duration, one_line, printable
from hookscope.storage.journal.records import plain_json
from hookscope.storage.journal.redaction import Redaction

NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, "Char"


def saved_event_document(result: SavedEventResult, dialect: str) -> Document:
    """Return one saved event of `test --json`."""
    return {
        "file": str(result.file),
        "passed": result.passed,
        "accepted": result.accepted,
        "problem": result.problem or None,
        "could_not_run": list(result.could_not_run),
        "misses": [
            {
                "what": miss.what,
                "expected": plain_json(miss.expected),
                "got": plain_json(miss.got),
                "lines": list(miss.lines),
            }
            for miss in result.misses
        ],
        "run": json_documents.run_document(result.run, dialect) if result.run is not None else None,
        **({"steps": [saved_event_document(step, dialect) for step in result.steps]} if result.steps else {}),
    }


def saved_event_results_text(results: Sequence[SavedEventResult], copied_machine: Machine | None) -> str:
    """Return the text of `test`: a line for each event with its failures, then the count.

    With `copied_machine`, the machine whose files were copied, it also shows the files that
    handlers wrote and the sandbox's protections.
    """
    names = [
        one_line(name)
        for name in distinct_names([(test_result.file.stem, test_result.file) for test_result in results])
    ]
    width = column_width(names, 40)
    named = zip(results, names, strict=True)
    lines = [
        line
        for test_result, name in named
        for line in _test_lines(test_result, fit_to_width(name, width), copied_machine)
    ]
    missed = sum(not test_result.passed for test_result in results)
    sequences = sum(test_result.sequence for test_result in results)
    kinds = (("saved event", len(results) - sequences), ("sequence", sequences))
    count = " and ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in kinds if number)
    accepted = sum(test_result.accepted for test_result in results)
    result = f"{missed} failed" if missed else "all as expected"
    end = [f"{count}, {result}" + (f", {accepted} accepted" if accepted else "")]
    if copied_machine is not None:
        end += dict.fromkeys(
            line
            for test_result in results
            for part in (test_result, *test_result.steps)
            if part.run is not None and part.run.guarded is not None
            for line in run_output.sandbox_protection_lines(part.run.guarded)
        )
    return "\n".join([*lines, "", *end])


def _sandboxed_file_lines(result: SavedEventResult, machine: Machine) -> Iterator[str]:
    """Yield the files that handlers wrote in their copies; for a sequence, step by step."""
    if result.run is not None and result.run.guarded is not None:
        yield from run_output.sandboxed_file_lines(result.run.guarded, machine)
    for number, step in enumerate(result.steps, start=1):
        if step.run is not None:
            yield f"step {number} {one_line(step.run.event.key)}:"
            yield from (f"  {line}" for line in _sandboxed_file_lines(step, machine))


def _test_lines(result: SavedEventResult, name: str, copied_machine: Machine | None) -> Iterator[str]:
    took = f"{duration(result.took):>9}" if result.took is not None else ""
    sign = "✎" if result.accepted else "✓" if result.passed else "✗"
    yield f"{sign} {name}  {took}".rstrip()
    yield from (f"    {line}" for line in result.failure_lines)
    notes = dict.fromkeys(note for part in (result, *result.steps) for note in part.notes)
    yield from (f"    note: {one_line(note, 400)}" for note in notes)
    if copied_machine is not None:
        yield from (f"    {line}" for line in _sandboxed_file_lines(result, copied_machine))


def _xml_text(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)


def junit_xml(
    results: Sequence[SavedEventResult],
    folder: Path,
    began: datetime,
    copied_machine: Machine | None,
    redaction: Redaction,
) -> str:
    """Return JUnit XML for CI systems: one suite, a case for each saved event, times in seconds.

    File names are relative to `folder`. A file that could not be read is an `error`. With
    `copied_machine`, each case has the files that handlers wrote as its output. Secrets are masked.
    """
    errors = sum(_is_unreadable(result) for result in results)
    failed = sum(not result.passed for result in results) - errors
    suite = ElementTree.Element(
        "testsuite",
        name="hookscope",
        tests=str(len(results)),
        failures=str(failed),
        errors=str(errors),
        skipped="0",
        time=f"{sum(result.took or 0.0 for result in results):.6f}",
        timestamp=began.isoformat(timespec="seconds"),
    )
    for result in (without_secrets(result, redaction) for result in results):
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=_xml_text(printable(result.file.stem)),
            classname=_xml_text(printable(_relative_folder(result.file, folder))),
            time=f"{result.took or 0.0:.6f}",
        )
        if not result.passed:
            why = tuple(map(_xml_text, result.failure_lines)) or ("cancelled",)
            kind = "error" if _is_unreadable(result) else "failure"
            failure = ElementTree.SubElement(case, kind, message=why[0])
            failure.text = "\n".join(why)
        if copied_machine is not None and (file_lines := list(_sandboxed_file_lines(result, copied_machine))):
            ElementTree.SubElement(case, "system-out").text = "\n".join(map(_xml_text, file_lines))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _is_unreadable(result: SavedEventResult) -> bool:
    return result.run is None and not result.steps and bool(result.problem)


def _relative_folder(file: Path, folder: Path) -> str:
    own = file.parent
    return own.relative_to(folder).as_posix() if own.is_relative_to(folder) else str(own)

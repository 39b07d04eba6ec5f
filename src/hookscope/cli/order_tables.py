"""Whether the order of handlers matters, and who disturbs whom."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hookscope.cli import repeat_tables, run_tables
from hookscope.core.orders.facts import GONE, UNTOUCHED, Facts, Kind, Subject
from hookscope.core.orders.findings import Finding, Findings
from hookscope.core.orders.words import (
    KEPT,
    Sentence,
    evidence,
    left_over,
    sentences,
    summary,
    unsteady,
)
from hookscope.core.runs import Plan, Run
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line
from hookscope.workbench.documents import Document

OF_TEXT = frozenset({Kind.ENDED, Kind.VERDICT, Kind.ANSWERED, Kind.CAUSED})  # whose values are no JSON


def document(told: Findings) -> Document:
    """`shuffled` of `fire --shuffle --json`."""
    return {
        "times": told.times,
        "done": len(told.fired),
        "seed": told.seed,
        "handlers": list(told.names),
        "orders": {"possible": told.possible, "tried": len(told.orders)},
        "matters": told.matters,
        "findings": [_finding_document(one, told.names) for one in sentences(told)],
        "left": [
            {"sentence": text, "runs": [one.run, other.run]}
            for text, (_, one, other) in zip(left_over(told), told.left, strict=True)
        ],
        "unsteady": list(unsteady(told)),
    }


def _finding_document(one: Sentence, names: Sequence[str]) -> Document:
    found = one.finding
    return {
        "sentence": one.text,
        "handlers": [names[found.first], names[found.second]],
        "company": [names[call] for call in found.company],
        "narrowed": found.narrowed,
        **_subject_document(found.subject, found, names),
        "also": [_subject_document(subject, found, names) for subject in found.also],
        "runs": {
            "registered": _run_document(found.registered, names),
            "exchanged": _run_document(found.exchanged, names),
        },
    }


def _subject_document(subject: Subject, found: Finding, names: Sequence[str]) -> Document:
    registered, exchanged = (_value(subject, value) for value in found.values(subject))
    return {
        "kind": subject.kind.value,
        "hook": names[subject.call] if subject.call >= 0 else None,
        "place": subject.what or None,
        "registered": registered,
        "exchanged": exchanged,
    }


def _run_document(facts: Facts, names: Sequence[str]) -> Document:
    return {"id": facts.run, "order": [names[call] for call in facts.order]}


def _value(subject: Subject, value: str) -> Any:
    """As it was; null where there is nothing."""
    if value in (UNTOUCHED, GONE):
        return None
    return value if subject.kind in OF_TEXT else json.loads(value)


def text(done: Sequence[tuple[Run, Plan]], told: Findings, here: Surroundings, *, copies: bool) -> str:
    """The answer, a sentence for each finding with the two runs that show it; then the first run in the
    registered order that failed."""
    runs, plan = [run for run, _ in done], done[0][1]
    took = repeat_tables.range_of([run.took for run in runs])
    lines = [
        f"{one_line(plan.event.key)}  fired {repeat_tables.times(len(runs))}  {took}",
        "",
        summary(told),
        f"registered: {', '.join(told.names)}",
    ]
    for one in sentences(told):
        lines += ["", one.text, *(f"    {line}" for line in evidence(one.finding, told.names))]
    lines += ["", *left_over(told)] if told.left else []
    if told.unsteady:
        lines += [
            "",
            f"Different from run to run in one order, and so not judged: {', '.join(unsteady(told))}.",
        ]
    if told.drawn:
        lines += ["", f"Orders were drawn at random; --seed {told.seed} draws the same again."]
    lines += [] if copies else ["", KEPT.format("with --sandbox")]
    failed = next((run for run in runs[:2] if run.failed or run.ending.failure), None)
    if failed is not None:
        lines += ["", "as registered:", run_tables.run(failed, here, plan)]
    return "\n".join(line.rstrip() for line in lines)

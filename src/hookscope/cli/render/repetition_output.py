"""Several runs of one event as text and JSON: what repeats, grows, or depends on the order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hookscope.analysis.order_facts import REMOVED, UNTOUCHED, FactKind, FactSubject, RunFacts
from hookscope.analysis.order_findings import (
    STATE_KEPT_NOTE,
    FindingSentence,
    OrderFinding,
    OrderFindings,
    evidence_lines,
    finding_sentences,
    order_summary,
    unexplained_sentences,
    unsteady_subjects,
)
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.cli.render import run_output
from hookscope.cli.render.layout import column_width, fit_to_width
from hookscope.model.machine import Machine
from hookscope.model.run import Plan, Run
from hookscope.model.run_comparison import HookRepetition, RepeatOutcome, Repetition
from hookscope.model.text import duration, one_line, printable

ITEM_LIMIT = 3  # messages and places shown for one handler


def repetition_document(repeated: Repetition, asked: int) -> Document:
    """Return `repeated` of `fire --repeat --json`; `requested`: how many runs."""
    return {
        "times": asked,
        "done": repeated.times,
        "hooks": [_repeated_hook_document(one) for one in repeated.hooks],
        "files": None
        if repeated.files is None
        else [
            {"path": one.path, "verdict": one.again.value, "bytes": list(one.sizes)} for one in repeated.files
        ],
    }


def _repeated_hook_document(one: HookRepetition) -> Document:
    return {
        "hook": one.hook,
        "key": one.key,
        "verdict": one.again.value,
        "statuses": [status or None for status in one.statuses],
        "ms": [json_documents.milliseconds(took) for took in one.took],
        "messages": list(one.messages),
        "characters": list(one.characters),
        "changes": list(one.changes),
        "again": {"messages": list(one.same_messages), "changes": list(one.same_changes)},
    }


def repetition_text(done: Sequence[tuple[Run, Plan]], repeated: Repetition, here: Machine) -> str:
    """Return a line for each handler with what repeats, then files, then the first failed run."""
    runs, plan = [run for run, _ in done], done[0][1]
    took = [run.took for run in runs]
    head = f"{one_line(plan.event.key)}  fired {times_text(len(runs))}  {duration_range(took)}"
    width = column_width((one_line(one.hook) for one in repeated.hooks), 32)
    lines = [head, ""]
    for one in repeated.hooks:
        ended = ", ".join(f"{status or 'did not run'} ×{n}" for status, n in Counter(one.statuses).items())
        lines.append(
            f"  {fit_to_width(one_line(one.hook), width)}  {one.again.value:<19}  "
            f"{ended}  {duration_range(one.took)}"
        )
        lines += [f"      {line}" for line in _repeated_hook_lines(one)]
    if not repeated.hooks:
        lines.append("  nobody ran")
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    lines += [f"note: {one_line(note, 400)}" for note in notes]
    lines += ["", *_repeated_file_lines(repeated, here)]
    failed = next((run for run in runs if run.failed or run.ending.failure), None)
    if failed is not None:
        lines += ["", f"the first run that failed, {runs.index(failed) + 1} of {len(runs)}:"]
        lines.append(run_output.run_text(failed, here, plan))
    return "\n".join(line.rstrip() for line in lines)


def _repeated_hook_lines(one: HookRepetition) -> Iterator[str]:
    if any(one.messages):
        length = f", {_number_series(one.characters)} characters" if len(set(one.characters)) > 1 else ""
        yield f"messages {_number_series(one.messages)}{length}"
        yield from (f"again: {one_line(message, 120)}" for message in one.same_messages[:ITEM_LIMIT])
        if len(one.same_messages) > ITEM_LIMIT:
            yield f"again: {len(one.same_messages) - ITEM_LIMIT} more"
    if any(one.changes):
        places = ", ".join(one_line(path, 60) for path in one.same_changes[:ITEM_LIMIT])
        yield f"changes of the event {_number_series(one.changes)}{f': {places}' if places else ''}"


def _repeated_file_lines(repeated: Repetition, here: Machine) -> Iterator[str]:
    files, guarded = repeated.files, repeated.guarded
    if files is None or guarded is None:
        yield "What files they wrote is not known: with --sandbox all share the same copies, and it is shown."
        return
    yield "files (in copies, thrown away)"
    for one in files:
        where = printable(here.short(Path(one.path)))
        yield f"  {_REPETITION_WORDS[one.again]:<14} {where}  {_number_series(one.sizes, ' bytes')}"
    if not files:
        yield f"  {guarded.unchanged}"
    yield from run_output.sandbox_protection_lines(guarded)


_REPETITION_WORDS = {
    RepeatOutcome.NOTHING: "once",
    RepeatOutcome.SAME: "once",
    RepeatOutcome.GROWS: "grows",
    RepeatOutcome.OTHER: "changes again",
}


def _number_series(numbers: Sequence[int | None], unit: str = "") -> str:
    """Return `3 bytes each time`, or `1 → 2 → 3 bytes`; long series show first and last values."""
    if len(set(numbers)) == 1:
        return f"{_number_text(numbers[0])}{unit} each time"
    shown = [_number_text(one) for one in numbers]
    return " → ".join(shown if len(shown) <= 6 else [*shown[:3], "…", shown[-1]]) + unit


def _number_text(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def times_text(number: int) -> str:
    """Return the number of runs as text; `once` if Ctrl-C ended the rest."""
    return "once" if number == 1 else f"{number} times"


def duration_range(seconds: Sequence[float]) -> str:
    """Return the shortest and the longest time."""
    ends = (min(seconds, default=0.0), max(seconds, default=0.0))
    return "–".join(dict.fromkeys(map(duration, ends)))


TEXT_KINDS = frozenset(
    {FactKind.ENDED, FactKind.VERDICT, FactKind.ANSWERED, FactKind.CAUSED}
)  # kinds whose values are not JSON


def order_document(told: OrderFindings) -> Document:
    """Return `shuffled` of `fire --shuffle --json`."""
    return {
        "times": told.times,
        "done": len(told.fired),
        "seed": told.seed,
        "handlers": list(told.names),
        "orders": {"possible": told.possible, "tried": len(told.orders)},
        "matters": told.matters,
        "findings": [_finding_document(one, told.names) for one in finding_sentences(told)],
        "left": [
            {"sentence": text, "runs": [one.run, other.run]}
            for text, (_, one, other) in zip(unexplained_sentences(told), told.left, strict=True)
        ],
        "unsteady": list(unsteady_subjects(told)),
    }


def _finding_document(one: FindingSentence, names: Sequence[str]) -> Document:
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


def _subject_document(subject: FactSubject, found: OrderFinding, names: Sequence[str]) -> Document:
    registered, exchanged = (_subject_value(subject, value) for value in found.values(subject))
    return {
        "kind": subject.kind.value,
        "hook": names[subject.call] if subject.call >= 0 else None,
        "place": subject.what or None,
        "registered": registered,
        "exchanged": exchanged,
    }


def _run_document(facts: RunFacts, names: Sequence[str]) -> Document:
    return {"id": facts.run, "order": [names[call] for call in facts.order]}


def _subject_value(subject: FactSubject, value: str) -> Any:
    """Return the recorded value; None if there is none."""
    if value in (UNTOUCHED, REMOVED):
        return None
    return value if subject.kind in TEXT_KINDS else json.loads(value)


def order_text(done: Sequence[tuple[Run, Plan]], told: OrderFindings, here: Machine, *, copies: bool) -> str:
    """Return a sentence for each finding with its two runs, then the first failed run.

    Only runs in the registered order are shown as failed.
    """
    runs, plan = [run for run, _ in done], done[0][1]
    took = duration_range([run.took for run in runs])
    lines = [
        f"{one_line(plan.event.key)}  fired {times_text(len(runs))}  {took}",
        "",
        order_summary(told),
        f"registered: {', '.join(told.names)}",
    ]
    for one in finding_sentences(told):
        lines += ["", one.text, *(f"    {line}" for line in evidence_lines(one.finding, told.names))]
    lines += ["", *unexplained_sentences(told)] if told.left else []
    if told.unsteady:
        lines += [
            "",
            f"Different from run to run in one order, and so not judged: "
            f"{', '.join(unsteady_subjects(told))}.",
        ]
    if told.drawn:
        lines += ["", f"Orders were drawn at random; --seed {told.seed} draws the same again."]
    lines += [] if copies else ["", STATE_KEPT_NOTE.format("with --sandbox")]
    failed = next((run for run in runs[:2] if run.failed or run.ending.failure), None)
    if failed is not None:
        lines += ["", "as registered:", run_output.run_text(failed, here, plan)]
    return "\n".join(line.rstrip() for line in lines)

"""Several runs of one event as text and JSON: what repeats, grows, or depends on the order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hookscope.analysis.order_findings import (
    REMOVED,
    STATE_KEPT_NOTE,
    UNTOUCHED,
    FactKind,
    FactSubject,
    FindingSentence,
    OrderFinding,
    OrderFindings,
    RunFacts,
    evidence_lines,
    finding_sentences,
    order_summary,
    unexplained_sentences,
    unsteady_subjects,
)
from hookscope.app.json_documents import Document
from hookscope.cli.render import run_output
from hookscope.cli.render.layout import column_width, fit_to_width
from hookscope.model.machine import Machine
from hookscope.model.run import Plan, Run
from hookscope.model.run_comparison import HookRepetition, RepeatOutcome, Repetition
from hookscope.model.text import duration, one_line, printable_line
from hookscope.storage.journal.records import milliseconds

ITEM_LIMIT = 3  # messages and places shown for one handler


def repetition_document(repetition: Repetition, requested: int) -> Document:
    """Return `repeated` of `fire --repeat --json`; `requested` is the requested number of runs."""
    return {
        "times": requested,
        "done": repetition.times,
        "hooks": [_repeated_hook_document(part) for part in repetition.hooks],
        "files": None
        if repetition.files is None
        else [
            {"path": part.path, "verdict": part.outcome.value, "bytes": list(part.sizes)}
            for part in repetition.files
        ],
    }


def _repeated_hook_document(hook: HookRepetition) -> Document:
    return {
        "hook": hook.hook,
        "key": hook.key,
        "verdict": hook.outcome.value,
        "statuses": [status or None for status in hook.statuses],
        "ms": [milliseconds(took) for took in hook.took],
        "messages": list(hook.messages),
        "characters": list(hook.characters),
        "changes": list(hook.changes),
        "again": {"messages": list(hook.same_messages), "changes": list(hook.same_changes)},
    }


def repetition_text(
    runs_and_plans: Sequence[tuple[Run, Plan]], repetition: Repetition, machine: Machine
) -> str:
    """Return a line for each handler with what repeats, then files, then the first failed run."""
    runs, plan = [run for run, _ in runs_and_plans], runs_and_plans[0][1]
    took = [run.took for run in runs]
    head = f"{one_line(plan.event.key)}  fired {times_text(len(runs))}  {duration_range(took)}"
    width = column_width((one_line(hook.hook) for hook in repetition.hooks), 32)
    lines = [head, ""]
    for hook in repetition.hooks:
        ended = ", ".join(f"{status or 'did not run'} ×{n}" for status, n in Counter(hook.statuses).items())
        lines.append(
            f"  {fit_to_width(one_line(hook.hook), width)}  {hook.outcome.value:<19}  "
            f"{ended}  {duration_range(hook.took)}"
        )
        lines += [f"      {line}" for line in _repeated_hook_lines(hook)]
    if not repetition.hooks:
        lines.append("  no handler ran")
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    lines += [f"note: {one_line(note, 400)}" for note in notes]
    lines += ["", *_repeated_file_lines(repetition, machine)]
    failed = next((run for run in runs if run.failed or run.ending.failure), None)
    if failed is not None:
        lines += ["", f"the first run that failed, {runs.index(failed) + 1} of {len(runs)}:"]
        lines.append(run_output.run_text(failed, machine, plan))
    return "\n".join(line.rstrip() for line in lines)


def _repeated_hook_lines(hook: HookRepetition) -> Iterator[str]:
    if any(hook.messages):
        length = f", {_number_series(hook.characters)} characters" if len(set(hook.characters)) > 1 else ""
        yield f"messages {_number_series(hook.messages)}{length}"
        yield from (f"again: {one_line(message, 120)}" for message in hook.same_messages[:ITEM_LIMIT])
        if len(hook.same_messages) > ITEM_LIMIT:
            yield f"again: {len(hook.same_messages) - ITEM_LIMIT} more"
    if any(hook.changes):
        places = ", ".join(one_line(path, 60) for path in hook.same_changes[:ITEM_LIMIT])
        yield f"changes of the event {_number_series(hook.changes)}{f': {places}' if places else ''}"


def _repeated_file_lines(repetition: Repetition, machine: Machine) -> Iterator[str]:
    files, sandbox = repetition.files, repetition.sandbox
    if files is None or sandbox is None:
        yield "File changes are unknown. With --sandbox, all runs share the same copies and show changes."
        return
    yield "files (in copies, discarded)"
    for file in files:
        where = printable_line(machine.short(Path(file.path)))
        yield f"  {_REPETITION_WORDS[file.outcome]:<14} {where}  {_number_series(file.sizes, ' bytes')}"
    if not files:
        yield f"  {sandbox.unchanged_text}"
    yield from run_output.sandbox_protection_lines(sandbox)


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
    shown = [_number_text(number) for number in numbers]
    return " → ".join(shown if len(shown) <= 6 else [*shown[:3], "…", shown[-1]]) + unit


def _number_text(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def times_text(number: int) -> str:
    """Return the number of runs as text; `once` for a single run."""
    return "once" if number == 1 else f"{number} times"


def duration_range(seconds: Sequence[float]) -> str:
    """Return the shortest and the longest time."""
    ends = (min(seconds, default=0.0), max(seconds, default=0.0))
    return "–".join(dict.fromkeys(map(duration, ends)))


# kinds whose values are not JSON
TEXT_KINDS = frozenset({FactKind.ENDED, FactKind.VERDICT, FactKind.ANSWERED, FactKind.CAUSED})


def order_document(findings: OrderFindings) -> Document:
    """Return `shuffled` of `fire --shuffle --json`."""
    return {
        "times": findings.max_runs,
        "done": len(findings.fired),
        "seed": findings.seed,
        "handlers": list(findings.names),
        "orders": {"possible": findings.possible_orders, "tried": len(findings.orders)},
        "matters": findings.order_matters,
        "findings": [_finding_document(item, findings.names) for item in finding_sentences(findings)],
        "left": [
            {"sentence": text, "runs": [item.run, other.run]}
            for text, (_, item, other) in zip(
                unexplained_sentences(findings), findings.unexplained, strict=True
            )
        ],
        "unsteady": list(unsteady_subjects(findings)),
    }


def _finding_document(sentence: FindingSentence, names: Sequence[str]) -> Document:
    finding = sentence.finding
    return {
        "sentence": sentence.text,
        "handlers": [names[finding.first], names[finding.second]],
        "company": [names[call] for call in finding.required_others],
        "narrowed": finding.narrowed,
        **_subject_document(finding.subject, finding, names),
        "also": [_subject_document(subject, finding, names) for subject in finding.other_subjects],
        "runs": {
            "registered": _run_document(finding.registered, names),
            "exchanged": _run_document(finding.exchanged, names),
        },
    }


def _subject_document(subject: FactSubject, finding: OrderFinding, names: Sequence[str]) -> Document:
    registered, exchanged = (_subject_value(subject, value) for value in finding.values(subject))
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


def order_text(
    runs_and_plans: Sequence[tuple[Run, Plan]], findings: OrderFindings, machine: Machine, *, copies: bool
) -> str:
    """Return a sentence for each finding with its two runs, then the first failed run.

    Only runs in the registered order are shown as failed.
    """
    runs, plan = [run for run, _ in runs_and_plans], runs_and_plans[0][1]
    took = duration_range([run.took for run in runs])
    lines = [
        f"{one_line(plan.event.key)}  fired {times_text(len(runs))}  {took}",
        "",
        order_summary(findings),
        f"registered: {', '.join(findings.names)}",
    ]
    for sentence in finding_sentences(findings):
        lines += [
            "",
            sentence.text,
            *(f"    {line}" for line in evidence_lines(sentence.finding, findings.names)),
        ]
    lines += ["", *unexplained_sentences(findings)] if findings.unexplained else []
    if findings.unstable:
        lines += [
            "",
            f"Not compared, because they differ between runs of the same order: "
            f"{', '.join(unsteady_subjects(findings))}.",
        ]
    if findings.is_sampled:
        lines += ["", f"Orders were chosen at random; --seed {findings.seed} repeats them."]
    lines += [] if copies else ["", STATE_KEPT_NOTE.format("with --sandbox")]
    failed = next((run for run in runs[:2] if run.failed or run.ending.failure), None)
    if failed is not None:
        lines += ["", "as registered:", run_output.run_text(failed, machine, plan)]
    return "\n".join(line.rstrip() for line in lines)

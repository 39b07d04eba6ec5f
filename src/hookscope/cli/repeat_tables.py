"""What handlers and files did again when one event was fired several times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hookscope.cli import run_tables
from hookscope.cli.cells import column, fitted
from hookscope.core.repeated import Again, HookAgain, Repetition
from hookscope.core.runs import Plan, Run
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import duration, one_line, printable
from hookscope.workbench import run_documents
from hookscope.workbench.documents import Document

MOST = 3  # messages and places that are named of one handler


def document(repeated: Repetition, asked: int) -> Document:
    """`repeated` of `fire --repeat --json`; `asked` is how often it was to be fired."""
    return {
        "times": asked,
        "done": repeated.times,
        "hooks": [_hook_document(one) for one in repeated.hooks],
        "files": None
        if repeated.files is None
        else [
            {"path": one.path, "verdict": one.again.value, "bytes": list(one.sizes)} for one in repeated.files
        ],
    }


def _hook_document(one: HookAgain) -> Document:
    return {
        "hook": one.hook,
        "key": one.key,
        "verdict": one.again.value,
        "statuses": [status or None for status in one.statuses],
        "ms": [run_documents.ms(took) for took in one.took],
        "messages": list(one.messages),
        "characters": list(one.characters),
        "changes": list(one.changes),
        "again": {"messages": list(one.same_messages), "changes": list(one.same_changes)},
    }


def text(done: Sequence[tuple[Run, Plan]], repeated: Repetition, here: Surroundings) -> str:
    """A line for each handler, what came again below it; then files, then the first run that failed."""
    runs, plan = [run for run, _ in done], done[0][1]
    took = [run.took for run in runs]
    head = f"{one_line(plan.event.key)}  fired {times(len(runs))}  {range_of(took)}"
    width = column((one_line(one.hook) for one in repeated.hooks), 32)
    lines = [head, ""]
    for one in repeated.hooks:
        ended = ", ".join(f"{status or 'did not run'} ×{n}" for status, n in Counter(one.statuses).items())
        lines.append(
            f"  {fitted(one_line(one.hook), width)}  {one.again.value:<19}  {ended}  {range_of(one.took)}"
        )
        lines += [f"      {line}" for line in _details(one)]
    if not repeated.hooks:
        lines.append("  nobody ran")
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    lines += [f"note: {one_line(note, 400)}" for note in notes]
    lines += ["", *_files(repeated, here)]
    failed = next((run for run in runs if run.failed or run.ending.failure), None)
    if failed is not None:
        lines += ["", f"the first run that failed, {runs.index(failed) + 1} of {len(runs)}:"]
        lines.append(run_tables.run(failed, here, plan))
    return "\n".join(line.rstrip() for line in lines)


def _details(one: HookAgain) -> Iterator[str]:
    if any(one.messages):
        length = f", {_series(one.characters)} characters" if len(set(one.characters)) > 1 else ""
        yield f"messages {_series(one.messages)}{length}"
        yield from (f"again: {one_line(message, 120)}" for message in one.same_messages[:MOST])
        if len(one.same_messages) > MOST:
            yield f"again: {len(one.same_messages) - MOST} more"
    if any(one.changes):
        places = ", ".join(one_line(path, 60) for path in one.same_changes[:MOST])
        yield f"changes of the event {_series(one.changes)}{f': {places}' if places else ''}"


def _files(repeated: Repetition, here: Surroundings) -> Iterator[str]:
    files, guarded = repeated.files, repeated.guarded
    if files is None or guarded is None:
        yield "What files they wrote is not known: with --sandbox all share the same copies, and it is shown."
        return
    yield "files (in copies, thrown away)"
    for one in files:
        where = printable(here.short(Path(one.path)))
        yield f"  {_WORDS[one.again]:<14} {where}  {_series(one.sizes, ' bytes')}"
    if not files:
        yield f"  {guarded.unchanged}"
    yield from run_tables.walls(guarded)


_WORDS = {
    Again.NOTHING: "once",
    Again.SAME: "once",
    Again.GROWS: "grows",
    Again.OTHER: "changes again",
}


def _series(numbers: Sequence[int | None], unit: str = "") -> str:
    """`3 bytes each time`, or `1 → 2 → 3 bytes`; of many the first and the last."""
    if len(set(numbers)) == 1:
        return f"{_number(numbers[0])}{unit} each time"
    shown = [_number(one) for one in numbers]
    return " → ".join(shown if len(shown) <= 6 else [*shown[:3], "…", shown[-1]]) + unit


def _number(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def times(number: int) -> str:
    """How often; once, where Ctrl-C ended the rest."""
    return "once" if number == 1 else f"{number} times"


def range_of(seconds: Sequence[float]) -> str:
    """The shortest and the longest."""
    ends = (min(seconds, default=0.0), max(seconds, default=0.0))
    return "–".join(dict.fromkeys(map(duration, ends)))

"""`hookscope log [RUN...]`."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hookscope.cli import answers, run_tables
from hookscope.cli.answers import Answer
from hookscope.cli.cells import fitted
from hookscope.cli.filters import filter_options, nothing_found, wanted_of
from hookscope.cli.numbers import Whole
from hookscope.core.event import iso
from hookscope.core.local_time import in_local_time
from hookscope.core.text import as_typed, duration, one_line
from hookscope.workbench import Options, Refusal, run_documents

if TYPE_CHECKING:
    from hookscope.core.dialect import Host
    from hookscope.workbench import Entry, Journal, StoredRun, Workbench
    from hookscope.workbench.history import Wanted

SIGNS = {"ok": "✓", "failed": "✗", "cancelled": "⊘", "interrupted": "☠", "running": "»"}
WHEN = "%Y-%m-%d %H:%M:%S"
PATIENCE = 0.25  # seconds between two looks for new runs

LIMIT = 20  # runs, where nobody says how many
LONGEST = 4000  # characters of a context

PARAMETERS = (
    click.Argument(["numbers"], metavar="[RUN...]", nargs=-1, type=Whole(1, 2**62)),
    click.Option(["--limit"], metavar="N", type=Whole(1, 10_000), help=f"How many runs; else {LIMIT}."),
    *filter_options(),
    click.Option(["--follow"], is_flag=True, help="Go on with new runs as they come; Ctrl-C ends it."),
    click.Option(["--from", "file"], metavar="FILE", help="Runs that `hookscope export` wrote there."),
)  # fmt: skip


@answers.command("log", *PARAMETERS)
def command(
    options: Options,
    numbers: Sequence[int],
    limit: int | None,
    follow: bool,
    file: str | None,
    as_json: bool,
    **given: Any,
) -> Answer:
    """What was fired in this workspace, newest last. Secrets were masked before they were kept.

    With numbers: those runs, each with all that its handlers did, as `fire` told it then.

    --text finds words in events, messages, errors, answers, output and notes: whole words, in capitals or
    not, with accents or not. It looks into the first 2,000 characters of each text and 32,000 of each run;
    names of fields are not searched.
    """
    wanted = wanted_of(given)
    if numbers and (limit is not None or follow or any(given.values())):
        raise Refusal("Runs are named by number, or looked for.", "Leave out one of them.", code=2)
    if file is not None and follow:
        raise Refusal(
            "--from reads a file that is whole; --follow waits for what comes.",
            "Leave out one of them.",
            code=2,
        )
    bench = answers.bench_of(options)
    if numbers:
        return _told_whole(bench, tuple(dict.fromkeys(numbers)), file)
    limit = limit or LIMIT
    if file is not None:
        return _of_file(Path(file), wanted, limit, given)
    journal = bench.record.journal(bench.open())
    try:
        newest = journal.recent(1)  # asked first: what comes meanwhile is followed
        runs = journal.select(wanted, limit)[::-1]
        entries = () if any(given.values()) else journal.entries(limit)[::-1]
        if follow:
            _follow(journal, runs, newest[0].id if newest else 0, wanted, as_json)
        settings = journal.settings(runs)
    except OSError as error:
        raise Refusal(str(error)) from None
    nothing = nothing_found(given) if any(given.values()) else "Nothing was fired in this workspace yet."
    return _answer(runs, entries, settings, nothing)


def _told_whole(bench: Workbench, numbers: Sequence[int], file: str | None) -> Answer:
    """These runs, of the journal or of an exported file."""
    from hookscope.workbench.history import RunFile, named, named_in

    host = bench.open()
    try:
        if file is not None:
            source = RunFile(Path(file))
            runs = named_in(source, numbers)
            settings = source.settings(runs)
        else:
            journal = bench.record.journal(host)
            runs = named(journal, numbers)
            settings = journal.settings(runs)
    except OSError as error:
        raise Refusal(str(error)) from None
    text = "\n\n".join(whole(run, host) for run in runs)
    return Answer({"runs": [document(run) for run in runs], "entries": [], "settings": dict(settings)}, text)


def _of_file(path: Path, wanted: Wanted, limit: int, given: Mapping[str, Any]) -> Answer:
    """The last of a file's runs that are wanted."""
    from hookscope.workbench.history import RunFile

    source = RunFile(path)
    fit = (run for run in source.runs() if wanted.in_time(run) and wanted.takes(run))
    runs = deque(fit, maxlen=limit)
    nothing = f"{one_line(str(path))} holds no run. `hookscope export --jsonl FILE` writes some into one."
    if any(given.values()):
        nothing = nothing_found(given, f"hookscope log --from {as_typed(path)}")
    return _answer(runs, (), source.settings(runs), nothing)


def _answer(
    runs: Sequence[StoredRun],
    entries: Sequence[Entry],
    settings: Mapping[str, object],
    nothing: str,
) -> Answer:
    told = {
        "runs": [document(run) for run in runs],
        "entries": [entry_document(entry) for entry in entries],
        "settings": dict(settings),
    }
    return Answer(told, "\n".join(lines(runs, entries) or [nothing]))


def _follow(journal: Journal, runs: Sequence[StoredRun], newest: int, wanted: Wanted, as_json: bool) -> None:
    """Print what is there, then every run that is wanted when it has ended. Ends by Ctrl-C only."""
    for run in _as_they_end(journal, [run for run in runs if run.id <= newest], newest, wanted):
        click.echo(json.dumps(document(run)) if as_json else line(run))
        sys.stdout.flush()


def _as_they_end(
    journal: Journal, runs: Sequence[StoredRun], newest: int, wanted: Wanted
) -> Iterator[StoredRun]:
    yield from runs
    going: list[int] = [run.id for run in runs if run.outcome == "running"]
    while True:
        fresh = journal.newer_than(newest, 200)
        if not fresh and _begins_anew(journal, newest):
            newest = 0
            continue
        newest = max((run.id for run in fresh), default=newest)
        going += [run.id for run in fresh]
        now = [run for number in going if (run := journal.run(number)) is not None]
        going = [run.id for run in now if run.outcome == "running"]
        yield from (run for run in now if run.outcome != "running" and wanted.takes(run))
        time.sleep(PATIENCE)


def _begins_anew(journal: Journal, newest: int) -> bool:
    """Has the file gone of which that is a run: ids are never given twice in one, and it keeps the last."""
    last = journal.recent(1)
    return newest > 0 and (not last or last[0].id < newest)


def document(run: StoredRun) -> dict[str, object]:
    """One run of `log --json`: when, what came of it, what held then, and the document of `fire --json`.

    `settings` is a digest, and what it stands for is beside the runs.
    """
    from hookscope.workbench.history import run_document

    told = run_documents.of_record(run.document)
    return {**run_document(run), "run": told, "version": run.version or None, "settings": run.settings}


def whole(run: StoredRun, host: Host) -> str:
    """A run: when and under which rules, the event, and what `fire` told of it."""
    from hookscope.workbench.past import told_of

    event = run.event
    context = json.dumps(run_documents.plain(event.context), ensure_ascii=False)
    when, pinned = in_local_time(run.started).strftime(WHEN), ", pinned" if run.pinned else ""
    head = f"run {run.id}  {when}  under {one_line(run.dialect)}  {SIGNS[run.outcome]} {run.outcome}{pinned}"
    said = [head, f"session  {one_line(event.session_key)}"]
    said += [f"context  {one_line(context, LONGEST)}"] if event.context else []
    done, plan = told_of(run, host)
    if done is None:
        said += ["", "Its end is not on record: nothing is known of its handlers."]
    else:
        said += ["", run_tables.run(done, host.surroundings, plan)]
    return "\n".join(said)


def entry_document(entry: Entry) -> dict[str, object]:
    """A load or a change in `log --json`."""
    return {
        "at": iso(entry.at),
        "kind": entry.kind,
        "subject": entry.subject,
        "level": entry.level,
        "text": entry.text,
        "detail": entry.detail,
    }


def lines(runs: Sequence[StoredRun], entries: Sequence[Entry]) -> list[str]:
    """Runs, loads and changes in order of time."""
    told = [(run.started, line(run)) for run in runs] + [(entry.at, entry_line(entry)) for entry in entries]
    told.sort(key=lambda pair: pair[0])
    return [text for _, text in told]


def entry_line(entry: Entry) -> str:
    """One line of `log` for a load or a change."""
    when = in_local_time(entry.at).strftime(WHEN)
    about = f"{one_line(entry.subject)}: {one_line(entry.text)}"
    return f"{'':>5}  {when}  {fitted(one_line(entry.kind), 22)}  {about}"


def line(run: StoredRun) -> str:
    """Number, time, event, outcome, and which handlers failed."""
    results = run.document.get("results") or []
    failed = [result["hook"] for result in results if result["status"] != "ok"]
    took = "" if run.took is None else duration(run.took)
    when = in_local_time(run.started).strftime(WHEN)
    about = f"{len(results)} ran" + (f", failed: {one_line(', '.join(failed))}" if failed else "")
    about += ", pinned" if run.pinned else ""
    outcome = fitted(f"{SIGNS[run.outcome]} {run.outcome}", 13)
    return f"{run.id:>5}  {when}  {fitted(one_line(run.key), 22)}  {outcome} {took:>9}  {about}"

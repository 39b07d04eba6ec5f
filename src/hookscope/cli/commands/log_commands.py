"""`hookscope log [RUN...]` and `hookscope pin RUN...`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.runs.past_runs import NEXT_STEP, RunFile, file_runs_numbered, run_and_plan, runs_numbered
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.options import WholeNumber
from hookscope.cli.render import run_output
from hookscope.cli.render.layout import fit_to_width
from hookscope.cli.shared_options import no_runs_message, run_filter_of, run_filter_options
from hookscope.model.failure import Refusal
from hookscope.model.hook_event import iso
from hookscope.model.text import duration, in_local_time, one_line, shell_path
from hookscope.storage.journal.records import plain_json

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench
    from hookscope.model.host import Host
    from hookscope.storage.journal.journal import Journal
    from hookscope.storage.journal.reader import JournalEntry, StoredRun
    from hookscope.storage.journal.run_filter import RunFilter

OUTCOME_SIGNS = {"ok": "✓", "failed": "✗", "cancelled": "⊘", "interrupted": "☠", "running": "»"}
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
POLL_SECONDS = 0.25  # seconds between two checks for new runs
UNREADABLE_POLLS = 20  # failed checks in a row until following ends with the error

DEFAULT_LIMIT = 20  # runs, without --limit
CONTEXT_LENGTH_LIMIT = 4000  # characters of a context

PARAMETERS = (
    click.Argument(["numbers"], metavar="[RUN...]", nargs=-1, type=WholeNumber(1, 2**62)),
    click.Option(
        ["--limit"], metavar="N", type=WholeNumber(1, 10_000), help=f"Runs to show; default: {DEFAULT_LIMIT}."
    ),
    *run_filter_options(),
    click.Option(["--follow"], is_flag=True, help="Keep showing new runs until Ctrl-C."),
    click.Option(["--from", "file"], metavar="FILE", help="Read a file written by `hookscope export`."),
)  # fmt: skip


@answers.command("log", *PARAMETERS)
def log_command(
    options: Options,
    numbers: Sequence[int],
    limit: int | None,
    follow: bool,
    file: str | None,
    as_json: bool,
    **given: Any,
) -> Answer:
    """Show the runs of this workspace, newest last. Secrets are masked.

    With numbers: those runs in full, as `fire` showed them.

    --text finds whole words in events, messages, errors, answers, output and notes, ignoring case and
    accents. It searches the first 2,000 characters of each text and 32,000 of each run; field names are not
    searched.
    """
    run_filter = run_filter_of(given)
    if numbers and (limit is not None or follow or any(given.values())):
        raise Refusal("log takes run numbers or filters, not both.", "Use one of them.", code=2)
    if file is not None and follow:
        raise Refusal(
            "--from reads a finished file; --follow waits for new entries.", "Leave out one of them.", code=2
        )
    bench = answers.workbench_for(options)
    if numbers:
        return _runs_in_full(bench, tuple(dict.fromkeys(numbers)), file)
    limit = limit or DEFAULT_LIMIT
    if file is not None:
        return _runs_of_file(Path(file), run_filter, limit, given)
    journal = bench.run_record.journal(bench.open())
    try:
        newest = journal.recent(1)  # read first: later runs are followed
        runs = journal.select(run_filter, limit)[::-1]
        entries = () if any(given.values()) else journal.entries(limit)[::-1]
        if follow:
            _follow_journal(journal, runs, newest[0].id if newest else 0, run_filter, as_json)
        settings = journal.settings(runs)
    except OSError as error:
        raise Refusal(str(error)) from None
    no_runs = no_runs_message(given) if any(given.values()) else "Nothing was fired in this workspace yet."
    return _log_answer(runs, entries, settings, no_runs)


def _runs_in_full(bench: Workbench, numbers: Sequence[int], file: str | None) -> Answer:
    host = bench.open()
    try:
        if file is not None:
            source = RunFile(Path(file))
            runs = file_runs_numbered(source, numbers)
            settings = source.settings(runs)
        else:
            journal = bench.run_record.journal(host)
            runs = runs_numbered(journal, numbers)
            settings = journal.settings(runs)
    except OSError as error:
        raise Refusal(str(error)) from None
    text = "\n\n".join(logged_run_text(run, host) for run in runs)
    return Answer(
        {"runs": [logged_run_document(run) for run in runs], "entries": [], "settings": dict(settings)}, text
    )


def _runs_of_file(path: Path, run_filter: RunFilter, limit: int, parameters: Mapping[str, Any]) -> Answer:
    source = RunFile(path)
    matching = (run for run in source.runs() if run_filter.is_in_time(run) and run_filter.matches(run))
    runs = deque(matching, maxlen=limit)
    no_runs = f"{one_line(str(path))} has no runs. `hookscope export --jsonl FILE` writes some."
    if any(parameters.values()):
        no_runs = no_runs_message(parameters, f"hookscope log --from {shell_path(path)}")
    return _log_answer(runs, (), source.settings(runs), no_runs)


def _log_answer(
    runs: Sequence[StoredRun], entries: Sequence[JournalEntry], settings: Mapping[str, object], no_runs: str
) -> Answer:
    document = {
        "runs": [logged_run_document(run) for run in runs],
        "entries": [entry_document(entry) for entry in entries],
        "settings": dict(settings),
    }
    return Answer(document, "\n".join(log_lines(runs, entries) or [no_runs]))


def _follow_journal(
    journal: Journal, runs: Sequence[StoredRun], newest: int, run_filter: RunFilter, as_json: bool
) -> None:
    """Print the runs so far, then each matching run when it ends. Ends by Ctrl-C only."""
    for run in _runs_as_they_end(journal, [run for run in runs if run.id <= newest], newest, run_filter):
        click.echo(json.dumps(logged_run_document(run)) if as_json else run_line(run))
        sys.stdout.flush()


def _runs_as_they_end(
    journal: Journal, runs: Sequence[StoredRun], newest: int, run_filter: RunFilter
) -> Iterator[StoredRun]:
    yield from runs
    running: list[int] = [run.id for run in runs if run.outcome == "running"]
    failed_polls = 0
    while True:
        try:
            new_runs = journal.newer_than(newest, 200)
            if not new_runs and _was_recreated(journal, newest):
                newest = 0
                continue
            known = [*running, *(run.id for run in new_runs)]
            now = [run for number in known if (run := journal.run(number)) is not None]
        except OSError:  # the file is being removed or created: unreadable only for a moment
            failed_polls += 1
            if failed_polls > UNREADABLE_POLLS:
                raise
        else:
            failed_polls = 0
            newest = max((run.id for run in new_runs), default=newest)
            running = [run.id for run in now if run.outcome == "running"]
            yield from (run for run in now if run.outcome != "running" and run_filter.matches(run))
        time.sleep(POLL_SECONDS)


def _was_recreated(journal: Journal, newest: int) -> bool:
    """Return True if the journal file that held run `newest` is gone.

    Ids are never reused within one file, and it keeps its last run.
    """
    last = journal.recent(1)
    return newest > 0 and (not last or last[0].id < newest)


def logged_run_document(run: StoredRun) -> dict[str, object]:
    """Return one run of `log --json`: its time, outcome, environment and the document of `fire --json`.

    `settings` is a digest; the settings themselves are beside the runs.
    """
    from hookscope.storage.journal.exported_runs import exported_run_document

    document = json_documents.stored_run_document(run.document)
    return {
        **exported_run_document(run),
        "run": document,
        "version": run.version or None,
        "settings": run.settings,
    }


def logged_run_text(run: StoredRun, host: Host) -> str:
    """Return a run as text: its time and dialect, the event, and the text of `fire`."""
    event = run.event
    context = json.dumps(plain_json(event.context), ensure_ascii=False)
    when, pinned = in_local_time(run.started).strftime(TIME_FORMAT), ", pinned" if run.pinned else ""
    head = (
        f"run {run.id}  {when}  under {one_line(run.dialect)}  "
        f"{OUTCOME_SIGNS[run.outcome]} {run.outcome}{pinned}"
    )
    lines = [head, f"session  {one_line(event.session_key)}"]
    lines += [f"context  {one_line(context, CONTEXT_LENGTH_LIMIT)}"] if event.context else []
    run_so_far, plan = run_and_plan(run, host)
    if run_so_far is None:
        lines += ["", "The end of this run was not recorded, so nothing is known about its handlers."]
    else:
        lines += ["", run_output.run_text(run_so_far, host.machine, plan)]
    return "\n".join(lines)


def entry_document(entry: JournalEntry) -> dict[str, object]:
    """Return a load or a change for `log --json`."""
    return {
        "at": iso(entry.at),
        "kind": entry.kind,
        "subject": entry.subject,
        "level": entry.level,
        "text": entry.text,
        "detail": entry.detail,
    }


def log_lines(runs: Sequence[StoredRun], entries: Sequence[JournalEntry]) -> list[str]:
    """Return runs, loads and changes as lines, in order of time."""
    timed_lines = [(run.started, run_line(run)) for run in runs] + [
        (entry.at, entry_line(entry)) for entry in entries
    ]
    timed_lines.sort(key=lambda pair: pair[0])
    return [text for _, text in timed_lines]


def entry_line(entry: JournalEntry) -> str:
    """Return the line of `log` for a load or a change."""
    when = in_local_time(entry.at).strftime(TIME_FORMAT)
    about = f"{one_line(entry.subject)}: {one_line(entry.text)}"
    return f"{'':>5}  {when}  {fit_to_width(one_line(entry.kind), 22)}  {about}"


def run_line(run: StoredRun) -> str:
    """Return number, time, event, outcome, failed handlers and verdict of a run."""
    results = run.document.get("results") or []
    failed = [result["hook"] for result in results if result["status"] != "ok"]
    took = "" if run.took is None else duration(run.took)
    when = in_local_time(run.started).strftime(TIME_FORMAT)
    about = f"{len(results)} ran" + (f", failed: {one_line(', '.join(failed))}" if failed else "")
    verdict = one_line(run.document.get("verdict") or "", 100)
    about += f", {verdict}" if verdict else ""
    about += ", pinned" if run.pinned else ""
    outcome = fit_to_width(f"{OUTCOME_SIGNS[run.outcome]} {run.outcome}", 13)
    return f"{run.id:>5}  {when}  {fit_to_width(one_line(run.key), 22)}  {outcome} {took:>9}  {about}"


@answers.command(
    "pin",
    click.Argument(["numbers"], metavar="RUN...", nargs=-1, required=True, type=WholeNumber(1, 2**62)),
    click.Option(["--off"], is_flag=True, help="Unpin the runs."),
)
def pin_command(options: Options, numbers: Sequence[int], off: bool) -> Answer:
    """Pin runs, so that they are never deleted to make room.

    `hookscope log` shows the numbers; with --pinned, only pinned runs. Exit code 1: a run does not exist.
    """
    bench = answers.workbench_for(options)
    journal = bench.run_record.journal(bench.open())
    distinct = tuple(dict.fromkeys(numbers))
    try:
        changed = asyncio.run(journal.pin(distinct, on=not off))
    except OSError as error:
        raise Refusal(str(error)) from None
    finally:
        bench.close_now()
    missing = [number for number in distinct if number not in changed]
    outcome = "no longer pinned" if off else "pinned"
    return Answer(
        {"pinned": not off, "runs": sorted(changed), "missing": missing},
        "\n".join(f"Run {number} is {outcome}." for number in sorted(changed)),
        ok=not missing,
        notes=tuple(f"There is no run {number} in this workspace. {NEXT_STEP}" for number in missing),
    )

"""`hookscope log`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.tables import fitted
from hookscope.core.event import iso
from hookscope.core.text import one_line
from hookscope.workbench import Options, Refusal

if TYPE_CHECKING:
    from hookscope.workbench import Entry, Journal, StoredRun

SIGNS = {"ok": "✓", "failed": "✗", "cancelled": "⊘", "interrupted": "☠", "running": "»"}
PATIENCE = 0.25  # seconds between two looks for new runs

PARAMETERS = (
    click.Option(["--limit"], type=click.IntRange(1, 10_000), default=20, help="How many runs; else 20."),
    click.Option(["--hook"], metavar="NAME", help="Only runs in which this hook was called."),
    click.Option(["--event"], metavar="KEY", help="Only runs of this event."),
    click.Option(["--failed"], is_flag=True, help="Only runs that did not end well."),
    click.Option(["--text"], metavar="WORDS", help="Only runs that hold this text."),
    click.Option(["--follow"], is_flag=True, help="Go on with new runs as they come; Ctrl-C ends it."),
)  # fmt: skip


@answers.command("log", *PARAMETERS)
def command(
    options: Options,
    limit: int,
    hook: str | None,
    event: str | None,
    failed: bool,
    text: str | None,
    follow: bool,
    as_json: bool,
) -> Answer:
    """What was fired in this workspace, newest last. Secrets were masked before they were kept."""
    bench = answers.bench_of(options)
    journal = bench.journal(bench.open())
    try:
        runs = journal.recent(limit, hook=hook, key=event, failed=failed or None, text=text)[::-1]
        entries = () if hook or event or failed or text else journal.entries(limit)[::-1]
        if follow:
            _follow(journal, runs, as_json)
    except OSError as error:
        raise Refusal(str(error)) from None
    happened = [entry_document(entry) for entry in entries]
    return Answer(
        {"runs": [document(run) for run in runs], "entries": happened}, "\n".join(lines(runs, entries))
    )


def _follow(journal: Journal, runs: Sequence[StoredRun], as_json: bool) -> None:
    """Print what is there, then every run when it has ended. Ends by Ctrl-C only."""
    for run in _as_they_end(journal, runs):
        click.echo(json.dumps(document(run)) if as_json else line(run))
        sys.stdout.flush()


def _as_they_end(journal: Journal, runs: Sequence[StoredRun]) -> Iterator[StoredRun]:
    yield from runs
    newest = max((run.id for run in runs), default=0)
    going: list[int] = []
    while True:
        fresh = journal.newer_than(newest, 200)
        newest = max((run.id for run in fresh), default=newest)
        going += [run.id for run in fresh]
        now = [run for number in going if (run := journal.run(number)) is not None]
        going = [run.id for run in now if run.outcome == "running"]
        yield from (run for run in now if run.outcome != "running")
        time.sleep(PATIENCE)


def document(run: StoredRun) -> dict[str, object]:
    """One run of `log --json`: when, what came of it, and the document of `fire --json`."""
    return {
        "id": run.id,
        "event": run.key,
        "started": iso(run.started),
        "ms": None if run.took is None else round(run.took * 1000, 3),
        "outcome": run.outcome,
        "dialect": run.dialect,
        "workspace": run.workspace,
        "run": dict(run.document),
    }


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
    return [text for _, text in told] or ["Nothing was fired in this workspace yet."]


def entry_line(entry: Entry) -> str:
    when = entry.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    about = f"{one_line(entry.subject)}: {one_line(entry.text)}"
    return f"{'':>5}  {when}  {fitted(one_line(entry.kind), 22)}  {about}"


def line(run: StoredRun) -> str:
    """Number, time, event, outcome, and which handlers failed."""
    results = run.document.get("results") or []
    failed = [result["hook"] for result in results if result["status"] != "ok"]
    took = "" if run.took is None else f"{run.took * 1000:.0f} ms"
    when = run.started.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    about = f"{len(results)} ran" + (f", failed: {one_line(', '.join(failed))}" if failed else "")
    outcome = fitted(f"{SIGNS[run.outcome]} {run.outcome}", 13)
    return f"{run.id:>5}  {when}  {fitted(one_line(run.key), 22)}  {outcome} {took:>9}  {about}"

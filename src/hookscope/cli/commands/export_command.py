"""`hookscope export [RUN...] --jsonl FILE | --html FILE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.options import WholeNumber
from hookscope.cli.shared_options import no_runs_message, run_filter_of, run_filter_options
from hookscope.model.failure import Refusal
from hookscope.model.text import error_reason, printable

if TYPE_CHECKING:
    from hookscope.storage.journal.journal import Journal
    from hookscope.storage.journal.reader import StoredRun
    from hookscope.storage.journal.redaction import Redaction
    from hookscope.storage.journal.run_filter import RunFilter

STANDARD_OUTPUT = "-"
PARAMETERS = (
    click.Argument(["numbers"], metavar="[RUN...]", nargs=-1, type=WholeNumber(1, 2**62)),
    click.Option(["--jsonl"], metavar="FILE", help="Write one JSON line per run; - is standard output."),
    click.Option(["--html"], metavar="FILE", help="Write one run as a page; - is standard output."),
    click.Option(
        ["--limit"],
        metavar="N",
        type=WholeNumber(1, 10_000),
        help="Only the last N matching runs; default: all.",
    ),
    *run_filter_options(),
)


@answers.command("export", *PARAMETERS)
def export_command(
    options: Options,
    numbers: Sequence[int],
    jsonl: str | None,
    html: str | None,
    limit: int | None,
    as_json: bool,
    **given: Any,
) -> Answer:
    """Write runs to a file that opens on another machine: by number, by the filters of `hookscope log`, or
    all of this workspace.

    The file includes digests of handler files and the host's settings. Secrets are masked.

    --jsonl is for programs, and for `hookscope log --from FILE`. --html is a page of one run, the last match:
    it needs no script, no network and no Hookscope.
    """
    target = html if jsonl is None else jsonl
    if target is None or None not in (jsonl, html):
        raise Refusal("export needs --jsonl FILE or --html FILE.", code=2)
    if numbers and any(given.values()):
        raise Refusal("export takes run numbers or filters, not both.", "Use one of them.", code=2)
    if as_json and target == STANDARD_OUTPUT:
        raise Refusal("The runs and --json both need standard output: name a file.", code=2)
    if html is not None and len(numbers) > 1:
        raise Refusal("An HTML page can hold only one run; use --jsonl for several.", code=2)
    if limit is not None and (numbers or html is not None):
        raise Refusal("--limit is only for --jsonl without run numbers.", "Leave it out.", code=2)
    run_filter = run_filter_of(given)
    bench = answers.workbench_for(options)
    journal = bench.run_record.journal(bench.open())
    try:
        runs = _selected_runs(journal, numbers, run_filter, limit if html is None else 1)
        first = next(runs, None)
        if first is None:
            raise Refusal(no_runs_message(given))
        redaction = bench.redaction
        if html is not None:
            texts = _html_page(journal, first, redaction)
        else:
            texts = _jsonl_lines(journal, chain([first], runs), redaction)
        count = _write_export(target, texts)
    except OSError as error:
        raise Refusal(str(error)) from None
    finally:
        bench.close_now()
    if target == STANDARD_OUTPUT:
        return Answer(None, "")
    what = f"the page of run {first.id}" if html is not None else f"{count:,} run{'s' * (count != 1)}"
    return Answer({"file": target, "runs": count}, f"Wrote {what} to {printable(target)}.")


def _selected_runs(
    journal: Journal, numbers: Sequence[int], run_filter: RunFilter, limit: int | None
) -> Iterator[StoredRun]:
    """Return the runs with these numbers in that order, else the runs that match, oldest first."""
    from hookscope.app.runs.past_runs import runs_numbered

    if numbers:
        return iter(runs_numbered(journal, numbers))
    return journal.iterate(run_filter) if limit is None else reversed(journal.select(run_filter, limit))


def _jsonl_lines(journal: Journal, runs: Iterator[StoredRun], redaction: Redaction) -> Iterator[str]:
    from hookscope.app.runs.past_runs import export_lines

    return (f"{line}\n" for line in export_lines(journal, runs, redaction))


def _html_page(journal: Journal, run: StoredRun, redaction: Redaction) -> Iterator[str]:
    from hookscope.app.runs.past_runs import masked_run
    from hookscope.app.runs.run_page import run_html

    settings: Mapping[str, Any] = journal.settings([run])
    yield run_html(*masked_run(run, settings.get(run.settings or ""), redaction))


def _write_export(target: str, texts: Iterable[str]) -> int:
    """Write the texts and return their number. The file is written completely or not at all.

    Raises Refusal, OSError.
    """
    if target == STANDARD_OUTPUT:
        return sum(1 for text in texts if sys.stdout.write(text) >= 0)
    path = Path(os.path.realpath(target))
    device = os.path.exists(path) and not os.path.isfile(path)  # os.path accepts any name, unlike Path
    temporary = path if device else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        file = temporary.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise Refusal(
            f"Cannot write {target}: {error_reason(error)}.", "Name another file.", code=2
        ) from None
    try:
        with file:
            count = sum(1 for text in texts if file.write(text) >= 0)
        if temporary is not path:
            temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            if temporary is not path:
                temporary.unlink()
        raise
    return count

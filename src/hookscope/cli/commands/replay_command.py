"""`hookscope replay [RUN...]`."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import click

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.options import Options
from hookscope.authoring.testing.replay import ReplayResult, replay_run, runs_to_replay
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import fire_one_by_one
from hookscope.cli.options import WholeNumber
from hookscope.cli.render.run_output import dry_run_answer
from hookscope.cli.shared_options import (
    only_option,
    run_filter_of,
    run_filter_options,
    timeout_option,
    trust_option,
    wait_option,
)
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan, Run
from hookscope.model.run_comparison import RunDifference
from hookscope.model.text import duration, one_line
from hookscope.storage.journal.records import plain_json


def replay_document(replay: ReplayResult, dialect: str) -> Document:
    """Return one run of `replay --json`."""
    return {
        "replayed": replay.past.id,
        "same": replay.is_unchanged,
        "different": [
            {
                "kind": difference.kind,
                "what": difference.subject,
                "before": plain_json(difference.before),
                "after": plain_json(difference.after),
            }
            for difference in replay.differences
        ],
        "changed": [
            {"hook": difference.hook, "path": difference.path, "what": difference.what}
            for difference in replay.changed_handlers
        ],
        "could_not_run": list(replay.could_not_run),
        "run": json_documents.run_document(replay.run, dialect),
    }


def replay_text(replay: ReplayResult) -> str:
    """Return the event, both runs, their handler times and changed files, then each difference."""
    times = f"{duration(_handler_seconds(replay.before))} → {duration(_handler_seconds(replay.run))}"
    outcome = "as before" if not replay.differences else f"{len(replay.differences)} different"
    outcome += ", not all could run" * bool(replay.could_not_run) + ", cancelled" * replay.run.cancelled
    head = f"{one_line(replay.run.event.key)}  run {replay.past.id} → run {replay.run.id}  {outcome}  {times}"
    changed = ", ".join(
        f"{one_line(changed_file.hook)} ({changed_file.text})" for changed_file in replay.changed_handlers
    )
    head += f"  since run {replay.past.id}: {changed}" if changed else ""
    return "\n".join(
        [head, *(f"  {line}" for difference in replay.differences for line in _difference_line(difference))]
    )


def _handler_seconds(run: Run) -> float:
    """Return the seconds spent in handlers, without the start of workers."""
    return sum(result.took for result in run.results)


def _difference_line(difference: RunDifference) -> Iterator[str]:
    if difference.kind == "message":
        yield (
            f"- {one_line(str(difference.before), 300)}"
            if difference.after is None
            else f"+ {one_line(str(difference.after), 300)}"
        )
        return
    subject = one_line(difference.subject, 120)
    name = f"{difference.kind}.{subject}" if difference.kind in ("context", "result") else subject
    yield (
        f"{name}: {_short_difference_value(difference.before, difference.kind)} → "
        f"{_short_difference_value(difference.after, difference.kind)}"
    )


def _short_difference_value(value: object, kind: str) -> str:
    if value is None:
        return "did not run" if kind == "handler" else "nothing"
    if isinstance(value, str) and kind in ("handler", "verdict"):
        return one_line(value, 300)
    return one_line(json.dumps(plain_json(value), ensure_ascii=False), 200)


PARAMETERS = (
    click.Argument(["numbers"], metavar="[RUN...]", nargs=-1, type=WholeNumber(min=1)),
    click.Option(["--last"], type=WholeNumber(1, 10_000), metavar="N", help="The last N runs; default: 1."),
    click.Option(["--all", "every"], is_flag=True, help="All runs, or all that match the filters."),
    *run_filter_options(),
    only_option(),
    click.Option(
        ["--from", "start"], metavar="K|HOOK", help="Start at handler K, with the event as it was then."
    ),
    click.Option(["--dry"], is_flag=True, help="Show which handlers would run; run nothing."),
    timeout_option(),
    wait_option(),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies; the default if that run did."),
    trust_option(),
)


@answers.command("replay", *PARAMETERS)
def replay_command(
    options: Options,
    numbers: Sequence[int],
    last: int | None,
    every: bool,
    only: str | None,
    start: str | None,
    dry: bool,
    sandbox: bool,
    timeout: float | None,
    wait: float,
    trust: bool,
    **given: Any,
) -> Answer:
    """Fire the event of an earlier run again, by default the last one, and show what differs.

    The comparison covers handlers, order, messages, context and verdict. Handlers find the number of the run
    as `replayed` in the context, in a plugin's `ctx`, or in a stream event's `meta`. Exit code 1: something
    differs.

    Replays themselves are skipped, so that each run is compared with the original. With a filter (--since,
    --event, …) all matching runs are fired again.

    With --from, earlier handlers are not called: their recorded changes are applied to the event.
    """
    if start is not None and only is not None:
        raise Refusal("--from and --only exclude different handlers.", "Choose one of them.", code=2)
    filters = [name for name, value in given.items() if value and name != "failed"]
    if numbers and (every or last or filters or given["failed"]):
        raise Refusal("replay takes run numbers or filters, not both.", "Use one of them.", code=2)
    several = last is None and (every or bool(filters))
    bench = answers.workbench_for(
        options, trust_all=trust, timeout=timeout, linger_seconds=wait, compare_shipped=False
    )
    try:
        past_runs = runs_to_replay(bench, numbers, run_filter_of(given), None if several else last or 1)
    except OSError as error:
        raise Refusal(str(error)) from None
    fire = partial(replay_run, bench, only=only, start=start, sandbox=sandbox, dry=dry)
    results, failures = asyncio.run(fire_one_by_one(bench, past_runs, fire, lambda one: f"Run {one.id}"))
    if dry:
        return dry_run_answer([plan for plan in results if isinstance(plan, Plan)], failures)
    runs = [replay for replay in results if isinstance(replay, ReplayResult)]
    not_run = dict.fromkeys(sentence for replay in runs for sentence in replay.could_not_run)
    return Answer(
        [replay_document(replay, bench.dialect.name) for replay in runs],
        "\n\n".join(map(replay_text, runs)),
        ok=all(replay.is_unchanged for replay in runs) and not failures,
        notes=(*not_run, *failures),
    )

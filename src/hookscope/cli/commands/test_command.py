"""`hookscope test [FILE|DIR...]`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from time import time_ns
from typing import NoReturn

import click

from hookscope.app.options import Options
from hookscope.app.project_config import ENVIRONMENTS_FOLDER, EVENTS_FOLDER, SEQUENCES_FOLDER, YAML_ENDINGS
from hookscope.app.watching import AUTHORED, POLL, Watch, WatchedPaths, watched_paths
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.acceptance import accept as accept_run
from hookscope.authoring.testing.acceptance import expectation_masking_of
from hookscope.authoring.testing.sequences import run_test_file
from hookscope.authoring.testing.test_runs import SavedEventResult, saved_event_paths
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import InterruptibleSeries, cancel_on_interrupt
from hookscope.cli.render import test_output
from hookscope.cli.shared_options import (
    ReportFile,
    check_report_writable,
    timeout_option,
    trust_option,
    wait_option,
    write_report,
)
from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.text import one_line
from hookscope.storage.state_files import DOTENV
from hookscope.values import dataclass

WAITING_MESSAGE = "hookscope: waiting until hooks, settings or saved events change; press Ctrl-C to stop."
WATCHED_KINDS = {*AUTHORED, *YAML_ENDINGS}
PARAMETERS = (
    click.Argument(["what"], metavar="[FILE|DIR...]", nargs=-1),
    click.Option(["--junit"], metavar="FILE", type=ReportFile(), help="Also write JUnit XML."),
    click.Option(
        ["--accept"],
        is_flag=True,
        help="Write the actual results into failed files and those without expectations.",
    ),
    click.Option(["--watch"], is_flag=True, help="Repeat the tests on every save; press Ctrl-C to stop."),
    timeout_option(),
    wait_option(),
    click.Option(
        ["--sandbox"],
        is_flag=True,
        help="Run handlers on fresh copies for each event, and show changed files.",
    ),
    trust_option(),
)


@dataclass(frozen=True, slots=True)
class TestArguments:
    """The command line's arguments, for every round."""

    options: Options
    paths: Sequence[Path]
    junit: Path | None
    accept: bool
    timeout: float | None
    wait: float
    sandbox: bool
    trust: bool


@answers.command("test", *PARAMETERS)
def test_command(
    options: Options,
    what: Sequence[str],
    junit: Path | None,
    accept: bool,
    watch: bool,
    timeout: float | None,
    wait: float,
    sandbox: bool,
    trust: bool,
    as_json: bool,
) -> Answer:
    """Fire saved events and sequences, and compare each run with the `expect:` of its file.

    Without names: all of .hookscope/events and .hookscope/sequences. Exit code 1: one failed.

    --accept writes the actual results as expected: failed values are replaced in place, and a file without
    `expect:` gets a first draft. --watch tests again on every save.

    All handlers subscribed to an event really run, as its host would call them. --sandbox gives them copies
    of HOME, the host's state folder and the workspace; their changes are shown and discarded.
    """
    named = [Path(name) for name in what]
    arguments = TestArguments(options, named, junit, accept, timeout, wait, sandbox, trust)
    if watch and accept:
        raise Refusal(
            "--accept writes once; with --watch it would accept every mistake.",
            "Leave out one of them.",
            code=2,
        )
    if watch:
        _watch_rounds(arguments, as_json)
    return _run_round(arguments, _workbench(arguments))[0]


def _workbench(arguments: TestArguments) -> Workbench:
    return answers.workbench_for(
        arguments.options,
        trust_all=arguments.trust,
        timeout=arguments.timeout,
        linger_seconds=arguments.wait,
        compare_shipped=False,
    )


def _run_round(arguments: TestArguments, bench: Workbench) -> tuple[Answer, bool]:
    """Run one round; also return whether Ctrl-C ended it. Raises Refusal if there is nothing to test."""
    host = bench.open()
    files = saved_event_paths(host.workspace, arguments.paths)
    if arguments.junit is not None:
        check_report_writable(arguments.junit)
    series, began = InterruptibleSeries(), datetime.now().astimezone()
    results = asyncio.run(_run_tests(bench, files, series, sandbox=arguments.sandbox))
    copied_machine = bench.setup.machine if arguments.sandbox else None
    notes = [f"Stopped: {len(results)} of {len(files)} were fired."] if series.stopped else []
    if arguments.accept and not series.stopped:
        results = [_accept_outcome(bench, result, notes) for result in results]
    if arguments.junit is not None:
        report = test_output.junit_xml(
            results, bench.setup.machine.cwd, began, copied_machine, bench.redaction
        )
        write_report(arguments.junit, report)
    return Answer(
        [test_output.saved_event_document(result, bench.dialect.name) for result in results],
        test_output.saved_event_results_text(results, copied_machine),
        ok=all(result.passed for result in results) and not series.stopped,
        notes=(*answers.unreadable_settings_warnings(host), *notes),
    ), series.stopped


def _watch_rounds(arguments: TestArguments, as_json: bool) -> NoReturn:
    """Test, then again whenever hooks, settings or saved events are saved. Ends by Ctrl-C only."""
    changes: SimpleQueue[frozenset[Path]] = SimpleQueue()
    watch = Watch(changes.put)
    try:
        while True:
            started = time_ns()
            bench = _workbench(arguments)  # a new one each round: settings and modules are read again
            host = bench.open()
            watched = _watched_files(arguments, host)
            watch.watch(watched, started)
            try:
                answer, stopped = _run_round(arguments, bench)
            except Refusal as error:
                answer, stopped = Answer([], "", notes=(str(error),)), False
            if as_json:
                answer = replace(answer, document=None, text=json.dumps(answer.document, default=str))
            answers.print_answer(answer, as_json=False)
            if stopped:
                raise click.Abort
            click.echo(WAITING_MESSAGE, err=True)
            saved = _wait_for_save(changes, arguments, host, watched)
            if not as_json:
                names = ", ".join(sorted(one_line(path.name, 40) for path in saved)) or "new folders"
                click.echo(f"\n── {names} ──\n")
    finally:
        watch.close()


def _watched_files(arguments: TestArguments, host: Host) -> WatchedPaths:
    named = arguments.paths or [host.workspace / EVENTS_FOLDER, host.workspace / SEQUENCES_FOLDER]
    places = (*named, host.workspace / ENVIRONMENTS_FOLDER, host.workspace / DOTENV)
    return watched_paths(host).with_paths(host.machine.absolute(place) for place in places)


def _wait_for_save(
    changes: SimpleQueue[frozenset[Path]], arguments: TestArguments, host: Host, watched: WatchedPaths
) -> frozenset[Path]:
    """Wait until a file that an author writes is saved; files that handlers write do not count.

    Returns nothing if the paths to watch have changed: a folder was created, perhaps before the
    watch started.
    """
    while True:
        try:
            paths = changes.get(timeout=POLL)
        except Empty:
            if _watched_files(arguments, host) != watched:
                return frozenset()
            continue
        while not changes.empty():
            paths |= changes.get()
        saved = frozenset(
            path
            for path in paths
            if path.suffix in WATCHED_KINDS or path.name == DOTENV or path == host.settings.file
        )
        if saved:
            return saved


def _accept_outcome(bench: Workbench, result: SavedEventResult, failures: list[str]) -> SavedEventResult:
    try:
        accepted = accept_run(result, bench.edits.write_saved_file, expectation_masking_of(bench))
    except Refusal as error:
        failures.append(str(error))
        return result
    notes = tuple(_newly_accepted_errors(result)) if accepted else ()
    return replace(result, accepted=accepted, notes=(*result.notes, *notes))


def _newly_accepted_errors(test_result: SavedEventResult) -> Iterator[str]:
    """Yield a note for each error that is newly accepted: bugs are easily accepted by mistake."""
    for part in (test_result, *test_result.steps):
        if part.run is None or (part.expects and not any(miss.what == "errors" for miss in part.misses)):
            continue
        for name in dict.fromkeys(result.call.name for result in part.run.failed):
            yield f"{name} fails, and that is now expected; `hookscope undo` reverts this."


async def _run_tests(
    bench: Workbench, files: Sequence[Path], series: InterruptibleSeries, *, sandbox: bool
) -> list[SavedEventResult]:
    results: list[SavedEventResult] = []
    try:
        with cancel_on_interrupt(series.stop):
            for file in files:
                results.append(await run_test_file(bench, file, series.started, sandbox=sandbox))
                if series.stopped:
                    break
    finally:
        await bench.close()
    return results

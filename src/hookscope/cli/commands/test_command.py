"""`hookscope test [FILE|DIR...]`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from time import time_ns
from typing import NoReturn

import click

from hookscope.cli import answers, test_tables
from hookscope.cli.answers import Answer
from hookscope.cli.firing_options import timeout_option, trust_option, wait_option
from hookscope.cli.interrupting import OneAfterAnother, ended_by_interrupt
from hookscope.cli.report_files import ReportFile, check_writable, write_report
from hookscope.core.dialect import Host
from hookscope.core.text import one_line
from hookscope.values import dataclass
from hookscope.workbench import Options, Refusal, Watch, Workbench
from hookscope.workbench.accepting import accept as accept_run
from hookscope.workbench.environments import ENVIRONMENTS
from hookscope.workbench.hiding import hiding_of
from hookscope.workbench.saved import EVENTS
from hookscope.workbench.sections import ENDINGS
from hookscope.workbench.sequences import SEQUENCES
from hookscope.workbench.sequencing import checked_file
from hookscope.workbench.testing import Verified, saved_events
from hookscope.workbench.variables import DOTENV
from hookscope.workbench.watching import AUTHORED, POLL, Watched, watched_of

WAITS = "hookscope: waiting for a save of hooks, settings or saved events; Ctrl-C ends it."
KINDS = {*AUTHORED, *ENDINGS}
PARAMETERS = (
    click.Argument(["what"], metavar="[FILE|DIR...]", nargs=-1),
    click.Option(["--junit"], metavar="FILE", type=ReportFile(), help="Write JUnit's XML there too."),
    click.Option(
        ["--accept"], is_flag=True, help="Write what happened into the files that missed or had nothing."
    ),
    click.Option(["--watch"], is_flag=True, help="Test again on every save; Ctrl-C ends it."),
    timeout_option(),
    wait_option(),
    click.Option(
        ["--sandbox"], is_flag=True, help="Run handlers on copies, anew for each event, and show the files."
    ),
    trust_option(),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of every round."""

    options: Options
    what: Sequence[Path]
    junit: Path | None
    accept: bool
    timeout: float | None
    wait: float
    sandbox: bool
    trust: bool


@answers.command("test", *PARAMETERS)
def command(
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
    """Fire saved events and sequences, those of .hookscope/events and .hookscope/sequences where none is
    named, and compare each run with the `expect:` of its file. Exit 1 where one misses.

    With --accept what happened is expected from now on: missed values are replaced where they stand, and
    a file without `expect:` gets a first draft. With --watch all is tested again on every save.

    All handlers that listen to an event really run, as its host would call them. With --sandbox they get
    copies of HOME, of the host's state folder and of the workspace; what they wrote is shown and thrown away.
    """
    named = [Path(name) for name in what]
    asked = Asked(options, named, junit, accept, timeout, wait, sandbox, trust)
    if watch and accept:
        raise Refusal(
            "--accept writes once; with --watch it would accept every mistake.",
            "Leave out one of them.",
            code=2,
        )
    if watch:
        _rounds(asked, as_json)
    return _tested(asked, _bench(asked))[0]


def _bench(asked: Asked) -> Workbench:
    return answers.bench_of(
        asked.options, trust_all=asked.trust, timeout=asked.timeout, lingers=asked.wait, compares=False
    )


def _tested(asked: Asked, bench: Workbench) -> tuple[Answer, bool]:
    """One round, and whether Ctrl-C ended it. Raises Refusal where there is nothing to test."""
    host = bench.open()
    files = saved_events(host.workspace, asked.what)
    if asked.junit is not None:
        check_writable(asked.junit)
    turns = OneAfterAnother()
    items = asyncio.run(_all(bench, files, turns, sandbox=asked.sandbox))
    copies = bench.setup.surroundings if asked.sandbox else None
    refused = [f"Stopped: {len(items)} of {len(files)} were fired."] if turns.stopped else []
    if asked.accept and not turns.stopped:
        items = [_accepted(bench, item, refused) for item in items]
    if asked.junit is not None:
        write_report(asked.junit, test_tables.junit(items, copies, bench.redaction))
    return Answer(
        [test_tables.document(item, bench.dialect.name) for item in items],
        test_tables.text(items, copies),
        yes=all(item.passed for item in items) and not turns.stopped,
        aside=(*answers.unread_settings(host), *refused),
    ), turns.stopped


def _rounds(asked: Asked, as_json: bool) -> NoReturn:
    """Test, then again whenever hooks, settings or saved events were saved. Ends by Ctrl-C only."""
    changes: SimpleQueue[frozenset[Path]] = SimpleQueue()
    watch = Watch(changes.put)
    try:
        while True:
            began = time_ns()
            bench = _bench(asked)  # a new one each time: settings and modules are read anew
            host = bench.open()
            watched = _watched(asked, host)
            watch.watch(watched, began)
            try:
                answer, stopped = _tested(asked, bench)
            except Refusal as error:
                answer, stopped = Answer([], "", aside=(str(error),)), False
            if as_json:
                answer = replace(answer, document=None, text=json.dumps(answer.document, default=str))
            answers.printed(answer, as_json=False)
            if stopped:
                raise click.Abort
            click.echo(WAITS, err=True)
            saved = _next(changes, asked, host, watched)
            if not as_json:
                names = ", ".join(sorted(one_line(path.name, 40) for path in saved)) or "new folders"
                click.echo(f"\n── {names} ──\n")
    finally:
        watch.close()


def _watched(asked: Asked, host: Host) -> Watched:
    named = asked.what or [host.workspace / EVENTS, host.workspace / SEQUENCES]
    places = (*named, host.workspace / ENVIRONMENTS, host.workspace / DOTENV)
    return watched_of(host).and_also(host.surroundings.absolute(place) for place in places)


def _next(
    changes: SimpleQueue[frozenset[Path]], asked: Asked, host: Host, watched: Watched
) -> frozenset[Path]:
    """Wait until something was saved that an author writes; what handlers write is none of it.

    Nothing where other things matter than are watched: a folder came, perhaps before the watch stood.
    """
    while True:
        try:
            paths = changes.get(timeout=POLL)
        except Empty:
            if _watched(asked, host) != watched:
                return frozenset()
            continue
        while not changes.empty():
            paths |= changes.get()
        saved = frozenset(
            path
            for path in paths
            if path.suffix in KINDS or path.name == DOTENV or path == host.settings.file
        )
        if saved:
            return saved


def _accepted(bench: Workbench, item: Verified, refused: list[str]) -> Verified:
    try:
        accepted = accept_run(item, bench.edits.keep, hiding_of(bench))
    except Refusal as error:
        refused.append(str(error))
        return item
    now_right = tuple(_now_right(item)) if accepted else ()
    return replace(item, accepted=accepted, notes=(*item.notes, *now_right))


def _now_right(item: Verified) -> Iterator[str]:
    """Errors that were not expected, and are from now on: a mistake is easily accepted with the rest."""
    for one in (item, *item.steps):
        if one.run is None or (one.expects and not any(miss.what == "errors" for miss in one.misses)):
            continue
        for name in dict.fromkeys(result.call.name for result in one.run.failed):
            yield f"{name} fails, and that is expected from now on; `hookscope undo` takes it back."


async def _all(
    bench: Workbench, files: Sequence[Path], turns: OneAfterAnother, *, sandbox: bool
) -> list[Verified]:
    items: list[Verified] = []
    try:
        with ended_by_interrupt(turns.stop):
            for file in files:
                items.append(await checked_file(bench, file, turns.begun, sandbox=sandbox))
                if turns.stopped:
                    break
    finally:
        await bench.close()
    return items

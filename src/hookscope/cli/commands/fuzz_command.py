"""`hookscope fuzz KEY`."""

import asyncio
import json
import secrets
import sys
from collections.abc import Iterator

import click

from hookscope.analysis.fuzzing import (
    LIMIT,
    MOST_EXAMPLES,
    FoundFailure,
    FuzzedHook,
    Fuzzer,
    FuzzResult,
    save_failures,
)
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.options import Options
from hookscope.app.trust_requests import cannot_run_messages, waiting_for_trust
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.options import SEED_NUMBER, WholeNumber
from hookscope.cli.render import run_output
from hookscope.cli.shared_options import only_option, timeout_option, trust_option
from hookscope.model.failure import Refusal, failure_document
from hookscope.model.machine import Machine
from hookscope.model.run import Event, Result
from hookscope.model.text import one_line, printable_line
from hookscope.storage.journal.records import plain_json

SETTINGS_NOTE = ", and `cfg`, the current settings"  # not shown, because it holds secrets
VALUE_WIDTH_LIMIT = 300  # characters of a value


def _failure_document(failure: FoundFailure) -> Document:
    return {
        "status": failure.status,
        "type": failure.type,
        "place": None if failure.place is None else {"file": failure.place[0], "line": failure.place[1]},
        "times": failure.times,
        "again": failure.reproduced,
        "event": json_documents.event_document(failure.event),
        "saved": None if failure.file is None else str(failure.file),
        "not_saved": failure.save_problem or None,
        "run": None if failure.run is None else failure.run.id,
        "error": failure_document(failure.error),
    }


def fuzz_text(result: FuzzResult, machine: Machine) -> str:
    """Return a paragraph for each hook, and the seed to repeat the events."""
    parts = ["\n".join(_hook_lines(hook, result.template, machine)) for hook in result.hooks]
    stopped = "stopped early; " if result.stopped else ""
    return "\n\n".join([*parts, f"{stopped}--seed {result.seed} fires the same events again"])


def _hook_lines(hook: FuzzedHook, template: Event, machine: Machine) -> Iterator[str]:
    failures = len(hook.failures)
    outcome = f"✗ {failures} failure{'s' * (failures > 1)}" if failures else "✓ nothing failed"
    ended = f"; stopped because {one_line(hook.stop_reason)}" if hook.stop_reason else ""
    yield f"{one_line(hook.hook)}  {hook.fired:,} events  {outcome}{ended}"
    for failure in hook.failures:
        yield ""
        yield from _failure_lines(failure, template, machine)


def _failure_lines(failure: FoundFailure, template: Event, machine: Machine) -> Iterator[str]:
    lines = run_output.error_lines(failure.error, machine) or [failure.status]
    yield f"  ✗ {lines[0]}"
    yield from (f"      {line}" for line in lines[1:])
    if not failure.reproduced:
        yield "      it did not fail again: the failure depends on more than the event"
    yield "    the smallest event that causes it:"
    yield from (f"      {line}" for line in _event_difference(failure.event, template))
    file_text = (
        f"saved as {printable_line(machine.short(failure.file))}" if failure.file is not None else "not saved"
    )
    yield f"    {file_text}{f': {one_line(failure.save_problem)}' if failure.save_problem else ''}"


def _event_difference(event: Event, template: Event) -> Iterator[str]:
    if event.session_key != template.session_key:
        yield f"session: {_short_value(event.session_key)}"
    context = {name: value for name, value in event.context.items() if name != "cfg"}
    yield f"context: {_short_value(context)}{SETTINGS_NOTE if len(context) < len(event.context) else ''}"
    if event.ctx != template.ctx:
        yield f"ctx: {_short_value(event.ctx)}"


def _short_value(value: object) -> str:
    text = json.dumps(plain_json(value), ensure_ascii=False)
    return one_line(text, VALUE_WIDTH_LIMIT) + (
        f" ({len(text):,} characters)" if len(text) > VALUE_WIDTH_LIMIT else ""
    )


PARAMETERS = (
    click.Argument(["key"]),
    only_option(),
    click.Option(
        ["--examples"], type=WholeNumber(1, 100_000), metavar="N", default=MOST_EXAMPLES,
        help=f"Events for each hook; default: {MOST_EXAMPLES}. Finding the smallest event takes more.",
    ),
    click.Option(["--seed"], type=SEED_NUMBER, metavar="N", help="The same seed gives the same events."),
    click.Option(["--save"], metavar="NAME", help="Save failing events under this name."),
    timeout_option(LIMIT),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, which are discarded."),
    trust_option(),
)  # fmt: skip


@answers.command("fuzz", *PARAMETERS)
def fuzz_command(
    options: Options,
    key: str,
    only: str | None,
    examples: int,
    seed: int | None,
    save: str | None,
    timeout: float | None,
    sandbox: bool,
    trust: bool,
) -> Answer:
    """Fire unusual events at each hook subscribed to KEY, and find the smallest event that makes it fail.

    Fields are dropped, null, of wrong types, huge or in unusual scripts; so are session keys. Handlers really
    run, hundreds of times: --sandbox runs them on copies. Without it, bundled hooks are only fired if --only
    names one.

    Each failure is shown with its error, and saved in .hookscope/events as an event that expects no errors,
    so that `hookscope test` passes once the hook is fixed. Exit code 1: a failure was found. Requires
    hypothesis, from the extra `hookscope[fuzz]`.
    """
    bench = answers.workbench_for(
        options, trust_all=trust, timeout=LIMIT if timeout is None else timeout, compare_shipped=False
    )
    if seed is None:
        seed = secrets.randbelow(2**32)
    fuzzed, not_run = asyncio.run(_fuzz_hooks(bench, key, only, examples, seed, sandbox, save))
    return Answer(
        {
            "event": fuzzed.template.key,
            "seed": fuzzed.seed,
            "examples": fuzzed.examples,
            "stopped": fuzzed.stopped,
            "hooks": [
                {
                    "hook": hook.hook,
                    "fired": hook.fired,
                    "ended": hook.stop_reason or None,
                    "failures": [_failure_document(failure) for failure in hook.failures],
                }
                for hook in fuzzed.hooks
            ],
        },
        fuzz_text(fuzzed, bench.setup.machine),
        ok=not (fuzzed.failures or not_run or fuzzed.stopped),
        notes=tuple(not_run),
    )


async def _fuzz_hooks(
    bench: Workbench, key: str, only: str | None, examples: int, seed: int, sandbox: bool, save: str | None
) -> tuple[FuzzResult, list[str]]:
    try:
        view = bench.scan()
        template = bench.template(view, key)
        view = await bench.load_modules(view, template.kind)
        plan = bench.plan(view, template, only=only)
        not_run = [
            *answers.untrusted_folder_warnings(waiting_for_trust(view, plan), view.host.machine),
            *cannot_run_messages(view, plan, only=only),
        ]
        if not_run and not plan.calls:
            raise Refusal(not_run[0])
        report = _report_failure if sys.stderr.isatty() else None
        fuzz = Fuzzer(
            bench, view, template, only=only, examples=examples, seed=seed, sandbox=sandbox, on_failure=report
        )
        return save_failures(bench, view, await _run_fuzz(fuzz), save), not_run
    finally:
        await bench.close()


async def _run_fuzz(fuzz: Fuzzer) -> FuzzResult:
    """Run the search. Ctrl-C ends it; failures found so far are returned."""
    try:
        with cancel_on_interrupt(fuzz.stop):
            return await fuzz.run()
    except OSError as error:
        raise Refusal(f"Cannot make copies for --sandbox: {error}.", "Nothing was fired.") from None


def _report_failure(result: Result) -> None:
    error = result.error
    problem = f"{error.type}: {error.message}" if error is not None else result.status
    click.echo(
        f"{one_line(result.call.name)} fails: {one_line(problem)}; looking for the smallest event.", err=True
    )

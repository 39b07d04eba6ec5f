"""`hookscope fuzz KEY`."""

from __future__ import annotations

import asyncio
import secrets
import sys

import click

from hookscope.analysis.fuzzing import LIMIT, MOST_EXAMPLES, Fuzzer, FuzzResult, save_failures
from hookscope.app.options import Options
from hookscope.app.trust_requests import cannot_run_messages, waiting_for_trust
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.options import SEED_NUMBER, WholeNumber
from hookscope.cli.render import fuzz_output
from hookscope.cli.shared_options import only_option, timeout_option, trust_option
from hookscope.model.refusal import Refusal
from hookscope.model.run import Result
from hookscope.model.text import one_line

PARAMETERS = (
    click.Argument(["key"]),
    only_option(),
    click.Option(
        ["--examples"], type=WholeNumber(1, 100_000), metavar="N", default=MOST_EXAMPLES,
        help=f"Events for each hook; else {MOST_EXAMPLES}. Shrinking takes more.",
    ),
    click.Option(["--seed"], type=SEED_NUMBER, metavar="N", help="The same seed gives the same events."),
    click.Option(["--save"], metavar="NAME", help="Keep failing events under this name."),
    timeout_option(LIMIT),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, which are thrown away."),
    trust_option(),
)  # fmt: skip


@answers.command("fuzz", *PARAMETERS)
def command(
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
    """Fire strange events at each hook that hears KEY, and find the smallest that it fails at.

    Fields are dropped, null, of wrong types, huge, in odd scripts; so are session keys. Handlers really
    run, hundreds of times: --sandbox lets them do it on copies; without it, bundled hooks are fired at only
    where --only names one.

    What fails is shown with its error, and kept in .hookscope/events as an event that expects no errors, so
    that `hookscope test` passes once the hook is mended. Exit 1 where a failure was found. Needs
    hypothesis, which the extra `hookscope[fuzz]` brings.
    """
    bench = answers.workbench_for(
        options, trust_all=trust, timeout=LIMIT if timeout is None else timeout, compare_shipped=False
    )
    if seed is None:
        seed = secrets.randbelow(2**32)
    fuzzed, not_run = asyncio.run(_fuzz_hooks(bench, key, only, examples, seed, sandbox, save))
    return Answer(
        fuzz_output.fuzz_document(fuzzed),
        fuzz_output.fuzz_text(fuzzed, bench.setup.machine),
        ok=not (fuzzed.failures or not_run or fuzzed.stopped),
        notes=tuple(not_run),
    )


async def _fuzz_hooks(
    bench: Workbench,
    key: str,
    only: str | None,
    examples: int,
    seed: int,
    sandbox: bool,
    save: str | None,
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
    """Run the search. Ctrl-C ends it, and what is known is still the answer."""
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

"""`hookscope fuzz KEY`."""

from __future__ import annotations

import asyncio
import secrets
import sys

import click

from hookscope.cli import answers, fuzz_tables
from hookscope.cli.answers import Answer
from hookscope.cli.firing_options import only_option, timeout_option, trust_option
from hookscope.cli.interrupting import ended_by_interrupt
from hookscope.cli.numbers import SEEDS, Whole
from hookscope.core.runs import Result
from hookscope.core.text import one_line
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.fuzzing import EXAMPLES, LIMIT, Fuzz, Fuzzed, kept
from hookscope.workbench.left_out import could_not, waiting_for_trust

PARAMETERS = (
    click.Argument(["key"]),
    only_option(),
    click.Option(
        ["--examples"], type=Whole(1, 100_000), metavar="N", default=EXAMPLES,
        help=f"Events for each hook; else {EXAMPLES}. Shrinking takes more.",
    ),
    click.Option(["--seed"], type=SEEDS, metavar="N", help="The same seed gives the same events."),
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
    bench = answers.bench_of(
        options, trust_all=trust, timeout=LIMIT if timeout is None else timeout, compares=False
    )
    if seed is None:
        seed = secrets.randbelow(2**32)
    fuzzed, left = asyncio.run(_all(bench, key, only, examples, seed, sandbox, save))
    return Answer(
        fuzz_tables.document(fuzzed),
        fuzz_tables.text(fuzzed, bench.setup.surroundings),
        yes=not (fuzzed.found or left or fuzzed.stopped),
        aside=tuple(left),
    )


async def _all(
    bench: Workbench,
    key: str,
    only: str | None,
    examples: int,
    seed: int,
    sandbox: bool,
    save: str | None,
) -> tuple[Fuzzed, list[str]]:
    try:
        view = bench.look()
        template = bench.template(view, key)
        view = await bench.ready(view, template.kind)
        plan = bench.plan(view, template, only=only)
        left = [
            *answers.not_trusted(waiting_for_trust(view, plan), view.host.surroundings),
            *could_not(view, plan, only=only),
        ]
        if left and not plan.calls:
            raise Refusal(left[0])
        told = _seen if sys.stderr.isatty() else None
        fuzz = Fuzz(
            bench, view, template, only=only, examples=examples, seed=seed, sandbox=sandbox, told=told
        )
        return kept(bench, view, await _run(fuzz), save), left
    finally:
        await bench.close()


async def _run(fuzz: Fuzz) -> Fuzzed:
    """Ctrl-C ends the search, and what is known is still the answer."""
    try:
        with ended_by_interrupt(fuzz.stop):
            return await fuzz.run()
    except OSError as error:
        raise Refusal(f"Cannot make copies for --sandbox: {error}.", "Nothing was fired.") from None


def _seen(result: Result) -> None:
    error = result.error
    what = f"{error.type}: {error.message}" if error is not None else result.status
    click.echo(
        f"{one_line(result.call.name)} fails: {one_line(what)}; looking for the smallest event.", err=True
    )

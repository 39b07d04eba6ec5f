"""`hookscope fire KEY|FILE...`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import field
from functools import partial

import click

from hookscope.cli import answers, fire_rules, run_tables
from hookscope.cli.answers import Answer
from hookscope.cli.asked import Asked, saved, trusted_now
from hookscope.cli.debugging import debugged
from hookscope.cli.firing_options import only_option, timeout_option, trust_option, wait_option
from hookscope.cli.following import stepped, streamed, warned
from hookscope.cli.interrupting import ended_by_interrupt
from hookscope.cli.numbers import Whole
from hookscope.cli.objects import STANDARD_INPUT, object_from
from hookscope.cli.order_options import except_option, seed_of, shuffle_options
from hookscope.cli.several import Several, several_of
from hookscope.cli.stop_at import Stops
from hookscope.core.event_notes import notes_on_event
from hookscope.core.open_files import is_exhausted
from hookscope.core.orders import LEAST
from hookscope.core.runs import UNRECORDED, Plan, Run
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line
from hookscope.values import dataclass
from hookscope.workbench import (
    Firing,
    Options,
    Refusal,
    Stepper,
    View,
    Workbench,
    run_documents,
)
from hookscope.workbench.asking import stranger
from hookscope.workbench.breaking import breakages_of
from hookscope.workbench.did_nothing import why_nothing_shows
from hookscope.workbench.left_out import could_not, waiting_for_trust
from hookscope.workbench.repeating import MOST
from hookscope.workbench.wishes import Wish, planned

PARAMETERS = (
    click.Argument(["what"], metavar="KEY|FILE...", nargs=-1, required=True),
    click.Option(["--session"], metavar="S", help="The session key of the event."),
    click.Option(["--context"], metavar="JSON|@FILE", help="Its context; @- reads standard input."),
    click.Option(["--ctx"], metavar="JSON|@FILE", help="The second argument of plugin and stream handlers."),
    only_option(),
    except_option(),
    click.Option(["--force"], is_flag=True, help="With --only: call it though it would not run."),
    click.Option(
        ["--break", "breaks"], multiple=True, metavar="HOOK=FAULT",
        help="Break it on purpose: exception, hang, slow[:SECONDS], junk, exit[:STATUS].",
    ),
    click.Option(
        ["--repeat"], type=Whole(2, MOST), metavar="N", help="N times, and what was done again."
    ),
    *shuffle_options(),
    timeout_option(),
    wait_option(),
    trust_option(),
    click.Option(["--step"], is_flag=True, help="Ask on the terminal before each handler."),
    click.Option(["--debug"], is_flag=True, help="Stop in each handler, and go through it line by line."),
    click.Option(
        ["--stop-at"], multiple=True, metavar="FILE:LINE",
        help="With --debug: stop there; also 'FILE:LINE if EXPRESSION'.",
    ),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, and show what they did to them."),
    click.Option(["--save"], metavar="NAME|FILE", help="Keep the event, in .hookscope/events or a file."),
    click.Option(["--json-lines"], is_flag=True, help="Print each step as a line of JSON, the run last."),
)  # fmt: skip


@answers.command("fire", *PARAMETERS)
def command(
    options: Options,
    what: Sequence[str],
    session: str | None,
    context: str | None,
    ctx: str | None,
    only: str | None,
    left_out: Sequence[str],
    force: bool,
    breaks: Sequence[str],
    repeat: int | None,
    shuffle: bool,
    seed: int | None,
    step: bool,
    debug: bool,
    stop_at: Sequence[str],
    timeout: float | None,
    wait: float,
    trust: bool,
    sandbox: bool,
    save: str | None,
    json_lines: bool,
    as_json: bool,
) -> Answer:
    """Fire an event such as command:new, or a saved one, and see what each handler did.

    Without --context the event gets a realistic example and the settings in force as `cfg`. With
    --sandbox handlers get copies of HOME, of the host's state folder and of the workspace; what they
    wrote, changed and deleted is shown, and thrown away. --force calls the handler of a hook that is off,
    blocked, silent, or does not listen to this event; never of one that is untrusted or broken.
    --except leaves a hook out, also of what the event causes.
    --break puts a fault of ours in a handler's place, and shows what the host makes of it: what it logs, who
    runs afterwards, whether it fails closed. A hang ends after 2 s, or after --timeout. --repeat says of
    each handler whether it does the same again, does nothing new or grows; with --sandbox of each file too.
    --shuffle fires in other orders too, N times in all, and says who disturbs whom.
    --step waits before each handler: it runs, or is passed over, and the event can be seen as it is by then.
    --debug stops at the first line of each handler, at `breakpoint()` or `debugger;`, and where an error
    leaves it; it has no limit of time then, and reads what it is told from standard input. With --stop-at
    handlers run to that line, of a path or the end of one (greet/handler.py:12), where a condition holds.
    """
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    given = {
        fire_rules.SEVERAL: len(what) > 1,
        fire_rules.TERMINAL: at_terminal,
        fire_rules.PIPED: context == STANDARD_INPUT,
        fire_rules.PIPED_CTX: ctx == STANDARD_INPUT,
        fire_rules.ENOUGH: repeat is not None and repeat >= LEAST,
        "--only": only is not None,
        "--except": left_out,
        "--force": force,
        "--repeat": repeat is not None,
        "--shuffle": shuffle,
        "--seed": seed is not None,
        "--step": step,
        "--debug": debug,
        "--stop-at": stop_at,
        "--save": save is not None,
        "--json": as_json,
        "--json-lines": json_lines,
    }
    fire_rules.check({name for name, there in given.items() if there})
    lingers = wait if repeat is None else None  # a host does not wait between two events
    bench = answers.bench_of(options, trust_all=trust, timeout=timeout, lingers=lingers, compares=False)
    wish = Wish(
        session,
        None if context is None else object_from(context, "--context"),
        None if ctx is None else object_from(ctx, "--ctx"),
        only,
        left_out,
        force,
        breakages_of(breaks),
    )
    asked = Asked(
        wish,
        repeat,
        seed_of(shuffle, seed),
        step,
        debug,
        stop_at,
        json_lines,
        sandbox,
        save,
        at_terminal,
        ask=at_terminal and not (as_json or json_lines),
    )
    fired = asyncio.run(_fire_all(bench, what, asked))
    runs = [run_documents.run(run, bench.dialect.name) for run in fired.runs]
    document: object = runs[0] if len(what) == len(runs) == 1 else runs
    text = "\n\n".join(run_tables.run(run, bench.setup.surroundings, plan) for run, plan in fired.done)
    steps = [{"step": "run", **run} for run in runs]
    if fired.several is not None:
        told = fired.several.told(fired.done, bench.setup.surroundings)
        document = {"runs": runs, told.name: told.document}
        steps, text = [*steps, {"step": told.name, **told.document}], told.text
    return Answer(
        document=document,
        text="\n".join(map(json.dumps, steps)) if json_lines else text,
        yes=not fired.left and all(_went_well(run) for run in fired.runs),
        aside=(*fired.said, *fired.left),
    )


def _went_well(run: Run) -> bool:
    unrecorded = any(item.reason == UNRECORDED for item in run.not_run)
    return not run.failed and not run.cancelled and run.ending.failure is None and not unrecorded


@dataclass(slots=True)
class Fired:
    """What came of all that was asked for. Grows while events are fired."""

    done: list[tuple[Run, Plan]] = field(default_factory=list)
    left: dict[str, None] = field(default_factory=dict)  # sentences: who should have run and could not
    said: list[str] = field(default_factory=list)  # sentences that change no answer
    several: Several | None = None

    @property
    def runs(self) -> list[Run]:
        """Those that came to an end, in order."""
        return [run for run, _ in self.done]


async def _fire_all(bench: Workbench, what: Sequence[str], asked: Asked) -> Fired:
    """Fire one after another, until one is cancelled."""
    fired = Fired()
    trusts = partial(trusted_now, bench) if asked.ask else None
    try:
        for item in what:
            view, plan = await planned(bench, item, asked.wish, trusts)
            if not (asked.sandbox or asked.debug):  # those have workers of their own
                await bench.expect(view, plan)
            fired.said += [text for text in answers.unread_settings(view.host) if text not in fired.said]
            if strange := stranger(view, plan.event.key):
                fired.said.append(strange)
            notes = notes_on_event(plan.event, view.host.dialect.catalogue())
            fired.said += [f"note: {one_line(plan.event.key)}: {note}" for note in notes]
            if asked.save is not None:
                fired.said.append(await asyncio.to_thread(saved, bench, view, plan.event, asked.save))
            fired.left |= dict.fromkeys(
                answers.not_trusted(waiting_for_trust(view, plan), view.host.surroundings)
            )
            fired.left |= dict.fromkeys(could_not(view, plan, only=asked.wish.only))
            by_hand = (
                Stepper() if asked.step else Stops(plan, view.host.surroundings) if asked.debug else None
            )
            if isinstance(by_hand, Stops):
                await by_hand.name(asked.stop_at)
            fired.several = several_of(
                bench, view, plan, asked.repeat, seed=asked.seed, sandbox=asked.sandbox
            )
            async with aclosing(_begun(bench, view, plan, asked, by_hand, fired.several)) as begun:
                async for firing in begun:
                    fired.done.append(
                        (await _fired(firing, plan, asked, by_hand, view.host.surroundings), plan)
                    )
            last = fired.done[-1][0]
            fired.said += await asyncio.to_thread(why_nothing_shows, last, view)
            if last.cancelled:
                break
    finally:
        await bench.close()
    return fired


async def _fired(
    firing: Firing, plan: Plan, asked: Asked, by_hand: Stepper | Stops | None, here: Surroundings
) -> Run:
    """One run. Ctrl-C cancels it, and what is known is still the answer."""
    with ended_by_interrupt(firing.cancel):
        if isinstance(by_hand, Stepper):
            await stepped(firing, by_hand, plan, here)
        elif by_hand is not None:
            await debugged(firing, by_hand)
        elif asked.stream:
            await streamed(firing, plan)
        elif asked.warns:
            await warned(firing)
        return await firing


async def _begun(
    bench: Workbench,
    view: View,
    plan: Plan,
    asked: Asked,
    by_hand: Stepper | Stops | None,
    several: Several | None,
) -> AsyncGenerator[Firing]:
    """One firing; with --repeat one after another."""
    try:
        if several is not None:
            async with aclosing(several.firings()) as begun:
                async for firing in begun:
                    yield firing
        else:
            yield await _one(bench, view, plan, by_hand, sandbox=asked.sandbox)
    except OSError as error:
        if not asked.sandbox or is_exhausted(error):
            raise
        raise Refusal(f"Cannot make copies for --sandbox: {error}.", "Nothing was fired.") from None


async def _one(
    bench: Workbench, view: View, plan: Plan, by_hand: Stepper | Stops | None, *, sandbox: bool
) -> Firing:
    """Raises OSError where copies for the `sandbox` cannot be made."""
    if isinstance(by_hand, Stops):
        return await bench.fire_debugged(view, plan, by_hand.debugger, sandbox=sandbox)
    return await bench.fire_guarded(view, plan, by_hand) if sandbox else bench.fire(view, plan, by_hand)

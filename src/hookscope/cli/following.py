"""A run on its way, as the command line tells of it: as lines of JSON, with a word of handlers that take
long, or handler by handler, where the terminal is asked before each."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable

import click

from hookscope.cli import run_tables
from hookscope.core.runs import Code, Paused, Plan, Result, Slow
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line, printable
from hookscope.workbench import Firing, Stepper, run_documents

EXPLAINED = "enter runs it, s passes it over, e shows its event, c runs all that follow, q ends here"
KEYS = "enter, s, e, c, q"


async def streamed(firing: Firing, plan: Plan) -> None:
    """Each step as a line of JSON."""
    async for step in firing:
        click.echo(json.dumps(run_documents.step(step, plan.delivers)))
        sys.stdout.flush()


async def warned(firing: Firing) -> None:
    """A word of each handler that takes long."""
    async for step in firing:
        if isinstance(step, Slow):
            until = f"; it is stopped at {step.limit:g} s" if step.limit is not None else ""
            click.echo(f"{one_line(step.call.name)} still runs after {step.after:g} s{until}.", err=True)


async def stepped(firing: Firing, stepper: Stepper, plan: Plan, here: Surroundings) -> None:
    """Go through a run handler by handler. The end of the input ends the run."""
    asking: asyncio.Task[None] | None = None
    keys = EXPLAINED
    width, results = run_tables.width_of(plan.calls), list[Result]()
    try:
        async for step in firing:
            if isinstance(step, Result):
                results.append(step)
                given = run_tables.given_to(step, plan.event, results)
                _tell("\n".join(run_tables.result(step, width, here, given)))
            elif isinstance(step, Paused):
                _tell(_next(step, plan, here))
                asking, keys = asyncio.create_task(_asked(step, keys, stepper, firing.cancel)), KEYS
    finally:
        if asking is not None and asking.cancel():
            _tell("")  # its question stands there without an answer


def _next(paused: Paused, plan: Plan, here: Surroundings) -> str:
    """Who would begin, and where that stands."""
    call, calls = paused.call, plan.calls
    number = f"{calls.index(call) + 1} of {len(calls)}  " if call in calls else ""
    where = f"  {here.short(call.target.path)}" if isinstance(call.target, Code) else ""
    also = "".join(f", {one_line(one.name)}" for one in paused.beside)
    together = " (at once)" if also else ""
    return f"\n▸ {number}{one_line(call.name)}{also}{together}{printable(where)}"


async def _asked(paused: Paused, keys: str, stepper: Stepper, cancel: Callable[[], object]) -> None:
    """Say the word that was typed."""
    while True:
        click.echo(f"  {keys}: ", err=True, nl=False)
        typed = await _line()
        word = typed.strip().lower()
        match word if typed else "q":
            case "":
                stepper.run_it()
            case "s":
                stepper.pass_over()
            case "c":
                stepper.run_all()
            case "q":
                cancel()
            case "e":
                _tell(printable(json.dumps(paused.event, indent=2, ensure_ascii=False)))
                continue
            case _:
                keys = EXPLAINED
                continue
        return


async def _line() -> str:
    """The next line of standard input; empty at its end. Waiting for it holds nobody up."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()


def _tell(text: str) -> None:
    click.echo(text, err=True)

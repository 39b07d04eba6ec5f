"""`hookscope fire KEY|FILE...`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

import click

from hookscope.analysis.order_search import FEWEST_RUNS
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.options import Options
from hookscope.app.runs.active_runs import MOST_REPETITIONS, repeated_firings
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import cannot_run_messages, waiting_for_trust
from hookscope.app.unknown_names import undocumented_event_note
from hookscope.app.workbench import Workbench
from hookscope.authoring.lint.linting import silent_handler_reasons
from hookscope.authoring.testing.fire_request import FireRequest, parse_faults, plan_request
from hookscope.cli import answers, fire_arguments
from hookscope.cli.answers import Answer
from hookscope.cli.fire_arguments import (
    STANDARD_INPUT,
    FireArguments,
    ask_for_trust,
    except_option,
    read_json_object,
    save_event_as,
    shuffle_options,
    shuffle_seed,
)
from hookscope.cli.interactive_run import (
    NamedStops,
    debug_run,
    step_through,
    stream_steps,
    warn_of_slow_handlers,
)
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.options import WholeNumber
from hookscope.cli.render import repetition_output, run_output
from hookscope.cli.shared_options import only_option, timeout_option, trust_option, wait_option
from hookscope.model.event_schema import event_note_texts
from hookscope.model.failure import Refusal
from hookscope.model.machine import Machine
from hookscope.model.regular_file import is_file_limit
from hookscope.model.run import EVENT_NOT_RECORDED, Plan, Run
from hookscope.model.run_comparison import summarize_repetition
from hookscope.model.text import one_line
from hookscope.runtime.debugger import Stepper
from hookscope.runtime.firing import Firing
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.analysis.order_search import OrderRuns

EndedRuns: TypeAlias = Sequence[tuple[Run, Plan]]


@dataclass(frozen=True, slots=True)
class RepeatedFiring:
    """Repeated firings of one plan, and the report on all of them."""

    bench: Workbench
    view: Snapshot
    plan: Plan
    times: int
    sandbox: bool
    order_runs: OrderRuns | None

    def firings(self) -> AsyncGenerator[Firing]:
        """Yield the firings. Raises OSError if the copies for the sandbox cannot be made."""
        if self.order_runs is not None:
            return self.order_runs.firings()
        return repeated_firings(self.bench, self.view, self.plan, self.times, sandbox=self.sandbox)

    def report(self, done: EndedRuns, machine: Machine) -> tuple[str, Document, str]:
        """Return the report on the finished runs: its key in the JSON output, its document, and its text."""
        if self.order_runs is not None:
            findings = self.order_runs.findings()
            text = repetition_output.order_text(done, findings, machine, copies=self.sandbox)
            return "shuffled", repetition_output.order_document(findings), text
        repetition = summarize_repetition([run for run, _ in done])
        text = repetition_output.repetition_text(done, repetition, machine)
        return "repeated", repetition_output.repetition_document(repetition, self.times), text


def repeated_firing(
    bench: Workbench, view: Snapshot, plan: Plan, times: int | None, *, seed: int | None, sandbox: bool
) -> RepeatedFiring | None:
    """Return the repetition; None if the event is fired once.

    Raises Refusal if there is nothing to shuffle.
    """
    if times is None:
        return None
    order_runs = None
    if seed is not None:
        from hookscope.analysis.order_search import OrderRuns

        order_runs = OrderRuns(bench, view, plan, times, seed=seed, sandbox=sandbox)
    return RepeatedFiring(bench, view, plan, times, sandbox, order_runs)


PARAMETERS = (
    click.Argument(["what"], metavar="KEY|FILE...", nargs=-1, required=True),
    click.Option(["--session"], metavar="S", help="The session key of the event."),
    click.Option(["--context"], metavar="JSON|@FILE", help="The event's context; @- reads standard input."),
    click.Option(["--ctx"], metavar="JSON|@FILE", help="The second argument of plugin and stream handlers."),
    only_option(),
    except_option(),
    click.Option(["--force"], is_flag=True, help="With --only: call the hook even if it would not run."),
    click.Option(
        ["--break", "breaks"], multiple=True, metavar="HOOK=FAULT",
        help="Inject a fault: exception, hang, slow[:SECONDS], junk, exit[:STATUS].",
    ),
    click.Option(
        ["--repeat"],
        type=WholeNumber(2, MOST_REPETITIONS),
        metavar="N",
        help="Fire N times, and compare the runs.",
    ),
    *shuffle_options(),
    timeout_option(),
    wait_option(),
    trust_option(),
    click.Option(["--step"], is_flag=True, help="Ask on the terminal before each handler."),
    click.Option(["--debug"], is_flag=True, help="Debug each handler line by line."),
    click.Option(
        ["--stop-at"], multiple=True, metavar="FILE:LINE",
        help="With --debug: stop at a line; also 'FILE:LINE if EXPRESSION'.",
    ),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, and show their changes."),
    click.Option(["--save"], metavar="NAME|FILE", help="Save the event in .hookscope/events or a file."),
    click.Option(["--json-lines"], is_flag=True, help="Print each step as a JSON line, then the run."),
)  # fmt: skip


class FireLine(TypedDict):
    """The parameters of `fire`, without the options that all commands share."""

    what: Sequence[str]
    session: str | None
    context: str | None
    ctx: str | None
    only: str | None
    left_out: Sequence[str]
    force: bool
    breaks: Sequence[str]
    repeat: int | None
    shuffle: bool
    seed: int | None
    step: bool
    debug: bool
    stop_at: Sequence[str]
    timeout: float | None
    wait: float
    trust: bool
    sandbox: bool
    save: str | None
    json_lines: bool


@answers.command("fire", *PARAMETERS)
def fire_command(options: Options, as_json: bool, **line: Unpack[FireLine]) -> Answer:
    """Fire an event such as command:new, or a saved one, and show what each handler did.

    Without --context the event gets a realistic example and the current settings as `cfg`.

    --sandbox gives handlers copies of HOME, the host's state folder and the workspace. Their file changes are
    shown and discarded. --force calls a handler whose hook is off, blocked, silent or not subscribed. It does
    not override missing trust or a broken handler. --except excludes a hook, also from events that this event
    causes.

    --break replaces a handler with a fault, and shows the host's reaction: its log, later handlers, and
    whether it fails closed. A hang ends after 2 s, or after --timeout.

    --repeat reports whether each handler repeats its effects, adds nothing new or adds more each time; with
    --sandbox, the report covers each file too. --shuffle also fires in other orders, N runs in all, and
    reports handlers that interfere with each other.

    --step waits before each handler, which you can run, skip or inspect. --debug stops at the first line of
    each handler, at `breakpoint()` or `debugger;`, and at errors. It has no time limit and reads commands
    from standard input. --stop-at runs to a line (greet/handler.py:12), optionally with a condition.
    """
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    fire_arguments.check_option_combinations(_options_given(line, as_json, at_terminal))
    lingers = line["wait"] if line["repeat"] is None else None  # a host does not wait between events
    bench = answers.workbench_for(
        options,
        trust_all=line["trust"],
        timeout=line["timeout"],
        linger_seconds=lingers,
        compare_shipped=False,
    )
    fired = asyncio.run(_fire_all(bench, line["what"], _arguments_of(line, as_json, at_terminal)))
    return _answer_of(fired, bench, one_key=len(line["what"]) == 1, json_lines=line["json_lines"])


def _options_given(line: FireLine, as_json: bool, at_terminal: bool) -> set[str]:
    """Return the options of the command line, and the conditions that `check_option_combinations` knows."""
    repeat = line["repeat"]
    present = {
        fire_arguments.SEVERAL_KEYS: len(line["what"]) > 1,
        fire_arguments.AT_TERMINAL: at_terminal,
        fire_arguments.CONTEXT_FROM_INPUT: line["context"] == STANDARD_INPUT,
        fire_arguments.CTX_FROM_INPUT: line["ctx"] == STANDARD_INPUT,
        fire_arguments.ENOUGH_REPEATS: repeat is not None and repeat >= FEWEST_RUNS,
        "--only": line["only"] is not None,
        "--except": line["left_out"],
        "--force": line["force"],
        "--repeat": repeat is not None,
        "--shuffle": line["shuffle"],
        "--seed": line["seed"] is not None,
        "--step": line["step"],
        "--debug": line["debug"],
        "--stop-at": line["stop_at"],
        "--save": line["save"] is not None,
        "--json": as_json,
        "--json-lines": line["json_lines"],
    }
    return {name for name, is_given in present.items() if is_given}


def _arguments_of(line: FireLine, as_json: bool, at_terminal: bool) -> FireArguments:
    context, ctx = line["context"], line["ctx"]
    request = FireRequest(
        line["session"],
        None if context is None else read_json_object(context, "--context"),
        None if ctx is None else read_json_object(ctx, "--ctx"),
        line["only"],
        line["left_out"],
        line["force"],
        parse_faults(line["breaks"]),
    )
    return FireArguments(
        request,
        line["repeat"],
        shuffle_seed(line["shuffle"], line["seed"]),
        line["step"],
        line["debug"],
        line["stop_at"],
        line["json_lines"],
        line["sandbox"],
        line["save"],
        at_terminal,
        asks_for_trust=at_terminal and not (as_json or line["json_lines"]),
    )


def _answer_of(fired: FireResults, bench: Workbench, *, one_key: bool, json_lines: bool) -> Answer:
    runs = [json_documents.run_document(run, bench.dialect.name) for run in fired.runs]
    document: object = runs[0] if one_key and len(runs) == 1 else runs
    text = "\n\n".join(run_output.run_text(run, bench.setup.machine, plan) for run, plan in fired.done)
    steps = [{"step": "run", **run} for run in runs]
    if fired.repetition is not None:
        name, report, text = fired.repetition.report(fired.done, bench.setup.machine)
        document = {"runs": runs, name: report}
        steps = [*steps, {"step": name, **report}]
    return Answer(
        document=document,
        text="\n".join(map(json.dumps, steps)) if json_lines else text,
        ok=not fired.not_run and all(_is_success(run) for run in fired.runs),
        notes=(*fired.notes, *fired.not_run),
    )


def _is_success(run: Run) -> bool:
    unrecorded = any(item.reason == EVENT_NOT_RECORDED for item in run.not_run)
    return not run.failed and not run.cancelled and run.ending.failure is None and not unrecorded


@dataclass(slots=True)
class FireResults:
    """The results of all requested events. Grows while events are fired."""

    done: list[tuple[Run, Plan]] = field(default_factory=list)
    # sentences on handlers that should have run and could not
    not_run: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # sentences that do not change the exit code
    repetition: RepeatedFiring | None = None

    @property
    def runs(self) -> list[Run]:
        """The finished runs, in order."""
        return [run for run, _ in self.done]


async def _fire_all(bench: Workbench, what: Sequence[str], arguments: FireArguments) -> FireResults:
    """Fire the events one after another, until one is cancelled."""
    fired = FireResults()
    ask = partial(ask_for_trust, bench) if arguments.asks_for_trust else None
    try:
        for item in what:
            view, plan = await plan_request(bench, item, arguments.request, ask)
            if not (arguments.sandbox or arguments.debug):  # these start their own workers
                await bench.prestart_workers(view, plan)
            fired.notes += [
                text for text in answers.unreadable_settings_warnings(view.host) if text not in fired.notes
            ]
            if undocumented := undocumented_event_note(view, plan.event.key):
                fired.notes.append(undocumented)
            notes = event_note_texts(plan.event, view.host.dialect.catalogue())
            fired.notes += [f"note: {one_line(plan.event.key)}: {note}" for note in notes]
            if arguments.save is not None:
                fired.notes.append(
                    await asyncio.to_thread(save_event_as, bench, view, plan.event, arguments.save)
                )
            fired.not_run |= dict.fromkeys(
                answers.untrusted_folder_warnings(waiting_for_trust(view, plan), view.host.machine)
            )
            fired.not_run |= dict.fromkeys(cannot_run_messages(view, plan, only=arguments.request.only))
            control = (
                Stepper()
                if arguments.step
                else NamedStops(plan, view.host.machine)
                if arguments.debug
                else None
            )
            if isinstance(control, NamedStops):
                await control.set_breakpoints(arguments.stop_at)
            fired.repetition = repeated_firing(
                bench, view, plan, arguments.repeat, seed=arguments.seed, sandbox=arguments.sandbox
            )
            async with aclosing(
                _started_firings(bench, view, plan, arguments, control, fired.repetition)
            ) as firings:
                async for firing in firings:
                    fired.done.append(
                        (await _run_to_end(firing, plan, arguments, control, view.host.machine), plan)
                    )
            last = fired.done[-1][0]
            fired.notes += await asyncio.to_thread(silent_handler_reasons, last, view)
            if last.cancelled:
                break
    finally:
        await bench.close()
    return fired


async def _run_to_end(
    firing: Firing,
    plan: Plan,
    arguments: FireArguments,
    control: Stepper | NamedStops | None,
    machine: Machine,
) -> Run:
    """Follow one run to its end. Ctrl-C cancels it; the results so far are returned."""
    with cancel_on_interrupt(firing.cancel):
        if isinstance(control, Stepper):
            await step_through(firing, control, plan, machine)
        elif control is not None:
            await debug_run(firing, control)
        elif arguments.stream:
            await stream_steps(firing, plan)
        elif arguments.warns_of_slow:
            await warn_of_slow_handlers(firing)
        return await firing


async def _started_firings(
    bench: Workbench,
    view: Snapshot,
    plan: Plan,
    arguments: FireArguments,
    control: Stepper | NamedStops | None,
    repetition: RepeatedFiring | None,
) -> AsyncGenerator[Firing]:
    """Yield one firing; with --repeat one after another."""
    try:
        if repetition is not None:
            async with aclosing(repetition.firings()) as firings:
                async for firing in firings:
                    yield firing
        else:
            yield await _start_firing(bench, view, plan, control, sandbox=arguments.sandbox)
    except OSError as error:
        if not arguments.sandbox or is_file_limit(error):
            raise
        raise Refusal(f"Cannot make copies for --sandbox: {error}.", "Nothing was fired.") from None


async def _start_firing(
    bench: Workbench, view: Snapshot, plan: Plan, control: Stepper | NamedStops | None, *, sandbox: bool
) -> Firing:
    """Start a firing. Raises OSError if the copies for the `sandbox` cannot be made."""
    if isinstance(control, NamedStops):
        return await bench.fire_debugged(view, plan, control.debugger, sandbox=sandbox)
    return await bench.fire_sandboxed(view, plan, control) if sandbox else bench.fire(view, plan, control)

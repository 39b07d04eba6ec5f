"""Arguments of `fire`: JSON objects, exclusive options, questions before it fires."""

from __future__ import annotations

import secrets
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import click

from hookscope.analysis.order_search import FEWEST_RUNS
from hookscope.app.event_templates import BadContext, parse_context
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import trust_requests
from hookscope.app.variables import folders_of
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.fire_request import FireRequest
from hookscope.authoring.testing.saved_events import save_event, saved_event_path
from hookscope.cli.options import SEED_NUMBER
from hookscope.model.failure import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Event
from hookscope.model.text import error_reason, printable
from hookscope.model.trust import TrustTarget
from hookscope.values import dataclass

OptionConflict: TypeAlias = tuple[str, str]  # problem, next step

SEVERAL_KEYS = "KEY KEY"  # present if several events are named
CONTEXT_FROM_INPUT, CTX_FROM_INPUT = "--context @-", "--ctx @-"
AT_TERMINAL = "a terminal"
ENOUGH_REPEATS = f"--repeat {FEWEST_RUNS}"  # or more

EXCLUSIVE_OPTIONS: Mapping[tuple[str, str], OptionConflict] = {
    ("--save", SEVERAL_KEYS): ("--save saves only one event.", "Fire them one by one."),
    ("--repeat", SEVERAL_KEYS): ("--repeat repeats only one event.", "Fire them one by one."),
    ("--except", "--only"): ("--only already excludes all other hooks.", "Use --only or --except."),
    ("--json", "--json-lines"): (
        "--json prints one document, --json-lines a line for each step.",
        "Use one of them.",
    ),
    (CONTEXT_FROM_INPUT, CTX_FROM_INPUT): (
        "--context and --ctx both read standard input.",
        "Name a file for one of them.",
    ),
    ("--debug", "--step"): (
        "--debug stops inside a handler, --step before it.",
        "Use one of them; under --debug `c` continues to the next handler.",
    ),
    ("--debug", "--repeat"): ("--debug follows one run, but --repeat makes several.", "Use one of them."),
    ("--debug", "--json-lines"): (
        "--debug and --json-lines both print lines during the run.",
        "Use one of them; --json prints the run at its end.",
    ),
    ("--debug", CONTEXT_FROM_INPUT): (
        "--debug and --context @- both read standard input.",
        "Name a file for --context.",
    ),
    ("--debug", CTX_FROM_INPUT): ("--debug and --ctx @- both read standard input.", "Name a file for --ctx."),
    ("--step", "--repeat"): ("--step follows one run, but --repeat makes several.", "Use one of them."),
    ("--step", "--json-lines"): (
        "--step asks questions between the lines that --json-lines prints.",
        "Use one of them; --json prints the run at its end.",
    ),
}
REQUIRED_OPTIONS: Mapping[tuple[str, str], OptionConflict] = {
    ("--force", "--only"): ("--force needs one hook.", "Name it with --only HOOK."),
    ("--seed", "--shuffle"): ("--seed has no effect without --shuffle.", "Use both, or neither."),
    ("--shuffle", ENOUGH_REPEATS): (
        f"--shuffle needs the number of runs, at least {FEWEST_RUNS}.",
        "--repeat 20 --shuffle is a good start.",
    ),
    ("--stop-at", "--debug"): ("--stop-at names a line at which --debug stops.", "Add --debug."),
    ("--step", AT_TERMINAL): ("--step needs a terminal, to ask before each handler.", "Leave it out here."),
}


def check_option_combinations(present: Collection[str]) -> None:
    """Raise Refusal for the first two options that conflict, or the first one that needs a missing option."""
    for (option, other), (problem, next_step) in EXCLUSIVE_OPTIONS.items():
        if option in present and other in present:
            raise Refusal(problem, next_step, code=2)
    for (option, required), (problem, next_step) in REQUIRED_OPTIONS.items():
        if option in present and required not in present:
            raise Refusal(problem, next_step, code=2)


def except_option() -> click.Option:
    """Return the repeatable option `--except HOOK`."""
    return click.Option(
        ["--except", "left_out"], multiple=True, metavar="HOOK", help="Exclude this hook. Repeatable."
    )


def shuffle_options() -> tuple[click.Option, click.Option]:
    """Return `--shuffle`, and `--seed N` for its random orders."""
    return (
        click.Option(["--shuffle"], is_flag=True, help="With --repeat: also fire in other orders."),
        click.Option(["--seed"], type=SEED_NUMBER, metavar="N", help="The same seed gives the same orders."),
    )


def shuffle_seed(shuffle: bool, seed: int | None) -> int | None:
    """Return the seed of the orders to try; None if events are fired in the registered order."""
    if not shuffle:
        return None
    return secrets.randbelow(2**32) if seed is None else seed


STANDARD_INPUT = "@-"
LARGEST_OBJECT = 64 * 2**20  # characters, to bound memory for endless files


def read_json_object(text: str, option: str) -> dict[str, object]:
    """Return the JSON object in an option's text: JSON, `@FILE` that contains it, or `@-` for standard input.

    Standard input can be read once: call this once, even if several events use the object. Raises
    Refusal.
    """
    if not text.startswith("@"):
        return _parse_object(text, option)
    name = text[1:]
    try:
        if text == STANDARD_INPUT:
            source = sys.stdin.read(LARGEST_OBJECT + 1)
        else:
            source = read_regular(name, LARGEST_OBJECT + 1).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error_reason(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        next_step = "Name another file, or write the JSON itself."
        raise Refusal(f"Cannot read the context from {name}: {why}.", next_step, code=2) from None
    if len(source) > LARGEST_OBJECT:
        raise Refusal(f"{name} has more than {LARGEST_OBJECT:,} characters.", "Use a smaller one.", code=2)
    return _parse_object(source, name)


def _parse_object(text: str, name: str) -> dict[str, object]:
    try:
        return parse_context(text)
    except BadContext as error:
        raise Refusal(f"{name}, {error}.", "A context is a JSON object; nothing was fired.", code=2) from None


@dataclass(frozen=True, slots=True)
class FireArguments:
    """The command line's arguments, for every event."""

    request: FireRequest
    repeat: int | None
    seed: int | None  # seed of the orders to try; None: as registered
    step: bool
    debug: bool
    stop_at: Sequence[str]  # lines as typed
    stream: bool
    sandbox: bool
    save: str | None
    warns_of_slow: bool  # warn about slow handlers: standard input is a terminal
    asks_for_trust: bool


def save_event_as(bench: Workbench, view: Snapshot, event: Event, name: str) -> str:
    """Save the event before it is fired, and return a sentence that names the file. Raises Refusal."""
    machine = view.host.machine
    file = saved_event_path(name, view.host.workspace, machine.cwd)
    template = bench.template(view, event.key)
    variables = save_event(
        event,
        template,
        file,
        bench.redaction_of(view.host),
        folders=folders_of(view.host),
        write=bench.edits.write_saved_file,
    )
    secrets_note = f" Set its secrets as environment variables: {', '.join(variables)}." if variables else ""
    return f"Saved as {machine.short(file)}.{secrets_note}"


def ask_for_trust(bench: Workbench, view: Snapshot, targets: Sequence[TrustTarget]) -> bool:
    """Ask for trust in each folder that can be trusted; return True if any folder was trusted."""
    changed = False
    for request in trust_requests(view, [target for target in targets if not target.refusal_reason]):
        if ask_yes_or_no(printable(request.question)):
            bench.trust(request.folder, must_be_real=True)
            changed = True
    return changed


def ask_yes_or_no(question: str) -> bool:
    """Ask a question on the terminal; return True for yes.

    Ctrl-C stops immediately: an event loop would receive it only after the answer.
    """
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return click.confirm(question, err=True)
    finally:
        signal.signal(signal.SIGINT, previous_handler)

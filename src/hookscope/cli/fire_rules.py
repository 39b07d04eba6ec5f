"""Which options of `fire` exclude each other, and which want another one: a sentence for each pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from hookscope.core.orders import LEAST
from hookscope.workbench import Refusal

Why: TypeAlias = tuple[str, str]  # what is wrong, the next step

SEVERAL = "KEY KEY"  # more than one event is named
PIPED, PIPED_CTX = "--context @-", "--ctx @-"
TERMINAL = "a terminal"
ENOUGH = f"--repeat {LEAST}"  # or more

EXCLUDE: Mapping[tuple[str, str], Why] = {
    ("--save", SEVERAL): ("--save keeps one event.", "Fire them one by one."),
    ("--repeat", SEVERAL): ("--repeat fires one event.", "Fire them one by one."),
    ("--except", "--only"): ("--only leaves all others out.", "Take it, or --except."),
    ("--json", "--json-lines"): (
        "--json prints one document, --json-lines a line for each step.",
        "Take one.",
    ),
    (PIPED, PIPED_CTX): (
        "--context and --ctx both read standard input.",
        "Name a file for one of them.",
    ),
    ("--debug", "--step"): (
        "--debug stops in the lines of a handler, --step before it.",
        "Take one; under --debug `c` goes on to the next handler.",
    ),
    ("--debug", "--repeat"): ("--debug goes through one run, and --repeat makes several.", "Take one."),
    ("--debug", "--json-lines"): (
        "--debug talks in lines of its own where --json-lines prints the run's.",
        "Take one; --json prints the run behind them.",
    ),
    ("--debug", PIPED): (
        "--debug reads its commands from standard input, and --context @- all of it.",
        "Name a file for the context.",
    ),
    ("--debug", PIPED_CTX): (
        "--debug reads its commands from standard input, and --ctx @- all of it.",
        "Name a file for it.",
    ),
    ("--step", "--repeat"): ("--step goes through one run, and --repeat makes several.", "Take one."),
    ("--step", "--json-lines"): (
        "--step asks between the lines that --json-lines prints.",
        "Take one; --json prints the run when all is asked.",
    ),
}
WANT: Mapping[tuple[str, str], Why] = {
    ("--force", "--only"): ("--force calls one hook.", "Name it with --only HOOK."),
    ("--seed", "--shuffle"): ("--seed is for --shuffle.", "Give both, or neither."),
    ("--shuffle", ENOUGH): (
        f"--shuffle wants to know how often it may fire, {LEAST} times at least.",
        "--repeat 20 --shuffle is a good start.",
    ),
    ("--stop-at", "--debug"): ("--stop-at names a line at which --debug stops.", "Add --debug."),
    ("--step", TERMINAL): ("--step asks on a terminal before each handler.", "Leave it out here."),
}


def check(given: Collection[str]) -> None:
    """Raises Refusal for the first pair that does not go together, or one of which is missing."""
    for (one, other), (wrong, then) in EXCLUDE.items():
        if one in given and other in given:
            raise Refusal(wrong, then, code=2)
    for (one, wanted), (wrong, then) in WANT.items():
        if one in given and wanted not in given:
            raise Refusal(wrong, then, code=2)

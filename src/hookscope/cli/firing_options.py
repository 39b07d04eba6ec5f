"""The options that commands which run handlers have in common."""

import click

from hookscope.cli.numbers import Seconds
from hookscope.workbench.options import LINGER


def timeout_option(otherwise: float = 30) -> click.Option:
    """`--timeout S`: the limit of each handler, in seconds; `otherwise` holds where it is not given."""
    return click.Option(
        ["--timeout"],
        type=Seconds(),
        metavar="S",
        help=f"Seconds for each handler; else {otherwise:g}.",
    )


def trust_option() -> click.Option:
    """`--trust`: this once, as though every folder was allowed to run."""
    return click.Option(["--trust"], is_flag=True, help="Run handlers of untrusted folders too, this once.")


def wait_option() -> click.Option:
    """`--wait S`: how long it is waited for what handlers leave running, in seconds; 0: not at all."""
    return click.Option(
        ["--wait"],
        type=Seconds(zero=True),
        default=LINGER,
        metavar="S",
        help=f"Seconds to wait for what handlers leave running; else {LINGER:g}, 0: not at all. "
        "How that ends is noted, and changes no exit code.",
    )

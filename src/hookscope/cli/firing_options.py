"""The options that commands which run handlers have in common."""

import click

from hookscope.cli.numbers import Seconds


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

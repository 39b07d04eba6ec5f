"""The options of `fire` about who is called, and in which order."""

from __future__ import annotations

import secrets

import click

from hookscope.cli.numbers import SEEDS


def except_option() -> click.Option:
    """`--except HOOK`, again and again."""
    return click.Option(
        ["--except", "left_out"],
        multiple=True,
        metavar="HOOK",
        help="Leave this hook out; repeat it for others.",
    )


def shuffle_options() -> tuple[click.Option, click.Option]:
    """`--shuffle`, and `--seed N` of its random orders."""
    return (
        click.Option(
            ["--shuffle"], is_flag=True, help="With --repeat: in other orders, and who disturbs whom."
        ),
        click.Option(["--seed"], type=SEEDS, metavar="N", help="The same seed gives the same orders."),
    )


def seed_of(shuffle: bool, seed: int | None) -> int | None:
    """The seed of the orders to try; None where none are to be tried."""
    if not shuffle:
        return None
    return secrets.randbelow(2**32) if seed is None else seed

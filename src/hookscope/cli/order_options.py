"""The options of `fire` about who is called, and in which order."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import click

from hookscope.cli.numbers import SEEDS
from hookscope.core.orders import LEAST
from hookscope.workbench import Refusal


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


def seed_of(shuffle: bool, seed: int | None, repeat: int | None) -> int | None:
    """The seed of the orders to try; None where none are to be tried. Raises Refusal."""
    if not shuffle:
        if seed is not None:
            raise Refusal("--seed is for --shuffle.", "Give both, or neither.", code=2)
        return None
    if repeat is None or repeat < LEAST:
        raise Refusal(
            f"--shuffle wants to know how often it may fire, {LEAST} times at least.",
            "--repeat 20 --shuffle is a good start.",
            code=2,
        )
    return secrets.randbelow(2**32) if seed is None else seed


def check_left_out(left_out: Sequence[str], only: str | None) -> None:
    """Raises Refusal where one hook is asked for and others are to be left out."""
    if left_out and only is not None:
        raise Refusal("--only leaves all others out.", "Take it, or --except.", code=2)

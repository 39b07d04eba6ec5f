"""The options of `fire` about who is called, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import click

from hookscope.workbench import Refusal


def except_option() -> click.Option:
    """`--except HOOK`, again and again."""
    return click.Option(
        ["--except", "left_out"],
        multiple=True,
        metavar="HOOK",
        help="Leave this hook out; repeat it for others.",
    )


def check_left_out(left_out: Sequence[str], only: str | None) -> None:
    """Raises Refusal where one hook is asked for and others are to be left out."""
    if left_out and only is not None:
        raise Refusal("--only leaves all others out.", "Take it, or --except.", code=2)

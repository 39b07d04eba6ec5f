"""The options that commands which run handlers have in common."""

from collections.abc import Sequence

import click

from hookscope.cli.numbers import Seconds
from hookscope.workbench.options import LINGER
from hookscope.workbench.refusal import Refusal


def only_option() -> click.Option:
    """`--only HOOK`: the one hook to fire at. Of several names none would be passed over unsaid."""
    return click.Option(
        ["--only"], metavar="HOOK", multiple=True, callback=_one, help="Fire at this hook alone."
    )


def _one(ctx: click.Context, option: click.Parameter, names: Sequence[str]) -> str | None:
    """Raises Refusal where several hooks are named, as the options can be that leave hooks out."""
    asked = list(dict.fromkeys(names))
    if len(asked) > 1:
        raise Refusal(f"--only names one hook, and has {' and '.join(asked)}.", "Fire once for each.", code=2)
    return asked[0] if asked else None


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

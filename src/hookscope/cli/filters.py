"""The options that say which runs are meant: those of `log`, and of `export`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, get_args

import click

from hookscope.core.local_time import in_local_time
from hookscope.workbench import Refusal

if TYPE_CHECKING:
    from hookscope.workbench.history import Wanted

OUTCOMES = ("ok", "failed", "cancelled", "interrupted", "running")
AGO = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhdw])")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
NAMES = ("hook", "event", "outcome", "failed", "since", "until", "text", "pinned")


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic since 8.4 alone
    """`2h` ago, a day, a time of today, or both; in local time unless it says otherwise."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        found = moment_of(str(value), in_local_time(datetime.now(UTC)))
        if found is None:
            shapes = "`2h` (or s, m, d, w), `10:30`, `2026-11-20` or `2026-11-20T10:30`"
            self.fail(f"{value!r} is no time: it wants {shapes}.", param, ctx)
        return found


def moment_of(text: str, now: datetime) -> datetime | None:
    """The moment that is meant; None for what is none. `now` has a time zone, which others are read in."""
    try:
        if ago := AGO.fullmatch(text.strip()):
            return now - timedelta(**{UNITS[ago[2]]: float(ago[1])})
        if ":" in text[:3] and "-" not in text:
            return datetime.combine(now.date(), time.fromisoformat(text), now.tzinfo)
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else in_local_time(found)
    except (ValueError, OverflowError, OSError):
        return None


def filter_options() -> list[click.Option]:
    """The options, made anew: click marks them with the command that they stand on."""
    return [
        click.Option(["--hook"], metavar="NAME", help="Only runs in which this hook was called."),
        click.Option(["--event"], metavar="KEY", help="Only runs of this event."),
        click.Option(["--outcome"], type=click.Choice(OUTCOMES), help="Only runs that ended so."),
        click.Option(["--failed"], is_flag=True, help="Only runs that did not end well."),
        click.Option(["--since"], type=Moment(), help="Only runs from then on: 2h, 10:30, 2026-11-20T10:30."),
        click.Option(["--until"], type=Moment(), help="Only runs up to then."),
        click.Option(
            ["--text"],
            metavar="WORDS",
            help="Only runs that hold these words side by side; WORD* also what begins so.",
        ),
        click.Option(["--pinned"], is_flag=True, help="Only runs that are pinned."),
    ]


def wanted_of(given: Mapping[str, Any]) -> Wanted:
    """What the options ask for. Raises Refusal where they contradict each other."""
    from hookscope.workbench.history import Outcome, Wanted, has_words

    assert set(OUTCOMES) == set(get_args(Outcome))
    text, outcome = given["text"], given["outcome"]
    if text is not None and not has_words(text):
        raise Refusal("--text wants a word: a letter or a digit at least.", code=2)
    if given["failed"] and outcome not in (None, "failed"):
        raise Refusal(f"A run that failed is not {outcome}: give --failed or --outcome.", code=2)
    if given["failed"]:
        outcome = "failed"
    return Wanted(
        hook=given["hook"],
        key=given["event"],
        outcomes=None if outcome is None else frozenset({outcome}),
        since=given["since"],
        until=given["until"],
        text=text,
        pinned=given["pinned"],
    )


def nothing_found(given: Mapping[str, Any], every: str = "hookscope log") -> str:
    """What to say where no run fits, and what else could be asked; `every` is what lists all of them."""
    text = given["text"]
    if text and not text.rstrip().endswith("*"):
        return f"No run fits. Words are looked for whole: `--text '{text.strip()}*'` finds what begins so."
    return f"No run fits. `{every}` lists all."

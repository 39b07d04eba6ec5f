"""Options that several commands share: handler limits, run filters, report files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from hookscope.app.options import LINGER
from hookscope.cli.options import Seconds
from hookscope.model.failure import Refusal
from hookscope.model.text import error_reason, in_local_time
from hookscope.runtime.limits import DEFAULT_RUN_SECONDS

if TYPE_CHECKING:
    from hookscope.storage.journal.run_filter import RunFilter


def only_option() -> click.Option:
    """Return `--only HOOK`. Several names are an error: all but one would be ignored silently."""
    return click.Option(
        ["--only"], metavar="HOOK", multiple=True, callback=_single_hook, help="Fire only at this hook."
    )


def _single_hook(ctx: click.Context, option: click.Parameter, names: Sequence[str]) -> str | None:
    """Return the named hook, or None. Raises Refusal if several hooks are named."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) > 1:
        raise Refusal(f"--only takes one hook, not {' and '.join(distinct)}.", "Fire once for each.", code=2)
    return distinct[0] if distinct else None


def timeout_option(default: float = DEFAULT_RUN_SECONDS) -> click.Option:
    """Return `--timeout S`: each handler's limit in seconds, with its default."""
    return click.Option(
        ["--timeout"], type=Seconds(), metavar="S", help=f"Seconds for each handler; default: {default:g}."
    )


def trust_option() -> click.Option:
    """Return `--trust`: run this once as if every folder were trusted."""
    return click.Option(
        ["--trust"], is_flag=True, help="Also run handlers in untrusted folders, this time only."
    )


def wait_option() -> click.Option:
    """Return `--wait S`: how long to wait for background work of handlers, in seconds; 0 for not at all."""
    return click.Option(
        ["--wait"],
        type=Seconds(zero=True),
        default=LINGER,
        metavar="S",
        help=f"Seconds to wait for background work of handlers; default: {LINGER:g}. "
        "It never changes the exit code.",
    )


RUN_OUTCOMES = ("ok", "failed", "cancelled", "interrupted", "running")
_TIME_AGO = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhdw])")
_TIME_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
FILTER_NAMES = ("hook", "event", "outcome", "failed", "since", "until", "text", "pinned")


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.4
    """`2h` ago, a date, a time of today, or both; local time unless it names a time zone."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        moment = parse_moment(str(value), in_local_time(datetime.now(UTC)))
        if moment is None:
            shapes = "`2h` (or s, m, d, w), `10:30`, `2026-11-20` or `2026-11-20T10:30`"
            self.fail(f"{value!r} is not a time: it needs {shapes}.", param, ctx)
        return moment


def parse_moment(text: str, now: datetime) -> datetime | None:
    """Return the moment; None if the text is not a time. `now` gives the default time zone."""
    try:
        if ago := _TIME_AGO.fullmatch(text.strip()):
            return now - timedelta(**{_TIME_UNITS[ago[2]]: float(ago[1])})
        if ":" in text[:3] and "-" not in text:
            return datetime.combine(now.date(), time.fromisoformat(text), now.tzinfo)
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo is not None else in_local_time(moment)
    except (ValueError, OverflowError, OSError):
        return None


def run_filter_options() -> list[click.Option]:
    """Return new filter options: click marks each with its command, so they cannot be shared."""
    return [
        click.Option(["--hook"], metavar="NAME", help="Only runs in which this hook was called."),
        click.Option(["--event"], metavar="KEY", help="Only runs of this event."),
        click.Option(["--outcome"], type=click.Choice(RUN_OUTCOMES), help="Only runs with this outcome."),
        click.Option(["--failed"], is_flag=True, help="Only runs that failed."),
        click.Option(["--since"], type=Moment(), help="Only runs since TIME: 2h, 10:30, 2026-11-20T10:30."),
        click.Option(["--until"], type=Moment(), help="Only runs until TIME."),
        click.Option(
            ["--text"], metavar="WORDS", help="Only runs with this phrase; WORD* matches the start of a word."
        ),
        click.Option(["--pinned"], is_flag=True, help="Only pinned runs."),
    ]


def run_filter_of(parameters: Mapping[str, Any]) -> RunFilter:
    """Return the run filter of the options. Raises Refusal if they contradict each other."""
    from hookscope.app.runs.past_runs import has_search_terms
    from hookscope.storage.journal.records import Outcome
    from hookscope.storage.journal.run_filter import RunFilter

    assert set(RUN_OUTCOMES) == set(get_args(Outcome))
    text, outcome = parameters["text"], parameters["outcome"]
    if text is not None and not has_search_terms(text):
        raise Refusal("--text needs a word with at least one letter or digit.", code=2)
    if parameters["failed"] and outcome not in (None, "failed"):
        raise Refusal(f"--failed contradicts --outcome {outcome}: use one of them.", code=2)
    if parameters["failed"]:
        outcome = "failed"
    return RunFilter(
        hook=parameters["hook"],
        key=parameters["event"],
        outcomes=None if outcome is None else frozenset({outcome}),
        since=parameters["since"],
        until=parameters["until"],
        text=text,
        pinned=parameters["pinned"],
    )


def no_runs_message(parameters: Mapping[str, Any], list_all_command: str = "hookscope log") -> str:
    """Return the message for a search without results, with the next search or `list_all_command`."""
    text = parameters["text"]
    if text and not text.rstrip().endswith("*"):
        return f"No run matches. Only whole words match: `--text '{text.strip()}*'` finds longer words."
    return f"No run matches. `{list_all_command}` lists all."


STANDARD_OUTPUT = "-"


class ReportFile(click.Path):
    """The path of a report. Standard output is refused, because the answer goes there."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == STANDARD_OUTPUT:
            problem = "standard output is already used for the answer"
            self.fail(f"{problem}; name a file (`./-` for a file called -).", param, ctx)
        return super().convert(value, param, ctx)


def check_report_writable(file: Path) -> None:
    """Raise Refusal if the file cannot be written, before a long operation starts."""
    is_new = not os.path.lexists(file)
    if os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file):
        return  # a pipe or device: its reader would take the test write for the report
    try:
        with open(file, "ab"):  # keeps the old content until the report is written
            pass
        if is_new:
            file.unlink()
    except OSError as error:
        raise _write_refusal(file, error) from None


def write_report(file: Path, text: str) -> None:
    """Write a report. Raises Refusal if the file cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _write_refusal(file, error) from None


def _write_refusal(file: Path, error: OSError) -> Refusal:
    return Refusal(f"Cannot write {file}: {error_reason(error)}.", "Name another file.", code=2)

"""`hookscope tap status`."""

from __future__ import annotations

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.tap import shown
from hookscope.workbench import Options
from hookscope.workbench.tap.status import recorded_in, taps_in


@answers.command("status")
def command(options: Options) -> Answer:
    """Whether the tap stands as it was written, what else the host wants before it runs it, and what was
    recorded. Exit 1 where none is installed, or something is wanted.
    """
    bench = answers.bench_of(options)
    view = bench.look()
    taps = taps_in(bench, view)
    try:
        recorded = recorded_in(view)
    except OSError as error:
        raise shown.unreadable(error) from None
    return Answer(
        {
            "dialect": view.host.dialect.name,
            "taps": [shown.tap_document(tap) for tap in taps],
            "recorded": shown.recorded_document(recorded),
        },
        shown.status(taps, recorded, view),
        yes=bool(taps) and all(tap.whole == "installed" and not tap.needs for tap in taps),
    )

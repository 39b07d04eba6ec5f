"""`hookscope tap lists`."""

from __future__ import annotations

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.tap import shown
from hookscope.workbench import Options
from hookscope.workbench.tap.lists import lists_of


@answers.command("lists")
def command(options: Options) -> Answer:
    """Two lists over what was recorded: hooks that listen to what never came, and events that came and
    nobody listens to. Both hold for as long as the tap has recorded, which is said.
    """
    bench = answers.bench_of(options)
    view = bench.look()
    try:
        lists = lists_of(view)
    except OSError as error:
        raise shown.unreadable(error) from None
    return Answer(shown.lists_document(lists, view), shown.lists(lists))

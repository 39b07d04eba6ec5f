"""Real handlers in several orders: each fire has the event anew, and one that is cancelled is the last."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.analysis.order_findings import OrderFindings, finding_sentences, order_summary
from hookscope.analysis.order_search import FEWEST_RUNS, OrderRuns
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal

if TYPE_CHECKING:
    from tests.conftest import MakeHook

COMMAND = "{openclaw: {events: [command]}}"
BOTH = "{openclaw: {events: [command, 'command:new']}}"


async def shuffled(workspace: Path, tmp_path: Path, times: int, *, cancelled: int = 0) -> OrderFindings:
    """What came of so many fires at most, of which that one was cancelled."""
    (tmp_path / "none").mkdir()
    options = Options(dialect="openclaw", workspace=workspace, bundled=tmp_path / "none")
    bench = Workbench(options, trust_all=True)
    try:
        view = bench.scan()
        plan = bench.plan(view, bench.template(view, "command:new"))
        shuffling = OrderRuns(bench, view, plan, times, seed=1)
        number = 0
        async with aclosing(shuffling.firings()) as begun:
            async for firing in begun:
                number += 1
                if number == cancelled:
                    firing.cancel()
                await firing
        return shuffling.findings()
    finally:
        await bench.close()


async def test_each_order_gets_an_unchanged_copy_of_the_event(
    workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    counts = """
        def handler(event):
            entry = event.context["sessionEntry"]
            entry["n"] = entry.get("n", 0) + 1
        """
    make_hook(workspace / "hooks", "a", COMMAND, counts)
    make_hook(workspace / "hooks", "b", COMMAND, counts)
    found = await shuffled(workspace, tmp_path, 9)
    assert [one.text for one in finding_sentences(found)] == [
        "a and b both change context.sessionEntry.n: "
        "each handler's value depends on which handler runs first."
    ]
    assert not found.unstable


async def test_hook_with_two_matching_keys_counts_as_two_handlers(
    workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", BOTH, "def handler(event): event.context['n'] = 1")
    make_hook(workspace / "hooks", "b", COMMAND, "def handler(event): event.context['n'] = 2")
    found = await shuffled(workspace, tmp_path, 30)
    assert sorted(found.names) == ["a (command)", "a (command:new)", "b"]
    assert len(found.orders) == found.possible_orders == 6
    told = " ".join(one.text for one in finding_sentences(found))
    assert "all write context.n: the last write wins." in told


async def test_cancelled_fire_is_the_last(workspace: Path, tmp_path: Path, make_hook: MakeHook) -> None:
    for name in "ab":
        make_hook(workspace / "hooks", name, COMMAND)
    found = await shuffled(workspace, tmp_path, 9, cancelled=3)
    assert (len(found.fired), found.order_matters, found.is_sampled) == (2, False, False)
    assert "so there is no result" in order_summary(found)


async def test_too_few_fires_are_refused(workspace: Path, tmp_path: Path, make_hook: MakeHook) -> None:
    for name in "ab":
        make_hook(workspace / "hooks", name, COMMAND)
    with pytest.raises(Refusal, match=f"needs {FEWEST_RUNS} fires or more"):
        await shuffled(workspace, tmp_path, FEWEST_RUNS - 1)

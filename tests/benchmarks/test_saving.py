"""From a save to the row, and to the result of firing again. Medians in one run; HOOKSCOPE_BENCHMARKS=1.

The row is the look's: what a screen adds is one frame. Beside it stands what the watching library's own
defaults need to tell of the same saves.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest
from tests.conftest import MakeHook

from hookscope.core.hooks import State
from hookscope.workbench import Options, View, Workbench

pytestmark = pytest.mark.skipif(
    not os.environ.get("HOOKSCOPE_BENCHMARKS"), reason="a benchmark; HOOKSCOPE_BENCHMARKS=1 runs it"
)

ROUNDS = 15
GOOD = "def handler(event): event.messages.append('good')\n"
BROKEN = "def handler(:\n"


class Told:
    """Waits until the watch has told of a save."""

    def __init__(self) -> None:
        self._news = threading.Event()

    def __call__(self, paths: frozenset[Path]) -> None:
        self._news.set()

    def after(self, save: Callable[[], object]) -> None:
        self._news.clear()
        save()
        assert self._news.wait(20)


@contextmanager
def watched(bench: Workbench, view: View, handler: Path) -> Iterator[Told]:
    told = Told()
    watch = bench.watch(told)
    watch.follow(view.host)
    while not told._news.is_set():  # it starts in a thread of its own
        handler.write_text(GOOD)
        told._news.wait(0.05)
    yield told
    watch.close()


@contextmanager
def watched_by_default(folder: Path) -> Iterator[Told]:
    from watchfiles import watch

    told, stop = Told(), threading.Event()

    def run() -> None:
        for _ in watch(folder, stop_event=stop, raise_interrupt=False):
            told(frozenset())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while not told._news.is_set():
        (folder / "probe").write_text("")
        told._news.wait(0.2)
    yield told
    stop.set()
    thread.join(20)


def test_a_save_is_a_row_at_once_and_a_result_soon_after(
    workspace: Path, make_hook: MakeHook, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", GOOD) / "handler.py"
    bench = Workbench(Options(workspace=workspace, bundled=workspace / "none"))
    bench.trust(workspace)

    def row_after(told: Told, source: str, state: State) -> float:
        began = perf_counter()
        told.after(lambda: handler.write_text(source))
        while bench.look().inventory.hooks[0].state is not state:
            pass
        return perf_counter() - began

    async def results(told: Told) -> list[float]:
        taken = []
        for _ in range(ROUNDS):
            began = perf_counter()
            await asyncio.to_thread(told.after, lambda: handler.write_text(GOOD))
            view = bench.look()
            run = await bench.fire(view, bench.plan(view, bench.template(view, "command:new")))
            assert run.messages == ("good",)
            taken.append(perf_counter() - began)
        await bench.close()
        return taken

    with watched(bench, bench.look(), handler) as told:
        sources = [(BROKEN, State.BROKEN), (GOOD, State.READY)] * ROUNDS
        row = median(row_after(told, *source) for source in sources)
        result = median(asyncio.run(results(told)))
    with watched_by_default(workspace / "hooks") as told:
        default = median(row_after(told, *source) for source in sources)
    with capsys.disabled():
        print(  # noqa: T201
            f"\nsave to row {row * 1e3:.1f} ms, save to result {result * 1e3:.1f} ms; "
            f"with the library's defaults save to row {default * 1e3:.1f} ms; load {os.getloadavg()[0]:.1f}"
        )
    assert row < default / 2
    assert row < 0.05
    assert result < 1

"""From a save to its news, its row and the result of firing again, beside the watching library's defaults.

The row is the look's: what a screen adds is one frame.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from time import perf_counter

from tests.benchmarks.building import loop, seconds, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.hook_status import State

GOOD = "def handler(event): event.messages.append('good')\n"
BROKEN = "def handler(:\n"
QUIET = 0.12  # seconds after which nothing more is told of the save before


class Told:
    """Waits until a watch has told of a save."""

    def __init__(self) -> None:
        self.news = threading.Event()

    def __call__(self, paths: frozenset[Path]) -> None:
        self.news.set()

    def after(self, save: Callable[[], object]) -> None:
        while self.news.wait(QUIET):  # late news of the save before
            self.news.clear()
        save()
        assert self.news.wait(20), "nobody told of a save"

    def until(self, write: Callable[[], object]) -> None:
        """Write until the watch, which starts in a thread of its own, tells of it."""
        while not self.news.is_set():
            write()
            self.news.wait(0.2)


@contextmanager
def by_default(folder: Path) -> Iterator[Told]:
    from watchfiles import watch

    told, stop = Told(), threading.Event()

    def run() -> None:
        for _ in watch(folder, stop_event=stop, raise_interrupt=False):
            told(frozenset())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    told.until(lambda: (folder / "probe").write_text(""))
    yield told
    stop.set()
    thread.join(20)


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    workspace = folder / "workspace"
    handler = write_hooks(workspace / "hooks", 1, handler=GOOD) / "hook-0000" / "handler.py"
    bench = Workbench(Options(workspace=workspace, bundled=workspace / "none"))
    bench.trust(workspace)
    sources = cycle([(BROKEN, State.BROKEN), (GOOD, State.READY)])

    def news(told: Told) -> float:
        began = 0.0

        def save() -> None:
            nonlocal began
            began = perf_counter()
            handler.write_text(GOOD)

        told.after(save)
        return perf_counter() - began

    def row(told: Told) -> float:
        source, state = next(sources)
        began = 0.0

        def save() -> None:
            nonlocal began
            began = perf_counter()
            handler.write_text(source)

        told.after(save)
        while bench.scan().inventory.hooks[0].state is not state:
            pass
        return perf_counter() - began

    async def result(told: Told) -> float:
        took = await asyncio.to_thread(news, told)

        async def fire() -> None:
            view = bench.scan()
            run = await bench.fire(view, bench.plan(view, bench.template(view, "command:new")))
            assert run.messages == ("good",)

        began = perf_counter()
        await fire()
        return took + perf_counter() - began

    with ExitStack() as stack:
        sampled = stack.enter_context(loop())
        told = Told()
        watch = bench.watch(told)
        stack.callback(watch.close)

        async def close() -> float:
            await bench.close()
            return 0.0

        stack.callback(sampled(close))
        watch.follow(bench.scan().host)
        told.until(lambda: handler.write_text(GOOD))
        default = stack.enter_context(by_default(workspace / "hooks"))
        yield [
            Variant("save to news, the library's defaults", lambda: news(default)),
            Variant("save to news, ours", lambda: news(told)),
            Variant("save to row, the library's defaults", lambda: row(default), 2),
            Variant("save to row, ours", lambda: row(told), 2),
            Variant("save to result, ours", sampled(lambda: result(told))),
            Variant("a look", lambda: seconds(bench.scan)),
        ]


GROUP = Group(
    "saving",
    "A handler is saved",
    opened,
    floor="save to news, the library's defaults",
    targets=(
        Target("save to news, ours", 1 / 10, "save to news, the library's defaults"),
        Target("save to row, ours", 1 / 2, "save to row, the library's defaults"),
        Target("save to row, ours", 0.05),
        Target("save to result, ours", 1.0),
    ),
)

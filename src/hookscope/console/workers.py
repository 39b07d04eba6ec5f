"""The worker processes that run now: their language, for whom, how old and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.console.dialog import Over
from hookscope.console.keymap.hints import hints
from hookscope.console.text import line
from hookscope.console.theme import MUTED

if TYPE_CHECKING:
    from hookscope.workbench import Workbench, WorkerFacts

REFRESH = 1.0  # seconds
ROLE = 17  # cells that say for whom one runs
NONE = "No worker runs: the first handler of a language starts one."


def workers_sheet(workers: Mapping[str, tuple[WorkerFacts, ...]]) -> Content:
    """A line a process, as narrow as the smallest screen's frame."""
    rows = [(language, facts) for language, all_facts in workers.items() for facts in all_facts]
    if not rows:
        return Content.styled(NONE, MUTED)
    heading = f"{'language':<12}{'for':<{ROLE}}{'pid':>8}{'age':>10}{'memory':>9}{'batches':>9}"
    return Content("\n").join([Content.styled(heading, MUTED), *(_row(*row) for row in rows)])


def _row(language: str, facts: WorkerFacts) -> Content:
    role = line(facts.role, 60).truncate(ROLE, ellipsis=True, pad=True)
    numbers = f"{facts.pid:>8}{_age(facts.age):>10}{_size(facts.memory):>9}{facts.calls:>9}"
    return Content(f"{language:<12}") + role + Content(numbers)


def _age(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} m {rest:02} s" if minutes else f"{rest} s"


def _size(memory: int) -> str:
    return f"{memory / 1024 / 1024:.0f} MiB" if memory else "–"


class WorkersScreen(Over[None]):
    """Over everything; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,P,q,enter", "dismiss", "Close", id="workers.close", tooltip="Back to where you were"),
    ]

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self._bench = bench

    def compose(self) -> ComposeResult:
        with Vertical(id="workers") as box:
            box.border_title = "Worker processes"
            box.border_subtitle = hints(("workers.close", "close"))
            yield Static(id="workers-sheet")

    def on_mount(self) -> None:
        self._draw()
        self.set_interval(REFRESH, self._draw, name="workers")

    def _draw(self) -> None:
        self.query_one("#workers-sheet", Static).update(workers_sheet(self._bench.crew.workers()))

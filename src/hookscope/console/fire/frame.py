"""The plan and the runs of the Fire pane, as they are drawn while the screen tells of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer

from hookscope.console.export.shown import Shown, shown_plan
from hookscope.console.fire import asked
from hookscope.console.fire.composer import Composer
from hookscope.console.fire.composing import FireComposing, first_key
from hookscope.console.fire.history import History
from hookscope.console.fire.otherwise import Otherwise
from hookscope.console.fire.plan_view import PlanView
from hookscope.console.fire.run_pane import RunPane
from hookscope.console.fire.runs import Runs
from hookscope.console.keymap.hints import hints
from hookscope.core.runs import Paused, Plan, Run, Step

if TYPE_CHECKING:
    from hookscope.console.state import Composed as Asked
    from hookscope.workbench import PastRun
    from hookscope.workbench.testing import Verified

FRAME = 0.1  # seconds between two drawings of a running run
NOTICED = 0.3  # seconds after which somebody may want to stop something
LATELY = 1.0  # seconds in which a key that was to stop it means nothing else
SOON = 0.5  # seconds in which most things are begun; what takes longer is named


class FireFrame(FireComposing):
    """What the screen tells the parts: what there is, who would run, and what the runs do."""

    job: reactive[str] = reactive("", init=False)  # what is on its way, as the beginning of a sentence

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  (Textual's name)
        classes: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        at_once: bool = True,
    ) -> None:
        super().__init__(at_once=at_once, id=id, classes=classes)
        self.runs = Runs(clock)
        self._clock = clock
        self._began = 0.0
        self._over = ("", 0.0)  # what has ended last that could have been stopped, and when
        self._frame: Timer | None = None
        self._told: asked.DraftChanged | None = None
        self._way = Otherwise()  # as it was last chosen
        self._unseen = False  # something goes on for a while, and no run of it is on the screen
        self._asked: dict[int, Asked] = {}  # how each run was fired that the composer or a save has begun
        self._plan: Plan | None = None
        self._problem = ""
        self._waited = False  # did a handler wait for a word when the run was drawn last

    def show_all(self) -> None:
        if self._filling is not None:
            self._composer.show_filling(self._filling)
        self._show_view()
        self._draw_run()

    def watch_view(self) -> None:
        if self.furnished:
            self._show_view()
            self.refresh_bindings()

    def watch_job(self, before: str, job: str) -> None:
        now = self._clock()
        if not job and now - self._began >= NOTICED:
            self._over = before, now
        if job:
            self._began = now
            self.set_timer(SOON, self._still_goes, name="fire-job")
        elif self._unseen:
            self._unseen = False
            self._draw_run()

    @property
    def just_over(self) -> str:
        """What has ended a moment ago, as the beginning of a sentence; else empty."""
        name, at = self._over
        return name if self._clock() - at < LATELY else ""

    @property
    def _waits(self) -> bool:
        """Does a handler of the run that goes on wait for a word."""
        running = self.runs.running
        return any(sheet.number == running and sheet.paused is not None for sheet in self.runs.sheets)

    def _still_goes(self) -> None:
        if self.job and self.runs.running is None:
            self._unseen = True
            self._draw_run()

    def compared(self, number: int, checked: Verified | None) -> None:
        """A run was compared with what its saved event expects; None: that event is gone."""
        self.runs.check(number, checked)
        self._draw_run()

    def show_plan(self, plan: Plan | None, problem: str = "") -> None:
        """Show who would run, or why there is no plan."""
        self._plan, self._problem = plan, problem
        if self.furnished:
            self._draw_plan()

    def remember(self, past: Sequence[PastRun]) -> None:
        """Runs of earlier sittings and of other programs: shown as those of this one."""
        for run in past:
            self.runs.recall(run)
        if past and self.runs.current is None:  # else the first run of this sitting was faster
            self.runs.show(past[-1].id)
        self._draw_run()

    def shown_plan(self) -> Shown | None:
        """The plan of the composer's event, where there is one."""
        plan = self._plan
        if plan is None or not self.furnished:
            return None
        return shown_plan(plan, self.query_one(PlanView).as_drawn())

    def run_text(self) -> str:
        """The run on the screen as plain text."""
        return self.query_one(RunPane).as_text()

    def show_past(self, past: PastRun) -> None:
        """Put a run of the journal on the screen, at its place among those that are there."""
        self.runs.recall(past)
        self.show_run(past.id)

    def firing_started(self, number: int, plan: Plan, fired: Asked | None = None) -> None:
        """A run has begun: its rows stand there at once. `fired` as, where that is known."""
        self.runs.begin(number, plan, datetime.now(UTC))
        self._unseen = False
        if fired is not None:
            self._asked[number] = fired
        kept = {sheet.number for sheet in self.runs.sheets}
        self._asked = {number: how for number, how in self._asked.items() if number in kept}
        if self._zoomed != "run":
            self._zoom(None)
        self.remove_class("-writing")
        self._prefer_plan(False)
        self._draw_run()
        if self._frame is None:
            self._frame = self.set_interval(FRAME, self._draw_run, name="fire-frame")

    def step(self, number: int, step: Step) -> None:
        """Take a step; it is drawn with the next frame."""
        first = isinstance(step, Paused) and not self.runs.has_begun(number)
        self.runs.step(number, step)
        if first and self.furnished:  # out of an editor: the words for it are letters
            self.query_one("#fire-run Waterfall").focus()

    def firing_ended(self, number: int, run: Run | None, problem: str = "") -> None:
        """A run is complete; or there is none, and why."""
        self.runs.end(number, run, problem)
        if self._frame is not None and self.runs.running is None:
            self._frame.stop()
            self._frame = None
        self._draw_run()

    def show_run(self, number: int) -> bool:
        """Put a run of this sitting on the screen; False where it is no longer kept."""
        if not self.runs.show(number):
            return False
        self._prefer_plan(False)
        self._draw_run()
        return True

    def _show_view(self) -> None:
        view = self.view
        composer, run_pane = self.query_one(Composer), self.query_one(RunPane)
        run_pane.view = view
        self._told = None  # the same event may now mean another plan
        composer.show_view(view)
        if view is None:
            return
        if self._wanted is not None:
            (key, only), self._wanted = self._wanted, None
            self.compose_event(key, only, self._first)
        elif not composer.draft.key and view.keys:
            composer.load(first_key(view))
        if self._restoring is not None:
            (kept, part, form), self._restoring = self._restoring, None
            self.restore(kept, part, form=form)
        self._draw_plan()

    def name_keys(self) -> None:
        """Write the keys in force."""
        if self.furnished:
            self.query_one(Composer).read()
            self._draw_plan()
            self.query_one(RunPane).forget()
            self._draw_run()

    def _draw_plan(self) -> None:
        checked = self.query_one(Composer).checked
        problem = self._problem
        if self._plan is None and not problem and checked.event is None and self.view is not None:
            problem = f"no plan until the event is valid: {checked.problem}"
        self.query_one(PlanView).show(self._plan, problem, self.view)

    def _draw_run(self) -> None:
        self.runs.settle()
        if not self.furnished:
            return
        if self._waited is not self._waits:  # other keys can act now
            self._waited = self._waits
            self.refresh_bindings()
        older, newer = self.runs.neighbour(-1), self.runs.neighbour(1)
        neighbours = (("fire.older", older), ("fire.newer", newer))
        beside = hints(*((key, f"run {number}") for key, number in neighbours if number is not None))
        pane, goes = self.query_one(RunPane), Content("")
        if self._unseen:
            sign = Content.styled(f"» {self.job} goes on", "$text-accent")
            goes = Content("   ").join(filter(None, (sign, hints(("fire.leave", "stops it")))))
            beside = Content("   ").join(filter(None, (goes, beside)))
        self.query_one(PlanView).border_subtitle = "" if pane.size else goes  # a small screen has no room
        pane.show(self.runs.current, self.runs.clock(), beside, self._first)
        self.query_one(History).show(self.runs.sheets, self.runs.shown)

    def _say(self, text: str, severity: str = "information") -> None:
        self.app.notify(text, severity="warning" if severity == "warning" else "information", markup=False)

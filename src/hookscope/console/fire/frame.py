"""The Fire pane: compose an event, see who would run, fire, read what each handler did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.containers import Container
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from hookscope.console.export.shown import Shown, shown_plan
from hookscope.console.fire import asked
from hookscope.console.fire.arrangement import ARRANGEMENTS, PARTS, arrangement
from hookscope.console.fire.composer import Composer
from hookscope.console.fire.draft import Draft, event_draft, template_draft
from hookscope.console.fire.furnishing import LatePane, by_its_parts
from hookscope.console.fire.head import KeyField
from hookscope.console.fire.history import History
from hookscope.console.fire.otherwise import Otherwise
from hookscope.console.fire.plan_view import PlanView
from hookscope.console.fire.run_pane import RunPane
from hookscope.console.fire.runs import Runs
from hookscope.console.fire.saved import Loaded, draft_from
from hookscope.console.fire.saved import title as saved_title
from hookscope.console.keymap.hints import hints
from hookscope.console.last_time.model import KeptDraft
from hookscope.core.runs import Event, Plan, Run, Step

if TYPE_CHECKING:
    from hookscope.console.state import Draft as Asked
    from hookscope.workbench import PastRun, View
    from hookscope.workbench.drafts import SavedDraft
    from hookscope.workbench.filling import Filling
    from hookscope.workbench.testing import Checked

FRAME = 0.1  # seconds between two drawings of a running run
NOTICED = 0.3  # seconds after which somebody may want to stop something
LATELY = 1.0  # seconds in which a key that was to stop it means nothing else
SOON = 0.5  # seconds in which most things are begun; what takes longer is named


def first_key(view: View) -> str:
    """The event to begin with: one that somebody would hear."""
    heard = {call.key for call in view.registry.registrations}
    listened = (key for key in view.keys if key in heard or key.partition(":")[0] in heard)
    return next(listened, view.keys[0] if view.keys else "")


class FireFrame(LatePane):
    """Composer, plan, runs and run, laid out, and what the screen tells them."""

    view: reactive[View | None] = reactive(None, init=False)
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
        self.add_class("-plan")
        self._filling: Filling | None = None
        self._restoring: tuple[KeptDraft, str | None, bool] | None = None  # once there are parts and a view
        self.runs = Runs(clock)
        self._clock = clock
        self._began = 0.0
        self._over = ("", 0.0)  # what has ended last that could have been stopped, and when
        self._frame: Timer | None = None
        self._told: asked.DraftChanged | None = None
        self._wanted: tuple[str, str | None] | None = None  # asked for before there was a view
        self._first = ""  # the hook that a run is opened at: the one that was fired at
        self._way = Otherwise()  # as it was last chosen
        self._loaded: Loaded | None = None  # the saved event in the composer
        self._unseen = False  # something goes on for a while, and no run of it is on the screen
        self._asked: dict[int, Asked] = {}  # how each run was fired that the composer or a save has begun
        self._plan: Plan | None = None
        self._problem = ""
        self._zoomed: str | None = None
        self._composer = Composer(id="fire-composer")

    def parts(self) -> Iterator[Widget]:
        side = Container(PlanView(id="fire-plan"), History(id="fire-runs"), id="fire-side")
        yield Container(self._composer, side, id="fire-top")
        yield RunPane(id="fire-run")

    def show_all(self) -> None:
        if self._filling is not None:
            self._composer.show_filling(self._filling)
        self._show_view()
        self._draw_run()

    def on_resize(self, event: events.Resize) -> None:
        now = arrangement(event.size.width, event.size.height)
        self.update_classes({f"-{name}": name in now for name in ARRANGEMENTS})

    def on_descendant_focus(self) -> None:
        self.make_room_to_write()

    def make_room_to_write(self) -> None:
        """Whoever writes gets more lines, where there are few; after a fire, with the next letter."""
        self.set_class(self.query_one(Composer).sheet.has_focus_within, "-writing")

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

    def _still_goes(self) -> None:
        if self.job and self.runs.running is None:
            self._unseen = True
            self._draw_run()

    @by_its_parts
    def compose_event(self, key: str, only: str | None = None, first: str = "") -> None:
        """Put an event of this key into the composer, at one hook only where `only` names it.

        `first`: the hook that its runs are opened at, where nothing else wants to be seen.
        """
        self._first = first
        if self.view is None:
            self._wanted = (key, only)
            return
        composer = self.query_one(Composer)
        if composer.draft.key == key and not composer.untouched:
            composer.limit(only)
        else:
            composer.begin(key, only)
        self._zoom(None)
        self._prefer_plan(True)
        self.call_after_refresh(self._focus_key)  # a pane just shown takes no focus before

    def _focus_key(self) -> None:
        """Not an editor: the next key is a command."""
        if self.display:  # and the user has not gone elsewhere meanwhile
            self.query_one(KeyField).focus()

    @property
    def loaded(self) -> Path | None:
        """The file of the saved event in the composer."""
        return self._loaded.file if self._loaded is not None else None

    @property
    def event(self) -> Event | None:
        """The composer's event, where it is one."""
        return self._composer.checked.event

    @property
    def key(self) -> str:
        """The key of the composer's event."""
        return self._composer.draft.key

    def show_filling(self, filling: Filling | None) -> None:
        """Fill events with these variables from now on."""
        self._filling = filling
        if self.furnished:
            self._composer.show_filling(filling)

    @by_its_parts
    def load_saved(self, file: Path, saved: SavedDraft) -> None:
        """Put a saved event into the composer."""
        if self.view is None:
            return
        self._put(draft_from(saved, self.view))
        self.kept_as(file, self.query_one(Composer).draft)

    @by_its_parts
    def load_event(self, event: Event) -> None:
        """Put an event into the composer that was sent before."""
        self._put(event_draft(event))
        self._loaded = None
        self._draw_title()

    def _put(self, draft: Draft) -> None:
        self.query_one(Composer).take(draft)
        self._zoom(None)
        self._prefer_plan(True)
        self.call_after_refresh(self._focus_key)

    @by_its_parts
    def kept_as(self, file: Path, draft: Draft) -> None:
        """This file says what the composer held as `draft`, and still does unless it is another event now."""
        if draft.key == self.key:
            self._loaded = Loaded(file, draft)
            self._composer.settled(draft)
            self._draw_title()

    def kept(self) -> tuple[KeptDraft, str | None, bool]:
        """The event in the composer, the part that has all the room, and whether the form is shown."""
        if self._restoring is not None:
            return self._restoring
        composer = self._composer
        draft = composer.draft
        kept = KeptDraft(draft.key, draft.only)
        if not composer.pristine:
            file = str(self.loaded) if self.loaded is not None else None
            held = draft.cfg is not None
            kept = KeptDraft(
                draft.key, draft.only, draft.session, draft.text, draft.ctx_text, held=held, file=file
            )
        return kept, self._zoomed, composer.sheet.as_form

    def restore(self, kept: KeptDraft, part: str | None, *, form: bool) -> None:
        """Compose and show that again, unless something was composed since the start."""
        if not self.furnished:
            self._restoring = kept, part, form
            return
        composer = self._composer
        if self.view is None or not composer.untouched:
            return
        if kept.key:
            composer.load(kept.key, kept.only)
        if kept.text is not None:
            template = template_draft(kept.key, self.view, kept.only)
            cfg = (template.cfg or {}) if kept.held else None
            composer.put(
                replace(template, session=kept.session, text=kept.text, cfg=cfg, ctx_text=kept.ctx_text)
            )
        if form != composer.sheet.as_form:
            composer.turn_face()
        self._zoom(part)

    def came_from(self, file: Path, saved: SavedDraft | None) -> None:
        """The composer's event is one of a file, perhaps changed since; None: of one that is gone."""
        self.once_furnished(partial(self._came_from, file, saved))

    def _came_from(self, file: Path, saved: SavedDraft | None) -> None:
        if saved is None and self.loaded == file:
            self._loaded = None
        elif saved is not None and self.view is not None and saved.key == self.key:
            self._loaded = Loaded(file, draft_from(saved, self.view))
        self._draw_title()

    def _draw_title(self) -> None:
        composer = self.query_one(Composer)
        composer.entitle(saved_title(self._loaded, composer.draft))

    @property
    def _unchanged(self) -> Path | None:
        """The saved event that the composer holds just as its file has it."""
        loaded = self._loaded
        if loaded is None or loaded.changed(self.query_one(Composer).draft):
            return None
        return loaded.file

    def compared(self, number: int, checked: Checked | None) -> None:
        """A run was compared with what its saved event expects; None: that event is gone."""
        self.runs.check(number, checked)
        self._draw_run()

    def show_plan(self, plan: Plan | None, problem: str = "") -> None:
        """Show who would run, or why there is no plan."""
        self._plan, self._problem = plan, problem
        if self.furnished:
            self._draw_plan()

    def remember(self, past: Sequence[PastRun]) -> None:
        """Runs of earlier sittings: shown as those of this one, behind them."""
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
        self.runs.step(number, step)

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
        older, newer = self.runs.neighbour(-1), self.runs.neighbour(1)
        neighbours = (("fire.older", older), ("fire.newer", newer))
        beside = hints(*((key, f"run {number}") for key, number in neighbours if number is not None))
        if self._unseen:
            goes = Content.styled(f"» {self.job} goes on", "$text-accent")
            beside = Content("   ").join(filter(None, (goes, hints(("fire.leave", "stops it")), beside)))
        self.query_one(RunPane).show(self.runs.current, self.runs.clock(), beside, self._first)
        self.query_one(History).show(self.runs.sheets, self.runs.shown)

    def _prefer_plan(self, plan: bool) -> None:
        """Where there is room for one of them, show the plan or the run."""
        if not self.furnished:
            self.set_class(plan, "-plan")
            return
        leaving = self.query_one(PlanView) if not plan else self.query_one(RunPane)
        had_focus = leaving.has_focus or leaving.has_focus_within
        self.set_class(plan, "-plan")
        if had_focus and self.has_class("-stacked"):
            self._focus_lower()

    def _focus_lower(self) -> None:
        target = (
            self.query_one(PlanView) if self.has_class("-plan") else self.query_one("#fire-run Waterfall")
        )
        self.call_after_refresh(target.focus)

    @property
    def part_in_focus(self) -> str | None:
        focused = self.screen.focused
        ids = {node.id for node in focused.ancestors_with_self} if focused is not None else set()
        return next((part for part in PARTS if f"fire-{part}" in ids), None)

    def _zoom(self, part: str | None) -> None:
        self._zoomed = part
        self.update_classes({f"-zoom-{name}": name == part for name in PARTS})

    def _say(self, text: str, severity: str = "information") -> None:
        self.app.notify(text, severity="warning" if severity == "warning" else "information", markup=False)

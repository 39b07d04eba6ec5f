"""What the Fire pane displays: the composed event, its plan, and the runs while they progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer

from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.event_draft import (
    EventDraft,
    LoadedEvent,
    draft_of_event,
    draft_of_saved,
    template_draft,
)
from hookscope.console.panes.fire.event_draft import loaded_event_title as saved_title
from hookscope.console.panes.fire.fire_layout import FireLayout, when_parts_mounted
from hookscope.console.panes.fire.plan_view import PlanView
from hookscope.console.panes.fire.run_history import History, RecentRuns
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.panes.view_exports import ViewExport, export_plan
from hookscope.console.state import fire_requests
from hookscope.console.state.fire_requests import FireOptions
from hookscope.console.state.state_changes import ComposerDraft
from hookscope.model.run import Event, Paused, Plan, Run, Step

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.app.variables import VariableSources
    from hookscope.authoring.testing.saved_event_files import SavedDraft
    from hookscope.authoring.testing.test_runs import SavedEventResult
    from hookscope.console.state.console_state import ComposedEvent as Asked


def first_subscribed_key(view: Snapshot) -> str:
    """The event to begin with: one that somebody would hear."""
    heard = {call.key for call in view.registry.registrations}
    listened = (key for key in view.keys if key in heard or key.partition(":")[0] in heard)
    return next(listened, view.keys[0] if view.keys else "")


class FireEventDisplay(FireLayout):
    """Puts events into the composer, and knows which saved one is there."""

    view: reactive[Snapshot | None] = reactive(None, init=False)

    def __init__(self, *, id: str | None, classes: str | None, at_once: bool) -> None:  # noqa: A002
        super().__init__(at_once=at_once, id=id, classes=classes)
        self._filling: VariableSources | None = None
        self._restoring: tuple[ComposerDraft, str | None, bool] | None = (
            None  # once there are parts and a view
        )
        self._wanted: tuple[str, str | None] | None = None  # asked for before there was a view
        self._first = ""  # the hook that a run is opened at: the one that was fired at
        self._loaded: LoadedEvent | None = None  # the saved event in the composer

    @when_parts_mounted
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

    def show_filling(self, filling: VariableSources | None) -> None:
        """Fill events with these variables from now on."""
        self._filling = filling
        if self.furnished:
            self._composer.show_filling(filling)

    @when_parts_mounted
    def load_saved(self, file: Path, saved: SavedDraft) -> None:
        """Put a saved event into the composer."""
        if self.view is None:
            return
        self._put(draft_of_saved(saved, self.view))
        self.kept_as(file, self.query_one(Composer).draft)

    @when_parts_mounted
    def load_event(self, event: Event) -> None:
        """Put an event into the composer that was sent before."""
        self._put(draft_of_event(event))
        self._loaded = None
        self._draw_title()

    def _put(self, draft: EventDraft) -> None:
        self.query_one(Composer).take(draft)
        self._zoom(None)
        self._prefer_plan(True)
        self.call_after_refresh(self._focus_key)

    @when_parts_mounted
    def kept_as(self, file: Path, draft: EventDraft) -> None:
        """This file says what the composer held as `draft`, and still does unless it is another event now."""
        if draft.key == self.key:
            self._loaded = LoadedEvent(file, draft)
            self._composer.settled(draft)
            self._draw_title()

    def kept(self) -> tuple[ComposerDraft, str | None, bool]:
        """The event in the composer, the part that has all the room, and whether the form is shown."""
        if self._restoring is not None:
            return self._restoring
        composer = self._composer
        draft = composer.draft
        kept = ComposerDraft(draft.key, draft.only)
        if not composer.pristine:
            file = str(self.loaded) if self.loaded is not None else None
            held = draft.cfg is not None
            kept = ComposerDraft(
                draft.key, draft.only, draft.session, draft.text, draft.ctx_text, held=held, file=file
            )
        return kept, self._zoomed, composer.sheet.as_form

    def restore(self, kept: ComposerDraft, part: str | None, *, form: bool) -> None:
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
            self._loaded = LoadedEvent(file, draft_of_saved(saved, self.view))
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


FRAME_SECONDS = 0.1  # seconds between two drawings of a running run
NOTICEABLE_SECONDS = 0.3  # seconds after which somebody may want to stop something
JUST_ENDED_SECONDS = 1.0  # seconds in which a key that was to stop it means nothing else
START_SECONDS = 0.5  # seconds in which most things are begun; what takes longer is named


class FireRunDisplay(FireEventDisplay):
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
        self.runs = RecentRuns(clock)
        self._clock = clock
        self._began = 0.0
        self._over = ("", 0.0)  # what has ended last that could have been stopped, and when
        self._frame: Timer | None = None
        self._told: fire_requests.DraftChanged | None = None
        self._way = FireOptions()  # as it was last chosen
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
        if not job and now - self._began >= NOTICEABLE_SECONDS:
            self._over = before, now
        if job:
            self._began = now
            self.set_timer(START_SECONDS, self._still_goes, name="fire-job")
        elif self._unseen:
            self._unseen = False
            self._draw_run()

    @property
    def just_over(self) -> str:
        """What has ended a moment ago, as the beginning of a sentence; else empty."""
        name, at = self._over
        return name if self._clock() - at < JUST_ENDED_SECONDS else ""

    @property
    def _waits(self) -> bool:
        """Does a handler of the run that goes on wait for a word."""
        running = self.runs.running
        return any(sheet.number == running and sheet.paused is not None for sheet in self.runs.sheets)

    def _still_goes(self) -> None:
        if self.job and self.runs.running is None:
            self._unseen = True
            self._draw_run()

    def compared(self, number: int, checked: SavedEventResult | None) -> None:
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

    def shown_plan(self) -> ViewExport | None:
        """The plan of the composer's event, where there is one."""
        plan = self._plan
        if plan is None or not self.furnished:
            return None
        return export_plan(plan, self.query_one(PlanView).as_drawn())

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
            self._frame = self.set_interval(FRAME_SECONDS, self._draw_run, name="fire-frame")

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
            composer.load(first_subscribed_key(view))
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
        beside = key_hints(*((key, f"run {number}") for key, number in neighbours if number is not None))
        pane, goes = self.query_one(RunPane), Content("")
        if self._unseen:
            sign = Content.styled(f"» {self.job} goes on", "$text-accent")
            goes = Content("   ").join(filter(None, (sign, key_hints(("fire.leave", "stops it")))))
            beside = Content("   ").join(filter(None, (goes, beside)))
        self.query_one(PlanView).border_subtitle = "" if pane.size else goes  # a small screen has no room
        pane.show(self.runs.current, self.runs.clock(), beside, self._first)
        self.query_one(History).show(self.runs.sheets, self.runs.shown)

    def _say(self, text: str, severity: str = "information") -> None:
        self.app.notify(text, severity="warning" if severity == "warning" else "information", markup=False)

"""The Fire pane's content: the composed event, its plan, and its runs with live progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

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
from hookscope.console.state.state_changes import ComposerDraft
from hookscope.model.run import Event, Paused, Plan, Run, Step
from hookscope.runtime.limits import Limits

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.app.variables import VariableSources
    from hookscope.authoring.testing.saved_events import SavedDraft
    from hookscope.authoring.testing.test_runs import SavedEventResult
    from hookscope.console.state.console_state import ComposedEvent as Asked


def first_subscribed_key(view: Snapshot) -> str:
    """Return the key of the first event to compose: if possible one with a subscribed hook."""
    subscribed = {call.key for call in view.registry.registrations}
    received = (key for key in view.keys if key in subscribed or key.partition(":")[0] in subscribed)
    return next(received, view.keys[0] if view.keys else "")


class EventView:
    """Loads events into the composer, and keeps track of the saved event in it."""

    def __init__(self, composer: Composer, layout: FireLayout, view: Callable[[], Snapshot | None]) -> None:
        """`view` returns the last snapshot."""
        self._composer, self._layout, self._view_now = composer, layout, view
        self.parts = layout.parts
        self._filling: VariableSources | None = None
        self._restoring: tuple[ComposerDraft, str | None, bool] | None = (
            None  # what to restore once the parts are mounted and a snapshot exists
        )
        self._wanted: tuple[str, str | None] | None = None  # requested before the first snapshot
        self.first = ""  # the hook whose row is selected when a run opens
        self._loaded: LoadedEvent | None = None  # the saved event in the composer

    @property
    def _view(self) -> Snapshot | None:
        return self._view_now()

    def show_all(self) -> None:
        """Show what is known so far, once the composer is mounted."""
        if self._filling is not None:
            self._composer.show_filling(self._filling)

    def show_view(self) -> None:
        """Show a new snapshot, and load the event that was requested before there was one."""
        view, composer = self._view, self._composer
        composer.show_view(view)
        if view is None:
            return
        if self._wanted is not None:
            (key, only), self._wanted = self._wanted, None
            self.compose_event(key, only, self.first)
        elif not composer.draft.key and view.keys:
            composer.load(first_subscribed_key(view))
        if self._restoring is not None:
            (kept, part, form), self._restoring = self._restoring, None
            self.restore(kept, part, form=form)

    @when_parts_mounted
    def compose_event(
        self, key: str, only: str | None = None, first: str = "", *, focus: bool = True
    ) -> None:
        """Put an event with this key into the composer, for the hook `only` if given.

        `first`: the hook whose row is selected when a run opens, unless another row failed. `focus`: focus
        the event afterwards.
        """
        self.first = first
        if self._view is None:
            self._wanted = (key, only)
            return
        composer = self._composer
        if composer.draft.key == key and not composer.untouched:
            composer.limit(only)
        else:
            composer.begin(key, only)
        self._layout.zoom(None)
        self._layout.prefer_plan(True)
        if focus:  # a pane that was just shown cannot take the focus earlier
            self._composer.call_after_refresh(self._layout.focus_key)

    @property
    def loaded(self) -> Path | None:
        """The file of the saved event in the composer."""
        return self._loaded.file if self._loaded is not None else None

    @property
    def event(self) -> Event | None:
        """The composer's event, if it is valid."""
        return self._composer.checked.event

    @property
    def key(self) -> str:
        """The key of the composer's event."""
        return self._composer.draft.key

    def show_filling(self, filling: VariableSources | None) -> None:
        """Fill events with these variables from now on."""
        self._filling = filling
        if self.parts.parts_mounted:
            self._composer.show_filling(filling)

    @when_parts_mounted
    def load_saved(self, file: Path, saved: SavedDraft) -> None:
        """Put a saved event into the composer."""
        if self._view is None:
            return
        self._put(draft_of_saved(saved, self._view))
        self.kept_as(file, self._composer.draft)

    @when_parts_mounted
    def load_event(self, event: Event) -> None:
        """Put an earlier event into the composer."""
        self._put(draft_of_event(event))
        self._loaded = None
        self._draw_title()

    def _put(self, draft: EventDraft) -> None:
        self._composer.take(draft)
        self._layout.zoom(None)
        self._layout.prefer_plan(True)
        self._composer.call_after_refresh(self._layout.focus_key)

    @when_parts_mounted
    def kept_as(self, file: Path, draft: EventDraft) -> None:
        """Record that `file` now contains `draft`, unless the composer has another event by now."""
        if draft.key == self.key:
            self._loaded = LoadedEvent(file, draft)
            self._composer.settled(draft)
            self._draw_title()

    def kept(self) -> tuple[ComposerDraft, str | None, bool]:
        """Return the composer's event, the part that fills the pane, and whether the form is shown."""
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
        return kept, self._layout.zoomed, composer.sheet.as_form

    def restore(self, kept: ComposerDraft, part: str | None, *, form: bool) -> None:
        """Restore a composed event, unless the user has composed one since the start."""
        if not self.parts.parts_mounted:
            self._restoring = kept, part, form
            return
        composer = self._composer
        if self._view is None or not composer.untouched:
            return
        if kept.key:
            composer.load(kept.key, kept.only)
        if kept.text is not None:
            template = template_draft(kept.key, self._view, kept.only)
            cfg = (template.cfg or {}) if kept.held else None
            composer.put(
                replace(template, session=kept.session, text=kept.text, cfg=cfg, ctx_text=kept.ctx_text)
            )
        if form != composer.sheet.as_form:
            composer.turn_face()
        self._layout.zoom(part)

    def came_from(self, file: Path, saved: SavedDraft | None) -> None:
        """Record the file of the composer's event; `saved` is None if the file is gone."""
        self.parts.when_mounted(partial(self._came_from, file, saved))

    def _came_from(self, file: Path, saved: SavedDraft | None) -> None:
        if saved is None and self.loaded == file:
            self._loaded = None
        elif saved is not None and self._view is not None and saved.key == self.key:
            self._loaded = LoadedEvent(file, draft_of_saved(saved, self._view))
        self._draw_title()

    def changed(self, draft: EventDraft) -> None:
        """Handle a change in the composer. An event with another key is saved under a new name."""
        if self._loaded is not None and self._loaded.draft.key != draft.key:
            self._loaded = None
        self._draw_title()

    def _draw_title(self) -> None:
        composer = self._composer
        composer.entitle(saved_title(self._loaded, composer.draft))

    @property
    def unchanged(self) -> Path | None:
        """The file of the saved event, if the composer's event equals it."""
        loaded = self._loaded
        if loaded is None or loaded.changed(self._composer.draft):
            return None
        return loaded.file


FRAME_SECONDS = 0.1  # seconds between two drawings of a running run
NOTICEABLE_SECONDS = 0.3  # seconds after which the user may want to cancel a job
JUST_ENDED_SECONDS = 1.0  # seconds after a job in which the cancel key only reports its end
START_SECONDS = 0.5  # seconds after which a job that has not started a run is named


class RunView:
    """Shows the plan, and the running and finished runs."""

    def __init__(
        self,
        pane: Widget,
        layout: FireLayout,
        event: EventView,
        clock: Callable[[], float],
        view: Callable[[], Snapshot | None],
        job: Callable[[], str],
    ) -> None:
        """`view` returns the last snapshot; `job` the running job as the start of a sentence."""
        self._pane, self._layout, self._event, self._clock = pane, layout, event, clock
        self._view, self._job = view, job
        self.parts = layout.parts
        self.runs = RecentRuns(clock)
        self.plan: Plan | None = None
        self.requests: dict[int, Asked] = {}  # the request of each run that the composer or a save started
        self._problem = ""  # why there is no plan
        self._began = 0.0
        self._over = ("", 0.0)  # the last job that could have been cancelled, and when it ended
        self._frame: Timer | None = None
        self._unseen = False  # a job has been running for a while without a run on the screen
        self.awaited: datetime | None = None  # the time of the event whose run gets the focus
        self.brings_focus = False  # that run takes the focus from other panes too
        self._offered: object = None  # what the available keys depended on when the run was last drawn

    def show_job(self, before: str, job: str) -> None:
        """Show the running job, or none."""
        now = self._clock()
        if not job and now - self._began >= NOTICEABLE_SECONDS:
            self._over = before, now
        if job:
            self._began = now
            self._pane.set_timer(START_SECONDS, self._show_long_job, name="fire-job")
        elif self._unseen:
            self._unseen = False
            self.draw_run()

    @property
    def just_over(self) -> str:
        """The job that has just ended, as the start of a sentence; else empty."""
        name, at = self._over
        return name if self._clock() - at < JUST_ENDED_SECONDS else ""

    @property
    def going(self) -> str:
        """The current run or job, as the start of a sentence; else empty."""
        running = self.runs.running
        return f"Run {running}" if running is not None else self._job()

    @property
    def waits(self) -> bool:
        """Whether a handler of the current run is paused."""
        running = self.runs.running
        return any(sheet.number == running and sheet.paused is not None for sheet in self.runs.sheets)

    def _show_long_job(self) -> None:
        if self._job() and self.runs.running is None:
            self._unseen = True
            self.draw_run()

    def compared(self, number: int, checked: SavedEventResult | None) -> None:
        """Show a run's comparison with its saved event; `checked` None: that event is gone."""
        self.runs.check(number, checked)
        self.draw_run()

    def show_plan(self, plan: Plan | None, problem: str = "") -> None:
        """Show the plan, or why there is no plan."""
        self.plan, self._problem = plan, problem
        if self.parts.parts_mounted:
            self.draw_plan()

    def remember(self, past: Sequence[PastRun]) -> None:
        """Add runs of earlier sessions and of other programs."""
        for run in past:
            self.runs.recall(run)
        if past and self.runs.current is None:  # else a run of this session is already shown
            self.runs.show(past[-1].id)
        self.draw_run()

    def shown_plan(self) -> ViewExport | None:
        """Return the plan of the composer's event as an export, if there is one."""
        plan = self.plan
        if plan is None or not self.parts.parts_mounted:
            return None
        return export_plan(plan, self._pane.query_one(PlanView).as_drawn())

    def run_text(self) -> str:
        """Return the shown run as plain text."""
        return self._pane.query_one(RunPane).as_text()

    def show_past(self, past: PastRun) -> None:
        """Show a run from the journal, in order among the others."""
        self.runs.recall(past)
        self.show_run(past.id)

    def firing_started(self, number: int, plan: Plan, fired: Asked | None = None) -> None:
        """Show the rows of a run that has started. `fired`: the request of the run, if known."""
        view = self._view()
        limits = view.limits if view is not None else Limits()
        self.runs.begin(number, plan, datetime.now(UTC), limits)
        self._unseen = False
        if fired is not None:
            self.requests[number] = fired
        kept = {sheet.number for sheet in self.runs.sheets}
        self.requests = {number: how for number, how in self.requests.items() if number in kept}
        if self._layout.zoomed != "run":
            self._layout.zoom(None)
        self._layout.end_writing()
        self._layout.prefer_plan(False)
        self.draw_run()
        if plan.event.timestamp == self.awaited and self.parts.parts_mounted:
            self._layout.focus_run(from_elsewhere=self.brings_focus)
            self.brings_focus = False
        if self._frame is None:
            self._frame = self._pane.set_interval(FRAME_SECONDS, self.draw_run, name="fire-frame")

    def step(self, number: int, step: Step) -> None:
        """Add a step; it is drawn with the next frame."""
        first = isinstance(step, Paused) and not self.runs.has_begun(number)
        self.runs.step(number, step)
        if first and self.parts.parts_mounted:  # leave the editor: the keys to step are letters
            self._pane.query_one("#fire-run Waterfall").focus()

    def firing_ended(self, number: int, run: Run | None, problem: str = "") -> None:
        """Show a completed run, or why it failed to start."""
        self.runs.end(number, run, problem)
        if self._frame is not None and self.runs.running is None:
            self._frame.stop()
            self._frame = None
        self.draw_run()

    def show_run(self, number: int) -> bool:
        """Show a run of this session; return False if it is no longer kept."""
        if not self.runs.show(number):
            return False
        self._layout.prefer_plan(False)
        self.draw_run()
        return True

    def draw_plan(self) -> None:
        """Draw the plan, or why there is none."""
        checked = self._pane.query_one(Composer).checked
        problem = self._problem
        if self.plan is None and not problem and checked.event is None and self._view() is not None:
            problem = "no plan until the event is valid"
        self._pane.query_one(PlanView).show(self.plan, problem, self._view())

    def draw_run(self) -> None:
        """Draw the shown run, and the list of runs."""
        self.runs.settle()
        if not self.parts.parts_mounted:
            return
        older, newer, shown = self.runs.adjacent(-1), self.runs.adjacent(1), self.runs.current
        offered = self.waits, older, newer, shown and bool(shown.not_run)
        if self._offered != offered:
            self._offered = offered
            self._pane.refresh_bindings()
        adjacent = (("fire.older", older), ("fire.newer", newer))
        beside = key_hints(*((key, f"run {number}") for key, number in adjacent if number is not None))
        pane, job_hint = self._pane.query_one(RunPane), Content("")
        if self._unseen:
            sign = Content.styled(f"» {self._job()} is still running", "$text-accent")
            job_hint = Content("   ").join(filter(None, (sign, key_hints(("fire.leave", "cancels it")))))
            beside = Content("   ").join(filter(None, (job_hint, beside)))
        self._pane.query_one(PlanView).border_subtitle = (
            "" if pane.size else job_hint
        )  # on a small screen, the run may be hidden
        self._layout.make_room_for_run(shown is not None)
        pane.show(shown, self.runs.clock(), beside, self._event.first)
        self._pane.query_one(History).show(self.runs.sheets, self.runs.shown)

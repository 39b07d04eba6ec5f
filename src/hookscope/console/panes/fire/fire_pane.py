"""The Fire pane: turns its keys (fire, step, replay, compare, save, choose) into posted requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import reactive
from textual.widgets import Input, TextArea

from hookscope.console.dialogs.choosers import EnvironmentScreen, EventPicker
from hookscope.console.dialogs.fire_options import FireOptionsScreen
from hookscope.console.keymap.active_keys import key_of, share_a_key, with_keys
from hookscope.console.panes.fire.composer import Composer, KeyField
from hookscope.console.panes.fire.event_draft import has_second_argument, same_event, saved_draft_of
from hookscope.console.panes.fire.fire_display import EventView, RunView
from hookscope.console.panes.fire.fire_keys import FIRE_BINDINGS
from hookscope.console.panes.fire.fire_layout import FIRE_CSS, WIDE_SCREEN, FireLayout, LazyParts
from hookscope.console.panes.fire.run_history import History
from hookscope.console.panes.fire.run_lines import NOTHING_FIRED
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.state import fire_requests
from hookscope.console.state.console_state import ComposedEvent
from hookscope.console.state.fire_requests import FireOptions
from hookscope.console.state.messages import CommandRequested, CopyRequested, Severity
from hookscope.console.theme.text_styles import safe_word
from hookscope.console.widgets.lines import LineList
from hookscope.console.widgets.painting import RemovableWidget
from hookscope.model.run import Event
from hookscope.model.uncalled_hooks import event_kinds

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot


DEFAULT_SESSION_MESSAGE = "hi"  # message of a simulated session if the composer has none
TURN_ACTIONS = {"turn_run(-1)": -1, "turn_run(1)": 1}
RUN_ACTIONS = ("again", "replay", "replay(True)", "compare", "accept")  # they need a run


class FirePane(RemovableWidget):
    """Handles keys and parts. It posts requests and runs nothing."""

    BINDINGS: ClassVar[list[BindingType]] = FIRE_BINDINGS
    DEFAULT_CSS = FIRE_CSS

    view: reactive[Snapshot | None] = reactive(None, init=False)
    job: reactive[str] = reactive("", init=False)  # the running job, as the start of a sentence

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  (Textual's name)
        classes: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        at_once: bool = True,
    ) -> None:
        """`at_once`: mount the parts with the pane."""
        super().__init__(id=id, classes=classes)
        self._composer = Composer(id="fire-composer")
        self._arrangement = FireLayout(self, self._composer, self._show_all, at_once=at_once)
        self.event_view = EventView(self._composer, self._arrangement, lambda: self.view)
        self.run_view = RunView(
            self, self._arrangement, self.event_view, clock, lambda: self.view, lambda: self.job
        )
        self._posted: fire_requests.DraftChanged | None = None
        self._options = FireOptions()  # as last chosen

    # The parts.

    @property
    def _parts(self) -> LazyParts:
        return self._arrangement.parts

    @property
    def parts_mounted(self) -> bool:
        return self._parts.parts_mounted

    def mount_parts(self) -> None:
        """Mount the parts, unless they are mounted."""
        self._parts.mount_parts()

    async def with_its_parts(self) -> None:
        """Mount the parts, and wait for them."""
        await self._parts.wait()

    def compose(self) -> ComposeResult:
        yield from self._parts.compose()

    def on_mount(self) -> None:
        self._parts.pane_mounted()

    def on_resize(self, event: events.Resize) -> None:
        self._arrangement.fit(event.size)

    def on_descendant_focus(self) -> None:
        self._arrangement.make_room_to_write()

    @property
    def part_in_focus(self) -> str | None:
        """The part with the focus: composer, plan or run."""
        return self._arrangement.part_in_focus

    # What the pane shows.

    def _show_all(self) -> None:
        self.event_view.show_all()
        self._show_view()
        self.run_view.draw_run()

    def watch_view(self) -> None:
        if self.parts_mounted:
            self._show_view()
            self.refresh_bindings()

    def watch_job(self, before: str, job: str) -> None:
        self.run_view.show_job(before, job)

    def _show_view(self) -> None:
        self.query_one(RunPane).view = self.view
        self._posted = None  # the same event may have another plan now
        self.event_view.show_view()
        if self.view is not None:
            self.run_view.draw_plan()

    def name_keys(self) -> None:
        if self.parts_mounted:
            self._composer.read()
            self.run_view.draw_plan()
            self.query_one(RunPane).forget()
            self.run_view.draw_run()

    def cannot(self, action: str) -> str:
        """Return why an action is unavailable; the key bar then omits it."""
        host = self.view.host.dialect if self.view is not None else None
        if action == "play" and (host is None or "stream" not in host.kinds):
            other = key_of("console.dialect")
            sends = f"{host.product} has no stream events" if host is not None else "Still scanning"
            return f"{sends}: there is no session to simulate. Press {other} to select another dialect."
        if action == "part" and self.parts_mounted:
            ctx = has_second_argument(self._composer.draft.key, self.view)
            return "" if ctx else "Handlers of this event get no second argument."
        if action in RUN_ACTIONS and self.run_view.runs.current is None:
            return with_keys(NOTHING_FIRED)
        if action in TURN_ACTIONS and self.run_view.runs.adjacent(TURN_ACTIONS[action]) is None:
            return self._no_adjacent_run(TURN_ACTIONS[action])
        if action in ("pass_over", "run_all") and not self.run_view.waits:
            return self._not_paused_text()
        if action == "cancel" and not self.run_view.going:
            return with_keys("Nothing is running. Press {fire.fire} to fire the event.")
        return ""

    def _busy(self) -> bool:
        if self.run_view.going:
            next_step = f"Press {key_of('fire.cancel')} to cancel it."
            self._say(f"{self.run_view.going} is still running. {next_step}", "warning")
        return bool(self.run_view.going)

    def _fire(
        self,
        event: Event,
        only: str | None,
        guarded: bool = False,
        file: Path | None = None,
        options: FireOptions | None = None,
        *,
        written: bool = False,
    ) -> None:
        now = replace(event, timestamp=datetime.now(UTC))
        special = options if options is not None and not options.plain else None
        self.run_view.awaited = now.timestamp
        asked = ComposedEvent(now, only, guarded, written, special, file)
        self.post_message(fire_requests.FireRequested(asked))

    def _composed(self) -> Composer:
        """Return the composer, after it has read the latest input."""
        self._composer.read()
        return self._composer

    def _valid_event(self, verb: str = "fired") -> Event | None:
        """Return the composer's event. If it is invalid, report that, go to the mistake, and return None."""
        composer = self._composed()
        checked = composer.checked
        if checked.event is None:
            place = f"line {checked.line}: " if checked.line else ""
            self._say(f"Not {verb}: {place}{safe_word(checked.problem or 'still scanning')}.", "warning")
            composer.go_to_mistake()
        return checked.event

    def action_step(self) -> None:
        if self.run_view.waits:
            self.post_message(fire_requests.StepRequested("run_it"))
        else:
            self._fire_slowly(stepped=True)

    def action_debug(self) -> None:
        if self.run_view.going:
            self.post_message(CommandRequested("debugger"))
        else:
            self._fire_slowly(debugged=True)

    def _fire_slowly(self, *, stepped: bool = False, debugged: bool = False) -> None:
        event = self._valid_event()
        if event is not None and not self._busy():
            only = self._composer.draft.only
            options = FireOptions(only=only, stepped=stepped, debugged=debugged)
            self._fire(event, only, options=options, written=True)

    def action_pass_over(self) -> None:
        self._send_step("pass_over")

    def action_run_all(self) -> None:
        self._send_step("run_all")

    def _send_step(self, command: fire_requests.StepCommand) -> None:
        if self.run_view.waits:
            self.post_message(fire_requests.StepRequested(command))
        else:
            self._say(self._not_paused_text())

    @on(LineList.Chosen, "#fire-runs")
    def _run_chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.run_view.show_run(self.query_one(History).number_at(event.index))

    def action_again(self) -> None:
        sheet = self.run_view.runs.current
        if sheet is None:
            self._say(with_keys(NOTHING_FIRED))
        elif not self._busy():
            file = sheet.checked.file if sheet.checked is not None else None
            guarded = sheet.run is not None and sheet.run.guarded is not None
            how = self.run_view.requests.get(sheet.number)
            if how is None:
                self._fire(sheet.plan.event, None, guarded, file)
            else:
                options = replace(how.options, times=1, shuffled=False) if how.options is not None else None
                self._fire(sheet.plan.event, how.only, guarded or how.guarded, file, options)

    def action_replay(self, from_here: bool = False) -> None:
        sheet = self.run_view.runs.current
        row = self.query_one(RunPane).row
        if sheet is None:
            self._say(with_keys(NOTHING_FIRED))
        elif from_here and (row is None or row.follow_up is not None):
            self._say("Select the handler to start from.")
        elif from_here and row is not None and row.result is None and not sheet.running:
            self._say(f"{row.name} did not run. Select a handler that ran.")
        elif not self._busy():
            self.post_message(
                fire_requests.ReplayRequested(sheet.place_of(row) if from_here and row is not None else None)
            )

    def action_compare(self) -> None:
        self.post_message(CommandRequested("compare runs"))

    def action_accept(self) -> None:
        sheet = self.run_view.runs.current
        if sheet is None:
            self._say(with_keys(NOTHING_FIRED))
        elif sheet.checked is None:
            shown = same_event(sheet.plan.event, self._composed().checked.event)
            if shown and self.event_view.unchanged is None:
                self.action_save(accept=True)
            else:
                next_step = with_keys("Press {fire.fire} to fire this event, then {fire.accept}.")
                self._say(f"Run {sheet.number} has no saved event. {next_step}")
        elif sheet.checked.accepted:
            self._say(f"{safe_word(sheet.checked.file.name)} already expects these results.")
        else:
            self.post_message(fire_requests.AcceptRequested(sheet.number, sheet.checked))

    def action_turn_run(self, by: int) -> None:
        number = self.run_view.runs.adjacent(by)
        if number is None:
            self._say(self._no_adjacent_run(by))
        else:
            self.run_view.show_run(number)

    def _not_paused_text(self) -> str:
        return with_keys("No handler is paused. Press {fire.step} to fire step by step.")

    def _no_adjacent_run(self, by: int) -> str:
        if self.run_view.runs.current is None:
            return with_keys(NOTHING_FIRED)
        return "There is no older run in memory." if by < 0 else "This is the newest run."

    @on(Composer.Changed)
    def _draft_changed(self, event: Composer.Changed) -> None:
        event.stop()
        self.event_view.changed(event.draft)
        self._arrangement.make_room_to_write()
        change = fire_requests.DraftChanged(event.checked.event, event.draft.only)
        before = self._posted
        if before is not None and before.only == change.only and same_event(before.event, change.event):
            return
        if before is not None and before.event and change.event and before.event.key != change.event.key:
            self._arrangement.prefer_plan(True)
        self._posted = change
        self.post_message(change)
        if change.event is None and event.checked.problem:
            self.run_view.show_plan(None)

    @on(KeyField.PickRequested)
    def _pick_requested(self, event: KeyField.PickRequested) -> None:
        event.stop()
        self.action_pick()

    @on(LineList.Chosen, "#fire-plan")
    def _plan_chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self._say(with_keys("Press {fire.fire} to fire, {plan.others} to list hooks with other events."))

    def action_guarded(self) -> None:
        self.action_fire(guarded=True)

    def fire_composed(self) -> None:
        """Fire the composer's event, once the parts are mounted, and focus its run."""
        self.run_view.brings_focus = True
        self._parts.when_mounted(self.action_fire)
        self._parts.mount_parts()

    def fire_recorded(self, event: Event) -> None:
        """Put a recorded event into the composer, fire it on copies, and focus its run."""
        self.event_view.load_event(event)
        self.run_view.awaited, self.run_view.brings_focus = event.timestamp, True
        request = fire_requests.FireRequested(ComposedEvent(event, guarded=True))
        self._parts.when_mounted(lambda: self.post_message(request))

    def action_fire(self, guarded: bool = False) -> None:
        if self._busy():
            return
        event = self._valid_event()
        if event is not None:
            self._fire(event, self._composer.draft.only, guarded, self.event_view.unchanged, written=True)

    def action_otherwise(self) -> None:
        event = self._valid_event()
        if event is None or self.view is None:
            return
        calls = self.run_view.plan.calls if self.run_view.plan else ()
        subscribed = list(dict.fromkeys(call.name for call in calls))
        rows = (row for row in self.view.inventory.hooks if row.verdict.shadowed_by is None)
        hooks = dict.fromkeys(row.hook.name for row in rows if event.kind in event_kinds(row))
        chosen = replace(self._options, only=self._composer.draft.only)
        screen = FireOptionsScreen(event.key, chosen, tuple(hooks), subscribed)
        self.app.push_screen(screen, self._fire_with_options)

    def _fire_with_options(self, options: FireOptions | None) -> None:
        event = self._composer.checked.event
        if options is None or event is None or self._busy():
            return
        self._options = options
        file = self.event_view.unchanged if options.plain and options.only is None else None
        self._fire(event, options.only, options.guarded, file, options, written=True)

    def action_play(self) -> None:
        if problem := self.cannot("play"):
            self._say(problem)
            return
        event = self._composed().checked.event
        message = event.context.get("message") if event is not None else None
        if not self._busy():
            text = message if isinstance(message, str) and message else DEFAULT_SESSION_MESSAGE
            self.post_message(fire_requests.SessionRequested(text))

    def action_arm(self) -> None:
        event = self._valid_event("armed")
        if event is not None:
            only, file = self._composer.draft.only, self.event_view.unchanged
            asked = ComposedEvent(event, only, written=True, file=file)
            self.post_message(fire_requests.FireOnSaveRequested(asked))

    def action_save(self, anew: bool = False, accept: bool = False) -> None:
        """Save the event. `anew`: under another name. `accept`: then accept the results of its run."""
        event = self._valid_event("saved")
        if event is None or self.view is None:
            return
        file = None if anew else self.event_view.loaded
        if file is not None and self.event_view.unchanged is not None:
            self._say(f"{safe_word(file.name)} is up to date.")
            return
        draft = self._composer.draft
        saved = saved_draft_of(draft, event, self.view)
        self.post_message(fire_requests.SaveEventRequested(saved, file, draft, accept))

    def action_saved(self) -> None:
        self.post_message(CommandRequested("saved events"))

    def action_fuzz(self) -> None:
        event = self._valid_event()
        if event is not None and not self._busy():
            self.post_message(fire_requests.FuzzRequested(event, self._composer.draft.only))

    def action_cancel(self) -> None:
        if self.run_view.going:
            self.post_message(CommandRequested("cancel"))
        elif self.run_view.just_over:
            self._say(f"{self.run_view.just_over} has already ended.")
        elif share_a_key("fire.cancel", "console.export"):
            raise SkipAction  # while nothing runs, the key means `console.export`
        else:
            self._say(self.cannot("cancel"))

    async def action_leave(self) -> None:
        if self.run_view.going:
            self.post_message(CommandRequested("cancel"))
        elif self._arrangement.zoomed is not None:
            self._arrangement.zoom(None)
        elif isinstance(self.screen.focused, Input | TextArea):
            self.query_one(KeyField).focus()  # leave the editor: letters are keys again
        elif self._arrangement.leave_run():
            pass  # the focus is where it was before the run
        else:
            await self.run_action("screen.back")

    async def action_zoom(self) -> None:
        part = self.part_in_focus
        zoomed = self._arrangement.zoomed is not None
        if zoomed:
            self._arrangement.zoom(None)
        elif part is not None and self.size.width >= self.screen.size.width:
            self._arrangement.zoom(part)
            return
        if not zoomed or self.screen.size.width >= WIDE_SCREEN:
            # zoom the whole pane, or show the other panes again
            await self.run_action("screen.zoom")

    def action_template(self) -> None:
        composer = self._composer
        if self.view is None:
            self._say("The hooks are still being scanned.")
        elif not composer.draft.key:
            self._say(with_keys("Choose an event first: press {fire.keys} to list the events."))
        else:
            before = composer.draft
            composer.load(before.key, before.only)
            if composer.draft == before:
                self._say(f"The example of {safe_word(before.key)} is already loaded.")

    def action_face(self) -> None:
        self._composer.turn_face()

    def action_environment(self) -> None:
        filling = self._composer.filling
        if filling is None or not filling.environments:
            self._say("There are no environments. Create .hookscope/environments/dev.yaml.")
        else:
            self.app.push_screen(EnvironmentScreen(filling), self._environment_chosen)

    def _environment_chosen(self, chosen: fire_requests.EnvironmentChosen | None) -> None:
        if chosen is not None:
            self.post_message(chosen)

    def action_part(self) -> None:
        if not self._composer.turn_part():
            self._say(self.cannot("part"))

    def action_pick(self) -> None:
        if self.view is None:
            self._say("The hooks are still being scanned.")
            return
        self.app.push_screen(EventPicker(self.view, self._composer.draft.key), self._picked)

    def _picked(self, key: str | None) -> None:
        if key is not None:
            self._composer.rekey(key)
            self._arrangement.prefer_plan(True)

    def action_undo(self) -> None:
        self.post_message(CommandRequested("undo"))

    def action_copy_tab(self) -> None:
        plan = self.run_view.shown_plan()
        if self.part_in_focus == "plan" and plan is not None:
            self.post_message(CopyRequested(plan.text, "plan"))
            return
        if self.part_in_focus == "composer":
            self.post_message(CopyRequested(self._composer.sheet.text, "event"))
            return
        text = self.query_one(RunPane).copied_text()
        if not text:
            self._say(with_keys(NOTHING_FIRED))
            return
        self.app.copy_to_clipboard(text)
        self._say("Copied the open tab.")

    def action_swap(self) -> None:
        self._arrangement.swap()

    def action_everyone(self) -> None:
        composer = self._composer
        if composer.draft.only is None:
            self._say("The event already goes to all hooks.")
        else:
            composer.limit(None)

    def _say(self, text: str, severity: Severity = "information") -> None:
        self.app.notify(text, severity=severity, markup=False)

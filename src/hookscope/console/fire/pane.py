"""The Fire pane: compose an event, see who would run, fire, read what each handler did."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from hookscope.console.fire.arrangement import ARRANGEMENTS, PARTS, STYLES, WIDE, arrangement
from hookscope.console.fire.composer import Composer
from hookscope.console.fire.draft import has_ctx, same_event
from hookscope.console.fire.event_picker import EventPicker
from hookscope.console.fire.head import KeyField
from hookscope.console.fire.history import History
from hookscope.console.fire.keys import KEYS
from hookscope.console.fire.lines import Lines
from hookscope.console.fire.marks import word
from hookscope.console.fire.otherwise import Otherwise, OtherwiseScreen
from hookscope.console.fire.plan_view import PlanView
from hookscope.console.fire.run_pane import RunPane
from hookscope.console.fire.runs import Runs
from hookscope.console.fire.saved import Loaded, draft_from, to_save
from hookscope.console.fire.saved import title as saved_title
from hookscope.core.plan import kind_of
from hookscope.core.runs import Event, Plan, Run, Step

if TYPE_CHECKING:
    from hookscope.workbench import PastRun, View
    from hookscope.workbench.drafts import SavedDraft
    from hookscope.workbench.testing import Checked

FIRST_WORDS = "hi"  # of a session that is played with no message in the composer
FRAME = 0.1  # seconds between two drawings of a running run


def first_key(view: View) -> str:
    """The event to begin with: one that somebody would hear."""
    heard = {call.key for call in view.registry.registrations}
    listened = (key for key in view.keys if key in heard or key.partition(":")[0] in heard)
    return next(listened, view.keys[0] if view.keys else "")


def hooks_of(view: View, event: Event) -> tuple[str, ...]:
    """The hooks of the event's kind, each by its name."""
    rows = (row for row in view.inventory.hooks if row.verdict.shadowed_by is None)
    return tuple(dict.fromkeys(row.hook.name for row in rows if kind_of(row.hook) == event.kind))


class FirePane(Widget):
    """Ties composer, plan, runs and run together. It knows what was asked for, and asks; it runs nothing."""

    BINDINGS: ClassVar[list[BindingType]] = KEYS
    DEFAULT_CSS = STYLES

    view: reactive[View | None] = reactive(None, init=False)

    class FireAsked(Message):
        """This event is to be fired, at one hook only where `only` names it; on copies if `guarded`.

        `file` is the saved event that it is; `way` says how, where it is not simply fired.
        """

        def __init__(
            self,
            event: Event,
            only: str | None,
            guarded: bool = False,
            file: Path | None = None,
            way: Otherwise | None = None,
        ) -> None:
            super().__init__()
            self.event, self.only, self.guarded, self.file, self.way = event, only, guarded, file, way

    class DraftChanged(Message):
        """The composer holds another event; None while it holds none that is valid."""

        def __init__(self, event: Event | None, only: str | None) -> None:
            super().__init__()
            self.event, self.only = event, only

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FirePane.DraftChanged)

    class ArmAsked(Message):
        """This event is to be fired again whenever a file is saved; or no longer."""

        def __init__(self, event: Event, only: str | None, file: Path | None = None) -> None:
            super().__init__()
            self.event, self.only, self.file = event, only, file

    class SaveAsked(Message):
        """The composer's event is to be saved: over the file that it was loaded from, or as a new one."""

        def __init__(self, saved: SavedDraft, file: Path | None) -> None:
            super().__init__()
            self.saved, self.file = saved, file

    class SavedAsked(Message):
        """The list of saved events is wanted."""

    class FuzzAsked(Message):
        """The smallest events like this one that a hook fails at are to be looked for."""

        def __init__(self, event: Event, only: str | None) -> None:
            super().__init__()
            self.event, self.only = event, only

    class ReplayAsked(Message):
        """The shown run is to be fired again, marked so; from its handler of the number `start` on."""

        def __init__(self, start: int | None = None) -> None:
            super().__init__()
            self.start = start

    class CompareAsked(Message):
        """The shown run is wanted beside another one."""

    class AcceptAsked(Message):
        """What happened in a run is to be what its saved event expects."""

        def __init__(self, number: int, checked: Checked) -> None:
            super().__init__()
            self.number, self.checked = number, checked

    class PlayAsked(Message):
        """A whole session is to be played, begun by this message of a user."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class CancelAsked(Message):
        """The run that is going on is to be cancelled."""

    class EditAsked(Message):
        """The editor is wanted at a line of a file."""

        def __init__(self, path: Path, line: int) -> None:
            super().__init__()
            self.path, self.line = path, line

    class TrustAsked(Message):
        """These folders are to be allowed to run."""

        def __init__(self, folders: tuple[Path, ...]) -> None:
            super().__init__()
            self.folders = folders

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  (Textual's name)
        classes: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.runs = Runs(clock)
        self._frame: Timer | None = None
        self._told: FirePane.DraftChanged | None = None
        self._wanted: tuple[str, str | None] | None = None  # asked for before there was a view
        self._way = Otherwise()  # as it was last chosen
        self._loaded: Loaded | None = None  # the saved event in the composer
        self._only_of: dict[int, str | None] = {}
        self._asked_only: str | None = None
        self._plan: Plan | None = None
        self._problem = ""
        self._zoomed: str | None = None

    def compose(self) -> ComposeResult:
        with Container(id="fire-top"):
            yield Composer(id="fire-composer")
            with Container(id="fire-side"):
                yield PlanView(id="fire-plan")
                yield History(id="fire-runs")
        yield RunPane(id="fire-run")

    def on_mount(self) -> None:
        self.set_class(True, "-plan")
        self._show_view()

    def on_resize(self, event: events.Resize) -> None:
        now = arrangement(event.size.width, event.size.height)
        for name in ARRANGEMENTS:
            self.set_class(name in now, f"-{name}")

    def on_descendant_focus(self) -> None:
        """Whoever writes gets more lines, where there are few."""
        self.set_class(self.query_one(Composer).sheet.has_focus_within, "-writing")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Sessions are played where the host has streams; `ctx` is shown where the event has one."""
        if action == "play":
            return self.view is not None and "stream" in self.view.host.dialect.kinds
        if action == "part" and self.is_mounted:
            return has_ctx(self.query_one(Composer).draft.key, self.view)
        return super().check_action(action, parameters)

    # What the shell tells.

    def watch_view(self) -> None:
        if self.is_mounted:
            self._show_view()
            self.refresh_bindings()

    def compose_event(self, key: str, only: str | None = None) -> None:
        """Put an event of this key into the composer, at one hook only where `only` names it."""
        if self.view is None:
            self._wanted = (key, only)
            return
        composer = self.query_one(Composer)
        if composer.draft.key == key and not composer.untouched:
            composer.limit(only)
        else:
            composer.load(key, only)
        self._zoom(None)
        self._prefer_plan(True)
        # Not an editor: the next key is a command. Later, as a pane just shown takes no focus before.
        self.call_after_refresh(self.query_one(KeyField).focus)

    @property
    def loaded(self) -> Path | None:
        """The file of the saved event in the composer."""
        return self._loaded.file if self._loaded is not None else None

    @property
    def event(self) -> Event | None:
        """The composer's event, where it is one."""
        return self.query_one(Composer).checked.event

    @property
    def key(self) -> str:
        """The key of the composer's event."""
        return self.query_one(Composer).draft.key

    def load_saved(self, file: Path, saved: SavedDraft) -> None:
        """Put a saved event into the composer."""
        if self.view is None:
            return
        composer = self.query_one(Composer)
        composer.put(draft_from(saved, self.view))
        self.kept_as(file)
        self._zoom(None)
        self._prefer_plan(True)
        self.call_after_refresh(self.query_one(KeyField).focus)

    def kept_as(self, file: Path) -> None:
        """The composer's event is what this file says."""
        self._loaded = Loaded(file, self.query_one(Composer).draft)
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

    def compared(self, number: int, checked: Checked) -> None:
        """A run was compared with what its saved event expects."""
        self.runs.check(number, checked)
        self._draw_run()

    def show_plan(self, plan: Plan | None, problem: str = "") -> None:
        """Show who would run, or why there is no plan."""
        self._plan, self._problem = plan, problem
        if self.is_mounted:
            self._draw_plan()

    def remember(self, past: Sequence[PastRun]) -> None:
        """Runs of earlier sittings: shown as those of this one, behind them."""
        if self.runs.current is not None:
            return  # the first run of this sitting was faster
        for run in past:
            self.runs.begin(run.id, run.plan, run.at)
            self.runs.end(run.id, run.run, "its program ended before it did")
        if past:
            self._draw_run()

    def firing_started(self, number: int, plan: Plan) -> None:
        """A run has begun: its rows stand there at once."""
        self.runs.begin(number, plan, datetime.now(UTC))
        self._only_of[number] = self._asked_only
        self._only_of = {kept.number: self._only_of.get(kept.number) for kept in self.runs.sheets}
        if self._zoomed != "run":
            self._zoom(None)
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

    # Drawing.

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
            self.compose_event(key, only)
        elif not composer.draft.key and view.keys:
            composer.load(first_key(view))
        self._draw_plan()

    def _draw_plan(self) -> None:
        checked = self.query_one(Composer).checked
        problem = self._problem
        if self._plan is None and not problem and checked.event is None and self.view is not None:
            problem = f"no plan until the event is valid: {checked.problem}"
        self.query_one(PlanView).show(self._plan, problem, self.view)

    def _draw_run(self) -> None:
        self.runs.settle()
        older, newer = self.runs.neighbour(-1), self.runs.neighbour(1)
        neighbours = (("[", older), ("]", newer))
        beside = "   ".join(f"{key} run {number}" for key, number in neighbours if number is not None)
        self.query_one(RunPane).show(self.runs.current, self.runs.clock(), beside)
        self.query_one(History).show(self.runs.sheets, self.runs.shown)

    def _prefer_plan(self, plan: bool) -> None:
        """Where there is room for one of them, show the plan or the run."""
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

    # What its parts tell.

    @on(Composer.Changed)
    def _draft_changed(self, event: Composer.Changed) -> None:
        event.stop()
        if self._loaded is not None and self._loaded.draft.key != event.draft.key:
            self._loaded = None  # another event: saved under a name of its own
        self._draw_title()
        told = self.DraftChanged(event.checked.event, event.draft.only)
        before = self._told
        if before is not None and before.only == told.only and same_event(before.event, told.event):
            return
        if before is not None and before.event and told.event and before.event.key != told.event.key:
            self._prefer_plan(True)
        self._told = told
        self.post_message(told)
        if told.event is None and event.checked.problem:
            self.show_plan(None)

    @on(KeyField.PickAsked)
    def _pick_asked(self, event: KeyField.PickAsked) -> None:
        event.stop()
        self.action_pick()

    @on(PlanView.TrustAsked)
    def _trust_asked(self, event: PlanView.TrustAsked) -> None:
        event.stop()
        self.post_message(self.TrustAsked(event.folders))

    @on(RunPane.EditAsked)
    def _edit_asked(self, event: RunPane.EditAsked) -> None:
        event.stop()
        self.post_message(self.EditAsked(event.path, event.line))

    @on(Lines.Chosen, "#fire-runs")
    def _run_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self.show_run(self.query_one(History).number_at(event.index))

    @on(Lines.Chosen, "#fire-plan")
    def _plan_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self._say("^r fires; n lists the hooks that listen to other events.")

    @on(Lines.Moved)
    def _line_moved(self, event: Lines.Moved) -> None:
        event.stop()

    # Keys.

    def action_guarded(self) -> None:
        self.action_fire(guarded=True)

    def action_fire(self, guarded: bool = False) -> None:
        if self._busy():
            return
        composer = self.query_one(Composer)
        composer.read()  # what was typed a moment ago, too
        event = composer.checked.event
        if event is None:
            place = f"line {composer.checked.line}: " if composer.checked.line else ""
            self._say(f"Not fired: {place}{word(composer.checked.problem)}.", "warning")
            composer.go_to_mistake()
            return
        self._fire(event, composer.draft.only, guarded, self._unchanged)

    def action_otherwise(self) -> None:
        composer = self.query_one(Composer)
        event = composer.checked.event
        if event is None or self.view is None:
            self._say(f"Not fired: {word(composer.checked.problem or 'still looking')}.", "warning")
            composer.go_to_mistake()
            return
        listening = list(dict.fromkeys(call.name for call in self._plan.calls)) if self._plan else []
        chosen = replace(self._way, only=composer.draft.only)
        screen = OtherwiseScreen(event.key, chosen, hooks_of(self.view, event), listening)
        self.app.push_screen(screen, self._otherwise)

    def _otherwise(self, way: Otherwise | None) -> None:
        event = self.query_one(Composer).checked.event
        if way is None or event is None or self._busy():
            return
        self._way = way
        now = replace(event, timestamp=datetime.now(UTC))
        self._asked_only = way.only
        file = self._unchanged if way.plain and way.only is None else None
        self.post_message(self.FireAsked(now, way.only, way.guarded, file, None if way.plain else way))

    def action_play(self) -> None:
        event = self.query_one(Composer).checked.event
        said = event.context.get("message") if event is not None else None
        if not self._busy():
            self.post_message(self.PlayAsked(said if isinstance(said, str) and said else FIRST_WORDS))

    def action_arm(self) -> None:
        composer = self.query_one(Composer)
        composer.read()
        if composer.checked.event is None:
            self._say(f"Not armed: {word(composer.checked.problem)}.", "warning")
        else:
            self.post_message(self.ArmAsked(composer.checked.event, composer.draft.only, self._unchanged))

    def action_save(self, anew: bool = False) -> None:
        composer = self.query_one(Composer)
        event = composer.checked.event
        if event is None or self.view is None:
            self._say(f"Not saved: {word(composer.checked.problem or 'still looking')}.", "warning")
            composer.go_to_mistake()
            return
        file = None if anew else self.loaded
        if file is not None and self._unchanged is not None:
            self._say(f"{word(file.name)} says just that already.")
            return
        self.post_message(self.SaveAsked(to_save(composer.draft, event, self.view), file))

    def action_saved(self) -> None:
        self.post_message(self.SavedAsked())

    def action_fuzz(self) -> None:
        composer = self.query_one(Composer)
        event = composer.checked.event
        if event is None:
            self._say(f"Not fired: {word(composer.checked.problem)}.", "warning")
        elif not self._busy():
            self.post_message(self.FuzzAsked(event, composer.draft.only))

    def action_replay(self, from_here: bool = False) -> None:
        sheet = self.runs.current
        row = self.query_one(RunPane).row
        if sheet is None:
            self._say("Nothing was fired yet, so there is nothing to replay: ^r fires.")
        elif from_here and (row is None or row.follow_up is not None):
            self._say("Put the cursor on the handler to begin with.")
        elif not self._busy():
            self.post_message(self.ReplayAsked(row.number if from_here and row is not None else None))

    def action_compare(self) -> None:
        self.post_message(self.CompareAsked())

    def action_accept(self) -> None:
        sheet = self.runs.current
        if sheet is None:
            self._say("Nothing was fired yet, so there is nothing to accept.")
        elif sheet.checked is None:
            then = "load it and fire" if self.loaded else "^s saves the event, then fire it"
            self._say(f"Run {sheet.number} is of no saved event: {then}.")
        elif sheet.checked.accepted:
            self._say(f"{word(sheet.checked.file.name)} expects that already.")
        else:
            self.post_message(self.AcceptAsked(sheet.number, sheet.checked))

    def action_again(self) -> None:
        sheet = self.runs.current
        if sheet is None:
            self._say("Nothing was fired yet, so there is nothing to repeat: ^r fires.")
        elif not self._busy():
            file = sheet.checked.file if sheet.checked is not None else None
            self._fire(sheet.plan.event, self._only_of.get(sheet.number), file=file)

    def _fire(self, event: Event, only: str | None, guarded: bool = False, file: Path | None = None) -> None:
        self._asked_only = only
        self.post_message(self.FireAsked(replace(event, timestamp=datetime.now(UTC)), only, guarded, file))

    def _busy(self) -> bool:
        running = self.runs.running
        if running is not None:
            self._say(f"Run {running} is still going on: x cancels it.", "warning")
        return running is not None

    def action_cancel(self) -> None:
        if self.runs.running is None:
            raise SkipAction
        self.post_message(self.CancelAsked())

    def action_leave(self) -> None:
        if self.runs.running is None and self._zoomed is not None:
            self._zoom(None)
        else:
            self.action_cancel()

    def action_zoom(self) -> None:
        part = self._part_in_focus()
        if self._zoomed is not None:
            self._zoom(None)
        elif part is not None and self.size.width >= self.screen.size.width:
            self._zoom(part)
            return
        if self.screen.size.width >= WIDE:
            raise SkipAction  # the screen gives the whole pane more room, or takes it back

    def _part_in_focus(self) -> str | None:
        focused = self.screen.focused
        ids = {node.id for node in focused.ancestors_with_self} if focused is not None else set()
        return next((part for part in PARTS if f"fire-{part}" in ids), None)

    def _zoom(self, part: str | None) -> None:
        self._zoomed = part
        for name in PARTS:
            self.set_class(name == part, f"-zoom-{name}")

    def action_template(self) -> None:
        composer = self.query_one(Composer)
        if self.view is None:
            self._say("The hooks are still being looked at.")
        elif not composer.draft.key:
            self._say("Choose an event first: ^space lists them.")
        else:
            composer.load(composer.draft.key, composer.draft.only)

    def action_face(self) -> None:
        self.query_one(Composer).turn_face()

    def action_part(self) -> None:
        if not self.query_one(Composer).turn_part():
            self._say("Handlers of this event get no second argument.")

    def action_pick(self) -> None:
        if self.view is None:
            self._say("The hooks are still being looked at.")
            return
        self.app.push_screen(EventPicker(self.view, self.query_one(Composer).draft.key), self._picked)

    def _picked(self, key: str | None) -> None:
        if key is not None:
            self.query_one(Composer).rekey(key)
            self._prefer_plan(True)

    def action_turn_run(self, by: int) -> None:
        number = self.runs.neighbour(by)
        if number is None:
            self._say("There is no older run in memory." if by < 0 else "This is the newest run.")
        else:
            self.show_run(number)

    def action_copy_tab(self) -> None:
        text = self.query_one(RunPane).copied_text()
        if not text:
            self._say("Nothing was fired yet, so there is nothing to copy.")
            return
        self.app.copy_to_clipboard(text)
        self._say("Copied what the open tab says.")

    def action_swap(self) -> None:
        if self.has_class("-stacked"):
            self.set_class(not self.has_class("-plan"), "-plan")
            self._focus_lower()
        else:
            plan = self.query_one(PlanView)
            (self.query_one("#fire-run Waterfall") if plan.has_focus else plan).focus()

    def action_everyone(self) -> None:
        composer = self.query_one(Composer)
        if composer.draft.only is None:
            self._say("The event goes to all hooks already.")
        else:
            composer.limit(None)

    def _say(self, text: str, severity: str = "information") -> None:
        self.app.notify(text, severity="warning" if severity == "warning" else "information", markup=False)

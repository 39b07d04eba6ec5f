"""The Fire pane: compose an event, see who would run, fire, read what each handler did."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.widgets import Input, TextArea

from hookscope.console.fire import asked
from hookscope.console.fire.arrangement import STYLES, WIDE
from hookscope.console.fire.composer import Composer
from hookscope.console.fire.draft import has_ctx, same_event
from hookscope.console.fire.environments import EnvironmentScreen
from hookscope.console.fire.event_picker import EventPicker
from hookscope.console.fire.head import KeyField
from hookscope.console.fire.keys import KEYS
from hookscope.console.fire.otherwise import Otherwise, OtherwiseScreen
from hookscope.console.fire.plan_view import PlanView
from hookscope.console.fire.run_pane import RunPane
from hookscope.console.fire.saved import to_save
from hookscope.console.fire.with_runs import FireRuns
from hookscope.console.keymap.hints import key_of, shared, with_keys
from hookscope.console.lines import Lines
from hookscope.console.marks import word
from hookscope.console.messages import CopyAsked, UndoAsked
from hookscope.core.bystanders import kinds_of
from hookscope.core.runs import Event

if TYPE_CHECKING:
    from hookscope.workbench import View

FIRST_WORDS = "hi"  # of a session that is played with no message in the composer


TURNS = {"turn_run(-1)": -1, "turn_run(1)": 1}


def hooks_of(view: View, event: Event) -> tuple[str, ...]:
    """The hooks of the event's kind, each by its name."""
    rows = (row for row in view.inventory.hooks if row.verdict.shadowed_by is None)
    return tuple(dict.fromkeys(row.hook.name for row in rows if event.kind in kinds_of(row)))


class FirePane(FireRuns):
    """Answers keys and parts: it asks the screen, and runs nothing."""

    BINDINGS: ClassVar[list[BindingType]] = KEYS
    DEFAULT_CSS = STYLES

    def cannot(self, action: str) -> str:
        """Why this cannot be done now; the line of keys leaves it out."""
        host = self.view.host.dialect if self.view is not None else None
        if action == "play" and (host is None or "stream" not in host.kinds):
            other = key_of("console.dialect")
            sends = f"{host.product} sends no stream of events" if host is not None else "Still looking"
            return f"{sends}: there is no session to play. {other} goes on to another dialect."
        if action == "part" and self.furnished:
            ctx = has_ctx(self.query_one(Composer).draft.key, self.view)
            return "" if ctx else "Handlers of this event get no second argument."
        if action in TURNS and self.runs.neighbour(TURNS[action]) is None:
            return self._no_neighbour(TURNS[action])
        if action in ("pass_over", "run_all") and not self._waits:
            return self._nobody_waits()
        if action == "cancel" and not self._going:
            return with_keys("Nothing is running: {fire.fire} fires the event.")
        return ""

    @on(Composer.Changed)
    def _draft_changed(self, event: Composer.Changed) -> None:
        event.stop()
        if self._loaded is not None and self._loaded.draft.key != event.draft.key:
            self._loaded = None  # another event: saved under a name of its own
        self._draw_title()
        self.make_room_to_write()
        told = asked.DraftChanged(event.checked.event, event.draft.only)
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
        self.post_message(asked.TrustAsked(event.folders))

    @on(RunPane.EditAsked)
    def _edit_asked(self, event: RunPane.EditAsked) -> None:
        event.stop()
        self.post_message(asked.EditAsked(event.path, event.line))

    @on(Lines.Chosen, "#fire-plan")
    def _plan_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self._say(with_keys("{fire.fire} fires; {plan.others} lists the hooks that listen to other events."))

    @on(Lines.Moved)
    def _line_moved(self, event: Lines.Moved) -> None:
        event.stop()

    def action_guarded(self) -> None:
        self.action_fire(guarded=True)

    def action_fire(self, guarded: bool = False) -> None:
        if self._busy():
            return
        composer = self._composed()
        event = composer.checked.event
        if event is None:
            place = f"line {composer.checked.line}: " if composer.checked.line else ""
            self._say(f"Not fired: {place}{word(composer.checked.problem)}.", "warning")
            composer.go_to_mistake()
            return
        self._fire(event, composer.draft.only, guarded, self._unchanged, written=True)

    def action_otherwise(self) -> None:
        composer = self._composed()
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
        file = self._unchanged if way.plain and way.only is None else None
        self._fire(event, way.only, way.guarded, file, way, written=True)

    def action_play(self) -> None:
        if problem := self.cannot("play"):
            self._say(problem)
            return
        event = self._composed().checked.event
        said = event.context.get("message") if event is not None else None
        if not self._busy():
            self.post_message(asked.PlayAsked(said if isinstance(said, str) and said else FIRST_WORDS))

    def action_arm(self) -> None:
        composer = self._composed()
        if composer.checked.event is None:
            self._say(f"Not armed: {word(composer.checked.problem)}.", "warning")
        else:
            self.post_message(asked.ArmAsked(composer.checked.event, composer.draft.only, self._unchanged))

    def action_save(self, anew: bool = False) -> None:
        composer = self._composed()
        event = composer.checked.event
        if event is None or self.view is None:
            self._say(f"Not saved: {word(composer.checked.problem or 'still looking')}.", "warning")
            composer.go_to_mistake()
            return
        file = None if anew else self.loaded
        if file is not None and self._unchanged is not None:
            self._say(f"{word(file.name)} says just that already.")
            return
        saved = to_save(composer.draft, event, self.view)
        self.post_message(asked.SaveAsked(saved, file, composer.draft))

    def action_saved(self) -> None:
        self.post_message(asked.SavedAsked())

    def action_fuzz(self) -> None:
        composer = self._composed()
        event = composer.checked.event
        if event is None:
            self._say(f"Not fired: {word(composer.checked.problem)}.", "warning")
        elif not self._busy():
            self.post_message(asked.FuzzAsked(event, composer.draft.only))

    def action_cancel(self) -> None:
        if self._going:
            self.post_message(asked.CancelAsked())
        elif self.just_over:
            self._say(f"{self.just_over} is over already.")
        elif shared("fire.cancel", "console.export"):
            raise SkipAction  # the key means that while nothing runs
        else:
            self._say(self.cannot("cancel"))

    async def action_leave(self) -> None:
        if self._going:
            self.post_message(asked.CancelAsked())
        elif self._zoomed is not None:
            self._zoom(None)
        elif isinstance(self.screen.focused, Input | TextArea):
            self.query_one(KeyField).focus()  # out of the editor: letters are keys again
        else:
            await self.run_action("screen.back")

    async def action_zoom(self) -> None:
        part = self.part_in_focus
        zoomed = self._zoomed is not None
        if zoomed:
            self._zoom(None)
        elif part is not None and self.size.width >= self.screen.size.width:
            self._zoom(part)
            return
        if not zoomed or self.screen.size.width >= WIDE:  # the whole pane: more room, or what is wanted
            await self.run_action("screen.zoom")

    def action_template(self) -> None:
        composer = self.query_one(Composer)
        if self.view is None:
            self._say("The hooks are still being looked at.")
        elif not composer.draft.key:
            self._say(with_keys("Choose an event first: {fire.keys} lists them."))
        else:
            before = composer.draft
            composer.load(before.key, before.only)
            if composer.draft == before:
                self._say(f"The example of {word(before.key)} stands there already.")

    def action_face(self) -> None:
        self.query_one(Composer).turn_face()

    def action_environment(self) -> None:
        filling = self.query_one(Composer).filling
        if filling is None or not filling.environments:
            self._say("There is no environment. A file .hookscope/environments/dev.yaml makes one.")
        else:
            self.app.push_screen(EnvironmentScreen(filling), self._environment_chosen)

    def _environment_chosen(self, chosen: asked.EnvironmentAsked | None) -> None:
        if chosen is not None:
            self.post_message(chosen)

    def action_part(self) -> None:
        if not self.query_one(Composer).turn_part():
            self._say(self.cannot("part"))

    def action_pick(self) -> None:
        if self.view is None:
            self._say("The hooks are still being looked at.")
            return
        self.app.push_screen(EventPicker(self.view, self.query_one(Composer).draft.key), self._picked)

    def _picked(self, key: str | None) -> None:
        if key is not None:
            self.query_one(Composer).rekey(key)
            self._prefer_plan(True)

    def action_undo(self) -> None:
        self.post_message(UndoAsked())

    def action_copy_tab(self) -> None:
        plan = self.shown_plan()
        if self.part_in_focus == "plan" and plan is not None:
            self.post_message(CopyAsked(plan.text, "plan"))
            return
        if self.part_in_focus == "composer":
            self.post_message(CopyAsked(self.query_one(Composer).sheet.text, "event"))
            return
        text = self.query_one(RunPane).copied_text()
        if not text:
            self._say(with_keys("Nothing was fired yet, so there is nothing to copy: {fire.fire} fires."))
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

"""What is done with the runs of the Fire pane: gone through by steps, fired again, replayed, compared,
accepted, turned over."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from textual import on

from hookscope.console.fire import asked
from hookscope.console.fire.composer import Composer
from hookscope.console.fire.frame import FireFrame
from hookscope.console.fire.history import History
from hookscope.console.fire.otherwise import Otherwise
from hookscope.console.fire.run_pane import RunPane
from hookscope.console.keymap.hints import key_of, with_keys
from hookscope.console.lines import Lines
from hookscope.console.marks import word
from hookscope.core.runs import Event


class FireRuns(FireFrame):
    """Knows what goes on, and asks the screen to fire."""

    @property
    def _going(self) -> str:
        """What is on its way, as the beginning of a sentence; empty where nothing is."""
        running = self.runs.running
        return f"Run {running}" if running is not None else self.job

    def _busy(self) -> bool:
        if self._going:
            self._say(f"{self._going} is still going on: {key_of('fire.cancel')} cancels it.", "warning")
        return bool(self._going)

    def _fire(
        self,
        event: Event,
        only: str | None,
        guarded: bool = False,
        file: Path | None = None,
        way: Otherwise | None = None,
        *,
        written: bool = False,
    ) -> None:
        now = replace(event, timestamp=datetime.now(UTC))
        strange = way if way is not None and not way.plain else None
        self.post_message(asked.FireAsked(now, only, guarded, file, strange, written))

    def _composed(self) -> Composer:
        """The composer, which has read what was typed a moment ago, too."""
        composer = self.query_one(Composer)
        composer.read()
        return composer

    def action_step(self) -> None:
        if self._waits:
            self.post_message(asked.StepAsked("run_it"))
        else:
            self._fire_slowly(stepped=True)

    def action_debug(self) -> None:
        if self._going:
            self.post_message(asked.DebugAsked())
        else:
            self._fire_slowly(debugged=True)

    def _fire_slowly(self, *, stepped: bool = False, debugged: bool = False) -> None:
        composer = self._composed()
        event = composer.checked.event
        if event is None:
            self._say(f"Not fired: {word(composer.checked.problem or 'still looking')}.", "warning")
            composer.go_to_mistake()
        elif not self._busy():
            only = composer.draft.only
            way = Otherwise(only=only, stepped=stepped, debugged=debugged)
            self._fire(event, only, way=way, written=True)

    def action_pass_over(self) -> None:
        self._word("pass_over")

    def action_run_all(self) -> None:
        self._word("run_all")

    def _word(self, said: asked.StepWord) -> None:
        if self._waits:
            self.post_message(asked.StepAsked(said))
        else:
            self._say(self._nobody_waits())

    @on(Lines.Chosen, "#fire-runs")
    def _run_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self.show_run(self.query_one(History).number_at(event.index))

    def action_again(self) -> None:
        sheet = self.runs.current
        if sheet is None:
            self._say(with_keys("Nothing was fired yet, so there is nothing to repeat: {fire.fire} fires."))
        elif not self._busy():
            file = sheet.checked.file if sheet.checked is not None else None
            guarded = sheet.run is not None and sheet.run.guarded is not None
            how = self._asked.get(sheet.number)
            if how is None:
                self._fire(sheet.plan.event, None, guarded, file)
            else:
                way = replace(how.way, times=1, shuffled=False) if how.way is not None else None
                self._fire(sheet.plan.event, how.only, guarded or how.guarded, file, way)

    def action_replay(self, from_here: bool = False) -> None:
        sheet = self.runs.current
        row = self.query_one(RunPane).row
        if sheet is None:
            self._say(with_keys("Nothing was fired yet, so there is nothing to replay: {fire.fire} fires."))
        elif from_here and (row is None or row.follow_up is not None):
            self._say("Put the cursor on the handler to begin with.")
        elif from_here and row is not None and row.result is None and not sheet.running:
            self._say(f"{row.name} did not run: put the cursor on one that did.")
        elif not self._busy():
            self.post_message(
                asked.ReplayAsked(sheet.place_of(row) if from_here and row is not None else None)
            )

    def action_compare(self) -> None:
        self.post_message(asked.CompareAsked())

    def action_accept(self) -> None:
        sheet = self.runs.current
        if sheet is None:
            self._say(with_keys("Nothing was fired yet, so there is nothing to accept: {fire.fire} fires."))
        elif sheet.checked is None:
            then = (
                "load it and fire" if self.loaded else f"{key_of('fire.save')} saves the event, then fire it"
            )
            self._say(f"Run {sheet.number} is of no saved event: {then}.")
        elif sheet.checked.accepted:
            self._say(f"{word(sheet.checked.file.name)} expects that already.")
        else:
            self.post_message(asked.AcceptAsked(sheet.number, sheet.checked))

    def action_turn_run(self, by: int) -> None:
        number = self.runs.neighbour(by)
        if number is None:
            self._say(self._no_neighbour(by))
        else:
            self.show_run(number)

    def _nobody_waits(self) -> str:
        return with_keys("No handler waits: {fire.step} fires the event handler by handler.")

    def _no_neighbour(self, by: int) -> str:
        if self.runs.current is None:
            return with_keys("Nothing was fired yet, so there are no runs to turn: {fire.fire} fires.")
        return "There is no older run in memory." if by < 0 else "This is the newest run."

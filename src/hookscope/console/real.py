"""What happens outside of the console: real events come into its log, are opened in the composer, saved and
summed up; runs of other programs come into its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.console import narrate
from hookscope.console.happening import ModeChosen
from hookscope.console.messages import RealCame, Said, Severity
from hookscope.console.posting import post
from hookscope.core.local_time import local_now
from hookscope.workbench.elsewhere import Elsewhere
from hookscope.workbench.links.concern import Happened, of_runs
from hookscope.workbench.tap.following import Came, Follow
from hookscope.workbench.tap.places import spool_place

if TYPE_CHECKING:
    from hookscope.console.shell import Shell
    from hookscope.core.runs import Event
    from hookscope.workbench import PastRun, View
    from hookscope.workbench.tap.events import Saved
    from hookscope.workbench.tap.spool import Heard

ROOM = "real events"


class RealDesk:
    """Follows what taps and other programs record, and does what is asked of it. All is read in threads."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._follow = Follow(self._came)
        self._elsewhere = Elsewhere(self._ran)

    def looked(self, view: View) -> None:
        """Follow the spool of this host and the record of this workspace from now on."""
        self._follow.follow(spool_place(view.host))
        self._elsewhere.follow(view.host)

    def close(self) -> None:
        """Follow nothing any more."""
        self._follow.close()
        self._elsewhere.close()

    def _came(self, came: Came) -> None:
        """Called in the thread that follows; only lines leave it, since events may be large."""
        heard = Happened(frozenset(event.key for event in came.events))
        post(self.screen, RealCame(tuple(narrate.came(local_now(), came)), heard))

    def _ran(self, runs: tuple[PastRun, ...]) -> None:
        """As `_came`."""
        now = local_now()
        entries = tuple(narrate.elsewhere(now, past) for past in runs)
        post(self.screen, RealCame(entries, of_runs(runs), runs))

    def open(self, name: str) -> None:
        """Put a real event into the composer, with the mark that its handlers see."""
        view = self._view()
        if view is None:
            return

        def reading() -> tuple[Heard, Event]:
            from hookscope.workbench.tap.events import event_of, marked, picked  # here: no database at first

            (heard,) = picked(view, [name])
            return heard, marked(event_of(heard, view.host), heard)

        self.screen.bridge.ask(ROOM, reading, lambda found: self._opened(*found), opens=True)

    def _opened(self, heard: Heard, event: Event) -> None:
        self.screen.change(ModeChosen("fire"))
        self.screen.fire_pane.load_event(event)
        if heard.cut:
            self._say("Parts of this event were shortened when it was recorded.", "warning")

    def save(self, name: str) -> None:
        """Keep a real event as a saved event."""
        view = self._view()
        if view is None:
            return

        def saving() -> Saved:
            from hookscope.workbench.tap.events import picked, save_real

            (heard,) = picked(view, [name])
            redaction = self.screen.bridge.bench.redaction_of(view.host)
            return save_real(heard, view, redaction)

        self.screen.bridge.ask(ROOM, saving, self._saved)

    def _saved(self, done: Saved) -> None:
        variables = f"; from the environment: {', '.join(done.variables)}" if done.variables else ""
        self.screen.log_line("saved", f"{done.file}{variables}", subject=done.file.name)
        self._say(f"Saved as {done.file.name}.")

    def show_lists(self) -> None:
        """Who listens to what never came, and what came that nobody listens to."""
        view, bench = self._view(), self.screen.bridge.bench
        if view is not None:
            from hookscope.console.tap_screen import TapScreen  # here: few ask
            from hookscope.workbench.tap.report import report_of

            self.screen.bridge.ask(
                ROOM,
                lambda: report_of(bench, view),
                lambda report: self.screen.app.push_screen(TapScreen(report, view)),
                opens=True,
            )

    def _view(self) -> View | None:
        if self.screen.state.view is None:
            self._say("Still looking.", "warning")
        return self.screen.state.view

    def _say(self, text: str, severity: Severity = "information") -> None:
        self.screen.post_message(Said(text, severity))

"""What looks bring, and what asks for another one: files that change, keys and colours that are saved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import on

from hookscope.console.ahead import load_ahead
from hookscope.console.carrying import Carrier
from hookscope.console.happening import Looked, LookFailed, Watching
from hookscope.console.messages import Changed, FilesChanged, LookAsked, PastRuns, PreferencesSaved
from hookscope.console.state import ConsoleState
from hookscope.core.local_time import local_now

if TYPE_CHECKING:
    from hookscope.console.log.model import LogEntry
    from hookscope.console.opening import Opener

A_MOMENT = 0.5  # seconds in which a file is there whose folder has just come


class Looker(Carrier):
    """Takes what a look has found to whoever wants it, and has the log tell it."""

    def __init__(self, bench: Opener, watches: bool) -> None:
        super().__init__(bench, watches)
        self._told_to_look = False  # by its user, who wants an answer in any case
        self._first_look: Sequence[LogEntry] = ()  # stands in the log below what was before it

    @on(Changed)
    def _changed(self, message: Changed) -> None:
        message.stop()
        before = self.state
        self.change(message.change)
        if isinstance(message.change, Looked):
            self._looked(before, message.change)
        elif isinstance(message.change, LookFailed):
            self.bridge.look_ended()
            if self.sits("desk"):
                self.desk.trust_failed()
            self.log_line("look", message.change.text, "error")
            self.say(f"Looking failed: {message.change.text}", "error")

    def _looked(self, before: ConsoleState, look: Looked) -> None:
        from hookscope.console import narrate  # here, and below: the first paint tells nothing yet

        first = before.view is None
        entries = narrate.looked(local_now(), before.rows, self.state.rows, look.took, first)
        if first:
            self._first_look = entries
        else:
            self.log_entries(entries)
        if not first and len(entries) == 1 and self._told_to_look:
            self.say("Looked again: nothing is different.")
        elif not first and len(entries) > 1 and "list" not in self.panes:
            self.say(f"Looked again: {len(entries) - 1} different. The log says which.")
        self._told_to_look = False
        self.whatif.looked(look.view)
        if self.sits("hosts"):
            self.hosts.looked()
        if self.sits("new"):
            self.new.looked()
        if self.sits("packs"):
            self.packs.looked()
        self.bridge.look_ended()
        if self.sits("desk"):
            self.desk.looked()
        if first:
            self.call_after_paint(partial(self._first_rows, look))  # they stand there before all this begins
        else:
            self._follow(look)

    def _first_rows(self, look: Looked) -> None:
        """The first hooks are on the screen: what was before, and what is to come."""
        self.runner.remember(look.view)
        self.last_time.looked(look.view)
        self._follow(look)
        load_ahead()

    def _follow(self, look: Looked) -> None:
        """Hear of what happens on disk from now on."""
        self.real.looked(look.view)
        if self.watches:
            self.preferences.follow()
            self.change(Watching(self.bridge.follow(look.view)))

    @on(LookAsked)
    def _look(self) -> None:
        self._told_to_look = True
        self.bridge.look()

    @on(FilesChanged)
    def _files_changed(self, event: FilesChanged) -> None:
        from hookscope.console import narrate

        view = self.state.view
        saved = frozenset(path for path in event.paths if not self.bridge.is_learned(path))
        if not saved:
            self._learned()
            if not event.paths <= set(self.bridge.bench.learned_in):  # their folder: they come a moment later
                self.set_timer(A_MOMENT, self._learned)
            return
        if view is not None:
            self.log_entries(narrate.saved(local_now(), saved, view))
        self.desk.saved(saved)
        self.bridge.look()

    def _learned(self) -> None:
        """Another command has trusted or loaded something, perhaps: no save that an armed event waits for."""
        view = self.state.view
        if view is None:
            return
        if self.bridge.bench.knows_more(view):
            self.bridge.look()
        elif self.watches:
            self.bridge.follow(view)

    @on(PreferencesSaved)
    def _preferences_saved(self) -> None:
        self.preferences.read_again()

    @on(PastRuns)
    def _past_runs(self, event: PastRuns) -> None:
        from hookscope.console import narrate

        self.remember(event.runs)
        others = narrate.left_out(local_now(), event.others)
        self.log_entries([*others, *(narrate.remembered(run) for run in event.runs), *self._first_look])
        self._first_look = ()

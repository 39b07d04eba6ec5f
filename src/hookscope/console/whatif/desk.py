"""Assumes what the bar says, and keeps the strip true. Nothing of it is ever written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hookscope.console.happening import ModeChosen
from hookscope.console.messages import Said, Severity
from hookscope.console.posting import said
from hookscope.workbench.whatif.assuming import assumes, in_words, real_of

if TYPE_CHECKING:
    from hookscope.console.shell import Shell
    from hookscope.console.whatif.bar import WhatIfBar
    from hookscope.console.whatif.fields import Fields
    from hookscope.workbench import Options, View
    from hookscope.workbench.whatif.places import Place

ROOM = "what if"


class WhatIfDesk:
    """One bar at most; what was taken last holds."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._began = real_of(screen.bridge.bench.options)
        self._opened: WhatIfBar | None = None
        self._noted: tuple[str, ...] = ()  # what is not known of the environment, and was said

    @property
    def _bar(self) -> WhatIfBar | None:
        """The bar, as long as it is there."""
        return self._opened if self._opened is not None and self._opened.stands else None

    @property
    def _real(self) -> Options:
        """The options without the what-if: as the console began, under the dialect that was chosen since."""
        now = self.screen.bridge.bench.options
        return self._began if "host" in now.supposed else replace(self._began, dialect=now.dialect)

    def looked(self, view: View) -> None:
        """The strip says what this view assumes."""
        options = self.screen.bridge.bench.options
        words = in_words(options, view.host.surroundings)
        if words or self.screen.sits("what_if_strip"):
            self.screen.what_if_strip.show(words)
        notes = self.screen.bridge.bench.setup.notes
        for note in notes if notes != self._noted else ():
            self.screen.log_line("what if", note, "warning")
        self._noted = notes
        if self._bar is not None:
            from hookscope.console.whatif.fields import fields_of, reality  # here: the first paint needs none

            self._bar.show(fields_of(options), reality(view, options))
            self._bar.say(f"What if: {', '.join(words)}." if words else "All is as it really is.")

    def open(self) -> None:
        """Show the bar."""
        from hookscope.console.whatif.bar import WhatIfBar  # here, and below: as above
        from hookscope.console.whatif.fields import fields_of, reality
        from hookscope.workbench.whatif.known import known

        view, options = self.screen.state.view, self.screen.bridge.bench.options
        if view is None:
            self._say("Still looking.", "warning")
            return

        def show(found: Mapping[str, Sequence[str]]) -> None:
            if self.screen.is_current:
                typed, real = fields_of(options), reality(view, options)
                self._opened = WhatIfBar(typed, real, found, self.take, self.reset, self.compare)
                self.screen.app.push_screen(self._opened)

        self.screen.bridge.ask(ROOM, lambda: known(view.host), show, opens=True)

    def take(self, typed: Fields) -> None:
        """Assume this from now on."""
        from hookscope.console.whatif.fields import options_of

        try:
            options = options_of(typed, self._real)
        except Exception as error:
            self._wrong(said(error))
        else:
            self._use(options)

    def reset(self) -> None:
        """Assume nothing."""
        if not assumes(self.screen.bridge.bench.options):
            self._wrong("Nothing is assumed: all is as it really is.")
        elif self.screen.bridge.bench.options == self._real:
            self._wrong("Only the home is assumed, by --home: it stays.")
        else:
            self._use(self._real)

    def _use(self, options: Options) -> None:
        if self.screen.firing:
            self._wrong("An event is on its way; wait for its end, or cancel it.")
            return
        bench = self.screen.bridge.bench

        def using() -> str:
            try:
                bench.use_options(options)
            except Exception as error:  # it stays as it was
                return said(error)
            return ""

        self.screen.bridge.ask(ROOM, using, self._used)

    def _used(self, problem: str) -> None:
        if problem:
            self._wrong(problem)
            return
        bench = self.screen.bridge.bench
        self.screen.bridge.look()
        if not assumes(bench.options):
            self.screen.log_line("what if", "all is as it really is")
            self.screen.run_worker(bench.crew.close_others(), name=ROOM, group=ROOM, exit_on_error=False)

    def compare(self) -> None:
        """Mode 4, with what is real and what is supposed side by side."""
        if not assumes(self.screen.bridge.bench.options):
            self._wrong("Nothing is assumed: there is nothing to compare.")
            return
        if self._bar is not None:
            self._bar.action_leave()
        self.screen.hosts.compare_places(self.places)
        self.screen.change(ModeChosen("hosts"))

    def places(self) -> tuple[Place, ...]:
        """What is real and what is supposed now; nothing where nothing is. Raises Refusal."""
        from hookscope.workbench.whatif.places import here_and

        bench = self.screen.bridge.bench
        if bench.options == self._real:
            return ()
        return here_and(bench.options, self._real, bench.dialect.name)

    def _wrong(self, text: str) -> None:
        if self._bar is not None:
            self._bar.say(text, wrong=True)
        else:
            self._say(text, "warning")

    def _say(self, text: str, severity: Severity = "information") -> None:
        self.screen.post_message(Said(text, severity))

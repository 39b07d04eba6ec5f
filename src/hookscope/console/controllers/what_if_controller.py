"""Applies the assumptions of the What if form. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hookscope.app.options import CHOSEN_IN_CONSOLE
from hookscope.app.whatif.assumptions import assumption_words, has_what_if, suggestions, without_what_if
from hookscope.console.state.messages import error_text
from hookscope.console.state.state_changes import ModeChosen

if TYPE_CHECKING:
    from hookscope.analysis.several_machines import ComparedMachine
    from hookscope.app.options import Options
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.console.dialogs.what_if_form import WhatIfFields, WhatIfForm

WHAT_IF_GROUP = "what if"


class WhatIfController:
    """Shows one What if form at most, and applies what is typed there."""

    def __init__(
        self,
        context: ConsoleContext,
        firing: Callable[[], bool],
        compare_places: Callable[[Callable[[], tuple[ComparedMachine, ...]]], object],
    ) -> None:
        """`firing`: whether an event is being fired. `compare_places` shows machines in the Hosts pane."""
        self.context, self._firing, self._compare_places = context, firing, compare_places
        self._began = without_what_if(context.bench.options)
        if self._began.dialect_reason == CHOSEN_IN_CONSOLE:  # as last time
            self._began = replace(self._began, dialect=None)
        self._opened: WhatIfForm | None = None
        self._noted: tuple[str, ...] = ()  # notes on the environment that were logged

    @property
    def _open_form(self) -> WhatIfForm | None:
        return self._opened if self._opened is not None and self._opened.is_open else None

    @property
    def _real(self) -> Options:
        """Return the options without assumptions, under the current dialect."""
        now = self.context.bench.options
        return self._began if "host" in now.supposed else replace(self._began, dialect=now.dialect)

    def scanned(self, view: Snapshot) -> None:
        """Show the assumptions of this snapshot in the strip."""
        options = self.context.bench.options
        words = assumption_words(options, view.host.machine)
        if words or self.context.panes.is_created("what_if_strip"):
            self.context.panes.what_if_strip.show(words)
        notes = self.context.bench.setup.notes
        for note in notes if notes != self._noted else ():
            self.context.log_line("what if", note, "warning")
        self._noted = notes
        if self._open_form is not None:
            from hookscope.console.dialogs.what_if_form import real_values, what_if_fields_of

            self._open_form.show(what_if_fields_of(options), real_values(view, options))
            self._open_form.show_message(f"What if: {', '.join(words)}." if words else "No assumptions.")

    def open(self) -> None:
        """Show the form."""
        from hookscope.console.dialogs.what_if_form import WhatIfForm, real_values, what_if_fields_of

        view, options = self.context.scanned(), self.context.bench.options
        if view is None:
            return

        def show(found: Mapping[str, Sequence[str]]) -> None:
            if not self.context.is_covered:
                typed, real = what_if_fields_of(options), real_values(view, options)
                self._opened = WhatIfForm(typed, real, found, self.take, self.reset, self.compare)
                self.context.push_dialog(self._opened)

        self.context.bridge.ask(WHAT_IF_GROUP, lambda: suggestions(view.host), show, opens=True)

    def take(self, typed: WhatIfFields) -> None:
        """Apply these assumptions."""
        from hookscope.console.dialogs.what_if_form import options_with

        try:
            options = options_with(typed, self._real)
        except Exception as error:
            self._wrong(error_text(error))
        else:
            self._use(options)

    def why_no_reset(self) -> str:
        """Return why there is nothing to drop; empty if there is."""
        options = self.context.bench.options
        if not has_what_if(options):
            return "No assumptions are active." if options.dialect == self._began.dialect else ""
        only_home = options == self._real
        return "The only assumption is --home, which the console cannot drop." if only_home else ""

    def reset(self) -> None:
        """Drop all assumptions; if there are none, return to the dialect from before `D`."""
        if why := self.why_no_reset():
            self._wrong(why)
        else:
            self._use(self._real if has_what_if(self.context.bench.options) else self._began)

    def _use(self, options: Options) -> None:
        if self._firing():
            self._wrong("An event is running. Wait until it has ended, or cancel it.")
            return
        bench = self.context.bench

        def using() -> str:
            try:
                bench.use_options(options)
            except Exception as error:  # the options stay unchanged
                return error_text(error)
            return ""

        self.context.bridge.ask(WHAT_IF_GROUP, using, self._used)

    def _used(self, problem: str) -> None:
        if problem:
            self._wrong(problem)
            return
        bench = self.context.bench
        self.context.bridge.scan()
        if not has_what_if(bench.options):
            self.context.log_line("what if", "no assumptions")
            self.context.run(bench.worker_pools.close_others(), WHAT_IF_GROUP, WHAT_IF_GROUP)

    def compare(self) -> None:
        """Compare the real and the assumed machine in mode 4."""
        if not has_what_if(self.context.bench.options):
            self._wrong("No assumptions: there is nothing to compare.")
            return
        if self._open_form is not None:
            self._open_form.action_leave()
        self._compare_places(self.places)
        self.context.change(ModeChosen("hosts"))

    def places(self) -> tuple[ComparedMachine, ...]:
        """Return the real and the assumed machine; empty without assumptions. Raises Refusal."""
        from hookscope.analysis.several_machines import real_and_assumed

        bench = self.context.bench
        if bench.options == self._real:
            return ()
        return real_and_assumed(bench.options, self._real, bench.dialect.name)

    def _wrong(self, text: str) -> None:
        if self._open_form is not None:
            self._open_form.show_message(text, wrong=True)
        else:
            self.context.notify(text, "warning")

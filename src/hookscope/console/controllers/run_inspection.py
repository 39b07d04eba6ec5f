"""Controllers for inspecting runs: two runs side by side, and a stopped handler in the debugger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.app.snapshot import PastRun
from hookscope.console.controllers import job_runner
from hookscope.console.dialogs.run_comparison import ComparedLine, RunComparisonScreen, compared_lines
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.panes.fire.run_sheet import RunSheet

if TYPE_CHECKING:
    from hookscope.console.context import ConsoleContext
    from hookscope.console.screens.debugger import DebugScreen
    from hookscope.console.state.messages import HandlerStopped


class CompareController:
    """Compares the shown run with another run of the same event."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self._after = 0  # the run on the screen
        self._before = 0  # the run it is compared with
        self._open: RunComparisonScreen | None = None

    def show(self) -> None:
        """Open the comparison with the previous run of the event, or else with the next."""
        runs = self.context.panes.fire_pane.run_view.runs
        sheet = runs.current
        if sheet is None or sheet.run is None:
            self.context.notify("No finished run is shown.")
            return
        self._after = sheet.number
        others = self._partners()
        if not others:
            only = f"Run {sheet.number} is the only run of {sheet.plan.event.key} here."
            self.context.notify(f"{only} Press {key_of('fire.again')} to fire it again.")
            return
        earlier = [number for number in others if number < sheet.number]
        self._before = earlier[-1] if earlier else others[0]
        self._show_screen(sheet.plan.event.key)

    def _show_screen(self, key: str) -> None:
        beside = self._open = RunComparisonScreen(key, self.turn)
        self.context.push_dialog(beside)
        self._compare()

    def replay(self, start: int | None) -> None:
        """Replay the shown run, then compare the replay with it.

        `start`: the number of the handler to start from.
        """
        sheet = self.context.panes.fire_pane.run_view.runs.current
        if sheet is None or sheet.run is None:
            self.context.notify("No finished run is shown.")
            return
        past = PastRun(sheet.run.id, sheet.at, sheet.plan, sheet.run)

        def replayed(number: int) -> None:
            self._after, self._before = number, sheet.number
            self._show_screen(sheet.plan.event.key)

        runner, wanted = self.context.runner, None if start is None else str(start)
        runner.start("The replay", lambda: job_runner.replay_job(runner, past, wanted, replayed))

    def turn(self, by: int) -> None:
        """Compare with another run, `by` older or newer."""
        others = self._partners()
        at = others.index(self._before) + by if self._before in others else -1
        if 0 <= at < len(others):
            self._before = others[at]
            self._compare()
        else:
            self.context.notify(
                "There is no older run of this event." if by < 0 else "There is no newer run of this event."
            )

    def _partners(self) -> list[int]:
        """Return the finished runs of the same event, oldest first."""
        shown = self._sheet(self._after)
        sheets = self.context.panes.fire_pane.run_view.runs.sheets
        return [
            sheet.number
            for sheet in sheets
            if sheet.run is not None and shown is not None and sheet.number != shown.number
            if sheet.plan.event.key == shown.plan.event.key
        ]

    def _sheet(self, number: int) -> RunSheet | None:
        return self.context.panes.fire_pane.run_view.runs.sheet(number)

    def _compare(self) -> None:
        numbers = sorted((self._before, self._after))
        runs = [sheet.run for number in numbers if (sheet := self._sheet(number)) is not None]
        if len(runs) != 2 or runs[0] is None or runs[1] is None or self.context.state.view is None:
            return
        before, after = runs[0], runs[1]
        bench, short = self.context.bench, self.context.state.view.host.machine.short

        def comparing() -> tuple[ComparedLine, ...]:
            from hookscope.authoring.testing.replay import differences_between

            return compared_lines(differences_between(bench, before, after), before, after, short)

        self.context.bridge.ask(
            "comparing", comparing, lambda lines: self._show((numbers[0], numbers[1]), lines)
        )

    def _show(self, numbers: tuple[int, int], lines: tuple[ComparedLine, ...]) -> None:
        if self._open is not None:
            self._open.show(numbers, lines)


class DebugController:
    """Shows the debugger screen of the current stop, or of the last one while its run continues."""

    def __init__(self, context: ConsoleContext, cancel: Callable[[], object]) -> None:
        """`cancel` cancels the debugged run."""
        self.context, self._cancel = context, cancel
        self._last: HandlerStopped | None = None
        self._opened: DebugScreen | None = None

    def stopped(self, event: HandlerStopped) -> None:
        """Show a new stop, or a new view of the current one."""
        self._last = event
        if self._opened is not None and self._opened.is_open:
            self._opened.show(event.seen)
        else:
            self.open()

    def open(self) -> None:
        """Show the current or last stop. If there is none, report that."""
        from hookscope.console.screens.debugger import DebugScreen

        view = self.context.state.view
        if self._last is None:
            job = self.context.runner.job or "Nothing"
            self.context.notify(f"{job} is running, and no handler is stopped.")
        elif view is not None:
            short = view.host.machine.short
            self._opened = DebugScreen(self._last.debugger, self._last.seen, short, self._cancel)
            self.context.push_dialog(self._opened)

    def ended(self) -> None:
        """Close the debugger, because the run has ended."""
        opened, self._opened, self._last = self._opened, None, None
        if opened is not None and opened.is_open:
            opened.dismiss(None)

"""Shows where a handler stands that is debugged; again, when its user has left that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope.console.debug.screen import DebugScreen
    from hookscope.console.messages import HandlerStopped
    from hookscope.console.shell import Shell


class DebugDesk:
    """One screen at most: of the handler that stands, or that stood last while its run goes on."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._last: HandlerStopped | None = None
        self._opened: DebugScreen | None = None

    def stopped(self, event: HandlerStopped) -> None:
        """A handler stands; or something else is seen of the one that did."""
        self._last = event
        if self._opened is not None and self._opened.stands:
            self._opened.show(event.seen)
        else:
            self.open()

    def open(self) -> None:
        """Show the handler that stands, or stood last. Says so where there is none."""
        from hookscope.console.debug.screen import DebugScreen  # here: few runs are debugged

        view = self.screen.state.view
        if self._last is None:
            job = self.screen.runner.job or "Nothing"
            self.screen.say(f"{job} is going on, and none of its handlers stands.")
        elif view is not None:
            short, cancel = view.host.surroundings.short, self.screen.desk.cancel
            self._opened = DebugScreen(self._last.debugger, self._last.seen, short, cancel)
            self.screen.app.push_screen(self._opened)

    def over(self) -> None:
        """The run has ended."""
        opened, self._opened, self._last = self._opened, None, None
        if opened is not None and opened.stands:
            opened.dismiss(None)

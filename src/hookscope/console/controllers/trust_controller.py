"""Asks whether folders may run, and reports what was recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope.console.context import ConsoleContext
    from hookscope.console.dialogs.trust_question import TrustAnswer
    from hookscope.console.state.messages import TrustWritten
    from hookscope.model.trust import TrustTarget


class TrustController:
    """Trust that is asked for among the hooks, or in the plan of an event."""

    def __init__(self, context: ConsoleContext, failed: Callable[[], object]) -> None:
        """`failed`: trust could not be recorded, so nothing may wait for it."""
        self.context = context
        self._failed = failed

    def ask(self, targets: tuple[TrustTarget, ...]) -> None:
        """Ask about these folders."""
        view = self.context.scanned()
        if view is None:
            return

        from hookscope.console.dialogs.trust_question import allowed_folders, ask_trust

        def answered(answer: TrustAnswer | None) -> None:
            if answer == "trust":
                self.context.bridge.trust(allowed_folders(targets))

        ask_trust(self.context, targets, view, answered, firing=False)

    def written(self, event: TrustWritten) -> None:
        """Trust is recorded, or could not be."""
        if event.problem:
            self._failed()
            self.context.notify(event.problem, "error")
            return
        for folder in event.folders:
            self.context.log_line("trust", f"{folder} may run now", subject=folder.name)
        self.context.bridge.look()

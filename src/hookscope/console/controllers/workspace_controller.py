"""Chooses the workspace, dialect and environment of the workbench, and the folders that may run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.console.keymap.active_keys import key_of

if TYPE_CHECKING:
    from textual.app import App

    from hookscope.console.context import ConsoleContext
    from hookscope.console.dialogs.trust_question import TrustAnswer
    from hookscope.console.state.messages import TrustWritten
    from hookscope.model.trust import TrustTarget


class WorkspaceController:
    """Changes the workspace, dialect or environment, then scans."""

    def __init__(
        self,
        context: ConsoleContext,
        app: App[Any],
        show_workspace: Callable[[Path], Coroutine[Any, Any, object]],
    ) -> None:
        """`show_workspace` opens another workspace in place of this one."""
        self.context = context
        self._app, self._show_workspace = app, show_workspace

    def ask(self) -> None:
        """Ask which workspace to open: a recent one, or a folder."""
        view = self.context.scanned()
        if view is None:
            return

        def ask(recent: tuple[Path, ...]) -> None:
            from hookscope.console.dialogs.choosers import WorkspaceScreen

            there = WorkspaceScreen(recent, view.host.workspace, view.host.machine.cwd)
            self.context.push_dialog(there, self.open)

        def recent() -> tuple[Path, ...]:
            from hookscope.app.console_files import stored_console

            return stored_console().recent()

        self.context.bridge.ask("workspaces", recent, ask, opens=True)

    def open(self, folder: Path | None) -> None:
        """Open another workspace in place of this one."""
        if folder is not None:
            self._app.call_later(self._show_workspace, folder)

    def next_dialect(self) -> None:
        """Switch to the next dialect: a host's guide, then its shipped versions, then the next host's."""
        view = self.context.scanned()
        if view is None:
            return
        from hookscope.app.host_detection import dialect_after

        then = dialect_after(view.host.dialect)
        self.context.bench.use_dialect(then.name)
        self.context.notify(
            f"{then.name}: {then.title}. {key_of('console.dialect')} selects the next, "
            f"{key_of('console.all_real')} the first one."
        )
        self.context.bridge.scan()

    def use_environment(self, name: str | None) -> None:
        """Fill events with this environment's variables from now on."""
        self.context.bench.use_environment(name)
        self.context.bridge.scan()


class TrustController:
    """Asks whether handlers in folders may run, for the hooks list or the plan of an event."""

    def __init__(self, context: ConsoleContext, failed: Callable[[], object]) -> None:
        """`failed` is called if trust cannot be recorded, so that nothing waits for it."""
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
        """Report trusted folders, or why trust failed."""
        if event.problem:
            self._failed()
            self.context.notify(event.problem, "error")
            return
        for folder in event.folders:
            self.context.log_line("trust", f"handlers in {folder} may run now", subject=folder.name)
        self.context.bridge.scan()

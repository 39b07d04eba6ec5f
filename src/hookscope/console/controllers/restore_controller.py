"""Restores the view of the last start in this workspace, and saves the current one for the next."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from hookscope.console.keymap.active_keys import key_of
from hookscope.console.state.messages import error_text
from hookscope.console.state.state_changes import (
    ComposerDraft,
    SavedView,
    StateRestored,
    saved_view_from,
    saved_view_of,
    saved_view_values,
)
from hookscope.model.failure import Refusal

if TYPE_CHECKING:
    from textual.timer import Timer

    from hookscope.app.options import Options
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.authoring.testing.saved_events import SavedDraft
    from hookscope.console.context import ConsoleContext

RESTORE_GROUP = "last time"
SAVE_DELAY = 1.0  # seconds after the last key or click until the view is saved


class RestoreController:
    """Restores and saves the view, in threads. Nothing is written until the user changes something."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self._bench: Workbench | None = None  # None until it is open
        self._began: Options | None = None
        self._environment: str | None = None
        self._workspace: Path | None = None
        self._found = SavedView()  # the view of the last session
        self._draft: SavedView | None = None  # to be restored after the first scan
        self._left: SavedView | None = None  # as in the file; None until the first key or click
        self._early = False  # the first key or click came before the first scan
        self._moved = 0.0  # when the last key or click came
        self._timer: Timer | None = None
        self._trouble = ""  # the last reported problem

    # At the start.

    def begin(self) -> None:
        """Restore the saved view, then scan for the first time."""
        self._bench = self.context.bench
        self._began, self._environment = self._bench.options, self._bench.setup.environment
        self.context.bridge.ask(RESTORE_GROUP, self._read, self._restore)

    def _read(self) -> tuple[SavedView | None, tuple[str, ...]]:
        """Return the saved view, with its dialect and environment applied, and messages about them."""
        from hookscope.app.console_files import stored_console

        try:
            self._workspace = self._opened.open().workspace
            values = stored_console().read(self._workspace)
            if values is None:
                return None, ()
            kept = saved_view_from(values)
        except ValueError as error:
            return None, (f"The last view is not restored: its saved value {error} is not valid.",)
        except Exception as error:  # the first scan reports what is wrong with the workspace
            return None, (error_text(error),) if isinstance(error, Refusal) else ()
        return kept, tuple(filter(None, (self._use_dialect(kept), self._use_environment(kept))))

    @property
    def _opened(self) -> Workbench:
        assert self._bench is not None, "the workbench is open before a view is read or written"
        return self._bench

    def _use_dialect(self, kept: SavedView) -> str:
        bench, began = self._opened, self._began
        if kept.dialect is None or began is None or began.dialect is not None or "host" in began.supposed:
            return ""
        before = bench.dialect.name
        try:
            bench.use_dialect(kept.dialect)
        except Refusal as refused:
            return str(refused)
        return (
            f"{kept.dialect}, as last time. Press {key_of('console.dialect')} for the next dialect."
            if kept.dialect != before
            else ""
        )

    def _use_environment(self, kept: SavedView) -> str:
        from hookscope.app.project_config import environment_files

        began = self._began
        if kept.environment is None or began is None or self._workspace is None:
            return ""
        if began.environment is not None:
            return ""
        if kept.environment and kept.environment not in environment_files(self._workspace):
            other = key_of("fire.environment")
            return f"The environment {kept.environment} no longer exists. Press {other} to choose another."
        self._opened.use_environment(kept.environment or None)
        return ""

    def _restore(self, read: tuple[SavedView | None, tuple[str, ...]]) -> None:
        kept, notices = read
        for notice in notices:
            self.context.notify(notice, "information" if kept is not None else "warning")
        if kept is not None:
            self._found = self._draft = kept
            self.context.change(StateRestored(kept))
        self.context.bridge.scan()

    def scanned(self, view: Snapshot) -> None:
        """After the first scan, restore the composed event."""
        kept, self._draft = self._draft, None
        if kept is None:
            return
        self.context.panes.with_fire_pane(
            lambda pane: pane.event_view.restore(kept.draft, kept.part, form=kept.form)
        )
        if kept.draft.file is not None and kept.draft.text is not None:
            file = Path(kept.draft.file)

            def reading() -> SavedDraft | None:
                from hookscope.authoring.testing.saved_events import read_draft

                try:
                    return read_draft(file)
                except Refusal:
                    return None  # the file is gone: the event counts as unsaved

            self.context.bridge.ask(RESTORE_GROUP, reading, partial(self._came_from, file))

    def _came_from(self, file: Path, saved: SavedDraft | None) -> None:
        self.context.panes.with_fire_pane(lambda pane: pane.event_view.came_from(file, saved))

    # During the session.

    def touched(self) -> None:
        """Note a key or click, before it takes effect."""
        if self._left is None:
            self._left, self._early = self.now(), self.context.state.view is None
        self._moved = monotonic()
        if self._timer is None and self.context.is_mounted:
            self._timer = self.context.after(SAVE_DELAY, self._rested, "last-time")

    def _rested(self) -> None:
        self._timer = None
        left = SAVE_DELAY - (monotonic() - self._moved)
        if left > 0:
            self._timer = self.context.after(left, self._rested, "last-time")
            return
        now = self._news()
        if now is not None:
            self.context.bridge.ask(RESTORE_GROUP, lambda: self._write(now), self._written)

    def close(self) -> None:
        """Save recent changes now."""
        now = self._news()
        if now is not None:
            self._write(now)

    def _news(self) -> SavedView | None:
        """Return the view to write; None if it has not changed."""
        if self._left is None or self._workspace is None or self.context.state.view is None:
            return None
        now = self.now()
        if self._early:  # the first scan, not the user, chose the row and the event
            self._early = False
            self._left = replace(self._left, selected=now.selected, draft=now.draft)
        if now == self._left:
            return None
        self._left = now
        return now

    def _write(self, kept: SavedView) -> str:
        from hookscope.app.console_files import stored_console

        assert self._workspace is not None
        try:
            stored_console().write(self._workspace, saved_view_values(self._without_secrets(kept)))
        except Refusal as refused:
            return str(refused)
        return ""

    def _without_secrets(self, kept: SavedView) -> SavedView:
        from hookscope.app.console_files import masked_draft

        redaction, draft = self._opened.redaction, kept.draft
        if draft.text is None:
            return kept
        texts = [masked_draft(text, redaction) for text in (draft.session, draft.text, draft.ctx_text)]
        if any(text is None for text in texts):
            return replace(kept, draft=ComposerDraft(draft.key, draft.only))
        session, text, ctx_text = (text or "" for text in texts)
        return replace(kept, draft=replace(draft, session=session, text=text, ctx_text=ctx_text))

    def _written(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self.context.notify(trouble, "warning")
        self._trouble = trouble

    def now(self) -> SavedView:
        found = self._found
        draft, part, form = found.draft, found.part, found.form
        if self.context.panes.is_created("fire_pane"):
            shown = self.context.panes.fire_pane.event_view.kept()
            if self._draft is None or shown[0].text is not None:  # else the saved draft is not restored yet
                draft, part, form = shown
        dialect, chosen = found.dialect, found.environment
        if self._bench is not None and self._began is not None:
            options, environment = self._bench.options, self._bench.setup.environment
            if self._began.dialect is None and "host" not in options.supposed:
                dialect = options.dialect
            if environment != self._environment:
                chosen = environment or ""
        return replace(
            saved_view_of(self.context.state),
            part=part,
            form=form,
            draft=draft,
            dialect=dialect,
            environment=chosen,
        )

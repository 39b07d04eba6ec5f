"""What the composer of the Fire pane holds: an event, the file it is from, what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.reactive import reactive

from hookscope.console.fire.composer import Composer
from hookscope.console.fire.draft import Draft, event_draft, template_draft
from hookscope.console.fire.furnishing import by_its_parts
from hookscope.console.fire.parts import FireParts
from hookscope.console.fire.saved import Loaded, draft_from
from hookscope.console.fire.saved import title as saved_title
from hookscope.console.last_time.model import KeptDraft
from hookscope.core.runs import Event

if TYPE_CHECKING:
    from hookscope.workbench import View
    from hookscope.workbench.drafts import SavedDraft
    from hookscope.workbench.filling import Filling


def first_key(view: View) -> str:
    """The event to begin with: one that somebody would hear."""
    heard = {call.key for call in view.registry.registrations}
    listened = (key for key in view.keys if key in heard or key.partition(":")[0] in heard)
    return next(listened, view.keys[0] if view.keys else "")


class FireComposing(FireParts):
    """Puts events into the composer, and knows which saved one is there."""

    view: reactive[View | None] = reactive(None, init=False)

    def __init__(self, *, id: str | None, classes: str | None, at_once: bool) -> None:  # noqa: A002
        super().__init__(at_once=at_once, id=id, classes=classes)
        self._filling: Filling | None = None
        self._restoring: tuple[KeptDraft, str | None, bool] | None = None  # once there are parts and a view
        self._wanted: tuple[str, str | None] | None = None  # asked for before there was a view
        self._first = ""  # the hook that a run is opened at: the one that was fired at
        self._loaded: Loaded | None = None  # the saved event in the composer

    @by_its_parts
    def compose_event(self, key: str, only: str | None = None, first: str = "") -> None:
        """Put an event of this key into the composer, at one hook only where `only` names it.

        `first`: the hook that its runs are opened at, where nothing else wants to be seen.
        """
        self._first = first
        if self.view is None:
            self._wanted = (key, only)
            return
        composer = self.query_one(Composer)
        if composer.draft.key == key and not composer.untouched:
            composer.limit(only)
        else:
            composer.begin(key, only)
        self._zoom(None)
        self._prefer_plan(True)
        self.call_after_refresh(self._focus_key)  # a pane just shown takes no focus before

    @property
    def loaded(self) -> Path | None:
        """The file of the saved event in the composer."""
        return self._loaded.file if self._loaded is not None else None

    @property
    def event(self) -> Event | None:
        """The composer's event, where it is one."""
        return self._composer.checked.event

    @property
    def key(self) -> str:
        """The key of the composer's event."""
        return self._composer.draft.key

    def show_filling(self, filling: Filling | None) -> None:
        """Fill events with these variables from now on."""
        self._filling = filling
        if self.furnished:
            self._composer.show_filling(filling)

    @by_its_parts
    def load_saved(self, file: Path, saved: SavedDraft) -> None:
        """Put a saved event into the composer."""
        if self.view is None:
            return
        self._put(draft_from(saved, self.view))
        self.kept_as(file, self.query_one(Composer).draft)

    @by_its_parts
    def load_event(self, event: Event) -> None:
        """Put an event into the composer that was sent before."""
        self._put(event_draft(event))
        self._loaded = None
        self._draw_title()

    def _put(self, draft: Draft) -> None:
        self.query_one(Composer).take(draft)
        self._zoom(None)
        self._prefer_plan(True)
        self.call_after_refresh(self._focus_key)

    @by_its_parts
    def kept_as(self, file: Path, draft: Draft) -> None:
        """This file says what the composer held as `draft`, and still does unless it is another event now."""
        if draft.key == self.key:
            self._loaded = Loaded(file, draft)
            self._composer.settled(draft)
            self._draw_title()

    def kept(self) -> tuple[KeptDraft, str | None, bool]:
        """The event in the composer, the part that has all the room, and whether the form is shown."""
        if self._restoring is not None:
            return self._restoring
        composer = self._composer
        draft = composer.draft
        kept = KeptDraft(draft.key, draft.only)
        if not composer.pristine:
            file = str(self.loaded) if self.loaded is not None else None
            held = draft.cfg is not None
            kept = KeptDraft(
                draft.key, draft.only, draft.session, draft.text, draft.ctx_text, held=held, file=file
            )
        return kept, self._zoomed, composer.sheet.as_form

    def restore(self, kept: KeptDraft, part: str | None, *, form: bool) -> None:
        """Compose and show that again, unless something was composed since the start."""
        if not self.furnished:
            self._restoring = kept, part, form
            return
        composer = self._composer
        if self.view is None or not composer.untouched:
            return
        if kept.key:
            composer.load(kept.key, kept.only)
        if kept.text is not None:
            template = template_draft(kept.key, self.view, kept.only)
            cfg = (template.cfg or {}) if kept.held else None
            composer.put(
                replace(template, session=kept.session, text=kept.text, cfg=cfg, ctx_text=kept.ctx_text)
            )
        if form != composer.sheet.as_form:
            composer.turn_face()
        self._zoom(part)

    def came_from(self, file: Path, saved: SavedDraft | None) -> None:
        """The composer's event is one of a file, perhaps changed since; None: of one that is gone."""
        self.once_furnished(partial(self._came_from, file, saved))

    def _came_from(self, file: Path, saved: SavedDraft | None) -> None:
        if saved is None and self.loaded == file:
            self._loaded = None
        elif saved is not None and self.view is not None and saved.key == self.key:
            self._loaded = Loaded(file, draft_from(saved, self.view))
        self._draw_title()

    def _draw_title(self) -> None:
        composer = self.query_one(Composer)
        composer.entitle(saved_title(self._loaded, composer.draft))

    @property
    def _unchanged(self) -> Path | None:
        """The saved event that the composer holds just as its file has it."""
        loaded = self._loaded
        if loaded is None or loaded.changed(self.query_one(Composer).draft):
            return None
        return loaded.file

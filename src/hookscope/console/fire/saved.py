"""The event that the composer holds as a file: where it was loaded from, and whether it was changed since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.fire.draft import CFG, Draft, as_json, has_ctx
from hookscope.console.marks import MUTED, word
from hookscope.core.differences import MARK
from hookscope.values import dataclass
from hookscope.workbench.compose import parse_context, template
from hookscope.workbench.drafts import SavedDraft, draft_of
from hookscope.workbench.variables import escaped as literal

if TYPE_CHECKING:
    from hookscope.core.runs import Event
    from hookscope.workbench import View


@dataclass(frozen=True, slots=True)
class Loaded:
    """A saved event in the composer, and the draft as it was when file and composer were alike."""

    file: Path
    draft: Draft

    def changed(self, now: Draft) -> bool:
        """Is the composer's event another one than the file's. Whom it is fired at is no part of it."""
        return replace(self.draft, only=None) != replace(now, only=None)


def title(loaded: Loaded | None, now: Draft) -> Content:
    """The composer's title."""
    if loaded is None:
        return Content("Event")
    changed = Content.styled(" • changed", "$text-warning") if loaded.changed(now) else Content()
    return Content.assemble("Event   ", Content.styled(word(loaded.file.name, 60), MUTED), changed)


def draft_from(saved: SavedDraft, view: View) -> Draft:
    """What a file says, as the composer holds it: variables stay as they are written."""
    known = template(saved.key, view.host)
    session = known.session_key if saved.session is None else saved.session
    ctx = as_json({**known.ctx, **saved.ctx}) if has_ctx(saved.key, view) else ""
    return Draft(saved.key, session, as_json(saved.context), ctx_text=ctx)


def to_save(draft: Draft, event: Event, view: View) -> SavedDraft:
    """The composer's event as a file says it: the settings in force as `${cfg}`, other settings and that it
    was one before left out.

    `event` is valid."""
    settings, in_force = f"${{{CFG}}}", literal(template(event.key, view.host).context.get(CFG))
    context = {name: value for name, value in parse_context(draft.text).items() if name not in (CFG, MARK)}
    if CFG in event.context and event.context[CFG] in (settings, in_force):
        context[CFG] = settings
    ctx = {name: value for name, value in event.ctx.items() if name != MARK}
    return draft_of(replace(event, ctx=ctx), template(event.key, view.host), context)


def name_for(key: str) -> str:
    """A file name to begin with: `command-new`."""
    return "-".join("".join(char if char.isalnum() else " " for char in key).split()).lower() or "event"

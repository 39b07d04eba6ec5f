"""What stands below a draft: what is wrong or worth knowing, and what becomes of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.fire.draft import Checked, Draft, Noted, cfg_note
from hookscope.console.fire.offers import offer_help
from hookscope.console.keymap.hints import key_of
from hookscope.console.marks import MUTED, count, word
from hookscope.core.event_types import EventType

if TYPE_CHECKING:
    from hookscope.console.fire.context_editor import ContextEditor
    from hookscope.workbench import View
    from hookscope.workbench.filling import Filling


OBSERVED = "handlers observe: answers are ignored"
ANSWERS = {
    "modify": "answers are merged, one after another",
    "gate": "each handler may block it",
    "claim": "the first handler that claims it wins",
    "synchronous": "answers count at once, promises do not",
    "evaluate": "answers stand side by side",
}


def status_line(checked: Checked, draft: Draft, here: Noted | None = None) -> Content:
    """What is wrong with the draft, and where; else what is worth knowing, `here` at the cursor first."""
    if checked.event is None:
        place = f"line {checked.line}, column {checked.column}: " if checked.line else ""
        place = f"ctx, {place}" if checked.in_ctx else place
        return Content.styled(f"✗ {place}{word(checked.problem, 200)}", "$text-error")
    if checked.notes:
        more = len(checked.notes) - 1
        others = f" · {count(more, 'more note')}" if more else ""
        return Content.styled(f"! {here or checked.notes[0]}{others}", "$text-warning")
    parts = ["JSON object", cfg_note(draft)]
    return Content.styled("✓", "$text-success") + Content.styled(f" {' · '.join(filter(None, parts))}", MUTED)


def help_line(draft: Draft, view: View | None, sheet: ContextEditor) -> Content:
    """The field under the cursor; else what the event is."""
    if view is None:
        return Content()
    known = view.host.dialect.catalogue().find(draft.key)
    if not sheet.has_focus_within:
        return Content.styled(word(sent(known) if known else "", 300), MUTED)
    text = offer_help(sheet.known, sheet.field, sheet.text)
    return Content.styled(word(text or (sent(known) if known else ""), 300), MUTED)


def sent(known: EventType) -> str:
    """When an event is sent, and when it is not."""
    return f"sent: {known.when}" + (f"; not {known.when_not}" if known.when_not else "")


def limits_line(draft: Draft) -> Content:
    """Whom the event goes to, where that is not simply who listens."""
    if draft.only is None:
        return Content()
    return Content(f"only at {word(draft.only, 60)}") + Content.styled(
        f"   {key_of('fire.everyone')} all hooks", MUTED
    )


def environment(filling: Filling | None) -> str:
    """Whose variables fill the event."""
    return f"environment {word(filling.chosen, 40)}" if filling is not None and filling.chosen else ""


def delivery(draft: Draft, view: View | None) -> str:
    """What becomes of what handlers say: of the messages that they push, or of what they return."""
    if view is None:
        return ""
    dialect = view.host.dialect
    kind, known = dialect.event_of(draft.key).kind, dialect.catalogue().find(draft.key)
    if kind != "folder":
        return ANSWERS.get(known.policy if known is not None else "", OBSERVED)
    return "messages: delivered" if known is not None and known.delivers else "messages: ignored by this host"

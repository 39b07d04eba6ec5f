"""The composer: an event key, a session, a context in JSON that is read as it is typed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static, TextArea

from hookscope.console.fire.draft import (
    Checked,
    Draft,
    cfg_note,
    check,
    ctx_note,
    field_at,
    field_help,
    template_draft,
)
from hookscope.console.fire.json_editor import JsonEditor
from hookscope.console.fire.marks import MUTED, word
from hookscope.core.event_types import EventType
from hookscope.core.text import CONTROLS

if TYPE_CHECKING:
    from hookscope.workbench import View


OBSERVED = "handlers observe: answers are ignored"
ANSWERS = {
    "modify": "answers are merged, one after another",
    "gate": "each handler may block it",
    "claim": "the first handler that claims it wins",
    "synchronous": "answers count at once, promises do not",
    "evaluate": "answers stand side by side",
}


def status_line(checked: Checked, draft: Draft) -> Content:
    """What is wrong with the draft, and where; else what is worth knowing."""
    if checked.event is None:
        place = f"line {checked.line}, column {checked.column}: " if checked.line else ""
        return Content.styled(f"✗ {place}{word(checked.problem, 200)}", "$text-error")
    if checked.note:
        return Content.styled(f"! {checked.note}", "$text-warning")
    parts = ["JSON object", cfg_note(draft), ctx_note(draft)]
    return Content.styled("✓", "$text-success") + Content.styled(f" {' · '.join(filter(None, parts))}", MUTED)


def help_line(draft: Draft, view: View | None, field: str | None) -> Content:
    """The field under the cursor; else what the event is."""
    if view is None:
        return Content()
    known = view.host.dialect.catalogue().find(draft.key)
    text = field_help(known, field, draft.text)
    return Content.styled(word(text or (sent(known) if known else ""), 300), MUTED)


def sent(known: EventType) -> str:
    """When an event is sent, and when it is not."""
    return f"sent: {known.when}" + (f"; not {known.when_not}" if known.when_not else "")


def delivery(draft: Draft, view: View | None) -> str:
    """What becomes of what handlers say: of the messages that they push, or of what they return."""
    if view is None:
        return ""
    dialect = view.host.dialect
    kind, known = dialect.event_of(draft.key).kind, dialect.catalogue().find(draft.key)
    if kind != "folder":
        return ANSWERS.get(known.policy if known is not None else "", OBSERVED)
    return "messages: delivered" if known is not None and known.delivers else "messages: ignored by this host"


class KeyField(Static, can_focus=True):
    """The event key; enter opens the list of events."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,down", "pick", "Events", id="composer.pick", tooltip="Choose another event"),
    ]
    DEFAULT_CSS = """
    KeyField {
        width: auto; max-width: 60%; height: 1; text-style: bold;
        text-wrap: nowrap; text-overflow: ellipsis;
        &:focus { background: $block-cursor-background; }
    }
    """

    class PickAsked(Message):
        """Another event is wanted."""

    def action_pick(self) -> None:
        self.post_message(self.PickAsked())

    def on_click(self) -> None:
        self.action_pick()


class SessionInput(Input):
    """The session key. Characters that nobody sees do not get in."""

    def insert(self, text: str, index: int) -> None:
        super().insert(CONTROLS.sub("", text), index)


class Composer(Vertical):
    """Holds the draft, checks it on every key, and tells when it has become another."""

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    Composer {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: none;
        border-subtitle-align: left;
        border-subtitle-color: $text-muted;
        padding: 0 1;
        &:focus-within { border: heavy $border; }
        & > #fire-head { height: 1; }
        & #fire-session-label { width: auto; color: $text-muted; padding: 0 1 0 3; }
        & SessionInput { width: 1fr; background: transparent; }
        & SessionInput:focus { background: $boost; }
        & > Static { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #fire-only { display: none; color: $text-warning; }
        & > JsonEditor { height: 1fr; margin: 1 0 0 0; }
        &.-low > JsonEditor { margin: 0; }
    }
    """

    class Changed(Message):
        """The draft is another one, or its verdict is."""

        def __init__(self, draft: Draft, checked: Checked) -> None:
            super().__init__()
            self.draft, self.checked = draft, checked

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.view: View | None = None
        self.draft = Draft()
        self.checked = Checked(None)
        self._pristine = ""  # the template's text: replaced without regret

    def compose(self) -> ComposeResult:
        with Horizontal(id="fire-head"):
            yield KeyField(id="fire-key", markup=False)
            yield Static("session", id="fire-session-label")
            yield SessionInput(id="fire-session", compact=True, select_on_focus=False)
        yield Static(id="fire-only", markup=False)
        yield JsonEditor(id="fire-context")
        yield Static(id="fire-status", markup=False)
        yield Static(id="fire-help", markup=False)

    def on_mount(self) -> None:
        self.border_title = Content("Event")
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < 10, "-low")

    @property
    def untouched(self) -> bool:
        """Is the text still the template's, or empty?"""
        return self.draft.text.strip() in ("", self._pristine.strip())

    def show_view(self, view: View | None) -> None:
        """Check against another look; settings that are held are taken anew."""
        self.view = view
        if view is not None and self.draft.cfg is not None:
            self.draft = replace(self.draft, cfg=template_draft(self.draft.key, view).cfg or {})
        self._read()

    def load(self, key: str, only: str | None = None) -> None:
        """Write the template of an event."""
        if self.view is not None:
            self.put(template_draft(key, self.view, only))
            self._pristine = self.draft.text

    def rekey(self, key: str) -> None:
        """Another event: its template, unless the text was written by hand."""
        if self.untouched:
            self.load(key, self.draft.only)
            return
        self.draft = replace(self.draft, key=key)
        self._read()
        self.app.notify("Your context was kept; ^t puts the event's example in its place.", markup=False)

    def limit(self, only: str | None) -> None:
        """Fire at one hook only, or at all."""
        self.draft = replace(self.draft, only=only)
        self._read()

    def put(self, draft: Draft) -> None:
        """Hold this draft."""
        self.draft = draft
        with self.prevent(Input.Changed, TextArea.Changed):
            self.query_one(SessionInput).value = CONTROLS.sub("", draft.session)
            self.query_one(JsonEditor).rewrite(draft.text)
        self._read()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _typed(self, event: Message) -> None:
        event.stop()
        self._read()

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._draw_help()

    def _read(self) -> None:
        """Take what the editors hold, check it, and draw the verdict."""
        editor = self.query_one(JsonEditor)
        self.draft = replace(self.draft, session=self.query_one(SessionInput).value, text=editor.text)
        self.checked = check(self.draft, self.view)
        editor.mark(self.checked.line - 1 if self.checked.line else None)
        self._draw()
        self.post_message(self.Changed(self.draft, self.checked))

    def _draw(self) -> None:
        self.query_one(KeyField).update(Content(f"{word(self.draft.key, 80) or 'choose an event'} ▾"))
        self.query_one("#fire-status", Static).update(status_line(self.checked, self.draft))
        only = self.query_one("#fire-only", Static)
        only.display = self.draft.only is not None
        if self.draft.only is not None:
            only.update(
                Content(f"only at {word(self.draft.only, 60)}") + Content.styled("   f8 all hooks", MUTED)
            )
        self.border_subtitle = Content(delivery(self.draft, self.view))
        self._draw_help()

    def _draw_help(self) -> None:
        editor = self.query_one(JsonEditor)
        field = field_at(editor.text, *editor.cursor_location) if editor.has_focus else None
        self.query_one("#fire-help", Static).update(help_line(self.draft, self.view, field))

    def go_to_mistake(self) -> None:
        """Put the cursor where the text is wrong."""
        if self.checked.line:
            editor = self.query_one(JsonEditor)
            editor.focus()
            editor.move_cursor((self.checked.line - 1, max(self.checked.column - 1, 0)))

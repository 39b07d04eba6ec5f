"""The composer: edits an event's key, session and context, and checks them on every key press."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, Static, TextArea

from hookscope.console.keymap.active_keys import key_of, with_keys
from hookscope.console.panes.fire.context_editor import ContextEditor
from hookscope.console.panes.fire.context_fields import known_field_help, known_fields
from hookscope.console.panes.fire.event_draft import (
    CFG,
    CheckedDraft,
    DraftNote,
    EventDraft,
    cfg_note,
    check_draft,
    has_second_argument,
    template_draft,
    variable_help,
)
from hookscope.console.theme.text_styles import MARK_MUTED, counted, safe_word
from hookscope.console.widgets.painting import RemovableWidget, update_text
from hookscope.model.text import without_controls

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.variables import VariableSources


PART_LABELS = ("context", "ctx")
VIEW_LABELS = ("JSON", "form")


class KeyField(Static, can_focus=True):
    """The event key; enter opens the list of events."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,down", "pick", "Events", id="composer.pick", tooltip="Choose another event")
    ]
    DEFAULT_CSS = """
    KeyField {
        width: auto; max-width: 50%; height: 1; text-style: bold;
        text-wrap: nowrap; text-overflow: ellipsis;
        &:focus { background: $block-cursor-background; }
    }
    """

    class PickRequested(Message):
        """Request to choose another event."""

    def action_pick(self) -> None:
        self.post_message(self.PickRequested())

    def on_click(self) -> None:
        self.action_pick()


class SessionInput(Input):
    """The session key. Invisible characters are rejected."""

    def insert(self, text: str, index: int) -> None:
        super().insert(without_controls(text), index)


def two_way_choice(words: tuple[str, str], second: bool) -> Content:
    """Return both words, with the current one in brackets. `second`: the second one is current."""
    shown = (
        Content.styled(f"[{text}]", "bold")
        if second == bool(index)
        else Content.styled(f" {text} ", MARK_MUTED)
        for index, text in enumerate(words)
    )
    return Content("").join(shown)


class PartChoice(Static):
    """The choice between context and `ctx`; a click switches."""

    class Turned(Message):
        """Request to switch to the other text."""

    def on_click(self) -> None:
        self.post_message(self.Turned())


class Head(Horizontal):
    """The line with the event key, the session, and the choice between context and `ctx`."""

    DEFAULT_CSS = """
    Head {
        height: 1;
        & > #fire-part { width: auto; margin: 0 0 0 2; }
        & > #fire-session-label { width: auto; color: $text-muted; padding: 0 1 0 2; }
        & > SessionInput { width: 1fr; background: transparent; }
        & > SessionInput:focus { background: $boost; }
        &.-narrow > #fire-session-label { display: none; }
        &.-narrow > SessionInput { margin: 0 0 0 2; }
    }
    """

    def compose(self) -> ComposeResult:
        yield KeyField(id="fire-key", markup=False)
        yield PartChoice(id="fire-part", markup=False)
        yield Static("session", id="fire-session-label")
        yield SessionInput(id="fire-session", compact=True, select_on_focus=False)

    def on_resize(self) -> None:
        if not self.size:
            return  # hidden: it gets another resize event when shown
        self.set_class(self.size.width < (64 if self.query_one(PartChoice).display else 40), "-narrow")

    @property
    def session(self) -> str:
        return self.query_one(SessionInput).value

    @session.setter
    def session(self, text: str) -> None:
        self.query_one(SessionInput).value = without_controls(text)

    def show(self, key: str, ctx: bool | None) -> None:
        """Show the event's key, and which text is edited; `ctx` is None if the event has only a context."""
        update_text(self.query_one(KeyField), Content(f"{safe_word(key, 80) or 'choose an event'} ▾"))
        part = self.query_one(PartChoice)
        part.display = ctx is not None
        self.on_resize()
        update_text(part, two_way_choice(PART_LABELS, bool(ctx)))


ANSWERS_IGNORED = "answers are ignored"
ANSWER_POLICIES = {
    "modify": "answers are merged, in call order",
    "gate": "each handler may block the event",
    "claim": "the first answer wins",
    "synchronous": "direct answers count, promises are ignored",
    "evaluate": "answers are kept separately",
}


def draft_status(checked: CheckedDraft, draft: EventDraft, here: DraftNote | None = None) -> Content:
    """Return the draft's problem with its position; else a note (`here`, or the first) and a count."""
    if checked.event is None:
        place = f"line {checked.line}, column {checked.column}: " if checked.line else ""
        place = f"ctx, {place}" if checked.in_ctx else place
        return Content.styled(f"✗ {place}{safe_word(checked.problem, 200)}", "$text-error")
    if checked.notes:
        more = len(checked.notes) - 1
        others = f" · {counted(more, 'more note')}" if more else ""
        return Content.styled(f"! {here or checked.notes[0]}{others}", "$text-warning")
    parts = ["JSON object", cfg_note(draft)]
    return Content.styled("✓", "$text-success") + Content.styled(
        f" {' · '.join(filter(None, parts))}", MARK_MUTED
    )


def draft_help(draft: EventDraft, view: Snapshot | None, sheet: ContextEditor) -> Content:
    """Return help for the field under the cursor; else for the event."""
    if view is None:
        return Content()
    text = known_field_help(sheet.known, sheet.field, sheet.text) if sheet.has_focus_within else ""
    event_type = view.host.dialect.catalogue().find(draft.key)
    if not text and event_type is not None:
        text = f"sent: {event_type.when}"
        text += f"; not {event_type.when_not}" if event_type.when_not else ""
    return Content.styled(safe_word(text, 300), MARK_MUTED)


def delivery_text(draft: EventDraft, view: Snapshot | None) -> str:
    """Return what the host does with the messages that handlers push, or with their return values."""
    if view is None:
        return ""
    dialect = view.host.dialect
    kind, event_type = dialect.event_of(draft.key).kind, dialect.catalogue().find(draft.key)
    if kind != "folder":
        return ANSWER_POLICIES.get(event_type.policy if event_type is not None else "", ANSWERS_IGNORED)
    return (
        "messages: delivered"
        if event_type is not None and event_type.delivers
        else "messages: ignored by this host"
    )


class Composer(RemovableWidget, Vertical):
    """Holds the draft, checks it on every key press, and reports changes."""

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
        & > Static { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #fire-only { display: none; color: $text-warning; }
        & > #fire-status { height: auto; max-height: 2; text-wrap: wrap; }
        &.-low > #fire-status { height: 1; text-wrap: nowrap; }
        & > ContextEditor { margin: 1 0 0 0; }
        &.-low > ContextEditor { margin: 0; }
    }
    """

    class Changed(Message):
        """The draft or its check result has changed."""

        def __init__(self, draft: EventDraft, checked: CheckedDraft) -> None:
            super().__init__()
            self.draft, self.checked = draft, checked

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.view: Snapshot | None = None
        self.filling: VariableSources | None = None
        self.draft = EventDraft()
        self.checked = CheckedDraft(None)
        self._pristine = EventDraft()  # the template, which can be replaced without loss
        self._given = EventDraft()  # the draft as loaded; the user typed all differences from it
        self._kept: dict[str, EventDraft] = {}  # edited drafts that were replaced, by event
        self._head = Head(id="fire-head")
        self._first, self._second = ContextEditor(id="fire-context"), ContextEditor(id="fire-ctx")
        self._in_ctx = False
        self._title = Content("Event")

    def compose(self) -> ComposeResult:
        yield self._head
        yield Static(id="fire-only", markup=False)
        yield self._first
        yield self._second
        yield Static(id="fire-status", markup=False)
        yield Static(id="fire-help", markup=False)

    def on_mount(self) -> None:
        self.read()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < 10, "-low")

    @property
    def sheet(self) -> ContextEditor:
        """The editor that is shown."""
        return self._second if self._in_ctx else self._first

    @property
    def untouched(self) -> bool:
        """Whether the context and `ctx` are empty or as in the template."""
        texts = ((self.draft.text, self._pristine.text), (self.draft.ctx_text, self._pristine.ctx_text))
        return all(text.strip() in ("", pristine.strip()) for text, pristine in texts)

    @property
    def pristine(self) -> bool:
        """Whether the context, `ctx` and session are as in the template."""
        now = (self.draft.text, self.draft.ctx_text, self.draft.session)
        return now == (self._pristine.text, self._pristine.ctx_text, self._pristine.session)

    def show_filling(self, filling: VariableSources | None) -> None:
        """Set the variables that fill the event."""
        self.filling = filling
        self.read()

    def show_view(self, view: Snapshot | None) -> None:
        """Check the draft against a new snapshot, and update its settings."""
        self.view = view
        if view is not None and self.draft.cfg is not None:
            self.draft = replace(self.draft, cfg=template_draft(self.draft.key, view).cfg or {})
        self.read()

    def load(self, key: str, only: str | None = None) -> None:
        """Load the template of an event."""
        if self.view is not None:
            self.put(template_draft(key, self.view, only))
            self._pristine = self._given = self.draft

    def begin(self, key: str, only: str | None = None) -> None:
        """Load an event with this key: its earlier edited draft, else its template."""
        self._keep()
        edited = self._kept.pop(key, None)
        self.load(key, only)
        if edited is not None:
            self.put(replace(edited, only=only))
            self._tell("Your text was restored. Press {fire.template} to load the example.")

    def take(self, draft: EventDraft) -> None:
        """Load a draft from a file or a run. Edited text is kept until its event is chosen again."""
        key = self._keep()
        self.put(draft)
        self._given = draft
        if key:
            next_step = with_keys("choose that event with {fire.keys} to restore it.")
            self.app.notify(f"Your text for {safe_word(key, 60)} is kept: {next_step}", markup=False)

    def settled(self, draft: EventDraft) -> None:
        """Record that this draft was saved to a file, so it need not be kept."""
        self._given = draft

    def _keep(self) -> str:
        """Keep the draft if it was edited; return the key of its event, or an empty string."""
        draft, loaded = self.draft, self._given
        if (draft.text, draft.ctx_text, draft.session) == (loaded.text, loaded.ctx_text, loaded.session):
            return ""
        self._kept[draft.key] = draft
        return draft.key

    def _tell(self, template: str) -> None:
        self.app.notify(with_keys(template), markup=False)

    def rekey(self, key: str) -> None:
        """Change the event: load its draft or template, unless the current text was edited."""
        if self.untouched or (key in self._kept and not self._keep()):
            self.begin(key, self.draft.only)
            return
        draft = replace(self.draft, key=key)
        if self.view is not None and draft.ctx_text.strip() in ("", self._pristine.ctx_text.strip()):
            draft = replace(draft, ctx_text=template_draft(key, self.view).ctx_text)
            self._pristine = replace(self._pristine, ctx_text=draft.ctx_text)
        self.put(draft)
        self._tell("Your context was kept. Press {fire.template} to load the example.")

    def limit(self, only: str | None) -> None:
        """Set the target hook; None: all subscribed hooks."""
        self.draft = replace(self.draft, only=only)
        self.read()

    def put(self, draft: EventDraft) -> None:
        """Replace the draft."""
        self.draft = draft
        with self.prevent(Input.Changed, TextArea.Changed):
            self._head.session = draft.session
            self._first.rewrite(draft.text)
            self._second.rewrite(draft.ctx_text)
        self.read()

    def turn_face(self) -> None:
        """Switch between form and text."""
        form = not self.sheet.as_form
        for sheet in (self._first, self._second):
            sheet.turn(form)
        self._draw()

    def action_turn_face(self) -> None:
        self.turn_face()

    @on(PartChoice.Turned)
    def _part_clicked(self, event: PartChoice.Turned) -> None:
        event.stop()
        self.turn_part()

    def turn_part(self, ctx: bool | None = None) -> bool:
        """Show the event's `ctx` or its context; return False if the event has no `ctx`."""
        if not has_second_argument(self.draft.key, self.view):
            return False
        focused = self.sheet.has_focus_within
        self._in_ctx = not self._in_ctx if ctx is None else ctx
        self._draw()
        if focused:
            self.sheet.take_focus()
        return True

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _typed(self, event: Message) -> None:
        event.stop()
        self.read()

    @on(ContextEditor.Moved)
    def _cursor_moved(self, event: ContextEditor.Moved) -> None:
        event.stop()
        self._draw_help()

    def on_descendant_focus(self) -> None:
        self._draw_help()

    def on_descendant_blur(self) -> None:
        self._draw_help()

    def read(self) -> None:
        """Read the editors, check the draft, and show the result."""
        self.draft = replace(
            self.draft, session=self._head.session, text=self._first.text, ctx_text=self._second.text
        )
        self.checked = check_draft(self.draft, self.view, self.filling)
        self._first.mark(self.checked, in_ctx=False)
        self._second.mark(self.checked, in_ctx=True)
        if self.view is not None:
            event_type = self.view.host.dialect.catalogue().find(self.draft.key)
            fields = known_fields(event_type.fields, event_type.required) if event_type else ()
            held = self.draft.cfg is not None
            self._first.offer(tuple(offer for offer in fields if not held or offer.name != CFG))
            self._second.offer(known_fields(event_type.ctx_fields) if event_type else ())
        self._draw()
        self.post_message(self.Changed(self.draft, self.checked))

    def _draw(self) -> None:
        ctx = has_second_argument(self.draft.key, self.view)
        self._in_ctx = self._in_ctx and ctx
        self._first.display, self._second.display = not self._in_ctx, self._in_ctx
        self._head.show(self.draft.key, self._in_ctx if ctx else None)
        self._draw_title()
        only, target = self.query_one("#fire-only", Static), self.draft.only
        only.display = target is not None
        if target is not None:
            hint = (f"   {key_of('fire.everyone')} all hooks", MARK_MUTED)
            update_text(only, Content.assemble(f"only at {safe_word(target, 60)}", hint))
        notes = [delivery_text(self.draft, self.view)]
        if self.filling is not None and self.filling.chosen:
            notes.append(f"environment {safe_word(self.filling.chosen, 40)}")
        self.border_subtitle = Content(" · ".join(filter(None, notes)))
        self._draw_help()

    def entitle(self, title: Content) -> None:
        """Set the title of the border."""
        self._title = title
        self._draw_title()

    def _draw_title(self) -> None:
        faces = two_way_choice(VIEW_LABELS, self.sheet.as_form).stylize(
            Style.from_meta({"@click": "turn_face"})
        )
        self.border_title = Content.assemble(self._title, "  ", faces)

    def _draw_help(self) -> None:
        note = self.sheet.noted if self.sheet.has_focus_within else None
        update_text(self.query_one("#fire-status", Static), draft_status(self.checked, self.draft, note))
        help_text = draft_help(self.draft, self.view, self.sheet)
        if self.filling is not None and self.sheet.has_focus_within:
            value = variable_help(*self.sheet.cursor, self.filling.variables, datetime.now(UTC))
            help_text = Content.styled(safe_word(value, 300), MARK_MUTED) if value else help_text
        update_text(self.query_one("#fire-help", Static), help_text)

    def go_to_mistake(self) -> None:
        """Move the cursor to the mistake."""
        if not self.checked.line:
            return
        self.turn_part(self.checked.in_ctx)
        if self.sheet.as_form and self.sheet.form.go_to_mistake():
            return
        if self.sheet.as_form:
            self.turn_face()
        self.sheet.editor.focus()
        self.sheet.editor.move_cursor((self.checked.line - 1, max(self.checked.column - 1, 0)))

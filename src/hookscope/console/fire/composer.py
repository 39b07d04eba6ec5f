"""The composer: an event key, a session, a context in JSON that is read as it is typed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, Static, TextArea

from hookscope.console.fire.context_editor import ContextEditor
from hookscope.console.fire.draft import (
    CFG,
    Checked,
    Draft,
    check,
    has_ctx,
    template_draft,
)
from hookscope.console.fire.head import FACES, Head, PartChoice, choice
from hookscope.console.fire.offers import offers
from hookscope.console.fire.references import reference_help
from hookscope.console.fire.verdicts import delivery, environment, help_line, limits_line, status_line
from hookscope.console.keymap.hints import with_keys
from hookscope.console.leaving import Leaves
from hookscope.console.marks import MUTED, word
from hookscope.console.painting import rewritten

if TYPE_CHECKING:
    from hookscope.workbench import View
    from hookscope.workbench.filling import Filling


class Composer(Leaves, Vertical):
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
        & > Static { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #fire-only { display: none; color: $text-warning; }
        & > #fire-status { height: auto; max-height: 2; text-wrap: wrap; }
        &.-low > #fire-status { height: 1; text-wrap: nowrap; }
        & > ContextEditor { margin: 1 0 0 0; }
        &.-low > ContextEditor { margin: 0; }
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
        self.filling: Filling | None = None
        self.draft = Draft()
        self.checked = Checked(None)
        self._pristine = Draft()  # the template: replaced without regret
        self._given = Draft()  # as it was put here: what is otherwise now was written by hand
        self._kept: dict[str, Draft] = {}  # by event: what was written by hand, and gave way to another
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
        """The text that is shown."""
        return self._second if self._in_ctx else self._first

    @property
    def untouched(self) -> bool:
        """Are the texts still the template's, or empty?"""
        texts = ((self.draft.text, self._pristine.text), (self.draft.ctx_text, self._pristine.ctx_text))
        return all(text.strip() in ("", pristine.strip()) for text, pristine in texts)

    @property
    def pristine(self) -> bool:
        """Is the event as its template has it, in all that can be written by hand?"""
        now = (self.draft.text, self.draft.ctx_text, self.draft.session)
        return now == (self._pristine.text, self._pristine.ctx_text, self._pristine.session)

    def show_filling(self, filling: Filling | None) -> None:
        """Variables are looked up there from now on."""
        self.filling = filling
        self.read()

    def show_view(self, view: View | None) -> None:
        """Check against another look; settings that are held are taken anew."""
        self.view = view
        if view is not None and self.draft.cfg is not None:
            self.draft = replace(self.draft, cfg=template_draft(self.draft.key, view).cfg or {})
        self.read()

    def load(self, key: str, only: str | None = None) -> None:
        """Write the template of an event."""
        if self.view is not None:
            self.put(template_draft(key, self.view, only))
            self._pristine = self._given = self.draft

    def begin(self, key: str, only: str | None = None) -> None:
        """An event of this key: as it was written by hand before, else its template."""
        self._keep()
        kept = self._kept.pop(key, None)
        self.load(key, only)
        if kept is not None:
            self.put(replace(kept, only=only))
            self._tell(
                "What you had written stands here again; {fire.template} puts the example in its place."
            )

    def take(self, draft: Draft) -> None:
        """One that lies in a file or was sent: what was written by hand is kept until its event is chosen."""
        key = self._keep()
        self.put(draft)
        self._given = draft
        if key:
            then = with_keys("{fire.keys} and that event bring it back.")
            self.app.notify(f"What you had written for {word(key, 60)} is kept: {then}", markup=False)

    def settled(self, draft: Draft) -> None:
        """This lies in a file now."""
        self._given = draft

    def _keep(self) -> str:
        """Keep what was written by hand since it was put here; the key of its event, or nothing."""
        draft, given = self.draft, self._given
        if (draft.text, draft.ctx_text, draft.session) == (given.text, given.ctx_text, given.session):
            return ""
        self._kept[draft.key] = draft
        return draft.key

    def _tell(self, template: str) -> None:
        self.app.notify(with_keys(template), markup=False)

    def rekey(self, key: str) -> None:
        """Another event: as it was written before, or its template, unless this is written by hand."""
        if self.untouched or (key in self._kept and not self._keep()):
            self.begin(key, self.draft.only)
            return
        draft = replace(self.draft, key=key)
        if self.view is not None and draft.ctx_text.strip() in ("", self._pristine.ctx_text.strip()):
            draft = replace(draft, ctx_text=template_draft(key, self.view).ctx_text)
            self._pristine = replace(self._pristine, ctx_text=draft.ctx_text)
        self.put(draft)
        self._tell("Your context was kept; {fire.template} puts the event's example in its place.")

    def limit(self, only: str | None) -> None:
        """Fire at one hook only, or at all."""
        self.draft = replace(self.draft, only=only)
        self.read()

    def put(self, draft: Draft) -> None:
        """Take this draft in place of the one that is there."""
        self.draft = draft
        with self.prevent(Input.Changed, TextArea.Changed):
            self._head.session = draft.session
            self._first.rewrite(draft.text)
            self._second.rewrite(draft.ctx_text)
        self.read()

    def turn_face(self) -> None:
        """Show the form, or the text."""
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
        """Show the event's `ctx`, or its context; False where it has no `ctx`."""
        if not has_ctx(self.draft.key, self.view):
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
        """Take what the editors hold, check it, and draw the verdict."""
        self.draft = replace(
            self.draft, session=self._head.session, text=self._first.text, ctx_text=self._second.text
        )
        self.checked = check(self.draft, self.view, self.filling)
        self._first.mark(self.checked, in_ctx=False)
        self._second.mark(self.checked, in_ctx=True)
        if self.view is not None:
            known = self.view.host.dialect.catalogue().find(self.draft.key)
            fields = offers(known.fields, known.required) if known else ()
            held = self.draft.cfg is not None
            self._first.offer(tuple(offer for offer in fields if not held or offer.name != CFG))
            self._second.offer(offers(known.ctx_fields) if known else ())
        self._draw()
        self.post_message(self.Changed(self.draft, self.checked))

    def _draw(self) -> None:
        ctx = has_ctx(self.draft.key, self.view)
        self._in_ctx = self._in_ctx and ctx
        self._first.display, self._second.display = not self._in_ctx, self._in_ctx
        self._head.show(self.draft.key, self._in_ctx if ctx else None)
        self._draw_title()
        only = self.query_one("#fire-only", Static)
        limits = limits_line(self.draft)
        only.display = bool(limits)
        rewritten(only, limits)
        told = [delivery(self.draft, self.view), environment(self.filling)]
        self.border_subtitle = Content(" · ".join(filter(None, told)))
        self._draw_help()

    def entitle(self, title: Content) -> None:
        """Show this as what the draft is."""
        self._title = title
        self._draw_title()

    def _draw_title(self) -> None:
        faces = choice(FACES, self.sheet.as_form).stylize(Style.from_meta({"@click": "turn_face"}))
        self.border_title = Content.assemble(self._title, "  ", faces)

    def _draw_help(self) -> None:
        here = self.sheet.noted if self.sheet.has_focus_within else None
        rewritten(self.query_one("#fire-status", Static), status_line(self.checked, self.draft, here))
        meant = self._reference_help()
        told = (
            Content.styled(word(meant, 300), MUTED) if meant else help_line(self.draft, self.view, self.sheet)
        )
        rewritten(self.query_one("#fire-help", Static), told)

    def _reference_help(self) -> str:
        """What the variable under the cursor comes to."""
        if self.filling is None or not self.sheet.has_focus_within:
            return ""
        return reference_help(*self.sheet.cursor, self.filling.variables, datetime.now(UTC))

    def go_to_mistake(self) -> None:
        """Put the cursor where the text is wrong."""
        if not self.checked.line:
            return
        self.turn_part(self.checked.in_ctx)
        if self.sheet.as_form and self.sheet.form.go_to_mistake():
            return
        if self.sheet.as_form:
            self.turn_face()
        self.sheet.editor.focus()
        self.sheet.editor.move_cursor((self.checked.line - 1, max(self.checked.column - 1, 0)))

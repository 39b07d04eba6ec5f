"""The form of a new hook, pack, plugin or module, and the files it would write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from hookscope.authoring.scaffold.request import (
    KINDS,
    LANGUAGES,
    MANAGED,
    WORKSPACE,
    ScaffoldKind,
    ScaffoldRequest,
    ScriptLanguage,
    dialect_names,
    offered_events,
)
from hookscope.console.dialogs.base_dialogs import Dialog
from hookscope.console.dialogs.choosers import EventPicker
from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.theme.text_styles import FAINT, MUTED, keep_tail, safe_code_line, safe_paragraph
from hookscope.console.widgets.header import below_home
from hookscope.console.widgets.input_fields import (
    LabeledForm,
    OneLineInput,
    WordChoice,
    WordSuggester,
    with_last_word,
)

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan
    from hookscope.model.machine import Machine


def scaffold_sheet(scaffold: ScaffoldPlan, machine: Machine, width: int) -> Content:
    """Return the paths, the notes, then the text of each file."""
    top = scaffold.place.workspace
    parts = [Content.assemble(("in ", MUTED), keep_tail(safe_paragraph(below_home(top, machine)), width - 3))]
    for path, _ in scaffold.files:
        shown = str(path.relative_to(top)) if path.is_relative_to(top) else machine.short(path)
        parts.append(Content.assemble(("+ ", "$text-success"), keep_tail(safe_paragraph(shown), width - 2)))
    parts += [safe_paragraph(note).stylize(MUTED) for note in scaffold.notes]
    for path, content in sorted(scaffold.files, key=lambda file: file[0] != scaffold.main_file):
        parts += [Content(), Content.styled(path.name, MUTED)]
        parts += [safe_code_line(line).stylize(FAINT) for line in content.decode().splitlines()]
    return Content("\n").join(parts)


def problem_sheet(problem: str, *, wrong: bool) -> Content:
    """Return why nothing can be written yet. `wrong`: because of what was typed."""
    text = safe_paragraph(f"! {problem}" if wrong else problem)
    return text.stylize("$text-warning" if wrong else MUTED)


CHOOSE_AUTOMATICALLY = "auto"  # choose a language that the hosts run
NewHookAnswer = Callable[["ScaffoldPlan | str"], None]
ScaffoldPlanner = Callable[[ScaffoldRequest, NewHookAnswer], None]


def form_parts(typed: str) -> tuple[str, ...]:
    """Return the words of a comma-separated list."""
    return tuple(part.strip() for part in typed.split(",") if part.strip())


_NEW_HOOK_ACTIONS = (
    ("escape", "dismiss(None)", "cancel", "Back", "Write nothing"),
    ("enter", "write", "write", "Write", "Create it; {hooks.undo} undoes it"),
    ("down", "app.focus_next", "down", "Next", "Next line"),
    ("up", "app.focus_previous", "up", "Previous", "Previous line"),
    ("ctrl+space,ctrl+@", "events", "events", "Events", "Choose an event of the host"),
    ("pagedown", "scroll(1)", "more", "Preview down", "Scroll the preview down"),
    ("pageup", "scroll(-1)", "less", "Preview up", "Scroll the preview up"),
)


class NewHookForm(Dialog["ScaffoldPlan | None"]):
    """Asks what to create; writes nothing itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of_scope("new", _NEW_HOOK_ACTIONS, {"cancel", "write", "events"})
    ]
    DEFAULT_CSS = """
    NewHookForm {
        align: center top;
        & > Vertical { width: 92; max-width: 96%; max-height: 100%; }
        & VerticalScroll { height: auto; max-height: 24; margin: 1 0 0 0; scrollbar-size-vertical: 1; }
        & #new-preview { height: auto; }
    }
    """
    HELP = (
        "The new hook passes lint and its own saved event. The files are previewed below. "
        "Nothing is overwritten; {hooks.undo} removes everything."
    )

    def __init__(self, view: Snapshot, plan: ScaffoldPlanner) -> None:
        super().__init__()
        self._view, self._plan = view, plan
        self._request = 0  # number of requested previews; older results are dropped
        self._sketch: ScaffoldPlan | None = None
        self._problem = "Enter a name."

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "New hook"
            frame.border_subtitle = key_hints(
                ("new.write", "write"), ("new.events", "events"), ("new.cancel", "back")
            )
            yield LabeledForm(self._lines())
            with VerticalScroll(can_focus=False):
                yield Static(id="new-preview")

    def _lines(self) -> dict[str, OneLineInput | WordChoice]:
        """Return the fields by label."""

        def typed(
            name: str, placeholder: str, words: Callable[[], Sequence[str]] | None = None
        ) -> OneLineInput:
            suggester = WordSuggester(words) if words is not None else None
            return OneLineInput(placeholder=placeholder, suggester=suggester, id=f"new-{name}", compact=True)

        host = self._view.host.dialect.name
        places = (WORKSPACE, MANAGED)
        return {
            "name": typed("name", "letters, digits, - and _"),
            "kind": WordChoice((CHOOSE_AUTOMATICALLY, *KINDS), id="new-kind"),
            "events": typed("events", "a good first event; several with commas", self._events),
            "language": WordChoice((CHOOSE_AUTOMATICALLY, *LANGUAGES), id="new-language"),
            "dialects": typed("dialects", f"{host}; several with commas", dialect_names),
            "in": typed("where", f"{WORKSPACE}, {MANAGED} or a folder", lambda: places),
            "about": typed("about", "what it does, in one line"),
        }

    def on_mount(self) -> None:
        self.query_one("#new-name", Input).focus()
        self._room(self.size.height)
        self._show()

    def on_resize(self) -> None:
        self._room(self.size.height)

    def _room(self, height: int) -> None:
        """Give the preview the lines that remain."""
        self.query_one(VerticalScroll).styles.max_height = max(3, height - 10)

    # The typed request.

    def _typed(self, name: str) -> str:
        return self.query_one(f"#new-{name}", Input).value.strip()

    def _chosen(self, name: str) -> str | None:
        word = self.query_one(f"#new-{name}", WordChoice).word
        return None if word == CHOOSE_AUTOMATICALLY else word

    @property
    def _dialects(self) -> tuple[str, ...]:
        return form_parts(self._typed("dialects"))

    def scaffold_request(self) -> ScaffoldRequest:
        """Return the request that the fields describe."""
        return ScaffoldRequest(
            name=self._typed("name"),
            kind=cast("ScaffoldKind | None", self._chosen("kind")),
            events=form_parts(self._typed("events")),
            language=cast("ScriptLanguage | None", self._chosen("language")),
            dialects=self._dialects,
            where=self._typed("where"),
            description=self._typed("about"),
        )

    def _events(self) -> tuple[str, ...]:
        names = self._dialects or (self._view.host.dialect.name,)
        kind = cast("ScaffoldKind | None", self._chosen("kind"))
        return offered_events(names, kind, explicit=bool(self._dialects))

    @on(Input.Changed)
    @on(WordChoice.Changed)
    def _changed(self, event: Input.Changed | WordChoice.Changed) -> None:
        event.stop()
        self._sketch = None
        self._request += 1
        request_number = self._request
        if not self._typed("name"):
            self._problem = "Enter a name."
            self._show()
            return

        def answered(answer: ScaffoldPlan | str) -> None:
            if request_number == self._request and self.is_open:
                self._sketch, self._problem = (None, answer) if isinstance(answer, str) else (answer, "")
                self._show()

        self._plan(self.scaffold_request(), answered)

    def _show(self) -> None:
        preview = self.query_one("#new-preview", Static)
        if self._sketch is None:
            preview.update(problem_sheet(self._problem, wrong=bool(self._typed("name"))))
        else:
            width = preview.content_region.width or self.size.width - 6
            preview.update(scaffold_sheet(self._sketch, self._view.host.machine, width))

    # Actions.

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_write()

    def action_write(self) -> None:
        if self._sketch is None:
            self.app.notify(self._problem or "Still scanning.", severity="warning", markup=False)
        else:
            self.dismiss(self._sketch)

    def action_events(self) -> None:
        field = self.query_one("#new-events", Input)

        def picked(key: str | None) -> None:
            if key is not None:
                typed = (
                    field.value
                    if field.value.rstrip().endswith(",") or not field.value
                    else f"{field.value},"
                )
                field.value = with_last_word(typed, key)
                field.focus()

        self.app.push_screen(EventPicker(self._view), picked)

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by * 5, animate=False)

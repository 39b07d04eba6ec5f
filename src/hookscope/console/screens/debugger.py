"""The debugger: the stopped handler's lines and variables, and a field to evaluate expressions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from hookscope.app.runs.breakpoints import parse_breakpoint
from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.keymap.active_keys import key_hints, with_keys
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.theme.text_styles import (
    MARK_MUTED,
    fixed_width,
    keep_tail,
    safe_line,
    safe_text,
    safe_word,
)
from hookscope.console.widgets.input_fields import OneLineInput
from hookscope.console.widgets.lines import CURSOR_GUTTER, KeyScroll, LineList
from hookscope.console.widgets.painting import update_text
from hookscope.model.text import printable
from hookscope.runtime.debugger import Debugger, Stop

HIGHLIGHTED_LANGUAGES = {
    ".py": "python",
    ".ts": "typescript",
    ".mts": "typescript",
    ".js": "javascript",
    ".mjs": "javascript",
}
CURRENT_LINE_SIGN, BREAKPOINT_SIGN, CUT_SIGN = "→", "●", "…"
WIDEST_NAME = 20  # cells of a variable's name


class SourceLines(LineList):
    """The lines around the current one. Enter sets or removes a breakpoint at the cursor."""

    def __init__(self) -> None:
        super().__init__(id="debug-source")
        self._stop: Stop | None = None
        self._text: list[Content] = []
        self._left = 0  # characters of each line that are scrolled out at the left

    @property
    def line_count(self) -> int:
        return len(self._text)

    @property
    def empty(self) -> Content:
        return Content.styled("The source file cannot be read.", MARK_MUTED)

    @property
    def number(self) -> int | None:
        """The file's line number at the cursor."""
        if self._stop is None or not self._text:
            return None
        return self._stop.lines[self.cursor][0]

    def show(self, stop: Stop) -> None:
        """Show the stop's lines; if the stop has moved, move the cursor there."""
        before, self._stop = self._stop, stop
        if before is None or before.lines != stop.lines:
            self._text = highlighted([text for _, text in stop.lines], stop.frame.file)
        if before is None or (before.frame, before.frames) != (stop.frame, stop.frames):
            self._show_place(stop)
        self.lines_changed()

    def _show_place(self, stop: Stop) -> None:
        """Move the cursor to the stop, and scroll sideways if it would not be visible."""
        numbers = [number for number, _ in stop.lines]
        if stop.frame.line not in numbers:
            self._left = 0
            return
        at = numbers.index(stop.frame.line)
        if len(self._text[at]) <= self._left:
            self._left = 0
        self.cursor = at
        self._centre()

    def move_aside(self, by: int) -> bool:
        """Scroll sideways by half widths; return False at the end."""
        width = max(1, self.inner_width - CURSOR_GUTTER - self._margin)
        most = max(max((len(text) for text in self._text), default=0) - width, 0)
        before, self._left = self._left, min(max(self._left + by * max(1, width // 2), 0), most)
        self.refresh()
        return self._left != before

    @property
    def _margin(self) -> int:
        """Return the cells before the text of each line."""
        return len(str(self._stop.lines[-1][0])) + 4 if self._stop and self._stop.lines else 0

    def _centre(self) -> None:
        self.scroll_to(y=max(0, self.cursor - self.size.height // 2), animate=False, force=True)

    def on_resize(self) -> None:
        self._centre()

    def line_at(self, index: int, width: int) -> Content:
        assert self._stop is not None
        number, _ = self._stop.lines[index]
        here = number == self._stop.frame.line
        mark = CURRENT_LINE_SIGN if here else BREAKPOINT_SIGN if number in self._stop.named else " "
        style = "$text-accent" if here else "$text-error"
        digits = len(str(self._stop.lines[-1][0]))
        text = self._text[index].stylize("bold") if here else self._text[index]
        if self._left and text.plain.strip():
            text = Content(CUT_SIGN) + text[self._left + 1 :]
        return Content.assemble((mark, style), " ", (f"{number:>{digits}}", MARK_MUTED), "  ", text)


def highlighted(lines: list[str], file: str) -> list[Content]:
    """Return highlighted source lines; plain ones for an unknown language."""
    from textual.highlight import highlight  # loads the colours of all languages

    text = "\n".join(printable(one.expandtabs(4)).replace("\n", " ") for one in lines)
    language = HIGHLIGHTED_LANGUAGES.get(Path(file).suffix)
    content = highlight(text, language=language) if language is not None else Content(text)
    found = content.split("\n", allow_blank=True)
    return [*found, *[Content()] * (len(lines) - len(found))][: len(lines)]


class VariableLines(LineList):
    """Names and values. Enter shows the whole value."""

    def __init__(self) -> None:
        super().__init__(id="debug-variables")
        self._call: tuple[object, ...] = ()  # the call that they belong to
        self._variables: tuple[tuple[str, str], ...] = ()
        self._new: frozenset[tuple[str, str]] = frozenset()

    @property
    def line_count(self) -> int:
        return len(self._variables)

    @property
    def empty(self) -> Content:
        return Content.styled("No variables here.", MARK_MUTED)

    @property
    def name_here(self) -> str | None:
        """Return the name of the variable at the cursor."""
        return self._variables[self.cursor][0] if self._variables else None

    def show(self, stop: Stop) -> None:
        """Show the stop's variables; highlight values that have changed within the same call."""
        before, self._variables = self._variables, stop.variables
        functions = ((frame.file, frame.function) for frame in stop.frames[: stop.at + 1])
        call, self._call = self._call, (stop.who, *functions)
        same = call == self._call
        self._new = frozenset(self._variables) - frozenset(before) if same else frozenset()
        self.lines_changed()

    def line_at(self, index: int, width: int) -> Content:
        name, text = self._variables[index]
        widest = min(max(len(safe_word(one, WIDEST_NAME)) for one, _ in self._variables), WIDEST_NAME)
        value = safe_line(text, 300)
        if (name, text) in self._new:
            value = value.stylize("$text-warning")
        return Content.assemble(fixed_width(safe_word(name, WIDEST_NAME), widest, MARK_MUTED), "  ", value)


STOP_REASONS = {
    "begin": ("at its first line", MARK_MUTED),
    "breakpoint": ("at breakpoint()", "$text-accent"),
    "line": ("at a breakpoint", "$text-accent"),
    "pause": ("paused", MARK_MUTED),
    "step": ("", MARK_MUTED),
    "error": ("", "$text-error"),
}
SIDE_BY_SIDE_WIDTH = 110  # cells; wider screens show lines and variables side by side
WIDEST_DEBUGGER = 200  # cells of the screen, as in its style
DEBUGGER_FRAME = 8  # cells of the frame that its title cannot use
LEAST_PATH = 16  # cells of a path at least
NAME_WIDTHS = (30, 20, 12, 8)  # cells of a name at most; fewer if there is little room
CONDITION_RAISES = ("the condition raises", "$text-error")
NOTHING_HIDDEN = "No line has more text."
STILL_STOPPED = "The handler is still stopped: {fire.debug} shows it, {fire.cancel} ends the run."
HANDLER_RUNS = "The handler is running: {debug.leave} closes this, {debug.end} ends the run."


_DEBUG_ACTIONS = (
    ("f10", "word('over')", "over", "Over", "Run to the next line"),
    ("f11", "word('into')", "into", "Into", "Step into the call"),
    ("f12", "word('out')", "out", "Out", "Run to the end of this function"),
    ("f8", "word('go_on')", "on", "On", "Run to the next stop"),
    ("C", "word('run_all')", "rest", "Run all", "Run without stopping"),
    ("space", "name_line", "line", "Breakpoint", "Set or remove a breakpoint"),
    ("ampersand", "condition", "condition", "Condition", "Set a conditional breakpoint"),
    ("right,l", "aside(1)", "right", "Sideways", "Scroll long lines right"),
    ("left,h", "aside(-1)", "left", "Left", "Scroll long lines left"),
    ("left_square_bracket", "turn(-1)", "caller", "Caller", "Go to the calling function"),
    ("right_square_bracket", "turn(1)", "called", "Called", "Go to the called function"),
    ("greater_than_sign", "ask", "ask", "Ask", "Evaluate an expression"),
    ("y", "copy", "copy", "Copy", "Copy the position and variables"),
    ("Q", "end", "end", "End", "End the run"),
    ("escape", "leave", "leave", "Back", "Leave the field, then go back; the handler stays stopped"),
)


class DebugScreen(Overlay[None]):
    """Shows the stops of one debugger. Leaving the screen does not resume the handler."""

    HELP = (
        "The handler is stopped before the line with →. It stops at each line with ●: "
        "{debug.line} or {lines.choose} sets one, {debug.condition} one with a condition. "
        "{debug.right} and {debug.left} show the rest of long lines. "
        "A value that has changed since the last stop is highlighted; {lines.choose} shows all of it. "
        "What you type in the bottom line is evaluated in the stopped handler."
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE_WIDTH, "-wide")]  # noqa: RUF012  (Textual's own declaration has no other type)
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of_scope("debug", _DEBUG_ACTIONS, {"caller", "called", "leave"})
    ]
    DEFAULT_CSS = """
    DebugScreen {
        & > Vertical, &.-tall > Vertical {
            width: 100%; max-width: 200; height: 1fr; max-height: 46; padding: 0 1;
        }
        & #debug-source { height: 2fr; }
        & #debug-parts { height: 1fr; layout: vertical; }
        & #debug-variables { height: 1fr; border-top: solid $border; }
        & #debug-said { height: auto; max-height: 8; border-top: solid $border; scrollbar-size-vertical: 1; }
        & #debug-said Static { height: auto; }
        & #debug-ask { border-top: solid $border; }
        &.-wide #debug-parts { layout: horizontal; }
        &.-wide #debug-source { width: 2fr; height: 100%; }
        &.-wide #debug-variables { width: 1fr; height: 100%; border-top: none; border-left: solid $border; }
    }
    """

    def __init__(
        self, debugger: Debugger, stop: Stop, short: Callable[[Path], str], cancel: Callable[[], object]
    ) -> None:
        super().__init__()
        self._debugger, self._stop, self._short, self._cancel = debugger, stop, short, cancel

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_subtitle = key_hints(
                ("debug.over", "over"), ("debug.into", "into"), ("debug.out", "out"), ("debug.on", "on"),
                ("debug.right", "more"), ("debug.rest", "run all"), ("debug.line", "break"),
                ("debug.ask", "ask"), gap=2,
            )  # fmt: skip
            with Horizontal(id="debug-parts"):
                yield SourceLines()
                yield VariableLines()
            with KeyScroll(id="debug-said"):
                yield Static(markup=False)
            yield OneLineInput(
                placeholder="an expression or a statement",
                compact=True, select_on_focus=False, id="debug-ask",
            )  # fmt: skip

    def on_mount(self) -> None:
        self.query_one("#debug-said").display = False
        self.show(self._stop)
        self.query_one(SourceLines).focus()

    def show(self, stop: Stop) -> None:
        """Show the current stop and the last answer."""
        before, self._stop = self._stop, stop
        moved = _stop_text(stop) != _stop_text(before)
        self.query_one(SourceLines).show(stop)
        self.query_one(VariableLines).show(stop)
        self.query_one(Vertical).border_title = self._title()
        self.show_keys()
        if stop.said is not None or moved or stop is before:
            self._say(stop.said, stop.error or stop.note)

    def on_resize(self) -> None:
        self.query_one(Vertical).border_title = self._title()

    def _title(self) -> Content:
        """Return handler, place and reason. Names and the path may be truncated, but never the reason."""
        stop = self._stop
        why, style = CONDITION_RAISES if stop.note is not None else STOP_REASONS[stop.why]
        # Only the error's type fits; the full error is shown below the variables.
        told = safe_word(stop.error.partition(":")[0], NAME_WIDTHS[0]) if stop.error is not None else why
        told = f"   {told}" if told else ""
        calls = f"   call {stop.at + 1} of {len(stop.frames)}" if len(stop.frames) > 1 else ""
        whole = min(self.app.size.width, WIDEST_DEBUGGER) - DEBUGGER_FRAME
        for names in NAME_WIDTHS:
            who = safe_word(stop.who, names)
            within = f" in {safe_word(stop.frame.function, names)}" if stop.frame.function else ""
            rest = Content(f"{who}   :{stop.frame.line}{within}{calls}{told}").cell_length
            if whole - rest >= LEAST_PATH:
                break
        path = keep_tail(safe_line(self._short(Path(stop.frame.file)), 400), max(whole - rest, 1)).plain
        return Content.assemble(
            f"{who}   {path}:{stop.frame.line}{within}", (calls, MARK_MUTED), (told, style)
        )

    def _say(self, said: str | None, error: str | None) -> None:
        """Show the answer, or else the full error of the stop; hide the box if there is neither."""
        box, told = self.query_one("#debug-said"), said if said is not None else error
        box.display = told is not None
        if told is not None:
            text = safe_text(told.rstrip("\n"))
            style = "$text-error" if said is None else ""
            update_text(
                box.query_one(Static), text.stylize(style) if told else Content.styled("done", MARK_MUTED)
            )
            box.scroll_home(animate=False)

    @property
    def _is_stopped(self) -> bool:
        """Return whether the handler is stopped; if not, notify the user."""
        stands = self._debugger.stop is not None
        if not stands:
            self.notify(with_keys(HANDLER_RUNS), markup=False)
        return stands

    async def action_word(self, said: str) -> None:
        if self._is_stopped:
            await getattr(self._debugger, said)()

    async def action_turn(self, by: int) -> None:
        if why := self.cannot(f"turn({by})"):
            self.notify(why, markup=False)
        elif self._is_stopped:
            await self._debugger.select_frame(self._stop.at + by)

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect now."""
        if action == "turn(-1)" and self._stop.at == 0:
            return "This is the outermost call."
        if action == "turn(1)" and self._stop.at + 1 == len(self._stop.frames):
            return "This is the innermost call."
        return ""

    async def action_name_line(self) -> None:
        number = self.query_one(SourceLines).number
        if number is None:
            self.notify("There is no line here.", markup=False)
        elif self._is_stopped:
            await self._debugger.toggle(number)

    def action_condition(self) -> None:
        """Start typing a conditional breakpoint for the line at the cursor."""
        number = self.query_one(SourceLines).number
        if number is None:
            self.notify("There is no line here.", markup=False)
        else:
            field = self.query_one(Input)
            field.value = f"b {number} if "
            field.focus()
            field.cursor_position = len(field.value)

    def action_aside(self, by: int) -> None:
        if not self.query_one(SourceLines).move_aside(by):
            self.notify(NOTHING_HIDDEN, markup=False)

    @on(LineList.Chosen, "#debug-source")
    async def _line_chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        await self.action_name_line()

    @on(LineList.Chosen, "#debug-variables")
    async def _variable_chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        name = self.query_one(VariableLines).name_here
        if name is not None and self._is_stopped:
            await self._debugger.evaluate(name)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() and self._is_stopped:
            try:
                await self._done(event.value)
                event.input.select_all()  # the next typed text replaces it
            except ValueError as error:
                self.notify(str(error), severity="warning", markup=False)

    async def _done(self, typed: str) -> None:
        """Handle typed input: `b LINE if EXPRESSION` sets a breakpoint, anything else is evaluated."""
        first, _, rest = typed.strip().partition(" ")
        place = parse_breakpoint(rest) if first == "b" else None
        if place is None or place.file:
            await self._debugger.evaluate(typed)
        else:
            await self._debugger.toggle(place.line, condition=place.condition)

    def action_ask(self) -> None:
        self.query_one(Input).focus()

    def action_copy(self) -> None:
        variables = [f"{safe_word(name)} = {safe_word(text, 300)}" for name, text in self._stop.variables]
        told = self._stop.error or self._stop.note
        error = [] if told is None else [safe_word(told, 2000)]
        lines = [self._title().plain, *error, self.query_one(SourceLines).as_text().rstrip(), *variables]
        self.app.copy_to_clipboard("\n".join(lines) + "\n")
        self.notify("Copied the position and variables.", markup=False)

    def action_end(self) -> None:
        self._cancel()

    def action_leave(self) -> None:
        if self.query_one(Input).has_focus:
            self.query_one(SourceLines).focus()
            return
        if self._debugger.stop is not None:
            self.notify(with_keys(STILL_STOPPED), markup=False)
        self.dismiss(None)


def _stop_text(stop: Stop) -> tuple[object, ...]:
    """Return where the handler is stopped, and why."""
    return stop.frames, stop.at, stop.error, stop.note

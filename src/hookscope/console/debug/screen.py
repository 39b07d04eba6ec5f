"""A handler that stands: its lines, its variables, and a field in which anything of it can be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from hookscope.console.cutting import tail
from hookscope.console.debug.parts import SourceLines, VariableLines
from hookscope.console.dialog import Over
from hookscope.console.keymap.hints import hints, with_keys
from hookscope.console.lines import Lines
from hookscope.console.marks import MUTED, word
from hookscope.console.one_line import OneLine
from hookscope.console.painting import rewritten
from hookscope.console.reading import Reading
from hookscope.console.text import line, plain
from hookscope.workbench import Debugger, Stop
from hookscope.workbench.stop_places import named

WHY = {
    "begin": ("at its first line", MUTED),
    "breakpoint": ("at a breakpoint", "$text-accent"),
    "line": ("a named line", "$text-accent"),
    "pause": ("paused", MUTED),
    "step": ("", MUTED),
    "error": ("", "$text-error"),
}
WIDE = 110  # cells: lines and variables stand beside each other
WIDEST = 160  # cells of the screen, as its style says
FRAME = 8  # cells of a frame beside its title
PLACE = 16  # cells of a path at least
NAMES = (30, 20, 12, 8)  # cells of a name at most; fewer where there is no room
RAISES = ("its condition raises", "$text-error")
ALL_SEEN = "This is all of the lines."
LEFT = "The handler stands all the same: {fire.debug} shows it again, {fire.cancel} ends the run."
RUNS = "It goes on: {debug.leave} leaves this, {debug.end} ends the run."


class DebugScreen(Over[None]):
    """Shows the stops of one debugger. Left, the handler stands all the same."""

    HELP = (
        "The handler stands before the line with →; at each line with ● it stops: "
        "{debug.line} or {lines.choose}, and {debug.condition} where a condition holds. "
        "{debug.right} and {debug.left} show the rest of long lines. "
        "A value that has changed since the last stop stands out, {lines.choose} shows all of it. "
        "What is typed in the lowest line is done where the handler stands."
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  (Textual's own says no more)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,f10", "word('over')", "Over", show=False, id="debug.over", tooltip="On to the next line"),
        Binding("s,f11", "word('into')", "Into", show=False, id="debug.into",
                tooltip="On, into what the line calls"),
        Binding("o,f12", "word('out')", "Out", show=False, id="debug.out",
                tooltip="On, out of this function"),
        Binding("c,f8", "word('go_on')", "On", show=False, id="debug.on", tooltip="On to the next stop"),
        Binding("f", "word('run_all')", "The rest", show=False, id="debug.rest",
                tooltip="Run all, and stop no more"),
        Binding("b,f9", "name_line", "Stop here", show=False, id="debug.line",
                tooltip="Stop at the line of the cursor, or no longer"),
        Binding("i", "condition", "Stop if", show=False, id="debug.condition",
                tooltip="Stop at the line of the cursor where a condition holds"),
        Binding("right,l", "aside(1)", "Sideways", show=False, id="debug.right",
                tooltip="The rest of long lines, further to the right"),
        Binding("left,h", "aside(-1)", "Left", show=False, id="debug.left",
                tooltip="Long lines, back to the left"),
        Binding("u", "turn(-1)", "Caller", id="debug.caller", tooltip="Look at the call around this one"),
        Binding("d", "turn(1)", "Called", id="debug.called", tooltip="Look at the call inside of this one"),
        Binding("e", "ask", "Ask", show=False, id="debug.ask", tooltip="Type an expression, or a statement"),
        Binding("y", "copy", "Copy", show=False, id="debug.copy",
                tooltip="Copy where it stands, and its variables"),
        Binding("x", "end", "End", show=False, id="debug.end", tooltip="End the run"),
        Binding("escape", "leave", "Back", id="debug.leave",
                tooltip="Out of the field, then back; it stands all the same"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    DebugScreen {
        & > Vertical, &.-tall > Vertical {
            width: 100%; max-width: 160; height: 1fr; max-height: 46; padding: 0 1;
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
            frame.border_subtitle = hints(
                ("debug.over", "over"), ("debug.into", "into"), ("debug.out", "out"), ("debug.on", "on"),
                ("debug.rest", "the rest"), ("debug.line", "stop here"), ("debug.ask", "ask"),
                ("debug.right", "more"),
            )  # fmt: skip
            with Horizontal(id="debug-parts"):
                yield SourceLines()
                yield VariableLines()
            with Reading(id="debug-said"):
                yield Static(markup=False)
            yield OneLine(
                placeholder="an expression or a statement, done where it stands",
                compact=True, select_on_focus=False, id="debug-ask",
            )  # fmt: skip

    def on_mount(self) -> None:
        self.query_one("#debug-said").display = False
        self.show(self._stop)
        self.query_one(SourceLines).focus()

    def show(self, stop: Stop) -> None:
        """Where it stands now, and what was answered."""
        before, self._stop = self._stop, stop
        moved = _told_of(stop) != _told_of(before)
        self.query_one(SourceLines).show(stop)
        self.query_one(VariableLines).show(stop)
        self.query_one(Vertical).border_title = self._title()
        if stop.said is not None or moved or stop is before:
            self._say(stop.said, stop.error or stop.note)

    def on_resize(self) -> None:
        self.query_one(Vertical).border_title = self._title()

    def _title(self) -> Content:
        """Whose, where and why: the cause is never cut, names and the path are."""
        stop = self._stop
        why, style = RAISES if stop.note is not None else WHY[stop.why]
        # its kind alone: the frame cuts what is longer, and all of it stands below
        told = word(stop.error.partition(":")[0], NAMES[0]) if stop.error is not None else why
        told = f"   {told}" if told else ""
        calls = f"   call {stop.at + 1} of {len(stop.frames)}" if len(stop.frames) > 1 else ""
        whole = min(self.app.size.width, WIDEST) - FRAME
        for names in NAMES:
            who = word(stop.who, names)
            within = f" in {word(stop.frame.function, names)}" if stop.frame.function else ""
            rest = Content(f"{who}   :{stop.frame.line}{within}{calls}{told}").cell_length
            if whole - rest >= PLACE:
                break
        path = tail(line(self._short(Path(stop.frame.file)), 400), max(whole - rest, 1)).plain
        return Content.assemble(f"{who}   {path}:{stop.frame.line}{within}", (calls, MUTED), (told, style))

    def _say(self, said: str | None, error: str | None) -> None:
        """What was answered, else the error at which it stands, whole; nothing where there is neither."""
        box, told = self.query_one("#debug-said"), said if said is not None else error
        box.display = told is not None
        if told is not None:
            text = plain(told.rstrip("\n"))
            style = "$text-error" if said is None else ""
            rewritten(box.query_one(Static), text.stylize(style) if told else Content.styled("done", MUTED))
            box.scroll_home(animate=False)

    @property
    def _stood(self) -> bool:
        """Does it stand; else that is said."""
        stands = self._debugger.stop is not None
        if not stands:
            self.notify(with_keys(RUNS), markup=False)
        return stands

    async def action_word(self, said: str) -> None:
        if self._stood:
            await getattr(self._debugger, said)()

    async def action_turn(self, by: int) -> None:
        at = self._stop.at + by
        if not 0 <= at < len(self._stop.frames):
            self.notify(
                "This is the outermost call." if by < 0 else "This is the innermost call.", markup=False
            )
        elif self._stood:
            await self._debugger.turn_to(at)

    async def action_name_line(self) -> None:
        number = self.query_one(SourceLines).number
        if number is None:
            self.notify("There is no line here to stop at.", markup=False)
        elif self._stood:
            await self._debugger.toggle(number)

    def action_condition(self) -> None:
        """Have it typed, for the line under the cursor."""
        number = self.query_one(SourceLines).number
        if number is None:
            self.notify("There is no line here to stop at.", markup=False)
        else:
            field = self.query_one(Input)
            field.value = f"b {number} if "
            field.focus()
            field.cursor_position = len(field.value)

    def action_aside(self, by: int) -> None:
        if not self.query_one(SourceLines).move_aside(by):
            self.notify(ALL_SEEN, markup=False)

    @on(Lines.Chosen, "#debug-source")
    async def _line_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        await self.action_name_line()

    @on(Lines.Chosen, "#debug-variables")
    async def _variable_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        name = self.query_one(VariableLines).name_here
        if name is not None and self._stood:
            await self._debugger.evaluate(name)

    @on(Lines.Moved)
    def _moved(self, event: Lines.Moved) -> None:
        event.stop()

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() and self._stood:
            try:
                await self._done(event.value)
                event.input.select_all()  # what is typed next is another question
            except ValueError as error:
                self.notify(str(error), severity="warning", markup=False)

    async def _done(self, typed: str) -> None:
        """As at the prompt of the shell: `b LINE if EXPRESSION` names a line, all else is evaluated."""
        first, _, rest = typed.strip().partition(" ")
        place = named(rest) if first == "b" else None
        if place is None or place.file:
            await self._debugger.evaluate(typed)
        else:
            await self._debugger.toggle(place.line, condition=place.condition)

    def action_ask(self) -> None:
        self.query_one(Input).focus()

    def action_copy(self) -> None:
        variables = [f"{word(name)} = {word(text, 300)}" for name, text in self._stop.variables]
        told = self._stop.error or self._stop.note
        error = [] if told is None else [word(told, 2000)]
        lines = [self._title().plain, *error, self.query_one(SourceLines).as_text().rstrip(), *variables]
        self.app.copy_to_clipboard("\n".join(lines) + "\n")
        self.notify("Copied where it stands.", markup=False)

    def action_end(self) -> None:
        self._cancel()

    def action_leave(self) -> None:
        if self.query_one(Input).has_focus:
            self.query_one(SourceLines).focus()
            return
        if self._debugger.stop is not None:
            self.notify(with_keys(LEFT), markup=False)
        self.dismiss(None)


def _told_of(stop: Stop) -> tuple[object, ...]:
    """Where it stands, and why."""
    return stop.frames, stop.at, stop.error, stop.note

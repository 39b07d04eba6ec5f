"""A session as a conversation: real and fired events in time, each with the hooks that ran on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from hookscope.app.runs.session_log import SessionLog, SessionTurn
from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.panes.log_lines import handler_effects, handler_head
from hookscope.console.theme import text_styles
from hookscope.console.theme.text_styles import MUTED, counted, safe_line, safe_paragraph, short_time
from hookscope.console.widgets.lines import LineList
from hookscope.model.text import duration, one_line

if TYPE_CHECKING:
    from hookscope.model.run import Result

TIME_WIDTH = 10  # cells of a time and its gap
KIND_WIDTH = 9  # cells of the part of a conversation: command
ROOMY_WIDTH = 90  # cells; narrower sessions indent what hooks did less
MOST_TEXT_LINES = 4  # lines of one event's text
KIND_STYLES = {
    "in": "bold $text-accent",
    "out": "bold $text-success",
    "command": "bold",
    "tool": "bold $text-warning",
    "event": MUTED,
}

Row = tuple[SessionTurn, Content]


def session_head(log: SessionLog) -> Content:
    """Return the counts of a session: events, handlers and their total time, failures."""
    turns, results, failed = log.turns, log.results, log.failed
    dropped = f" (and {log.dropped:,} earlier)" if log.dropped else ""
    parts = [
        Content(f"{counted(len(turns), 'event')}{dropped}: {log.real} real, {len(turns) - log.real} fired"),
        Content(f"{counted(len(results), 'handler')} ran in {duration(log.hook_time)}"),
        Content.styled(f"✗ {failed} failed", "$text-error")
        if failed
        else Content.styled("none failed", "$text-success"),
    ]
    return Content(" · ").join(parts)


def turn_lines(turn: SessionTurn, width: int) -> Iterator[Content]:
    """Yield the lines of an event: time, its text, its key and run, then each hook with what it changed."""
    room = max(20, width - TIME_WIDTH - KIND_WIDTH)
    text = safe_paragraph(turn.summary or turn.key)
    wrapped = text.wrap(room)
    if len(wrapped) > MOST_TEXT_LINES:
        wrapped = [*wrapped[: MOST_TEXT_LINES - 1], wrapped[MOST_TEXT_LINES - 1].rstrip() + Content(" …")]
    head = Content.assemble(
        (f"{short_time(turn.at):<{TIME_WIDTH}}", MUTED),
        (f"{turn.kind:<{KIND_WIDTH}}", KIND_STYLES[turn.kind]),
    )
    for number, line in enumerate(wrapped):
        yield (head if number == 0 else Content(" " * (TIME_WIDTH + KIND_WIDTH))) + line
    indent = TIME_WIDTH + (KIND_WIDTH if width >= ROOMY_WIDTH else 0)
    notes = [Content.styled(_origin_text(turn), MUTED)]
    notes += [line for result in (turn.run.results if turn.run else ()) for line in _hook_lines(result)]
    for note in notes:
        yield from text_styles.wrapped_lines(Content(" " * indent) + note, width)


def _origin_text(turn: SessionTurn) -> str:
    """Return the key, whether the event is real, and its run."""
    parts = [one_line(turn.key, 60), "≈ real" if turn.real else "fired"]
    if turn.number is not None:
        parts.append(f"{'replayed as ' if turn.real else ''}run {turn.number}")
        parts += [duration(turn.run.took)] if turn.run is not None else ["interrupted"]
        parts += ["no hook ran"] if turn.run is not None and not turn.run.results else []
    elif turn.would_run:
        parts.append(f"a replay would call {', '.join(one_line(name, 40) for name in turn.would_run)}")
    else:
        parts.append("a replay would call no hook")
    verdict = turn.run.ending.verdict if turn.run is not None else ""
    return " · ".join([*parts, *([f"→ {one_line(verdict)}"] if verdict else [])])


def _hook_lines(result: Result) -> Iterator[Content]:
    effects = [*handler_effects(result)]
    head = handler_head(result)
    yield Content.assemble(head, "  ", effects[0]) if effects else head
    yield from (Content("  ") + effect for effect in effects[1:])


class SessionLines(LineList):
    """The events of a session, line by line; the whole event under the cursor is selected."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: tuple[SessionTurn, ...] = ()
        self._rows: list[Row] = []
        self._made_for = 0

    def show(self, turns: tuple[SessionTurn, ...], *, stays: bool = False) -> None:
        """Show events, the newest at the bottom. `stays`: the cursor stays, except on the last event."""
        follows = not stays or self.turn is None or self.turn is self.turns[-1]
        self.turns, self._made_for = turns, 0
        self._fit()
        if follows:
            self._select_newest()

    def _select_newest(self) -> None:
        """Select the last event, and show as much of it as fits."""
        head = next((at for at, row in enumerate(self._rows) if row[0] is self.turns[-1]), 0)
        self.cursor = head
        self.scroll_to(y=max(min(head, self.line_count - self.size.height), 0), animate=False, force=True)
        self.post_message(self.Moved(self, head))  # the same line may be another event

    def _fit(self) -> None:
        width = self.inner_width - 2
        if width > 0 and width != self._made_for:
            self._made_for = width
            self._rows = []
            for turn in self.turns:
                self._rows += [(self._rows[-1][0], Content())] if self._rows else []
                self._rows += [(turn, line) for line in turn_lines(turn, width)]
            self.lines_changed()

    def is_selected(self, index: int) -> bool:
        return self._rows[index][0] is self.turn and bool(self._rows[index][1])

    def redraw(self, *lines: int) -> None:
        self.refresh()  # the whole event looks selected

    def on_resize(self) -> None:
        newest = self._made_for == 0
        self._fit()
        super().on_resize()
        if newest and self.turns:
            self._select_newest()

    @property
    def line_count(self) -> int:
        return len(self._rows)

    def line_at(self, index: int, width: int) -> Content:
        return self._rows[index][1]

    @property
    def turn(self) -> SessionTurn | None:
        """The event under the cursor."""
        return self._rows[self.cursor][0] if self._rows else None


class SessionScreen(Overlay[SessionTurn | None]):
    """An overlay that shows one session. It returns the chosen event."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close", id="session.close", tooltip="Back to the log"),
        Binding("left_square_bracket", "other(-1)", "Session before", id="session.older",
                tooltip="The session that was used before this one"),
        Binding("right_square_bracket", "other(1)", "Session after", id="session.newer",
                tooltip="The session that was used after this one"),
        Binding("y", "copy", "Copy", id="session.copy", tooltip="Copy the whole session as text"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    SessionScreen {
        & > Vertical { width: 96%; height: 94%; max-width: 150; padding: 0 1; }
        & #session-head { height: auto; margin: 0 0 1 2; }
        & SessionLines { height: 1fr; scrollbar-gutter: stable; }
    }
    """

    def __init__(self, log: SessionLog, read: Callable[[str], SessionLog]) -> None:
        """`read` returns another session; it is called in a thread."""
        super().__init__()
        self.log_shown, self._read = log, read
        self._wanted = log.session  # the session that is shown, or is being read

    def compose(self) -> ComposeResult:
        with Vertical(id="session"):
            yield Static(id="session-head", markup=False)
            yield SessionLines()

    def on_mount(self) -> None:
        self._show(self.log_shown)
        self.query_one(SessionLines).focus()

    def _show(self, log: SessionLog) -> None:
        stays, self.log_shown = log.session == self.log_shown.session, log
        at, count = log.sessions.index(log.session) + 1, len(log.sessions)
        frame = self.query_one("#session")
        place = f"   {at} of {count}" if count > 1 else ""
        frame.border_title = Content.assemble("Session ", safe_line(log.session, 60), (place, MUTED))
        self.query_one("#session-head", Static).update(session_head(log))
        self.query_one(SessionLines).show(log.turns, stays=stays)
        self._show_keys()

    @on(LineList.Moved)
    def _show_keys(self) -> None:
        """Show the keys, with the effect of enter on the selected event."""
        turn = self.query_one(SessionLines).turn
        is_run = turn is not None and turn.number is not None
        others = (("session.older", "before"), ("session.newer", "after"))
        self.query_one("#session").border_subtitle = key_hints(
            ("lines.choose", "run" if is_run else "replay on copies"),
            *(others if len(self.log_shown.sessions) > 1 else ()),
            ("session.close", "close"),
        )

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.dismiss(self.query_one(SessionLines).turn)

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect."""
        alone = action.startswith("other") and len(self.log_shown.sessions) == 1
        return "There is only this session." if alone else ""

    def action_other(self, by: int) -> None:
        names, now = self.log_shown.sessions, self.log_shown.session
        at = names.index(now) + by
        if not 0 <= at < len(names):
            which = "before" if by < 0 else "after"
            self.app.notify(f"There is no session {which} this one.", markup=False)
            return
        self._wanted = names[at]
        self.read_again()

    def read_again(self) -> None:
        """Read the session in a thread, and show it with what has happened since."""

        def reading() -> None:
            log, worker = self._read(self._wanted), get_current_worker()
            self.app.call_from_thread(
                lambda: self._show(log) if self.is_open and not worker.is_cancelled else None
            )

        if self.is_open:
            self.run_worker(reading, thread=True, exclusive=True, exit_on_error=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(
            f"{session_head(self.log_shown).plain}\n{self.query_one(SessionLines).as_text()}"
        )
        self.app.notify("Copied the session.", markup=False)

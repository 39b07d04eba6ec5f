"""The lines at the top: workspace, host, modes, hook counts, problems, and the what-if."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.keymap.active_keys import key_hints, key_of
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.console_state import Mode
from hookscope.console.state.messages import CommandRequested, EditorRequested
from hookscope.console.theme.text_styles import (
    FAINT,
    IGNORED_FILE,
    MUTED,
    NOT_A_HOOK,
    STATE_STYLES,
    StateStyle,
    keep_tail,
    safe_line,
)
from hookscope.console.widgets.focus_targets import JumpTarget
from hookscope.model.hook import Problem
from hookscope.model.hook_status import State

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.machine import Machine


MODE_TITLES: tuple[tuple[Mode, str], ...] = (
    ("hooks", "Hooks"),
    ("fire", "Fire"),
    ("log", "Log"),
    ("hosts", "Hosts"),
)
PALETTE_CLICK = Style.from_meta({"@click": "app.command_palette"})  # click on the program's name
WORKSPACE_WIDTH = 24  # cells of a workspace's path when room is short


def top_line(view: Snapshot | None, width: int) -> Content:
    """Return program and workspace at the left; host, its reason, and settings at the right."""
    name = Content.styled(" hookscope", "bold").stylize(PALETTE_CLICK)
    if view is None:
        return Content.assemble(name, ("   scanning …", MUTED))
    host = view.host
    workspace = safe_line(below_home(host.workspace, host.machine), 120)
    right = Content()
    for reason, file in ((True, "long"), (False, "long"), (True, "short"), (False, "short"), (False, "")):
        right = _host_and_settings(view, reason, file)
        if width - name.cell_length - right.cell_length - 5 >= min(workspace.cell_length, WORKSPACE_WIDTH):
            break
    room = max(0, width - name.cell_length - right.cell_length - 5)
    shown = keep_tail(workspace, room)
    return Content.assemble(name, "   ", shown.truncate(room, pad=True), "  ", right)


def below_home(path: Path, machine: Machine) -> str:
    """Return a path with `~`; a home folder itself keeps its full path."""
    home = machine.home
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)


def _host_and_settings(view: Snapshot, reason: bool, file: str) -> Content:
    """Return the host and its settings. `reason`: add the reason for the host. `file`: long, short or ""."""
    host = view.host
    path = host.machine.short(host.settings.file)
    reason_names_settings = host.settings.exists and view.dialect_reason.endswith(path)
    parts: list[Content] = [Content.assemble(("host ", FAINT), safe_line(host.dialect.name))]
    if view.unknown_version:
        version = safe_line(f"≠ {view.unknown_version} found", 40).stylize("$text-warning")
        parts[0] = Content.assemble(parts[0], " ", version)
    elif reason and not reason_names_settings:
        parts[0] = Content.assemble(
            parts[0], (" · ", FAINT), safe_line(view.dialect_reason, 60).stylize(MUTED)
        )
    if file and host.settings.exists:
        label = "settings found " if reason_names_settings and reason else "settings "
        shown = path if file == "long" else host.settings.file.name
        parts.append(Content.assemble((label, FAINT), safe_line(shown, 80)))
    elif file and host.dialect.layout.settings:
        parts.append(Content.styled("no config yet", MUTED))
    return Content.assemble(Content("   ").join(parts), " ")


# The order in which counts are kept when not all fit.
URGENT_STYLES = (
    STATE_STYLES[State.READY],
    NOT_A_HOOK,
    STATE_STYLES[State.BROKEN],
    STATE_STYLES[State.BLOCKED],
    STATE_STYLES[State.UNTRUSTED],
    STATE_STYLES[State.OFF],
    STATE_STYLES[State.SILENT],
    STATE_STYLES[State.SHADOWED],
    IGNORED_FILE,
)


def state_counts(found: Mapping[StateStyle, int], width: int) -> Content:
    """Return how many hooks are in each state. Counts that do not fit are summed up."""
    order = [style for style in (*STATE_STYLES.values(), NOT_A_HOOK, IGNORED_FILE) if found.get(style)]
    urgent = [style for style in URGENT_STYLES if found.get(style)]
    for shown_count in range(len(order), -1, -1):
        parts = [
            Content.assemble((style.glyph, style.style), f" {found[style]} ", (style.word, MUTED))
            for style in order
            if style in urgent[:shown_count]
        ]
        hidden_count = sum(found[style] for style in urgent[shown_count:])
        hidden_part = [Content.styled(f"+{hidden_count}", MUTED)] if hidden_count else []
        text = Content.assemble(Content("   ").join([*parts, *hidden_part]), " ")
        if text.cell_length <= width:
            return text
    return text.truncate(max(0, width), ellipsis=True)


class ModeTab(Static):
    """The tab of a mode; a click selects it."""

    class Clicked(ConsoleMessage):
        def __init__(self, mode: Mode) -> None:
            self.mode = mode
            super().__init__()

    def __init__(self, mode: Mode, name: str, *, current: bool) -> None:
        self.mode, self._title, self._current = mode, name, current
        super().__init__(self._shown(), id=f"mode-{mode}", classes="-current" if current else None)

    @property
    def label(self) -> str:
        """The mode's key and its name."""
        return key_hints((f"console.{self.mode}", self._title)).plain or self._title

    def mark(self, current: bool) -> None:
        """Mark the current mode with brackets, which also work without colours."""
        if current == self._current:
            return
        self._current = current
        self.set_class(current, "-current")
        text = self._shown()
        self.update(text, layout=text.cell_length != self.size.width)

    def _shown(self) -> Content:
        return Content(f"[{self.label}]" if self._current else f" {self.label} ")

    def on_click(self) -> None:
        self.post_message(self.Clicked(self.mode))

    def spots(self) -> Iterator[JumpTarget]:
        """Yield the tab as a jump target."""
        yield JumpTarget(self.region.offset, partial(self.post_message, self.Clicked(self.mode)))


class ConsoleHeader(Widget):
    """Two lines with the host and the modes; a click on a tab changes the mode."""

    ALLOW_SELECT: ClassVar[bool] = False

    view: reactive[Snapshot | None] = reactive(None, init=False)
    counts_by_style: reactive[Mapping[StateStyle, int]] = reactive({}, init=False)
    mode: reactive[Mode] = reactive("hooks", init=False)
    watching: reactive[str] = reactive("", init=False)
    verified: reactive[str] = reactive("", init=False)  # the comparison with the installed host's answers
    armed: reactive[str] = reactive("", init=False)  # key of the event that fires on save

    def compose(self) -> ComposeResult:
        yield Static(top_line(self.view, self.app.size.width), id="top")  # already in the first frame
        with Horizontal(id="modes"):
            for mode, name in MODE_TITLES:
                yield ModeTab(mode, name, current=mode == self.mode)
            yield Static(id="counts")

    def name_keys(self) -> None:
        """Show the active keys in the tabs."""
        self.watch_mode(self.mode)
        self._show()

    def watch_mode(self, mode: Mode) -> None:
        for tab in self.query(ModeTab):
            tab.mark(tab.mode == mode)

    def _show(self) -> None:
        if not self.is_mounted or not self.size.width:
            return
        width = self.size.width
        self.query_one("#top", Static).update(top_line(self.view, width), layout=False)
        taken = sum(len(tab.label) + 2 for tab in self.query(ModeTab)) + 3
        armed = Content()
        if self.armed:
            armed = Content.assemble(("↻ on save: ", "$text-accent"), safe_line(self.armed, 40), "   ")
        if self.verified:
            style = "$text-success" if self.verified.startswith("✓") else "$text-warning"
            armed = Content.assemble(safe_line(self.verified, 60).stylize(style), "   ", armed)
        text = Content.assemble(armed, state_counts(self.counts_by_style, width - taken - armed.cell_length))
        if self.watching and text.cell_length + len(self.watching) + 5 <= width - taken:
            mark = Content.assemble(("● " if self.watching.startswith("watching") else "◐ ", MUTED))
            text = Content.assemble(text, "  ", mark, safe_line(self.watching).stylize(FAINT), " ")
        self.query_one("#counts", Static).update(text, layout=False)

    on_resize = watch_view = watch_counts_by_style = watch_armed = watch_watching = watch_verified = _show


MOST_PROBLEMS = 2  # lines; further problems are only counted


def problem_text(problems: tuple[Problem, ...], machine: Machine, width: int, notice: str = "") -> Content:
    """Return the notice, and a line for each problem with its place at the end; cut, never wrapped."""
    lines = [_problem_line(problem, machine, width) for problem in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS and lines:
        more = Content.styled(f"  +{len(problems) - MOST_PROBLEMS} more", MUTED)
        lines[-1] = Content.assemble(
            lines[-1].truncate(max(0, width - more.cell_length), ellipsis=True), more
        )
    if notice:
        key = key_of("console.dialect")  # instead of the option, which the console cannot change
        text = safe_line(notice.replace("--dialect", key) if key else notice, 400)
        head = Content.assemble((" ≠ ", "$text-warning"), text)
        lines.insert(0, head.truncate(width - 1, ellipsis=True))
    return Content("\n").join(lines)


def _problem_line(problem: Problem, machine: Machine, width: int) -> Content:
    place = problem.place
    at = safe_line(f"{machine.short(place.file)}:{place.line}") if place is not None else Content()
    text = Content.assemble((" ✗ ", "$text-error"), safe_line(problem.text, 400))
    if place is not None and width - at.cell_length - 3 < text.cell_length:
        # The sentence has priority; the file's name is enough to find it.
        at = safe_line(f"{place.file.name}:{place.line}")
    room = width - at.cell_length - 3
    if place is None or room < width // 2:
        return text.truncate(width - 1, ellipsis=True)
    return Content.assemble(text.truncate(room, ellipsis=True), "  ", at.stylize(FAINT))


class ProblemLines(Static):
    """The notice about other hosts, and the problems; a click opens the place of the first problem."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.problems: tuple[Problem, ...] = ()
        self._machine: Machine | None = None  # shortens paths
        self._notice = ""

    def show(self, problems: tuple[Problem, ...], machine: Machine, notice: str) -> None:
        """Show the notice and these problems; hide the lines if there are none."""
        self.problems, self._machine, self._notice = problems, machine, notice
        self._lay_out()

    def on_click(self) -> None:
        place = next((problem.place for problem in self.problems if problem.place is not None), None)
        if place is not None:
            self.post_message(EditorRequested(place))

    def _lay_out(self) -> None:
        self.display = bool(self.problems or self._notice)
        if self._machine is not None:
            width = self.size.width or self.app.size.width
            self.update(problem_text(self.problems, self._machine, width, self._notice))

    name_keys = on_resize = _lay_out


ASSUMED_SIGN = "≈ what if: "


def strip_line(words: Sequence[str], width: int) -> Content:
    """Return the sign, the assumptions, and the two keys; cut to the width."""
    change, real = key_of("console.what_if"), key_of("console.all_real")
    keys = f"  {change} change  {real} drop all " if width >= 100 else f"  {change}  {real} drop "
    room = max(width - len(keys), 0)
    text = Content.assemble((f" {ASSUMED_SIGN}", "bold"), safe_line(", ".join(words), 400))
    return Content.assemble(text.truncate(room, ellipsis=True, pad=True), keys)


class WhatIfStrip(Static):
    """The line of assumptions, hidden if there are none; a click opens the what-if form."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    WhatIfStrip {
        height: 1; width: 1fr; display: none;
        color: $text-warning; background: $warning 18%; text-wrap: nowrap;
        &:ansi { background: ansi_default; text-style: reverse; }
    }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.words: tuple[str, ...] = ()

    def show(self, words: tuple[str, ...]) -> None:
        """Show these assumptions; hide the line if there are none."""
        self.words = words
        self.display = bool(words)
        self._lay_out()

    def on_click(self) -> None:
        self.post_message(CommandRequested("what if"))

    def _lay_out(self) -> None:
        if self.words:
            self.update(strip_line(self.words, self.size.width or self.app.size.width))

    name_keys = on_resize = _lay_out

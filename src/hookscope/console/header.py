"""The two lines on top: where we are, whose rules apply and why, the modes, how many stand how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.cutting import tail
from hookscope.console.jump.spots import Spot
from hookscope.console.keymap.hints import hints
from hookscope.console.layout import Mode
from hookscope.console.text import line
from hookscope.console.theme import FAINT, IGNORED, LOOKS, MUTED, NO_HOOK, Look
from hookscope.core.standing import State

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench import View

MODES: tuple[tuple[Mode, str], ...] = (
    ("hooks", "Hooks"),
    ("fire", "Fire"),
    ("log", "Log"),
    ("hosts", "Hosts"),
)
PALETTE = Style.from_meta({"@click": "app.command_palette"})  # a click on the program's name
WORKSPACE = 24  # cells that a workspace's path may take, where others want room too


def top_line(view: View | None, width: int) -> Content:
    """Program and workspace at the left; host, why it was chosen, and settings at the right."""
    name = Content.styled(" hookscope", "bold").stylize(PALETTE)
    if view is None:
        return Content.assemble(name, ("   looking …", MUTED))
    host = view.host
    workspace = line(below_home(host.workspace, host.surroundings), 120)
    right = Content()
    for reason, file in ((True, "long"), (False, "long"), (True, "short"), (False, "short"), (False, "")):
        right = _right(view, reason, file)
        if width - name.cell_length - right.cell_length - 5 >= min(workspace.cell_length, WORKSPACE):
            break
    room = max(0, width - name.cell_length - right.cell_length - 5)
    shown = tail(workspace, room)
    return Content.assemble(name, "   ", shown.truncate(room, pad=True), "  ", right)


def below_home(path: Path, surroundings: Surroundings) -> str:
    """A path that also tells the current folder by its name."""
    home = surroundings.home
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)


def _right(view: View, reason: bool, file: str) -> Content:
    """Host and settings. `reason`: say why this host; `file`: the settings as path, as name, or not."""
    host = view.host
    path = host.surroundings.short(host.settings.file)
    told = host.settings.exists and view.because.endswith(path)  # the settings are the reason: said once
    parts: list[Content] = [Content.assemble(("host ", FAINT), line(host.dialect.name))]
    if reason and not told:
        parts[0] = Content.assemble(parts[0], (" · ", FAINT), line(view.because, 60).stylize(MUTED))
    if file and host.settings.exists:
        label = "settings found " if told and reason else "settings "
        shown = path if file == "long" else host.settings.file.name
        parts.append(Content.assemble((label, FAINT), line(shown, 80)))
    elif file and host.dialect.layout.settings:
        parts.append(Content.styled("no config yet", MUTED))
    return Content.assemble(Content("   ").join(parts), " ")


# Where not all fit: which are named first.
URGENT = (
    LOOKS[State.READY],
    NO_HOOK,
    LOOKS[State.BROKEN],
    LOOKS[State.BLOCKED],
    LOOKS[State.UNTRUSTED],
    LOOKS[State.OFF],
    LOOKS[State.SILENT],
    LOOKS[State.SHADOWED],
    IGNORED,
)


def counts(found: Mapping[Look, int], width: int) -> Content:
    """How many hooks stand how. What does not fit is summed up."""
    order = [look for look in (*LOOKS.values(), NO_HOOK, IGNORED) if found.get(look)]
    urgent = [look for look in URGENT if found.get(look)]
    for kept in range(len(order), -1, -1):
        parts = [_count(found[look], look) for look in order if look in urgent[:kept]]
        left = sum(found[look] for look in urgent[kept:])
        rest = [Content.styled(f"+{left}", MUTED)] if left else []
        text = Content.assemble(Content("   ").join([*parts, *rest]), " ")
        if text.cell_length <= width:
            return text
    return text.truncate(max(0, width), ellipsis=True)


def _count(number: int, look: Look) -> Content:
    return Content.assemble((look.glyph, look.style), f" {number} ", (look.word, MUTED))


class ModeTab(Static):
    """One mode; a click goes there."""

    class Clicked(Message):
        def __init__(self, mode: Mode) -> None:
            self.mode = mode
            super().__init__()

    def __init__(self, mode: Mode, name: str, *, current: bool) -> None:
        self.mode, self._title, self._current = mode, name, current
        super().__init__(self._shown(), id=f"mode-{mode}", classes="-current" if current else None)

    @property
    def label(self) -> str:
        """The mode's key and its name."""
        return hints((f"console.{self.mode}", self._title)).plain or self._title

    def mark(self, current: bool) -> None:
        """Brackets say which mode this is, where there are no colours too."""
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

    def spots(self) -> Iterator[Spot]:
        """The tab itself."""
        yield Spot(self.region.offset, partial(self.post_message, self.Clicked(self.mode)))


class Header(Widget):
    """Two lines; they tell, and change modes by a click."""

    ALLOW_SELECT: ClassVar[bool] = False

    view: reactive[View | None] = reactive(None, init=False)
    looks: reactive[Mapping[Look, int]] = reactive({}, init=False)
    mode: reactive[Mode] = reactive("hooks", init=False)
    watching: reactive[str] = reactive("", init=False)
    armed: reactive[str] = reactive("", init=False)  # the key of the event that fires on save

    def compose(self) -> ComposeResult:
        yield Static(top_line(self.view, self.app.size.width), id="top")  # the first frame has it already
        with Horizontal(id="modes"):
            for mode, name in MODES:
                yield ModeTab(mode, name, current=mode == self.mode)
            yield Static(id="counts")

    def on_resize(self) -> None:
        self._show()

    def watch_view(self) -> None:
        self._show()

    def watch_looks(self) -> None:
        self._show()

    def watch_armed(self) -> None:
        self._show()

    def watch_watching(self) -> None:
        self._show()

    def name_keys(self) -> None:
        """Write the keys in force into the tabs."""
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
            armed = Content.assemble(("↻ on save: ", "$text-accent"), line(self.armed, 40), "   ")
        text = Content.assemble(armed, counts(self.looks, width - taken - armed.cell_length))
        if self.watching and text.cell_length + len(self.watching) + 5 <= width - taken:
            mark = Content.assemble(("● " if self.watching.startswith("watching") else "◐ ", MUTED))
            text = Content.assemble(text, "  ", mark, line(self.watching).stylize(FAINT), " ")
        self.query_one("#counts", Static).update(text, layout=False)

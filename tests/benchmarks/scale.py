"""The console with ten thousand hooks and a hundred thousand lines of log: from a key to its painted answer.

Timed is the work of the thread that the screen lives in, from the key to the first paint with which all that
it led to is on the screen; what files and a lint say of a hook later is news of its own. The floors are a
list of as many lines that does nothing else, and over it Textual's own dialog of a line and a field.
HOOKSCOPE_BENCHMARK_HOOKS=1000 makes fewer hooks.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from time import process_time, thread_time
from typing import ClassVar, TypeAlias

from tests.benchmarks.building import HANDLER, loop
from tests.benchmarks.measuring import Group, Target, Variant
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.pilot import Pilot
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console import app as app_module
from hookscope.console.app import Console
from hookscope.console.controllers.scan_controller import SELECTION_DELAY
from hookscope.console.panes.log_pane import LogPane
from hookscope.console.screens.main_screen import MainScreen
from hookscope.console.state.log_entries import LogEntry

HOOKS = int(os.environ.get("HOOKSCOPE_BENCHMARK_HOOKS", "10000"))
LINES = 100_000
SIZES = ((80, 24), (200, 50))
MOST = 0.05  # seconds: an answer that takes no longer is felt as at once
TIMES = 2.0  # what a dialog of ours may take of a bare one's work
GLANCE = 0.01  # seconds between two looks whether an answer is all there
PATIENCE = 500  # of them
TROUBLES = ("requires: {bins: [jq-of-nowhere]}", "requires: {env: [NOT_SET]}", "os: [darwin]", "")
MANIFEST = "---\nname: {name}\ndescription: A hook.\nmetadata: {{openclaw: {{{header}}}}}\n---\n"
KEYS = ("command:new", "command:reset", "agent:bootstrap", "gateway:startup", "message:received")


class Bare(ScrollView, can_focus=True):
    """As many lines as there are hooks, a cursor, and nothing else."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "move", "Down")]
    cursor: reactive[int] = reactive(0)

    def on_mount(self) -> None:
        self.virtual_size = Size(80, HOOKS)

    def render_line(self, y: int) -> Strip:
        at = y + round(self.scroll_y)
        style = self.rich_style.chain(self.rich_style) if at == self.cursor else self.rich_style
        return Strip.blank(self.size.width, style) if at >= HOOKS else self._line(at)

    def _line(self, at: int) -> Strip:
        from rich.segment import Segment

        return Strip([Segment(f"{'>' if at == self.cursor else ' '} hook-{at}".ljust(self.size.width))])

    def action_move(self) -> None:
        self.cursor += 1
        if self.cursor - self.scroll_y >= self.size.height:
            self.scroll_to(y=self.cursor - self.size.height + 1, animate=False, force=True)


class Painting(App[None]):
    """Knows how much its thread had worked when it first had painted all of an answer."""

    waits: Callable[[], bool] | None = None  # is an answer on its way, though no message is
    painted: float | None = 0.0  # None: not yet since the last key
    last = 0.0  # paint of all

    def post_display_hook(self) -> None:
        self.last = worked = thread_time()
        if self.painted is None and self._is_all_shown():
            self.painted = worked

    def _is_all_shown(self) -> bool:
        if self.waits is not None and self.waits():
            return False
        focused = self.screen.focused
        # Those that carry a key and what it asks for; others hear of their new size just as they are painted.
        nodes = [self, *(focused.ancestors_with_self if focused is not None else [self.screen])]
        return not self.screen._layout_required and not any(node.message_queue_size for node in nodes)

    @property
    def is_still(self) -> bool:
        """Is no more to come: no message waits, nothing is to be painted."""
        screen = self.screen
        wanted = (
            screen._layout_required or screen._repaint_required or screen._dirty_widgets or screen._callbacks
        )
        return (
            self._is_all_shown()
            and not wanted
            and not any(node.message_queue_size for node in screen.walk_children())
        )


class BareDialog(ModalScreen[None]):
    """A frame, a line and a field over the list: what Textual takes for the least that is a dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back")]
    DEFAULT_CSS = """
    BareDialog { align: center middle; }
    BareDialog > Vertical { width: 90%; height: auto; border: round $border; background: $background; }
    """

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("A line.")
            yield Input(compact=True)


class BareApp(Painting):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "dialog", "Dialog")]

    def compose(self) -> ComposeResult:
        yield Bare()

    def action_dialog(self) -> None:
        self.push_screen(BareDialog())


class Measured(Painting, Console):
    """The console, timed."""

    CSS_PATH = str(Path(app_module.__file__).parent / "console.tcss")


class User:
    """Presses keys, and knows how long their answers took."""

    def __init__(self, app: Painting, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def press(self, key: str) -> float:
        """The work from this key to its last paint."""
        return await self.took(lambda: self.app.post_message(events.Key(key, key if len(key) == 1 else None)))

    async def took(self, work: Callable[[], object]) -> float:
        """The work from this to the paint that shows it. Raises AssertionError where nothing is painted.

        It only waits meanwhile: a Pilot that looks whether all is over gives every widget work to do.
        """
        self.app.painted = None
        began = thread_time()
        work()
        for _ in range(PATIENCE):
            await asyncio.sleep(GLANCE)
            if self.app.painted is not None and self.app.is_still:
                return self.app.painted - began
            if self.app.last > began and self.app.is_still:
                return self.app.last - began  # a message waited at each paint, and led to no other one
        raise AssertionError("nothing was painted")

    async def rest(self) -> None:
        """Until what the last key has begun is over too: files that are read, a hook that is linted."""
        await asyncio.sleep(SELECTION_DELAY + GLANCE)
        for _ in range(PATIENCE):
            busy = any(not worker.is_finished for worker in self.app.workers)
            if self.app.is_still and not busy:
                return
            await asyncio.sleep(GLANCE)


def write(folder: Path) -> Path:
    """Hooks that stand in different ways and hear different events: written once for all sizes."""
    for number in range(HOOKS):
        name, trouble = f"hook-{number:04}", TROUBLES[number % len(TROUBLES)]
        header = f"events: [{KEYS[number % len(KEYS)]}]" + (f", {trouble}" if trouble else "")
        home = os.path.join(folder, "workspace", "hooks", name)
        os.makedirs(home)
        for file, text in (("HOOK.md", MANIFEST.format(name=name, header=header)), ("handler.py", HANDLER)):
            with open(os.path.join(home, file), "w") as written:
                written.write(text)
    return folder / "workspace"


def lines(many: int) -> list[LogEntry]:
    at = datetime(2026, 11, 22)
    texts = ("✓ 3 ok · 12 ms", "✗ 1 of 3 failed · 31 ms", "agent main · telegram · hello there")
    return [
        LogEntry(
            at + timedelta(milliseconds=number),
            ("run", "fire", "real")[number % 3],
            f"hook-{number % 997:04}",
            f"{texts[number % 3]} {number}",
            "error" if number % 7 == 0 else "info",
        )
        for number in range(many)
    ]


Step: TypeAlias = Callable[[], Awaitable[float]]
NAMES = (
    "down",
    "a page down",
    "the end",
    "a letter of a filter",
    "the first letter of a filter",
    "a letter less",
    "out of a filter",
    "a hook opened",
    "another grouping",
    "the Fire mode",
    "the Log mode",
    "the list again",
    "the Hosts mode",
    "what the registry holds",
    "help",
    "the commands",
    "what if",
    "a new hook",
    "trust",
    "letters to jump to",
    "log: up",
    "log: a page up",
    "log: the beginning",
    "log: the end",
    "log: a letter of a filter",
    "log: the first letter of a filter",
    "log: a letter less",
    "log: out of a filter",
    "log: an event comes",
)


class Sitting:
    """A console in use, and what its user does: each step is timed and leaves all as it was."""

    def __init__(self, user: User, screen: MainScreen) -> None:
        self.user, self.screen = user, screen
        self.log = screen.query_one(LogPane)  # once: it is asked at each paint

    def steps(self) -> dict[str, Step]:
        key, log = self._key, self._in_log
        steps = (
            key("down"),
            key("pagedown"),
            key("end", back="home"),
            self._typed("hook-12", "3"),
            self._typed("", "h"),
            self._typed("hook-123", "backspace"),
            self._typed("hook-12", "escape"),
            key("enter", back="escape"),
            key("s"),
            key("2", back="1"),
            key("3", back="1"),
            key("1", before="3"),
            key("4", back="1"),
            key("k", back="k escape"),
            key("question_mark", back="escape"),
            key("ctrl+p", back="escape"),
            key("W", back="escape"),
            key("n", back="escape"),
            key("t", back="escape"),
            key("ctrl+o", back="escape"),
            log("up", before="end"),
            log("pageup", before="end"),
            log("home", before="end"),
            log("end", before="home"),
            self._typed_in_log("hook-0", "1"),
            self._typed_in_log("", "h"),
            self._typed_in_log("hook-01", "backspace"),
            self._typed_in_log("hook-0", "escape"),
            self._event,
        )
        return dict(zip(NAMES, steps, strict=True))

    def _key(self, key: str, *, before: str = "", back: str = "") -> Step:
        async def step() -> float:
            await self._go(before)
            took = await self.user.press(key)
            await self._go(*back.split())
            return took

        return step

    def _in_log(self, key: str, *, before: str = "") -> Step:
        async def step() -> float:
            await self._go("3", before)
            took = await self.user.press(key)
            await self._go("1")
            return took

        return step

    async def _go(self, *keys: str) -> None:
        """Press these, and wait until all that follows is over. What changes nothing paints nothing."""
        for key in keys:
            if key:
                await self.user.pilot.press(key)
        await self.user.rest()

    def _typed(self, text: str, key: str) -> Step:
        async def step() -> float:
            await self._go("slash", *text)
            took = await self.user.press(key)
            await self._go("escape" if key != "escape" else "")
            assert not self.screen.state.filter
            return took

        return step

    def _typed_in_log(self, text: str, key: str) -> Step:
        async def step() -> float:
            await self._go("3", "slash", *text)
            took = await self.user.press(key)
            await self._go("escape" if key != "escape" else "", "1")
            return took

        return step

    async def _event(self) -> float:
        await self._go("3")
        took = await self.user.took(lambda: self.screen.context.log_entries(lines(1)))
        await self._go("1")
        return took


@dataclass(frozen=True, slots=True)
class Opening:
    """What it took until all hooks were listed."""

    screen: float  # work of the thread that the screen lives in
    everything: float  # work of the process: nearly all of it is the look


@asynccontextmanager
async def sitting(workspace: Path, size: tuple[int, int]) -> AsyncIterator[tuple[Sitting, Opening]]:
    """A console of this size over these hooks, and a log of many lines."""
    began = thread_time(), process_time()
    bench = Workbench(Options(workspace=workspace, bundled=workspace.parent / "none"))
    app = Measured(bench, watches=False)
    try:
        async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            screen = app.screen_stack[0]
            assert isinstance(screen, MainScreen)
            for _ in count():  # no Pilot meanwhile: its looking would be the screen's work too
                if screen.state.view is not None and not screen.bridge.is_scanning and app.is_still:
                    break
                await asyncio.sleep(0.05)
            opening = Opening(thread_time() - began[0], process_time() - began[1])
            here = Sitting(User(app, pilot), screen)
            here.log.add(lines(LINES))
            app.waits = lambda: getattr(here.log, "filtering", False)
            await here.user.rest()
            yield here, opening
    finally:
        await bench.close()


@asynccontextmanager
async def bare(size: tuple[int, int]) -> AsyncIterator[User]:
    app = BareApp()
    async with app.run_test(size=size) as pilot:
        await pilot.press("down")
        yield User(app, pilot)


async def bare_dialog(user: User) -> float:
    took = await user.press("question_mark")
    await user.pilot.press("escape")
    await user.rest()
    return took


FLOOR = "down, in a bare list of as many lines"
BARE_DIALOG = "a bare dialog over that list"
DIALOGS = ("help", "the commands", "what if", "a new hook", "trust", "letters to jump to")


def at(size: tuple[int, int], name: str) -> str:
    return f"{size[0]}x{size[1]} {name}"


def least(size: tuple[int, int], name: str) -> str:
    """What is the least that such a step consists of."""
    return at(size, BARE_DIALOG) if name in DIALOGS else FLOOR


@contextmanager
def opened(folder: Path) -> Iterator[Sequence[Variant]]:
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    workspace = write(folder)
    with loop() as sampled:
        stack = AsyncExitStack()
        variants: list[Variant] = []

        async def opening() -> float:
            for size in SIZES:
                floor = await stack.enter_async_context(bare(size))
                if size == SIZES[0]:
                    variants.append(Variant(FLOOR, sampled(partial(floor.press, "down")), 3))
                variants.append(Variant(at(size, BARE_DIALOG), sampled(partial(bare_dialog, floor))))
                here, took = await stack.enter_async_context(sitting(workspace, size))
                variants.append(Variant(at(size, "opened: the screen's work"), partial(float, took.screen)))
                variants.append(Variant(at(size, "opened: all work"), partial(float, took.everything)))
                variants.extend(Variant(at(size, name), sampled(step)) for name, step in here.steps().items())
            return 0.0

        async def closing() -> float:
            await stack.aclose()
            return 0.0

        sampled(opening)()
        yield variants
        sampled(closing)()


GROUP = Group(
    "scale",
    f"{HOOKS:,} hooks and {LINES:,} lines of log: a key to its paint",
    opened,
    floor=FLOOR,
    targets=(
        *(Target(at(size, name), MOST, within=least(size, name)) for size in SIZES for name in NAMES),
        *(Target(at(size, name), TIMES, at(size, BARE_DIALOG)) for size in SIZES for name in DIALOGS),
    ),
    rounds=3,  # most of what they take is waiting until the last key is all over
    only_named=True,
)

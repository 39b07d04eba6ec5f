"""The command palette: every action of where one is; over the panes events, hooks, saved events and runs."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.geometry import Size
from textual.messages import Prune
from textual.screen import Screen

from hookscope.console.dialog import Over
from hookscope.console.doing import anywhere, deeds, do, moves
from hookscope.console.finding import Found, best
from hookscope.console.happening import Change, Jumped, ModeChosen, SideChosen
from hookscope.console.keymap.actions import room_of
from hookscope.console.keymap.commands import command_of
from hookscope.console.keymap.hints import ENTER, ESCAPE, hints, with_keys
from hookscope.console.keymap.names import written
from hookscope.console.painting import LaidOutOnce
from hookscope.console.recall import RunLine, saved_here, stored_runs
from hookscope.console.screen import MainScreen
from hookscope.console.text import line
from hookscope.console.theme import MUTED
from hookscope.workbench.last_time import last_time

if TYPE_CHECKING:
    from hookscope.console.app import Console
    from hookscope.console.hooks.rows import Row

UNASKED = 30  # of each kind that are listed before anything is typed
PANES: tuple[tuple[str, Change], ...] = (
    ("Hooks", ModeChosen("hooks")),
    ("Fire", ModeChosen("fire")),
    ("Log", ModeChosen("log")),
    ("Hosts", ModeChosen("hosts")),
    ("Why this hook stands as it does", SideChosen("why")),
    ("What the registry holds per event", SideChosen("keys")),
)


class Entry(NamedTuple):
    """One line of the palette."""

    kind: str
    text: str
    help: str
    run: Callable[[], object]

    @property
    def shown(self) -> Content:
        named = Content.assemble((f"{self.kind:<7}", MUTED), line(self.text, 120))
        return Content.assemble(named, "\n       ", line(self.help).stylize(MUTED)) if self.help else named


class Many(NamedTuple):
    """Lines of the palette that may be thousands: so many of them are written as are wanted."""

    first: Callable[[int | None], Iterable[Entry]]  # None: all


Listed: TypeAlias = Entry | Many


def written_out(listed: Iterable[Listed], most: int | None = None) -> Iterator[Entry]:
    """The entries one by one; of many the first so many."""
    for one in listed:
        if isinstance(one, Many):
            yield from one.first(most)
        else:
            yield one


class CommandScreen(CommandPalette, Over[None]):
    """The field, and what fits: Textual's, and so are its keys, which everybody guesses."""

    HAS_HELP = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "escape", "Back", show=False)]

    def __init__(self) -> None:
        super().__init__(
            placeholder="an action, a hook, an event, a saved event, a run", id="--command-palette"
        )

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """At once: the field is there before what can be found is."""
        LaidOutOnce._refresh_layout(self, size, scroll)

    def on_mount(self) -> None:
        frame = self.query_one("#--container")
        frame.border_title = "Find"
        frame.border_subtitle = hints((ENTER, "does it"), (ESCAPE, "back"))

    def _gather_commands(self, *given: Any, **named: Any) -> Any:
        """What fits, unless it has been left since the letter was typed: there is no list any more."""
        if not self.leaving:
            return super()._gather_commands(*given, **named)

    @on(Prune)
    def _look_no_further(self) -> None:
        """The list goes before whoever fills it is stopped."""
        self._cancel_gather_commands()


class Entries(Provider):
    """Entries that are collected once for each time the palette opens, and compared in a thread."""

    def __init__(self, *args: object, **named: object) -> None:
        super().__init__(*args, **named)  # type: ignore[arg-type]
        self._collecting: asyncio.Future[tuple[Listed, ...]] | None = None
        self._all: tuple[Entry, ...] | None = None  # written out for the first search

    @property
    def main(self) -> MainScreen | None:
        """The screen of the panes, where it is that which the palette lies over."""
        return self.screen if isinstance(self.screen, MainScreen) else None

    async def parts(self) -> None:
        """Wait for the panes that are made on demand."""
        if self.main is not None:
            await self.main.fire_pane.with_its_parts()
            await self.main.hosts_pane.with_its_parts()

    @abstractmethod
    async def collected(self) -> Iterable[Listed]:
        """All entries."""

    async def _listed(self) -> tuple[Listed, ...]:
        """All of them. A key that is typed cancels the search before it, but not what all searches need."""
        if self._collecting is None:
            self._collecting = asyncio.ensure_future(self._collect())
        return await asyncio.shield(self._collecting)

    async def _collect(self) -> tuple[Listed, ...]:
        return tuple(await self.collected())

    async def discover(self) -> Hits:
        seen = Counter[str]()
        for entry in written_out(await self._listed(), UNASKED):
            seen[entry.kind] += 1
            if seen[entry.kind] <= UNASKED:
                yield DiscoveryHit(entry.shown, entry.run, entry.text)

    async def search(self, query: str) -> Hits:
        listed = await self._listed()
        for score, entry in await asyncio.to_thread(self._best, query, listed):
            yield Hit(score, entry.shown, entry.run, entry.text)

    def _best(self, query: str, listed: Iterable[Listed]) -> list[Found[Entry]]:
        if self._all is None:
            self._all = tuple(written_out(listed))
        entries = self._all
        named = ((f"{entry.kind} {entry.text}", entry.help, entry) for entry in entries)
        bare = ((entry.text, entry.help, entry) for entry in entries)
        kinds = {entry.kind for entry in entries}
        first = query.split(maxsplit=1)[:1]
        return best(query, named if kinds.intersection(first) else bare)


class Palette(Entries):
    """Everything that can be done from here."""

    async def collected(self) -> Iterable[Listed]:
        await self.parts()  # their actions, too
        return self.listed()

    def entries(self) -> Iterator[Entry]:
        """All of them, one by one."""
        return written_out(self.listed())

    def listed(self) -> Iterator[Listed]:
        """Actions first, then panes, events and hooks, but over a dialog: that is to be answered."""
        yield from self._actions(self.screen)
        app = self.screen.app
        yield Entry("save", "Screenshot", "the screen as an SVG picture", app.deliver_screenshot)
        if self.main is not None:
            yield from self._places(self.main)
        for name in sorted(app.available_themes):
            note = "the colours in use" if name == app.theme else "other colours"
            if app.no_color:
                note = "not while NO_COLOR is set"
            yield Entry("theme", name, note, partial(setattr, app, "theme", name))

    def _places(self, screen: MainScreen) -> Iterator[Listed]:
        for title, change in PANES:
            yield Entry("go to", title, "", partial(screen.change, change))
        state = screen.state
        for key in state.view.keys if state.view is not None else ():
            yield Entry("event", key, "compose it in the Fire mode", partial(screen.compose_event, key))
        yield Many(lambda most: (self._hook(screen, row) for row in islice(state.rows, most)))

    def _hook(self, screen: MainScreen, row: Row) -> Entry:
        return Entry("hook", row.name, f"{row.look.word}, {row.source}", partial(self._show, screen, row.id))

    @staticmethod
    def _show(screen: MainScreen, row: str) -> None:
        screen.change(Jumped(row))
        screen.change(SideChosen("why"))

    @staticmethod
    def _actions(screen: Screen[Any]) -> Iterator[Entry]:
        """The focused widget's actions first: the same key may mean more there. Those that move come last."""
        app = cast("Console", screen.app)
        over = isinstance(screen, MainScreen)  # it has the same as the app, in its own name
        found = [deed for deed in deeds(anywhere(screen), app.keymap) if deed.node is not app or not over]
        named = Counter(deed.binding.description for deed in found)
        for deed in sorted(found, key=lambda deed: moves(deed.binding)):
            binding = deed.binding
            title = binding.description
            if named[title] > 1:  # of two of one name each says where it acts
                title = f"{title}   {room_of(deed.id).title}"
            told = " · ".join(filter(None, (with_keys(binding.tooltip), command_of(deed.id))))
            yield Entry(written(binding.key)[:6], title, told, partial(do, app, deed))


class Kept(Entries):
    """What lies on disk: saved events to load, runs to show. Read in a thread; actions do not wait for it."""

    async def collected(self) -> Iterable[Listed]:
        screen = self.main
        if screen is None:
            return ()
        await self.parts()  # what can be done stands above what is kept
        view, bench = screen.state.view, screen.bridge.bench
        if view is None:
            return ()
        saved = await asyncio.to_thread(saved_here, view)
        sheets = screen.fire_pane.runs.sheets
        runs = await asyncio.to_thread(stored_runs, bench, view, sheets)
        recent = await asyncio.to_thread(last_time().recent)
        others = [path for path in recent if path != view.host.workspace]
        return (
            *(Entry("saved", one.name, one.about, partial(self._load, screen, one.file)) for one in saved),
            *(
                Entry("run", f"{run.number}  {run.key}", run.about, partial(self._open, screen, run))
                for run in runs
            ),
            *(
                Entry("open", str(path), "this workspace", partial(screen.open_workspace, path))
                for path in others
            ),
        )

    @staticmethod
    def _load(screen: MainScreen, file: Path) -> None:
        screen.change(ModeChosen("fire"))
        screen.saved.load(file)

    @staticmethod
    def _open(screen: MainScreen, run: RunLine) -> None:
        pane = screen.fire_pane
        if run.past is not None:
            pane.show_past(run.past)
            screen.change(ModeChosen("fire"))
        elif pane.show_run(run.number):
            screen.change(ModeChosen("fire"))
        else:
            screen.say(f"Run {run.number} is no longer kept.", "warning")

"""The command palette: every action that a key has, panes, events, hooks; saved events and runs."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Input

from hookscope.console.finding import best
from hookscope.console.fire.pane import FirePane
from hookscope.console.help import own_bindings
from hookscope.console.keymap.commands import command_of
from hookscope.console.keymap.hints import with_keys
from hookscope.console.keymap.names import written
from hookscope.console.keys import Knows
from hookscope.console.recall import RunLine, saved_here, stored_runs
from hookscope.console.state import Change, Jumped, ModeChosen, SideChosen
from hookscope.console.text import line
from hookscope.console.theme import MUTED
from hookscope.workbench.last_time import last_time

if TYPE_CHECKING:
    from hookscope.console.app import Console
    from hookscope.console.screen import MainScreen

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


class Entries(Provider):
    """Entries that are collected once for each time the palette opens, and compared in a thread."""

    def __init__(self, *args: object, **named: object) -> None:
        super().__init__(*args, **named)  # type: ignore[arg-type]
        self._collecting: asyncio.Future[tuple[Entry, ...]] | None = None

    @property
    def main(self) -> MainScreen:
        return cast("MainScreen", self.screen)

    @abstractmethod
    async def collected(self) -> Iterable[Entry]:
        """All entries."""

    async def _entries(self) -> tuple[Entry, ...]:
        """All of them. A key that is typed cancels the search before it, but not what all searches need."""
        if self._collecting is None:
            self._collecting = asyncio.ensure_future(self._collect())
        return await asyncio.shield(self._collecting)

    async def _collect(self) -> tuple[Entry, ...]:
        return tuple(await self.collected())

    async def discover(self) -> Hits:
        entries = await self._entries()
        for kind in dict.fromkeys(entry.kind for entry in entries):
            for entry in islice((entry for entry in entries if entry.kind == kind), UNASKED):
                yield DiscoveryHit(entry.shown, entry.run, entry.text)

    async def search(self, query: str) -> Hits:
        entries = await self._entries()
        named = ((f"{entry.kind} {entry.text}", entry.help, entry) for entry in entries)
        bare = ((entry.text, entry.help, entry) for entry in entries)
        kinds = {entry.kind for entry in entries}
        first = query.split(maxsplit=1)[:1]
        found = await asyncio.to_thread(best, query, named if kinds.intersection(first) else bare)
        for score, entry in found:
            yield Hit(score, entry.shown, entry.run, entry.text)


class Palette(Entries):
    """Everything that can be done from here."""

    async def collected(self) -> Iterable[Entry]:
        await self.main.query_one(FirePane).with_its_parts()  # their actions, too
        return self.entries()

    def entries(self) -> Iterator[Entry]:
        """Actions first, then panes, events and hooks."""
        screen = self.main
        yield from self._actions(screen)
        yield Entry("save", "Screenshot", "the screen as an SVG picture", screen.app.deliver_screenshot)
        for title, change in PANES:
            yield Entry("go to", title, "", partial(screen.change, change))
        state = screen.state
        for key in state.view.keys if state.view is not None else ():
            yield Entry("event", key, "compose it in the Fire mode", partial(screen.compose_event, key))
        for row in state.rows:
            yield Entry(
                "hook", row.name, f"{row.look.word}, {row.source}", partial(self._show, screen, row.id)
            )
        for name in sorted(screen.app.available_themes):
            note = "the colours in use" if name == screen.app.theme else "other colours"
            if screen.app.no_color:
                note = "not while NO_COLOR is set"
            yield Entry("theme", name, note, partial(setattr, screen.app, "theme", name))

    @staticmethod
    def _show(screen: MainScreen, row: str) -> None:
        screen.change(Jumped(row))
        screen.change(SideChosen("why"))

    @staticmethod
    def _actions(screen: MainScreen) -> Iterator[Entry]:
        """The focused widget's actions first: the same key may mean more there."""
        seen: set[str] = set()
        keymap = cast("Console", screen.app).keymap
        focus = screen.focused
        near = list(focus.ancestors_with_self) if focus is not None else []
        for node in (*near, screen, *screen.walk_children()):
            if isinstance(node, Input) and node is not focus:
                continue  # its keys mean something while one types there, and only then
            for binding in own_bindings(node, keymap):
                if binding.id is None or binding.id in seen:
                    continue
                seen.add(binding.id)
                run = partial(_act, screen, binding, node)
                keys = written(binding.key)
                told = " · ".join(filter(None, (with_keys(binding.tooltip), command_of(binding.id))))
                yield Entry(keys[:6], binding.description, told, run)


async def _act(screen: MainScreen, binding: Binding, node: DOMNode) -> None:
    """Do it; an action that is another one's turn now says so."""
    if not await screen.app.run_action(binding.action, node):
        why = node.cannot(binding.action) if isinstance(node, Knows) else ""
        screen.say(why or f"{binding.description}: there is nothing to do now.")


class Kept(Entries):
    """What lies on disk: saved events to load, runs to show. Read in a thread; actions do not wait for it."""

    async def collected(self) -> Iterable[Entry]:
        screen = self.main
        view, bench = screen.state.view, screen.bridge.bench
        if view is None:
            return ()
        saved = await asyncio.to_thread(saved_here, view)
        sheets = screen.query_one(FirePane).runs.sheets
        runs = await asyncio.to_thread(stored_runs, bench, view, sheets)
        recent = await asyncio.to_thread(last_time().recent)
        others = [path for path in recent if path != view.host.workspace]
        return (
            *(Entry("saved", one.name, one.about, partial(self._load, one.file)) for one in saved),
            *(Entry("run", f"{run.number}  {run.key}", run.about, partial(self._open, run)) for run in runs),
            *(
                Entry("open", str(path), "this workspace", partial(screen.open_workspace, path))
                for path in others
            ),
        )

    def _load(self, file: Path) -> None:
        self.main.change(ModeChosen("fire"))
        self.main.saved.load(file)

    def _open(self, run: RunLine) -> None:
        pane = self.main.query_one(FirePane)
        if run.past is not None:
            pane.show_past(run.past)
            self.main.change(ModeChosen("fire"))
        elif pane.show_run(run.number):
            self.main.change(ModeChosen("fire"))
        else:
            self.main.say(f"Run {run.number} is no longer kept.", "warning")

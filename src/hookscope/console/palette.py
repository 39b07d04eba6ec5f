"""The command palette: hooks, events to fire, panes, and every action that a key has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import Input

from hookscope.console.help import own_bindings
from hookscope.console.keymap.names import written
from hookscope.console.state import Change, Jumped, ModeChosen, SideChosen
from hookscope.console.text import line
from hookscope.console.theme import MUTED

if TYPE_CHECKING:
    from hookscope.console.app import Console
    from hookscope.console.screen import MainScreen

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


class Palette(Provider):
    """Everything that can be done from here."""

    def entries(self) -> Iterator[Entry]:
        """Actions first, then panes, events and hooks."""
        screen = cast("MainScreen", self.screen)
        yield from self._actions(screen)
        for title, change in PANES:
            yield Entry("go to", title, "", partial(screen.change, change))
        state = screen.state
        for key in state.view.keys if state.view is not None else ():
            yield Entry("event", key, "compose it in the Fire mode", partial(screen.compose_event, key))
        for row in state.rows:
            yield Entry(
                "hook", row.name, f"{row.look.word}, {row.source}", partial(self._show, screen, row.id)
            )

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
            if isinstance(node, Input):
                continue  # its keys mean something while one types, and only then
            for binding in own_bindings(node, keymap):
                if binding.id is None or binding.id in seen:
                    continue
                seen.add(binding.id)
                run = partial(screen.app.run_action, binding.action, node)
                keys = written(binding.key)
                yield Entry(keys[:6], binding.description, binding.tooltip, run)

    async def discover(self) -> Hits:
        for entry in self.entries():
            yield DiscoveryHit(entry.shown, entry.run, entry.text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self.entries():
            score = max(matcher.match(f"{entry.kind} {entry.text}"), matcher.match(entry.help) / 2)
            if score > 0:
                yield Hit(score, entry.shown, entry.run, entry.text)

"""The panes of the main screen: created on first use, laid out, and updated from the state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.keymap.available_actions import KeyBar
from hookscope.console.panes.hooks_pane import HooksPane
from hookscope.console.panes.log_pane import LogPane
from hookscope.console.state.console_state import (
    ConsoleState,
    Pane,
    PaneLayout,
    arrange_panes,
    every_class,
    too_small,
)
from hookscope.console.theme.text_styles import safe_text
from hookscope.console.widgets.header import ConsoleHeader, ProblemLines, WhatIfStrip

if TYPE_CHECKING:
    from textual.screen import Screen

    from hookscope.app.snapshot import PastRun
    from hookscope.console.panes.fire.fire_pane import FirePane
    from hookscope.console.panes.hosts_pane import HostsPane
    from hookscope.console.panes.start_here import StartHere
    from hookscope.console.state.state_changes import ConsoleStore
    from hookscope.console.widgets.task_bar import Task, TaskBar
    from hookscope.model.hook import Problem


MOST_PAST_RUNS = 20  # runs kept for the Fire pane: as many as it reads from the journal at the start
# The parts that a mode shows or hides. Only these depend on layout classes other than the size.
LAYOUT_PARTS = ("#hooks", "#list", "#why", "#keys", "#start", "#fire", "#log", "#hosts", "#right")
EVENT_PANES: frozenset[Pane] = frozenset({"fire", "hosts"})  # panes that use the composer


class PaneSet:
    """Owns the panes of one screen."""

    def __init__(self, screen: Screen[Any], store: ConsoleStore, tasks: Sequence[Task] = ()) -> None:
        self._screen, self._store = screen, store
        self.task_bar: TaskBar | None = None  # of the demo
        if tasks:
            from hookscope.console.widgets.task_bar import TaskBar

            self.task_bar = TaskBar(tasks, id="tasks")
        self.shown: tuple[Pane, ...] = ()  # the panes that the layout shows
        self._laid_out: PaneLayout | None = None
        self._for_fire: list[Callable[[FirePane], object]] = []  # calls to make once it exists
        self._past: deque[PastRun] = deque(maxlen=MOST_PAST_RUNS)  # runs to show in it

    def compose(self) -> Iterator[Widget]:
        """Yield the parts of the screen that exist from the start."""
        # Before panes are mounted: each is then styled once, and not again with the whole screen.
        size = self._screen.app.size
        layout = self._layout(size.width, size.height)
        self._set_layout(layout)
        yield ConsoleHeader(id="header")
        with Container(id="body"):
            yield HooksPane(id="hooks")
            if "fire" in layout.panes:
                yield self._make_fire_pane(at_once=True)
            with Container(id="right"):
                yield self.log
        if self.task_bar is not None:
            yield self.task_bar
        yield KeyBar(id="keybar")

    # Panes that are created on first use.

    def is_created(self, pane: str) -> bool:
        """Return True if this pane has been created."""
        return pane in self.__dict__

    @cached_property
    def log(self) -> LogPane:
        return LogPane(id="log")

    @property
    def hooks(self) -> HooksPane:
        return self._screen.query_one(HooksPane)

    @cached_property
    def fire_pane(self) -> FirePane:
        """The Fire pane; its own parts are mounted on first use."""
        pane = self._make_fire_pane(at_once=False)
        self._screen.query_one("#body").mount(pane, after="#hooks")
        return pane

    def _make_fire_pane(self, *, at_once: bool) -> FirePane:
        """Create the Fire pane, with the state, calls and runs that were kept for it."""
        from hookscope.console.panes.fire.fire_pane import FirePane

        pane, state = FirePane(id="fire", at_once=at_once), self._store.state
        self.__dict__["fire_pane"] = pane
        pane.event_view.show_filling(state.filling)
        pane.view, pane.job = state.view, state.job
        for tell in self._for_fire:
            tell(pane)
        pane.run_view.remember(tuple(self._past))
        self._for_fire.clear()
        self._past.clear()
        return pane

    def with_fire_pane(self, tell: Callable[[FirePane], object]) -> None:
        """Call `tell` with the Fire pane: now, or once it is created."""
        if self.is_created("fire_pane"):
            tell(self.fire_pane)
        else:
            self._for_fire.append(tell)

    def remember(self, runs: Iterable[PastRun]) -> None:
        """Show finished runs in the Fire pane: now, or once it is created."""
        if self.is_created("fire_pane"):
            self.fire_pane.run_view.remember(tuple(runs))
        else:
            self._past.extend(runs)

    @cached_property
    def hosts_pane(self) -> HostsPane:
        from hookscope.console.panes.hosts_pane import HostsPane

        pane = HostsPane(id="hosts")
        self._screen.query_one("#body").mount(pane, before="#right")
        return pane

    @cached_property
    def start_here(self) -> StartHere:
        from hookscope.console.panes.start_here import StartHere

        start = StartHere(id="start")
        self._screen.query_one("#right").mount(start, before="#log")
        return start

    @cached_property
    def what_if_strip(self) -> WhatIfStrip:
        strip = WhatIfStrip(id="what-if")
        self._screen.mount(strip, after="#header")
        return strip

    @cached_property
    def problem_lines(self) -> ProblemLines:
        lines = ProblemLines(id="problems")
        self._screen.mount(lines, before="#body")
        return lines

    @cached_property
    def tiny(self) -> Static:
        """The message for a terminal that is too small for any pane."""
        message = Static(id="tiny")
        self._screen.mount(message, before="#keybar")
        return message

    # What the panes show.

    def show(self, before: ConsoleState) -> None:
        """Show the state in all created panes."""
        state = self._store.state
        header = self._screen.query_one(ConsoleHeader)
        header.mode, header.view, header.counts_by_style = (
            state.mode,
            state.view,
            state.listing.counts_by_style,
        )
        header.watching, header.verified = state.watching, state.verified
        event = state.armed.event if state.armed is not None else None
        header.armed = event.key if event is not None else ""
        self.hooks.show(state)
        if self.is_created("start_here"):
            start = self.start_here
            start.view, start.row, start.folders = state.view, state.row, state.folders_shown
        if self.is_created("fire_pane"):
            self.fire_pane.job = state.job
            if state.filling is not before.filling:
                self.fire_pane.event_view.show_filling(state.filling)
            if state.view is not before.view and state.view is not None:
                self.fire_pane.view = state.view

    def show_problems(self, own: Sequence[Problem]) -> None:
        """Show the notice about other hosts, problems of hooks, then `own` ones of Hookscope's files."""
        view = self._store.state.view
        if view is None:  # before the first scan
            return
        problems = (*view.inventory.problems, *own)
        if problems or view.notice or self.is_created("problem_lines"):
            self.problem_lines.show(problems, view.host.machine, view.notice)

    # Layout.

    def arrange(self, width: int = 0, height: int = 0) -> bool:
        """Show the panes that fit. Return True if panes are visible again after the screen was too small."""
        size = self._screen.app.size
        width, height = width or size.width, height or size.height
        layout = self._layout(width, height)
        covered, self.shown = not self.shown, layout.panes
        self._set_layout(layout)
        if EVENT_PANES.intersection(layout.panes):
            self.fire_pane.mount_parts()
        self._make(layout)
        if layout.size == "tiny":
            self.tiny.update(safe_text(too_small(width, height)))
        return covered and bool(self.shown)

    def _make(self, layout: PaneLayout) -> None:
        if "hosts" in layout.panes:
            self.hosts_pane  # noqa: B018  (creates the pane)
        if "start" in layout.panes:
            self.start_here  # noqa: B018
        if "keys" in layout.panes:
            self.hooks.keys_pane  # noqa: B018

    def _layout(self, width: int, height: int) -> PaneLayout:
        state = self._store.state
        return arrange_panes(
            width, height, state.mode, state.zoom, side=state.side, reading=state.reading, start=state.start
        )

    def _set_layout(self, layout: PaneLayout) -> None:
        if layout == self._laid_out:
            return
        before, self._laid_out = self._laid_out, layout
        if before is not None and before.classes == layout.classes:
            return
        resized = before is None or before.size != layout.size
        # All classes at once, since each change of a class would style the whole screen again.
        self._screen.update_classes({name: name in layout.classes for name in every_class()}, update=resized)
        if not resized:
            made = (self._screen.query_one_optional(place) for place in LAYOUT_PARTS)
            self._screen.app.stylesheet.update_nodes([place for place in made if place is not None])

"""The desks of the one screen, and the panes that it shows on demand: each is made when it is first needed.

The first paint needs hardly any of them. A desk that was never asked for has nothing to hear of either:
`sits` tells whether it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, cast

from textual.geometry import Size
from textual.widgets import Static

from hookscope.console.bridge import Bridge
from hookscope.console.painting import PaintedOnce

if TYPE_CHECKING:
    from hookscope.console.comparing import CompareDesk
    from hookscope.console.debug.desk import DebugDesk
    from hookscope.console.edits import EditDesk
    from hookscope.console.export.desk import ExportDesk
    from hookscope.console.fire.pane import FirePane
    from hookscope.console.firing import FireDesk
    from hookscope.console.fixing import FixDesk
    from hookscope.console.hosts.desk import HostsDesk
    from hookscope.console.hosts.pane import HostsPane
    from hookscope.console.making.desk import NewDesk
    from hookscope.console.opening import Opener
    from hookscope.console.packs.desk import PacksDesk
    from hookscope.console.problems import ProblemLines
    from hookscope.console.real import RealDesk
    from hookscope.console.runner import Runner
    from hookscope.console.saving import SavedDesk
    from hookscope.console.shell import Shell
    from hookscope.console.start import StartHere
    from hookscope.console.whatif.desk import WhatIfDesk
    from hookscope.console.whatif.strip import WhatIfStrip
    from hookscope.workbench import PastRun

PAST = 20  # runs that wait for the Fire pane: as many as it would read when a sitting begins


class Desks(PaintedOnce[None]):
    """Who does what is asked of the screen."""

    def __init__(self, bench: Opener) -> None:
        super().__init__()
        self.bridge = Bridge(self, bench)
        self._for_fire: list[Callable[[FirePane], object]] = []  # to be told once it is made
        self._past: deque[PastRun] = deque(maxlen=PAST)  # likewise

    def _compositor_refresh(self) -> None:
        """Textual throws away what is drawn while its app gathers, as it starts: it is drawn afterwards."""
        if self._gathers:
            self.refresh()
        else:
            super()._compositor_refresh()

    def _screen_resized(self, size: Size) -> None:
        """Of the same size: what was asked for while the app gathers is laid out with what is drawn then."""
        if size != self._compositor.size or not self._gathers:
            super()._screen_resized(size)

    @property
    def _gathers(self) -> bool:
        return bool(getattr(self.app, "_batch_count", 0))

    @property
    def _shell(self) -> Shell:
        return cast("Shell", self)

    def sits(self, desk: str) -> bool:
        """Was this desk, or this pane, asked for before."""
        return desk in self.__dict__

    @cached_property
    def runner(self) -> Runner:
        from hookscope.console.runner import Runner

        return Runner(self, self.bridge)

    @property
    def firing(self) -> bool:
        """Is an event on its way, or about to be: here, or at several hosts."""
        return self.runner.busy or (self.sits("hosts") and self.hosts.firing)

    @cached_property
    def desk(self) -> FireDesk:
        from hookscope.console.firing import FireDesk

        return FireDesk(self._shell)

    @cached_property
    def edits(self) -> EditDesk:
        from hookscope.console.edits import EditDesk

        return EditDesk(self._shell)

    @cached_property
    def fixes(self) -> FixDesk:
        from hookscope.console.fixing import FixDesk

        return FixDesk(self._shell)

    @cached_property
    def new(self) -> NewDesk:
        from hookscope.console.making.desk import NewDesk

        return NewDesk(self._shell)

    @cached_property
    def packs(self) -> PacksDesk:
        from hookscope.console.packs.desk import PacksDesk

        return PacksDesk(self._shell)

    @cached_property
    def saved(self) -> SavedDesk:
        from hookscope.console.saving import SavedDesk

        return SavedDesk(self._shell)

    @cached_property
    def comparing(self) -> CompareDesk:
        from hookscope.console.comparing import CompareDesk

        return CompareDesk(self._shell)

    @cached_property
    def real(self) -> RealDesk:
        from hookscope.console.real import RealDesk

        return RealDesk(self._shell)

    @cached_property
    def debugging(self) -> DebugDesk:
        from hookscope.console.debug.desk import DebugDesk

        return DebugDesk(self._shell)

    @cached_property
    def hosts(self) -> HostsDesk:
        from hookscope.console.hosts.desk import HostsDesk

        return HostsDesk(self._shell)

    @cached_property
    def whatif(self) -> WhatIfDesk:
        from hookscope.console.whatif.desk import WhatIfDesk

        return WhatIfDesk(self._shell)

    @cached_property
    def export(self) -> ExportDesk:
        from hookscope.console.export.desk import ExportDesk

        return ExportDesk(self._shell)

    # Panes.

    @cached_property
    def fire_pane(self) -> FirePane:
        """The Fire pane, in the tree; its own parts come when they are first needed."""
        pane = self.make_fire_pane(at_once=False)
        self.query_one("#body").mount(pane, after="#hooks")
        return pane

    def make_fire_pane(self, *, at_once: bool) -> FirePane:
        """The Fire pane, which knows what it would know had it been there from the beginning."""
        from hookscope.console.fire.pane import FirePane

        pane, state = FirePane(id="fire", at_once=at_once), self._shell.state
        self.__dict__["fire_pane"] = pane
        pane.show_filling(state.filling)
        pane.view, pane.job = state.view, state.job
        for tell in self._for_fire:
            tell(pane)
        pane.remember(tuple(self._past))
        self._for_fire.clear()
        self._past.clear()
        return pane

    def tell_fire(self, tell: Callable[[FirePane], object]) -> None:
        """Tell the Fire pane something: now, or as soon as it is made."""
        if self.sits("fire_pane"):
            tell(self.fire_pane)
        else:
            self._for_fire.append(tell)

    def remember(self, runs: Iterable[PastRun]) -> None:
        """Show runs that are over in the Fire pane: now, or as soon as it is made."""
        if self.sits("fire_pane"):
            self.fire_pane.remember(tuple(runs))
        else:
            self._past.extend(runs)

    @cached_property
    def hosts_pane(self) -> HostsPane:
        """The Hosts pane, in the tree."""
        from hookscope.console.hosts.pane import HostsPane

        pane = HostsPane(id="hosts")
        self.query_one("#body").mount(pane, before="#right")
        return pane

    @cached_property
    def start_here(self) -> StartHere:
        """What a first start says, in the tree."""
        from hookscope.console.start import StartHere

        start = StartHere(id="start")
        self.query_one("#right").mount(start, before="#log")
        return start

    @cached_property
    def what_if_strip(self) -> WhatIfStrip:
        """The line of what is assumed, in the tree."""
        from hookscope.console.whatif.strip import WhatIfStrip

        strip = WhatIfStrip(id="what-if")
        self.mount(strip, after="#header")
        return strip

    @cached_property
    def problem_lines(self) -> ProblemLines:
        """What is wrong as a whole, in the tree."""
        from hookscope.console.problems import ProblemLines

        lines = ProblemLines(id="problems")
        self.mount(lines, before="#body")
        return lines

    @cached_property
    def tiny(self) -> Static:
        """What a terminal shows that is too small for all others, in the tree."""
        said = Static(id="tiny")
        self.mount(said, before="#keybar")
        return said

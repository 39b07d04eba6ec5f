"""The frame of the main screen: its state, its controllers and panes made on demand, layout and focus."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.geometry import Size
from textual.reactive import Reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.controllers.bridge import Bridge
from hookscope.console.controllers.preferences_controller import PreferencesController
from hookscope.console.controllers.restore_controller import RestoreController
from hookscope.console.keymap.available_actions import GLOBAL_BINDINGS, KeyBar, keys_of_screen
from hookscope.console.panes.hook_list import HookList
from hookscope.console.panes.hooks_pane import HooksPane
from hookscope.console.panes.log_pane import LogPane
from hookscope.console.state import fire_requests
from hookscope.console.state.console_state import (
    ConsoleState,
    Pane,
    PaneLayout,
    arrange_panes,
    every_class,
    too_small,
)
from hookscope.console.state.log_entries import LogEntry
from hookscope.console.state.messages import Severity
from hookscope.console.state.state_changes import PaneFocused, StateChange, reduce
from hookscope.console.theme.text_styles import safe_text
from hookscope.console.widgets.focus_targets import (
    first_focusable,
    focus_place,
    pane_of,
    pane_wanted,
    styled_by_focus,
)
from hookscope.console.widgets.header import ConsoleHeader
from hookscope.console.widgets.painting import PaintedOnce
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import local_now

if TYPE_CHECKING:
    from hookscope.app.runs.activation_links import Activity
    from hookscope.app.snapshot import PastRun
    from hookscope.console.controllers.bridge import WorkbenchOpener
    from hookscope.console.controllers.edit_controller import FixController
    from hookscope.console.controllers.export_controller import ExportController
    from hookscope.console.controllers.fire_controller import FireController
    from hookscope.console.controllers.hosts_controller import HostsController
    from hookscope.console.controllers.job_runner import JobRunner
    from hookscope.console.controllers.packs_controller import PacksController
    from hookscope.console.controllers.real_events_controller import RealEventsController
    from hookscope.console.controllers.run_inspection import CompareController, DebugController
    from hookscope.console.controllers.saved_events_controller import SavedEventsController
    from hookscope.console.controllers.scaffold_controller import ScaffoldController
    from hookscope.console.controllers.what_if_controller import WhatIfController
    from hookscope.console.dialogs.edit_preview import EditController
    from hookscope.console.panes.fire.fire_pane import FirePane
    from hookscope.console.panes.hosts_pane import HostsPane
    from hookscope.console.panes.start_here import StartHere
    from hookscope.console.widgets.header import ProblemLines, WhatIfStrip


MOST_PAST_RUNS = 20  # runs that wait for the Fire pane: as many as it would read when a sitting begins


class ScreenControllers(PaintedOnce[None]):
    """Who does what is asked of the screen."""

    def __init__(self, bench: WorkbenchOpener) -> None:
        super().__init__()
        self.bridge = Bridge(self, bench)
        self._for_fire: list[Callable[[FirePane], object]] = []  # to be told once it is made
        self._past: deque[PastRun] = deque(maxlen=MOST_PAST_RUNS)  # likewise

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
    def _shell(self) -> MainFrame:
        return cast("MainFrame", self)

    def sits(self, desk: str) -> bool:
        """Was this desk, or this pane, asked for before."""
        return desk in self.__dict__

    @cached_property
    def runner(self) -> JobRunner:
        from hookscope.console.controllers.job_runner import JobRunner

        return JobRunner(self, self.bridge)

    @property
    def firing(self) -> bool:
        """Is an event on its way, or about to be: here, or at several hosts."""
        return self.runner.busy or (self.sits("hosts") and self.hosts.firing)

    @cached_property
    def desk(self) -> FireController:
        from hookscope.console.controllers.fire_controller import FireController

        return FireController(self._shell)

    @cached_property
    def edits(self) -> EditController:
        from hookscope.console.dialogs.edit_preview import EditController

        return EditController(self._shell)

    @cached_property
    def fixes(self) -> FixController:
        from hookscope.console.controllers.edit_controller import FixController

        return FixController(self._shell)

    @cached_property
    def new(self) -> ScaffoldController:
        from hookscope.console.controllers.scaffold_controller import ScaffoldController

        return ScaffoldController(self._shell)

    @cached_property
    def packs(self) -> PacksController:
        from hookscope.console.controllers.packs_controller import PacksController

        return PacksController(self._shell)

    @cached_property
    def saved(self) -> SavedEventsController:
        from hookscope.console.controllers.saved_events_controller import SavedEventsController

        return SavedEventsController(self._shell)

    @cached_property
    def comparing(self) -> CompareController:
        from hookscope.console.controllers.run_inspection import CompareController

        return CompareController(self._shell)

    @cached_property
    def real(self) -> RealEventsController:
        from hookscope.console.controllers.real_events_controller import RealEventsController

        return RealEventsController(self._shell)

    @cached_property
    def debugging(self) -> DebugController:
        from hookscope.console.controllers.run_inspection import DebugController

        return DebugController(self._shell)

    @cached_property
    def hosts(self) -> HostsController:
        from hookscope.console.controllers.hosts_controller import HostsController

        return HostsController(self._shell)

    @cached_property
    def whatif(self) -> WhatIfController:
        from hookscope.console.controllers.what_if_controller import WhatIfController

        return WhatIfController(self._shell)

    @cached_property
    def export(self) -> ExportController:
        from hookscope.console.controllers.export_controller import ExportController

        return ExportController(self._shell)

    # Panes.

    @cached_property
    def fire_pane(self) -> FirePane:
        """The Fire pane, in the tree; its own parts come when they are first needed."""
        pane = self.make_fire_pane(at_once=False)
        self.query_one("#body").mount(pane, after="#hooks")
        return pane

    def make_fire_pane(self, *, at_once: bool) -> FirePane:
        """The Fire pane, which knows what it would know had it been there from the beginning."""
        from hookscope.console.panes.fire.fire_pane import FirePane

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
        from hookscope.console.panes.hosts_pane import HostsPane

        pane = HostsPane(id="hosts")
        self.query_one("#body").mount(pane, before="#right")
        return pane

    @cached_property
    def start_here(self) -> StartHere:
        """What a first start says, in the tree."""
        from hookscope.console.panes.start_here import StartHere

        start = StartHere(id="start")
        self.query_one("#right").mount(start, before="#log")
        return start

    @cached_property
    def what_if_strip(self) -> WhatIfStrip:
        """The line of what is assumed, in the tree."""
        from hookscope.console.widgets.header import WhatIfStrip

        strip = WhatIfStrip(id="what-if")
        self.mount(strip, after="#header")
        return strip

    @cached_property
    def problem_lines(self) -> ProblemLines:
        """What is wrong as a whole, in the tree."""
        from hookscope.console.widgets.header import ProblemLines

        lines = ProblemLines(id="problems")
        self.mount(lines, before="#body")
        return lines

    @cached_property
    def tiny(self) -> Static:
        """What a terminal shows that is too small for all others, in the tree."""
        said = Static(id="tiny")
        self.mount(said, before="#keybar")
        return said


SELECTION_DELAY = 0.1  # seconds that a hook is selected before its files are read: nobody reads faster
# What a mode shows or hides: of all classes but those of a size, the style sheet speaks of these only.
LAYOUT_PARTS = ("#hooks", "#list", "#why", "#keys", "#start", "#fire", "#log", "#hosts", "#right")
EVENT_PANES: frozenset[Pane] = frozenset({"fire", "hosts"})  # the composer's


class MainFrame(ScreenControllers):
    """Holds the state and shows it. What panes ask for is for MainScreen to answer."""

    BINDINGS: ClassVar[list[BindingType]] = [*GLOBAL_BINDINGS]
    AUTO_FOCUS = "#rows"

    # Who gets it, and who loses it, are painted; for Textual the whole screen is.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, bench: WorkbenchOpener, watches: bool) -> None:
        super().__init__(bench)
        self.watches = watches
        self.state = ConsoleState()
        self.last_time = RestoreController(self)
        self.preferences = PreferencesController(self)
        self.panes: tuple[Pane, ...] = ()
        self._laid_out: PaneLayout | None = None
        self._settled = True  # the focus is not on its way to the pane that is wanted
        # The row whose file was asked for, in which look, during which run.
        self._reading = ("", 0, "")
        self._passing: Timer | None = None  # whether that row is passed by on the way to another one

    def compose(self) -> ComposeResult:
        # Before there are panes: each that is mounted is styled once, and not again with the whole screen.
        layout = self._layout(self.app.size.width, self.app.size.height)
        self._set_layout(layout)
        yield ConsoleHeader(id="header")
        with Container(id="body"):
            yield HooksPane(id="hooks")
            if "fire" in layout.panes:
                yield self.make_fire_pane(at_once=True)
            with Container(id="right"):
                yield LogPane(id="log")
        yield KeyBar(id="keybar")

    def on_mount(self) -> None:
        self.bindings_updated_signal.subscribe(self, lambda _: self._show_keys())
        self._show(ConsoleState())
        self.preferences.read()
        self.set_focus(self.query_one(HookList))
        self.last_time.stand_by()
        # Behind the first frame, and not before: while the app starts, nothing is painted.
        self.app.call_later(self.call_after_refresh, self.bridge.open, self._opened)

    def _opened(self) -> None:
        """The workbench is open: now there is something to be asked."""
        notice = self.bridge.bench.setup.notice
        if notice:
            self.say(notice, "warning")
        self.last_time.begin()

    def on_screen_resume(self) -> None:
        self._show_keys()  # over a dialog there was no need

    def on_unmount(self) -> None:
        self.last_time.close()
        self.bridge.close()
        if self.sits("real"):
            self.real.close()
        if self.sits("packs"):
            self.packs.close()
        self.preferences.close()

    # State: one way in, one way out.

    def change(self, change: StateChange) -> None:
        """Reduce a change into the state, and show what is different."""
        before, self.state = self.state, reduce(self.state, change)
        if self.state is not before:
            self._show(before)
            if self.sits("hosts") or "hosts" in self.panes:
                self.hosts.refresh()

    def _show(self, before: ConsoleState) -> None:
        state = self.state
        with self.app.batch_update():
            self._arrange()
            header = self.query_one(ConsoleHeader)
            header.mode, header.view, header.looks = state.mode, state.view, state.listing.looks
            header.watching = state.watching
            event = state.armed.event if state.armed is not None else None
            header.armed = event.key if event is not None else ""
            self.query_one(HooksPane).show(state)
            if self.sits("start_here"):
                start = self.start_here
                start.view, start.row, start.folders = state.view, state.row, state.folders_shown
            if self.sits("fire_pane"):
                self._show_in_fire(before)
            if state.view is not before.view:
                self.show_problems()
        self._read_source()
        self._show_keys()
        if focus_place(before) != focus_place(state):
            self.settle_focus()

    def show_problems(self) -> None:
        """What is wrong with hooks, then with Hookscope's own files; nothing before there was a look."""
        view = self.state.view
        if view is None:
            return
        problems = (*view.inventory.problems, *self.preferences.problems)
        if problems or self.sits("problem_lines"):
            self.problem_lines.show(problems, view.host.surroundings)

    def _show_in_fire(self, before: ConsoleState) -> None:
        state = self.state
        self.fire_pane.job = state.job
        if state.filling is not before.filling:
            self.fire_pane.show_filling(state.filling)
        if state.view is not before.view and state.view is not None:
            self.fire_pane.view = state.view
        if state.draft is not before.draft:
            self.desk.show_plan()

    def _read_source(self) -> None:
        row, view = self.state.row, self.state.view
        if row is None or view is None:
            return
        reading = (row.id, self.state.generation, self.state.job)
        if self._reading == reading:
            return
        self._reading = reading
        if self._passing is not None:
            self._passing.stop()
        reads = partial(self.bridge.read, row.id, row.manifest, row.item, view)
        self._passing = self.set_timer(SELECTION_DELAY, reads, name="read")

    def happened(self, what: Activity) -> None:
        """Others did this: what has come of the selected hook is read anew, if it is about that one."""
        row, view = self.state.row, self.state.view
        if row is None or view is None or not isinstance(row.item, HookStatus):
            return
        if what.is_about(row.item, view):
            self._reading = ("", 0, "")
            self._read_source()

    def _show_keys(self) -> None:
        """Not while the focus is on its way: whatever gets it has keys of its own, and has them shown."""
        if self.is_mounted and self._settled and self.app.screen is self:
            self.query_one(KeyBar).keys = keys_of_screen(self, self.state)

    # Layout and focus.

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def _arrange(self, width: int = 0, height: int = 0) -> None:
        width, height = width or self.app.size.width, height or self.app.size.height
        layout = self._layout(width, height)
        covered, self.panes = not self.panes, layout.panes
        self._set_layout(layout)
        if EVENT_PANES.intersection(layout.panes):
            self.fire_pane.furnish()
        self._make(layout)
        if covered and self.panes:  # the screen was too small, and whoever had the focus lost it
            self.call_after_refresh(self._settle_focus)
        if layout.size == "tiny":
            self.tiny.update(safe_text(too_small(width, height)))

    def _make(self, layout: PaneLayout) -> None:
        """The panes of this layout that were not there yet."""
        if "hosts" in layout.panes:
            self.hosts_pane  # noqa: B018  (made by this)
        if "start" in layout.panes:
            self.start_here  # noqa: B018
        if "keys" in layout.panes:
            self.query_one(HooksPane).keys_pane  # noqa: B018

    def _layout(self, width: int, height: int) -> PaneLayout:
        state = self.state
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
        # At once: each change of a class styles the whole screen anew, and most changes are none of its size.
        self.update_classes({name: name in layout.classes for name in every_class()}, update=resized)
        if not resized:
            made = (self.query_one_optional(place) for place in LAYOUT_PARTS)
            self.app.stylesheet.update_nodes([place for place in made if place is not None])

    @on(fire_requests.PartsMounted)
    def _furnished(self) -> None:
        """A pane that was just made has its parts: now they take the focus, if it is still wanted."""
        if "hosts" in self.panes:
            self.hosts.refresh()
        self.settle_focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane = pane_of(event.widget)
        if self._settled or pane == pane_wanted(self.state):
            self._settled = True
            if pane is not None and pane in self.panes:
                self.change(PaneFocused(pane))
        self._show_keys()

    def _update_focus_styles(self, focused: Widget | None = None, blurred: Widget | None = None) -> None:
        """Style anew what has a rule for a focus within; Textual does so with all that lies beside it too."""
        nodes = styled_by_focus(*(widget for widget in (focused, blurred) if widget is not None))
        self.app.stylesheet.update_nodes(nodes, animate=True)

    def settle_focus(self) -> None:
        """The focus goes to what the screen is about now."""
        self._settled = False  # news of an older focus says nothing any more
        if self.state.filtering:  # it is on its way to where one types
            self.call_after_refresh(self._settle_focus)
        else:  # at once: a pane that is hidden with the focus in it would pass it on to some other first
            self._settle_focus()

    @property
    def is_half_done(self) -> bool:
        """What the focus has left is painted together with what it goes to."""
        return not self._settled

    def _settle_focus(self) -> None:
        """The keys belong to the pane that was asked for."""
        wanted, target = pane_wanted(self.state), None
        if (wanted == "fire" and not self.fire_pane.furnished) or (
            wanted == "hosts" and not self.hosts_pane.furnished
        ):
            return  # it says when it is
        if not self.state.filtering and pane_of(self.focused) != wanted and self.panes:
            target = first_focusable(self.query_one("#rows" if wanted == "list" else f"#{wanted}"))
        if target is not None:
            self.set_focus(target, scroll_visible=False)  # at once: the app itself may wait for it
            self.call_after_refresh(self._bring_in_sight, target)
        if target is None or self.focused is not target:
            self._settled = True  # else the news of it is what is waited for
            self._show_keys()

    def _bring_in_sight(self, widget: Widget) -> None:
        """Scroll to what has the focus, now that its place is known."""
        if self.focused is widget and not self.can_view_entire(widget):
            self.scroll_to_center(widget, origin_visible=True)

    @property
    def is_settled(self) -> bool:
        """Is the focus where the last key has sent it, and no dialog on its way: the next is for there."""
        return self.is_mounted and self._settled and not self.bridge.opening

    def touched(self) -> None:
        """A key or a click: whatever gets the focus by it is wanted. Called before it has any effect."""
        self._settled = True
        self.last_time.touched()

    # What is said.

    def say(self, text: str, severity: Severity = "information") -> None:
        self.app.notify(safe_text(text, 400).plain, severity=severity, markup=False)

    def log_line(self, kind: str, text: str, level: str = "info", subject: str = "") -> None:
        """One line of the log."""
        self.log_entries([LogEntry(local_now(), kind, subject, text, level)])

    def log_entries(self, entries: Sequence[LogEntry]) -> None:
        """Lines of the log."""
        if entries:
            self.query_one(LogPane).add(entries)

"""The frame of the one screen: its state, the panes that show it, their layout and the focus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.reactive import Reactive
from textual.timer import Timer
from textual.widget import Widget

from hookscope.console.desks import Desks
from hookscope.console.fire import asked
from hookscope.console.focus import first_focusable, pane_of, pane_wanted, touched_by_focus, whereabouts
from hookscope.console.happening import Change, PaneFocused, reduce
from hookscope.console.header import Header
from hookscope.console.hooks.list import HookList
from hookscope.console.hooks.pane import HooksPane
from hookscope.console.keys import EVERYWHERE, KeyBar, keys_here
from hookscope.console.last_time.desk import LastTimeDesk
from hookscope.console.layout import Layout, Pane, arrange, every_class, too_small
from hookscope.console.log.model import LogEntry
from hookscope.console.log.pane import LogPane
from hookscope.console.messages import Severity
from hookscope.console.preferring import PreferenceDesk
from hookscope.console.state import ConsoleState
from hookscope.console.text import plain
from hookscope.core.local_time import local_now
from hookscope.core.standing import Standing

if TYPE_CHECKING:
    from hookscope.console.opening import Opener
    from hookscope.workbench.links.concern import Happened

PASSING = 0.1  # seconds that a hook is selected before its files are read: nobody reads faster
# What a mode shows or hides: of all classes but those of a size, the style sheet speaks of these only.
PLACES = ("#hooks", "#list", "#why", "#keys", "#start", "#fire", "#log", "#hosts", "#right")
NEED_AN_EVENT: frozenset[Pane] = frozenset({"fire", "hosts"})  # the composer's


class Shell(Desks):
    """Holds the state and shows it. What panes ask for is for MainScreen to answer."""

    BINDINGS: ClassVar[list[BindingType]] = [*EVERYWHERE]
    AUTO_FOCUS = "#rows"

    # Who gets it, and who loses it, are painted; for Textual the whole screen is.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(self, bench: Opener, watches: bool) -> None:
        super().__init__(bench)
        self.watches = watches
        self.state = ConsoleState()
        self.last_time = LastTimeDesk(self)
        self.preferences = PreferenceDesk(self)
        self.panes: tuple[Pane, ...] = ()
        self._laid_out: Layout | None = None
        self._settled = True  # the focus is not on its way to the pane that is wanted
        # The row whose file was asked for, in which look, during which run.
        self._reading = ("", 0, "")
        self._passing: Timer | None = None  # whether that row is passed by on the way to another one

    def compose(self) -> ComposeResult:
        # Before there are panes: each that is mounted is styled once, and not again with the whole screen.
        layout = self._layout(self.app.size.width, self.app.size.height)
        self._set_layout(layout)
        yield Header(id="header")
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

    def change(self, change: Change) -> None:
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
            header = self.query_one(Header)
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
        if whereabouts(before) != whereabouts(state):
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
        self._passing = self.set_timer(PASSING, reads, name="read")

    def happened(self, what: Happened) -> None:
        """Others did this: what has come of the selected hook is read anew, if it is about that one."""
        row, view = self.state.row, self.state.view
        if row is None or view is None or not isinstance(row.item, Standing):
            return
        if what.is_about(row.item, view):
            self._reading = ("", 0, "")
            self._read_source()

    def _show_keys(self) -> None:
        """Not while the focus is on its way: whatever gets it has keys of its own, and has them shown."""
        if self.is_mounted and self._settled and self.app.screen is self:
            self.query_one(KeyBar).keys = keys_here(self, self.state)

    # Layout and focus.

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def _arrange(self, width: int = 0, height: int = 0) -> None:
        width, height = width or self.app.size.width, height or self.app.size.height
        layout = self._layout(width, height)
        covered, self.panes = not self.panes, layout.panes
        self._set_layout(layout)
        if NEED_AN_EVENT.intersection(layout.panes):
            self.fire_pane.furnish()
        self._make(layout)
        if covered and self.panes:  # the screen was too small, and whoever had the focus lost it
            self.call_after_refresh(self._settle_focus)
        if layout.size == "tiny":
            self.tiny.update(plain(too_small(width, height)))

    def _make(self, layout: Layout) -> None:
        """The panes of this layout that were not there yet."""
        if "hosts" in layout.panes:
            self.hosts_pane  # noqa: B018  (made by this)
        if "start" in layout.panes:
            self.start_here  # noqa: B018
        if "keys" in layout.panes:
            self.query_one(HooksPane).keys_pane  # noqa: B018

    def _layout(self, width: int, height: int) -> Layout:
        state = self.state
        return arrange(
            width, height, state.mode, state.zoom, side=state.side, reading=state.reading, start=state.start
        )

    def _set_layout(self, layout: Layout) -> None:
        if layout == self._laid_out:
            return
        before, self._laid_out = self._laid_out, layout
        if before is not None and before.classes == layout.classes:
            return
        resized = before is None or before.size != layout.size
        # At once: each change of a class styles the whole screen anew, and most changes are none of its size.
        self.update_classes({name: name in layout.classes for name in every_class()}, update=resized)
        if not resized:
            made = (self.query_one_optional(place) for place in PLACES)
            self.app.stylesheet.update_nodes([place for place in made if place is not None])

    @on(asked.Furnished)
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
        nodes = touched_by_focus(*(widget for widget in (focused, blurred) if widget is not None))
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
        self.app.notify(plain(text, 400).plain, severity=severity, markup=False)

    def log_line(self, kind: str, text: str, level: str = "info", subject: str = "") -> None:
        """One line of the log."""
        self.log_entries([LogEntry(local_now(), kind, subject, text, level)])

    def log_entries(self, entries: Sequence[LogEntry]) -> None:
        """Lines of the log."""
        if entries:
            self.query_one(LogPane).add(entries)

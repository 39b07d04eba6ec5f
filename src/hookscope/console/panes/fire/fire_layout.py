"""The parts of the Fire pane: mounted when first needed, and laid out in the available space."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from textual.containers import Container
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input, TextArea

from hookscope.console.panes.fire.composer import Composer, KeyField
from hookscope.console.panes.fire.plan_view import PlanView
from hookscope.console.panes.fire.run_history import History
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.state import fire_requests
from hookscope.console.widgets.painting import RemovableWidget

BESIDE_WIDTH, TALL_HEIGHT = 100, 34  # least cells for the plan beside the composer; lines, below
FLAT_HEIGHT = 17  # with fewer lines, the composer has two lines of text
WIDE_SCREEN = 160  # cells of a screen that shows other panes beside this one
PART_NAMES = ("composer", "plan", "run")  # the parts that can fill the pane; their ids begin with `fire-`
LAYOUT_CLASSES = ("beside", "tall", "stacked", "flat")


def layout_classes(width: int, height: int) -> frozenset[str]:
    """Return `beside`, `tall` (all parts) or `stacked` (plan or run), with `flat` if the height is low."""
    if width >= BESIDE_WIDTH:
        return frozenset({"beside"})
    if height >= TALL_HEIGHT:
        return frozenset({"tall"})
    return frozenset({"stacked", "flat"} if height < FLAT_HEIGHT else {"stacked"})


FIRE_CSS = """
FirePane {
    layout: vertical;
    & > #fire-top { height: 8; }
    & #fire-side { display: none; height: 1fr; }
    & #fire-runs { display: none; }
    & #fire-composer { height: 1fr; }
    & > #fire-run { height: 1fr; }

    &.-stacked > #fire-top { height: 6; }
    &.-stacked #fire-help { display: none; }
    &.-plan.-stacked {
        & > #fire-run { display: none; }
        & > #fire-top { height: 1fr; }
        & #fire-side { display: block; height: auto; max-height: 61%; }
        & #fire-plan { height: auto; max-height: 100%; }
        & #fire-help { display: block; }
    }
    &.-flat #fire-help { display: none !important; }
    &.-writing.-stacked > #fire-top { height: 14; }
    &.-writing.-plan.-stacked {
        & > #fire-top { height: 1fr; }
        & #fire-side { max-height: 7; }
    }
    &.-writing.-flat > #fire-top { height: 9; }
    &.-writing.-plan.-flat > #fire-top { height: 1fr; }
    &.-tall {
        & > #fire-top { height: 42%; min-height: 17; }
        & #fire-side { display: block; height: 9; }
    }
    &.-beside {
        & > #fire-top { height: 36%; min-height: 10; layout: horizontal; }
        & #fire-composer { width: 1fr; }
        & #fire-side { display: block; width: 1fr; height: 100%; }
        & #fire-runs { display: block; height: 1fr; }
        & #fire-plan { height: 2fr; }
    }
    &.-writing.-tall > #fire-top { height: 24; }
    &.-writing.-beside > #fire-top { height: 45%; }
    &.-unfired.-tall, &.-unfired.-beside {  /* the event gets the room until there is a run */
        & > #fire-top { height: 1fr; }
        & > #fire-run { height: 3; }
        & #fire-runs { display: none; }
    }
    &.-unfired.-beside {  /* no line of the event or of the plan is cut */
        & > #fire-top { layout: vertical; }
        & #fire-side { width: 100%; height: auto; max-height: 40%; }
        & #fire-plan { height: auto; max-height: 100%; }
    }

    &.-zoom-run {
        & > #fire-top { display: none; }
        & > #fire-run { display: block; height: 1fr !important; }
    }
    &.-zoom-composer, &.-zoom-plan {
        & > #fire-run { display: none; }
        & > #fire-top { height: 1fr; }
    }
    &.-zoom-composer {
        & #fire-side { display: none; }
        & #fire-composer { height: 1fr; }
    }
    &.-zoom-plan {
        & #fire-composer { display: none; }
        & #fire-side { display: block; height: 1fr; }
    }
}
"""


class LazyParts:
    """The parts of a pane, mounted on first use."""

    def __init__(
        self,
        pane: RemovableWidget,
        make: Callable[[], Iterator[Widget]],
        show_all: Callable[[], object],
        *,
        at_once: bool,
    ) -> None:
        """`make` creates the parts, `show_all` fills them once mounted. `at_once`: mount with the pane."""
        self._pane, self._make, self._show_all = pane, make, show_all
        self._at_once = self._furnishing = at_once
        self._there = asyncio.Event()
        self._waiting: list[Callable[[], object]] = []  # calls to make once the parts are mounted

    def compose(self) -> Iterator[Widget]:
        """Yield the parts if `at_once` is true, else nothing."""
        if self._at_once:
            yield from self._make()

    def pane_mounted(self) -> None:
        """Complete the parts if they were mounted with the pane."""
        if self._at_once:
            self._complete()

    @property
    def parts_mounted(self) -> bool:
        return self._there.is_set()

    def mount_parts(self) -> None:
        """Mount the parts, unless they are mounted."""
        if not self._furnishing:
            self._furnishing = True
            self._pane.call_later(self._mount)

    async def wait(self) -> None:
        """Mount the parts, and wait for them."""
        self.mount_parts()
        await self._there.wait()

    def when_mounted(self, call: Callable[[], object]) -> None:
        """Make this call once the parts are mounted: now, or on first use."""
        if self.parts_mounted:
            call()
        else:
            self._waiting.append(call)

    async def _mount(self) -> None:
        await self._pane.mount(*self._make())
        if self._pane.leaving:
            return  # the console is ending, so no part was mounted
        self._complete()
        self._pane.post_message(fire_requests.PartsMounted())

    def _complete(self) -> None:
        self._there.set()
        self._show_all()
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
        self._pane.refresh_bindings()


class HasLazyParts(Protocol):
    """A class whose methods need the parts of a pane."""

    parts: LazyParts


Params = ParamSpec("Params")
Owner = TypeVar("Owner", bound=HasLazyParts)


def when_parts_mounted(
    method: Callable[Concatenate[Owner, Params], None],
) -> Callable[Concatenate[Owner, Params], None]:
    """Return a method that mounts the parts, and runs once they are mounted."""

    @wraps(method)
    def deferred(owner: Owner, /, *args: Params.args, **kwargs: Params.kwargs) -> None:
        owner.parts.when_mounted(partial(method, owner, *args, **kwargs))
        owner.parts.mount_parts()

    return deferred


class FireLayout:
    """Arranges composer, plan, list of runs and run: side by side, stacked, or only one of them."""

    def __init__(
        self, pane: RemovableWidget, composer: Composer, show_all: Callable[[], object], *, at_once: bool
    ) -> None:
        self._pane, self._composer = pane, composer
        self.parts = LazyParts(pane, self._make_parts, show_all, at_once=at_once)
        self.zoomed: str | None = None  # the part that has all the room
        self._left: Widget | None = None  # the widget that had the focus before the run got it
        pane.add_class("-plan", "-unfired")

    def _make_parts(self) -> Iterator[Widget]:
        side = Container(PlanView(id="fire-plan"), History(id="fire-runs"), id="fire-side")
        yield Container(self._composer, side, id="fire-top")
        yield RunPane(id="fire-run")

    def fit(self, size: Size) -> None:
        """Arrange the parts in this size."""
        now = layout_classes(size.width, size.height)
        self._pane.update_classes({f"-{name}": name in now for name in LAYOUT_CLASSES})

    def make_room_for_run(self, fired: bool) -> None:
        """Give the composer the space of the run until an event was fired."""
        self._pane.set_class(not fired, "-unfired")

    def make_room_to_write(self) -> None:
        """On a small screen, give the composer more lines while its editor has the focus."""
        self._pane.set_class(self._composer.sheet.has_focus_within, "-writing")

    def end_writing(self) -> None:
        """Give the lines from `make_room_to_write` back to the other parts."""
        self._pane.remove_class("-writing")

    @property
    def part_in_focus(self) -> str | None:
        """The part with the focus."""
        focused = self._pane.screen.focused
        ids = {node.id for node in focused.ancestors_with_self} if focused is not None else set()
        return next((part for part in PART_NAMES if f"fire-{part}" in ids), None)

    def focus_run(self, *, from_elsewhere: bool) -> None:
        """Focus the run, unless the user is typing. `from_elsewhere`: also if another pane has the focus."""
        focused = self._pane.screen.focused
        writing = isinstance(focused, Input | TextArea)
        part = self.part_in_focus
        if not writing and part != "run" and (part is not None or from_elsewhere):
            self._left = focused if part is not None else None
            self._pane.query_one("#fire-run Waterfall").focus()

    def leave_run(self) -> bool:
        """Focus the rows instead of a tab's text, or the widget that had the focus before the run.

        Return False if the run has no focus.
        """
        if self.part_in_focus != "run":
            return False
        left, waterfall = self._left, self._pane.query_one("#fire-run Waterfall")
        if not waterfall.has_focus:  # the text of a tab has it
            waterfall.focus()
        elif left is not None and left.is_attached and left.focusable:
            left.focus()
        else:
            self._pane.query_one(KeyField).focus()
        return True

    def focus_key(self) -> None:
        """Focus the event key, so that the next key is a command."""
        if self._pane.display:  # the user may have left the pane meanwhile
            self._pane.query_one(KeyField).focus()

    def zoom(self, part: str | None) -> None:
        """Give one part the whole pane; None: show all parts."""
        self.zoomed = part
        self._pane.update_classes({f"-zoom-{name}": name == part for name in PART_NAMES})

    def prefer_plan(self, plan: bool) -> None:
        """Show the plan, or else the run, if only one of them fits."""
        pane = self._pane
        if not self.parts.parts_mounted:
            pane.set_class(plan, "-plan")
            return
        leaving = pane.query_one(PlanView) if not plan else pane.query_one(RunPane)
        had_focus = leaving.has_focus or leaving.has_focus_within
        pane.set_class(plan, "-plan")
        if had_focus and pane.has_class("-stacked"):
            self._focus_lower()

    def swap(self) -> None:
        """Focus the plan, or the run if the plan has the focus."""
        pane = self._pane
        if pane.has_class("-stacked"):
            pane.set_class(not pane.has_class("-plan"), "-plan")
            self._focus_lower()
        else:
            plan = pane.query_one(PlanView)
            (pane.query_one("#fire-run Waterfall") if plan.has_focus else plan).focus()

    def _focus_lower(self) -> None:
        pane = self._pane
        lower = pane.query_one(PlanView) if pane.has_class("-plan") else pane.query_one("#fire-run Waterfall")
        pane.call_after_refresh(lower.focus)

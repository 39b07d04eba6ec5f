"""The parts of the Fire pane: mounted when first needed, and laid out in the available space."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from textual.containers import Container
from textual.geometry import Size
from textual.widget import Widget

from hookscope.console.panes.fire.composer import Composer, KeyField
from hookscope.console.panes.fire.plan_view import PlanView
from hookscope.console.panes.fire.run_history import History
from hookscope.console.panes.fire.run_pane import RunPane
from hookscope.console.state import fire_requests
from hookscope.console.widgets.painting import RemovableWidget

BESIDE_WIDTH, TALL_HEIGHT = 100, 34  # cells from which the plan stands beside the composer; lines, below it
FLAT_HEIGHT = 17  # lines below which the composer keeps two lines of text
WIDE_SCREEN = 160  # cells from which the screen shows other panes beside this one
PART_NAMES = ("composer", "plan", "run")  # what can be alone: their ids begin with `fire-`
LAYOUT_CLASSES = ("beside", "tall", "stacked", "flat")


def layout_classes(width: int, height: int) -> frozenset[str]:
    """`beside`, `tall` (all below each other), or `stacked` (plan or run), perhaps `flat` too."""
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

    &.-flat > #fire-top { height: 6; }
    &.-flat #fire-help { display: none; }
    &.-plan.-stacked {
        & > #fire-run { display: none; }
        & > #fire-top { height: 1fr; }
        & #fire-composer { height: 8; }
        & #fire-side { display: block; }
    }
    &.-plan.-flat #fire-composer { height: 6; }
    &.-writing.-stacked > #fire-top { height: 14; }
    &.-writing.-plan.-stacked {
        & > #fire-top { height: 1fr; }
        & #fire-composer { height: 14; }
    }
    &.-writing.-flat > #fire-top { height: 9; }
    &.-writing.-plan.-flat {
        & > #fire-top { height: 1fr; }
        & #fire-composer { height: 9; }
    }
    &.-tall {
        & > #fire-top { height: 24; }
        & #fire-side { display: block; height: 9; }
    }
    &.-beside {
        & > #fire-top { height: 45%; layout: horizontal; }
        & #fire-composer { width: 1fr; }
        & #fire-side { display: block; width: 1fr; height: 100%; }
        & #fire-runs { display: block; height: 1fr; }
        & #fire-plan { height: 2fr; }
    }

    &.-zoom-run {
        & > #fire-top { display: none; }
        & > #fire-run { display: block; }
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
    """The parts of a pane, mounted when they are first needed."""

    def __init__(
        self,
        pane: RemovableWidget,
        make: Callable[[], Iterator[Widget]],
        show_all: Callable[[], object],
        *,
        at_once: bool,
    ) -> None:
        """`make`: what the pane consists of; `show_all`: the parts are there now, show in them what is known
        so far; `at_once`: they are there from the beginning."""
        self._pane, self._make, self._show_all = pane, make, show_all
        self._at_once = self._furnishing = at_once
        self._there = asyncio.Event()
        self._waiting: list[Callable[[], None]] = []  # for the parts

    def compose(self) -> Iterator[Widget]:
        """The parts, where they are there from the beginning."""
        if self._at_once:
            yield from self._make()

    def pane_mounted(self) -> None:
        """The pane is there: so are parts that were composed."""
        if self._at_once:
            self._complete()

    @property
    def furnished(self) -> bool:
        """Are the parts there."""
        return self._there.is_set()

    def furnish(self) -> None:
        """Mount the parts, if they are not there yet."""
        if not self._furnishing:
            self._furnishing = True
            self._pane.call_later(self._mount)

    async def wait(self) -> None:
        """Mount the parts, and wait for them."""
        self.furnish()
        await self._there.wait()

    def once_furnished(self, call: Callable[[], None]) -> None:
        """Do this when the parts are there: now, or as soon as somebody needs them."""
        if self.furnished:
            call()
        else:
            self._waiting.append(call)

    async def _mount(self) -> None:
        await self._pane.mount(*self._make())
        if self._pane.leaving:
            return  # as the console ends: none of them was mounted
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
    """Whose methods need the parts of a pane."""

    parts: LazyParts


Params = ParamSpec("Params")
Owner = TypeVar("Owner", bound=HasLazyParts)


def when_parts_mounted(
    method: Callable[Concatenate[Owner, Params], None],
) -> Callable[Concatenate[Owner, Params], None]:
    """A method that the parts carry out: without them it has them mounted, and is done then."""

    @wraps(method)
    def done(owner: Owner, /, *given: Params.args, **named: Params.kwargs) -> None:
        owner.parts.once_furnished(partial(method, owner, *given, **named))
        owner.parts.furnish()

    return done


class FireLayout:
    """Composer, plan, runs and run: beside one another, one below the other, or one alone."""

    def __init__(
        self,
        pane: RemovableWidget,
        composer: Composer,
        show_all: Callable[[], object],
        *,
        at_once: bool,
    ) -> None:
        self._pane, self._composer = pane, composer
        self.parts = LazyParts(pane, self._make_parts, show_all, at_once=at_once)
        self.zoomed: str | None = None  # the part that has all the room
        pane.add_class("-plan")

    def _make_parts(self) -> Iterator[Widget]:
        """What the pane consists of."""
        side = Container(PlanView(id="fire-plan"), History(id="fire-runs"), id="fire-side")
        yield Container(self._composer, side, id="fire-top")
        yield RunPane(id="fire-run")

    def fit(self, size: Size) -> None:
        """Arrange the parts in this room."""
        now = layout_classes(size.width, size.height)
        self._pane.update_classes({f"-{name}": name in now for name in LAYOUT_CLASSES})

    def make_room_to_write(self) -> None:
        """Whoever writes gets more lines, where there are few; after a fire, with the next letter."""
        self._pane.set_class(self._composer.sheet.has_focus_within, "-writing")

    def end_writing(self) -> None:
        """The other parts get their lines back."""
        self._pane.remove_class("-writing")

    @property
    def part_in_focus(self) -> str | None:
        """The part that has the focus."""
        focused = self._pane.screen.focused
        ids = {node.id for node in focused.ancestors_with_self} if focused is not None else set()
        return next((part for part in PART_NAMES if f"fire-{part}" in ids), None)

    def focus_key(self) -> None:
        """Not an editor: the next key is a command."""
        if self._pane.display:  # and the user has not gone elsewhere meanwhile
            self._pane.query_one(KeyField).focus()

    def zoom(self, part: str | None) -> None:
        """Give one part all the room; None: all of them have room again."""
        self.zoomed = part
        self._pane.update_classes({f"-zoom-{name}": name == part for name in PART_NAMES})

    def prefer_plan(self, plan: bool) -> None:
        """Where there is room for one of them, show the plan or the run."""
        pane = self._pane
        if not self.parts.furnished:
            pane.set_class(plan, "-plan")
            return
        leaving = pane.query_one(PlanView) if not plan else pane.query_one(RunPane)
        had_focus = leaving.has_focus or leaving.has_focus_within
        pane.set_class(plan, "-plan")
        if had_focus and pane.has_class("-stacked"):
            self._focus_lower()

    def swap(self) -> None:
        """Go to the plan, or from there to the run; where there is room for one, show that one."""
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

"""The parts of the Fire pane: mounted when first needed, and laid out in the available space."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
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


Params = ParamSpec("Params")
LazyPaneType = TypeVar("LazyPaneType", bound="LazyPane")


class LazyPane(RemovableWidget):
    """Mounts its parts when they are first needed."""

    def __init__(
        self,
        *,
        at_once: bool,
        id: str | None = None,  # noqa: A002  (Textual's name)
        classes: str | None = None,
    ) -> None:
        """`at_once`: with its parts from the beginning."""
        super().__init__(id=id, classes=classes)
        self._at_once = self._furnishing = at_once
        self._there = asyncio.Event()  # the parts are
        self._waiting: list[Callable[[], None]] = []  # for the parts

    def parts(self) -> Iterator[Widget]:
        """What it consists of."""
        raise NotImplementedError

    def show_all(self) -> None:
        """The parts are there now: show in them what is known so far."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        if self._at_once:
            yield from self.parts()

    def on_mount(self) -> None:
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
            self.call_later(self._mount_parts)

    async def with_its_parts(self) -> None:
        """Furnish it, and wait for that."""
        self.furnish()
        await self._there.wait()

    def once_furnished(self, call: Callable[[], None]) -> None:
        """Do this when the parts are there: now, or as soon as somebody needs them."""
        if self.furnished:
            call()
        else:
            self._waiting.append(call)

    async def _mount_parts(self) -> None:
        await self.mount(*self.parts())
        if self.leaving:
            return  # as the console ends: none of them was mounted
        self._complete()
        self.post_message(fire_requests.PartsMounted())

    def _complete(self) -> None:
        self._there.set()
        self.show_all()
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
        self.refresh_bindings()


def when_parts_mounted(
    method: Callable[Concatenate[LazyPaneType, Params], None],
) -> Callable[Concatenate[LazyPaneType, Params], None]:
    """A method that the parts carry out: without them it furnishes the pane, and is done then."""

    @wraps(method)
    def done(pane: LazyPaneType, /, *given: Params.args, **named: Params.kwargs) -> None:
        pane.once_furnished(partial(method, pane, *given, **named))
        pane.furnish()

    return done


class FireLayout(LazyPane):
    """Composer, plan, runs and run: beside one another, one below the other, or one alone."""

    def __init__(self, *, id: str | None, classes: str | None, at_once: bool) -> None:  # noqa: A002
        super().__init__(at_once=at_once, id=id, classes=classes)
        self.add_class("-plan")
        self._zoomed: str | None = None
        self._composer = Composer(id="fire-composer")

    def parts(self) -> Iterator[Widget]:
        side = Container(PlanView(id="fire-plan"), History(id="fire-runs"), id="fire-side")
        yield Container(self._composer, side, id="fire-top")
        yield RunPane(id="fire-run")

    def on_resize(self, event: events.Resize) -> None:
        now = layout_classes(event.size.width, event.size.height)
        self.update_classes({f"-{name}": name in now for name in LAYOUT_CLASSES})

    def on_descendant_focus(self) -> None:
        self.make_room_to_write()

    def make_room_to_write(self) -> None:
        """Whoever writes gets more lines, where there are few; after a fire, with the next letter."""
        self.set_class(self.query_one(Composer).sheet.has_focus_within, "-writing")

    @property
    def part_in_focus(self) -> str | None:
        focused = self.screen.focused
        ids = {node.id for node in focused.ancestors_with_self} if focused is not None else set()
        return next((part for part in PART_NAMES if f"fire-{part}" in ids), None)

    def _focus_key(self) -> None:
        """Not an editor: the next key is a command."""
        if self.display:  # and the user has not gone elsewhere meanwhile
            self.query_one(KeyField).focus()

    def _zoom(self, part: str | None) -> None:
        self._zoomed = part
        self.update_classes({f"-zoom-{name}": name == part for name in PART_NAMES})

    def _prefer_plan(self, plan: bool) -> None:
        """Where there is room for one of them, show the plan or the run."""
        if not self.furnished:
            self.set_class(plan, "-plan")
            return
        leaving = self.query_one(PlanView) if not plan else self.query_one(RunPane)
        had_focus = leaving.has_focus or leaving.has_focus_within
        self.set_class(plan, "-plan")
        if had_focus and self.has_class("-stacked"):
            self._focus_lower()

    def _focus_lower(self) -> None:
        target = (
            self.query_one(PlanView) if self.has_class("-plan") else self.query_one("#fire-run Waterfall")
        )
        self.call_after_refresh(target.focus)

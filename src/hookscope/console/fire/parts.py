"""The parts of the Fire pane, laid out: which of them have the room there is."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.containers import Container
from textual.widget import Widget

from hookscope.console.fire.arrangement import ARRANGEMENTS, PARTS, arrangement
from hookscope.console.fire.composer import Composer
from hookscope.console.fire.furnishing import LatePane
from hookscope.console.fire.head import KeyField
from hookscope.console.fire.history import History
from hookscope.console.fire.plan_view import PlanView
from hookscope.console.fire.run_pane import RunPane


class FireParts(LatePane):
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
        now = arrangement(event.size.width, event.size.height)
        self.update_classes({f"-{name}": name in now for name in ARRANGEMENTS})

    def on_descendant_focus(self) -> None:
        self.make_room_to_write()

    def make_room_to_write(self) -> None:
        """Whoever writes gets more lines, where there are few; after a fire, with the next letter."""
        self.set_class(self.query_one(Composer).sheet.has_focus_within, "-writing")

    @property
    def part_in_focus(self) -> str | None:
        focused = self.screen.focused
        ids = {node.id for node in focused.ancestors_with_self} if focused is not None else set()
        return next((part for part in PARTS if f"fire-{part}" in ids), None)

    def _focus_key(self) -> None:
        """Not an editor: the next key is a command."""
        if self.display:  # and the user has not gone elsewhere meanwhile
            self.query_one(KeyField).focus()

    def _zoom(self, part: str | None) -> None:
        self._zoomed = part
        self.update_classes({f"-zoom-{name}": name == part for name in PARTS})

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

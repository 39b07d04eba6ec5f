"""The hooks mode as a whole: list, filter, the sheets, and what can be done with a hook."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Input, Static

from hookscope.console.happening import Filtered, Folded, Regrouped, Selected, SideChosen, StartShown
from hookscope.console.hooks.keys import KEYS
from hookscope.console.hooks.list import HookList
from hookscope.console.hooks.list_pane import ListPane
from hookscope.console.hooks.listing import Narrowed
from hookscope.console.hooks.panes import KeysPane, WhyPane
from hookscope.console.hooks.row_lines import heading_line
from hookscope.console.hooks.rows import Row, by_precedence
from hookscope.console.keymap.hints import hints, with_keys
from hookscope.console.keys import obstacle
from hookscope.console.leaving import Leaves
from hookscope.console.messages import (
    Changed,
    CopyAsked,
    EditAsked,
    FireHookAsked,
    FixAsked,
    LiftAsked,
    LookAsked,
    NewAsked,
    PacksAsked,
    Said,
    ToggleAsked,
    TrustAsked,
    UndoAsked,
)
from hookscope.console.painting import framed
from hookscope.console.state import ConsoleState
from hookscope.console.theme import MUTED
from hookscope.core.standing import Standing

if TYPE_CHECKING:
    from hookscope.workbench import View


def switched_on(row: Standing) -> bool:
    """Is its own switch on: whatever else stands in its way."""
    return not any(gate.name == "enabled" for gate in row.verdict.shut())


class HooksPane(Leaves, Container):
    """Takes the state, shows it, and says what its user wants."""

    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.state = ConsoleState()
        self._narrowed = Narrowed()
        self._told: tuple[object, ...] | None = None  # what the sheet of the selected hook says

    def compose(self) -> ComposeResult:
        yield ListPane(id="list")
        yield WhyPane(id="why")

    def show(self, state: ConsoleState) -> None:
        """Show this state: only what is different is touched."""
        before, self.state = self.state, state
        other = before.listing is not state.listing or state.view is None
        if other or (before.filter, before.grouping) != (
            state.filter,
            state.grouping,
        ):
            self._show_list(state)
        self._show_filter(before, state)
        if before.jumps != state.jumps:
            self.query_one(HookList).point_at(state.selected)
        if state.view is None:
            return
        view = state.view
        told = (state.row, view, state.source, state.unfolded, state.checked)
        if self._told is None or any(one is not other for one, other in zip(told, self._told, strict=True)):
            self._told = told
            self._show_why(state, view)
        if before.view is not view and self.has_keys_pane:
            self._show_registry(self.keys_pane, view)

    @cached_property
    def keys_pane(self) -> KeysPane:
        """What the registry holds, in the tree: made when it is first gone to."""
        pane = KeysPane(id="keys")
        self.mount(pane)
        if self.state.view is not None:
            self._show_registry(pane, self.state.view)
        return pane

    @property
    def has_keys_pane(self) -> bool:
        """Was it gone to before."""
        return "keys_pane" in self.__dict__

    def _show_registry(self, pane: KeysPane, view: View) -> None:
        from hookscope.console.hooks.registry import registry_sheet  # here, and below: no hook is there yet

        title = Content.assemble("Registry", (f"   generation {view.registry.generation}", MUTED))
        pane.show("registry", title, lambda width: registry_sheet(view, width))

    def name_keys(self) -> None:
        """Write the keys in force."""
        self._show_list(self.state)
        if self.state.view is not None:
            self._show_why(self.state, self.state.view)

    def _show_list(self, state: ConsoleState) -> None:
        pane, rows = self.query_one(ListPane), self._narrowed.rows(state.listing, state.filter)
        if state.view is not None:
            groups = self._narrowed.groups(state.listing, state.filter, state.grouping)
            listed = self.query_one(HookList)
            if state.selected:
                listed.begin_at(state.selected)
            listed.show(groups, state.grouping, state.rows)
        total = len(state.rows)
        grouping = "" if state.grouping == "source" else f"   by {state.grouping}"
        found = f"Hooks {len(rows)}/{total}" if state.filter else f"Hooks {total}"
        title = Content.assemble(found, (grouping, MUTED))
        filtered = ("console.back", "clears") if state.filter else ("hooks.filter", "filter")
        below = hints(filtered, ("hooks.group", "group"), ("list.why", "why"))
        framed(pane, title, below)
        empty = self.query_one("#empty", Static)
        empty.update(_empty_text(state, len(rows)), layout=False)
        empty.display = not rows

    def _show_filter(self, before: ConsoleState, state: ConsoleState) -> None:
        pane = self.query_one(ListPane)
        if not (state.filtering or state.filter or pane.has_filter_box):
            return
        box = pane.filter_box
        box.display = state.filtering
        typing = state.filtering and box.has_focus  # then it may be a letter ahead of the state
        if state.filter != box.value and not typing:
            with self.prevent(Input.Changed):
                box.value = state.filter
        if state.filtering and not before.filtering:
            box.focus()
        elif before.filtering and not state.filtering and state.mode == "hooks":
            self.query_one(HookList).focus()

    def _show_why(self, state: ConsoleState, view: View) -> None:
        from hookscope.console.hooks import why

        row, pane = state.row, self.query_one(WhyPane)
        pane.offer_fix(not obstacle("fix", state))
        if row is None:
            nothing = Content.styled("No hook is selected.", MUTED)
            pane.show("", Content("Why"), lambda _: nothing)
            return
        source, unfolded, checked = state.source, state.unfolded, state.checked
        pane.show(
            row.id,
            why.headline(row, checked),
            lambda width: why.sheet_of(row, view, source, why.Reading(width, unfolded, checked)),
        )

    # What the list and the filter say.

    def on_hook_list_pointed(self, event: HookList.Pointed) -> None:
        event.stop()
        self.post_message(Changed(Selected(event.row)))

    def on_hook_list_picked(self, event: HookList.Picked) -> None:
        event.stop()
        self.post_message(Changed(Selected(event.row)))
        self.post_message(Changed(SideChosen("why")))

    def on_hook_list_resized(self, event: HookList.Resized) -> None:
        event.stop()
        self.query_one("#columns", Static).update(heading_line(event.columns), layout=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(Changed(Filtered(event.value, typing=True)))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(Changed(Filtered(event.value, typing=False)))

    def on_why_pane_fold_asked(self, event: WhyPane.FoldAsked) -> None:
        event.stop()
        if self._may("fold") is not None:
            self.post_message(Changed(Folded()))

    # What can be done. A key that cannot act now says why.

    def _may(self, action: str) -> Row | None:
        """The selected row, where the action can be done with it; else its reason is said."""
        # A key may come before the news of the last move has: the list knows where it stands.
        pointed = self.query_one(HookList).pointed_row
        state = replace(self.state, selected=pointed) if pointed else self.state
        problem = obstacle(action, state)
        if problem:
            self.post_message(Said(problem, "warning"))
            return None
        return state.row

    def action_fire_hook(self) -> None:
        row = self._may("fire_hook")
        if row is not None and self.state.view is not None:
            self.post_message(FireHookAsked(first_event(row, self.state.view), row.name))

    def action_edit(self) -> None:
        row = self._may("edit")
        if row is None:
            return
        from hookscope.console.hooks.why import fault_place

        place = fault_place(row)
        if place is None:
            self.post_message(Said(f"{row.name} was registered by code: no file to open.", "warning"))
        else:
            self.post_message(EditAsked(place))

    def action_switch(self) -> None:
        row = self._may("switch")
        if row is not None and isinstance(row.item, Standing):
            self.post_message(ToggleAsked(row.name, not switched_on(row.item)))

    def action_fix(self) -> None:
        row = self._may("fix")
        if row is not None:
            self.post_message(FixAsked(row.item))

    def action_packs(self) -> None:
        self.post_message(PacksAsked())

    def action_new(self) -> None:
        if self.state.view is None:
            self.post_message(Said(obstacle("new", self.state), "warning"))
        else:
            self.post_message(NewAsked())

    def action_undo(self) -> None:
        self.post_message(UndoAsked())

    def action_trust(self) -> None:
        row = self._may("trust")
        view = self.state.view
        if row is not None and view is not None and isinstance(row.item, Standing):
            from hookscope.workbench.left_out import targets_of  # not needed for the first frame

            self.post_message(TrustAsked(targets_of(row.item, view)))

    def action_lift(self) -> None:
        row = self._may("lift")
        if row is not None and isinstance(row.item, Standing):
            self.post_message(LiftAsked(row.item.hook))

    def action_copy(self) -> None:
        row = self._may("copy")
        if row is not None and self.state.view is not None:
            from hookscope.console.hooks.why import report

            source = self.state.source
            checked = self.state.checked
            text = report(
                row,
                self.state.view,
                source if source and source.row == row.id else None,
                checked if checked and checked.row == row.id else None,
            )
            self.post_message(CopyAsked(text, f"report on {row.name}"))

    def action_filter(self) -> None:
        self.post_message(Changed(Filtered(self.state.filter, typing=True)))

    def action_group(self) -> None:
        self.post_message(Changed(Regrouped()))

    def action_keys(self) -> None:
        shown = self.has_keys_pane and self.keys_pane.display
        other = self.state.side == "keys" and (self.state.reading or shown)
        self.post_message(Changed(SideChosen("why" if other else "keys")))

    def action_recheck(self) -> None:
        self.post_message(LookAsked())

    def action_folders(self) -> None:
        view, state = self.state.view, self.state
        if view is None:
            self.post_message(Said("Still looking: the folders of the host are not known yet."))
            return
        self.post_message(Changed(StartShown(True, not state.folders_shown if state.start else True)))

        def said() -> None:  # where the strip has no room, or is not wanted any more
            start = self.screen.query_one_optional("#start")
            if start is None or not start.region:
                self.post_message(Said(_folders_in_short(view)))

        self.call_later(self.call_after_refresh, said)


def first_event(row: Row, view: View) -> str:
    """An event that calls this row: its first, or for a whole family the first that can be fired."""
    from hookscope.console.hooks.registry import hears

    first = row.events[0]
    if first in view.keys:
        return first
    return next((key for key in view.keys if hears(first, key, view)), first)


def _empty_text(state: ConsoleState, shown: int) -> Content:
    if shown:
        return Content()
    if state.view is None:
        return Content.styled("  Looking …", MUTED)
    if state.filter:
        return Content.styled(with_keys("  No hook fits the filter. {console.back} clears it."), MUTED)
    return Content.styled(
        with_keys(
            "  No hook was found in these folders: {hooks.new} writes one, {hooks.recheck} looks again."
        ),
        MUTED,
    )


def _folders_in_short(view: View) -> str:
    short = view.host.surroundings.short
    folders = (f"{folder.source} {short(folder.path)}" for folder in by_precedence(view.folders))
    return "\n".join(f"{number} {folder}" for number, folder in enumerate(folders, 1))

"""The Hooks pane: the list with its filter, the sheets beside it, and the actions on a hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from hookscope.console.keymap.active_keys import key_hints, key_of, with_keys
from hookscope.console.keymap.available_actions import bindings_of_scope, why_unavailable
from hookscope.console.panes.hook_list import HookList
from hookscope.console.state import state_changes
from hookscope.console.state.console_state import ConsoleState
from hookscope.console.state.hook_rows import FilteredRows, HookRow, best_match, by_precedence, heading_line
from hookscope.console.state.messages import (
    CommandRequested,
    ComposeForHookRequested,
    CopyRequested,
    EditorRequested,
    FixRequested,
    NoticeShown,
    QuarantineEndRequested,
    StateChanged,
    ToggleRequested,
    TrustRequested,
)
from hookscope.console.theme.text_styles import MUTED, safe_line
from hookscope.console.widgets.lines import SCROLLBAR_ROOM, KeyScroll, TextLines
from hookscope.console.widgets.painting import RemovableWidget, repaint_only, resize_to
from hookscope.model.hook_status import HookStatus

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.widgets.input_fields import FilterBox


_HOOK_ACTIONS = (
    ("f", "fire_hook", "fire", "Fire", "Compose a test event for the selected hook"),
    (
        "ctrl+r,f5",
        "fire_hook(True)",
        "fire_only",
        "Fire it",
        "Fire the first event of the selected hook, at this hook only",
    ),
    ("space", "switch", "toggle", "On/off", "Enable or disable the selected hook"),
    ("e", "fix", "fix", "Fix", "Show the edit that fixes the selected hook"),
    ("F", "fix_all", "fix_all", "Fix all", "Fix all mistakes in the hooks' own files"),
    ("u", "undo", "undo", "Undo", "Undo the last change"),
    ("E", "edit", "edit", "Edit", "Open $EDITOR at the error, else at HOOK.md"),
    ("t", "trust", "trust", "Trust", "Trust the folder of the selected hook"),
    ("slash", "filter", "filter", "Filter", "Filter by name, event, source or state; !word excludes"),
    ("n", "new", "new", "New", "Create a hook, pack, plugin or module, and open it in $EDITOR"),
    ("I", "packs", "packs", "Packs", "Packs: install, update, remove, compare"),
    ("v", "group", "group", "Group", "Group by source, state or event"),
    ("K", "keys", "keys", "Registry", "Show handlers by event, in call order"),
    ("y", "copy", "copy", "Copy", "Copy a report on the selected hook"),
    (
        "L",
        "lift",
        "lift",
        "Lift",
        "End the quarantine of the selected hook, so that automatic fires run it again",
    ),
    ("R", "recheck", "recheck", "Recheck", "Scan all hooks again"),
    ("i", "folders", "folders", "Folders", "Show the searched folders, highest precedence first"),
)
NOT_IN_KEY_BAR = {"fire_only", "fix_all", "undo", "folders"}
HOOK_BINDINGS = bindings_of_scope("hooks", _HOOK_ACTIONS, {row[2] for row in _HOOK_ACTIONS} - NOT_IN_KEY_BAR)


LIST_HINTS = (("hooks.group", "group"), ("list.why", "why"))  # in the border of a list with hooks


class ListPane(Vertical):
    """The list with its heading and its filter."""

    HELP = (
        "Every hook by folder, highest precedence first.\n"
        "● ready, ○ off, ▲ blocked, ◌ shadowed,\n✗ broken, ◇ untrusted, ◐ silent"
    )

    def compose(self) -> ComposeResult:
        yield Static(id="columns")
        yield Static(id="empty")
        yield HookList(id="rows")

    @cached_property
    def filter_box(self) -> FilterBox:
        """The filter's field, mounted on first use."""
        from hookscope.console.widgets.input_fields import FilterBox

        box = FilterBox(placeholder="name, event, source or state", id="filter", compact=True)
        self.mount(box, before="#columns")
        return box

    @property
    def has_filter_box(self) -> bool:
        """Whether the filter was used before."""
        return "filter_box" in self.__dict__


TITLE_FRAME = 6  # cells of a frame's corners and gaps beside its title


def fitting_title(width: int, *parts: Content) -> Content:
    """Return the first part, and the following ones that fit into a frame of this width."""
    title, *more = parts
    for part in more:
        if title.cell_length + part.cell_length > width - TITLE_FRAME:
            break
        title += part
    return title


class SheetPane(ScrollView, TextLines, KeyScroll):
    """A sheet that is laid out again when its width changes; it keeps its scroll position for a subject.

    It draws only visible lines and is never measured, so showing another hook never lays out the screen.
    """

    HINTS: ClassVar[tuple[tuple[str, str], ...]] = ()  # key hints in its border

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._make: Callable[[int], Content] | None = None
        self._titles: Sequence[Content] = ()
        self._subject = ""

    def on_mount(self) -> None:
        self.name_keys()

    def name_keys(self) -> None:
        """Show the current keys in the border."""
        if self.HINTS:
            self.border_subtitle = self.keys_named()

    def keys_named(self) -> Content:
        """Return the keys that work now, for the border."""
        return key_hints(*self.HINTS)

    def show(self, subject: str, titles: Sequence[Content], make: Callable[[int], Content]) -> None:
        """Show the text that `make` returns for the available width, under as many `titles` as fit."""
        self._titles = titles
        if subject != self._subject:
            self._subject = subject
            self.scroll_home(animate=False)
        self._make = make
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width - SCROLLBAR_ROOM
        if self._make is not None and width > 0:
            self.border_title = fitting_title(self.outer_size.width, *self._titles)
            others = self.set_lines(self._make(width).split("\n", allow_blank=True))
            resize_to(self, Size(width, len(self._said)))
            repaint_only(self, (number - round(self.scroll_y) for number in others))

    def render_line(self, y: int) -> Strip:
        return self.strip_of(y + round(self.scroll_y), self.scrollable_content_region.width)


class WhyPane(SheetPane):
    """Why the selected hook has its status."""

    HINTS = (("hooks.fix", "fix"), ("hooks.edit", "edit"), ("hooks.copy", "copy"), ("hooks.keys", "registry"))
    HELP = (
        "Every check between the hook's folder and a running handler. Failed checks come first, the easiest "
        "to fix at the top: what they need, what was found, the host's own words, and the next step."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "fold", "All checks", id="why.fold", tooltip="List or hide the passed checks")
    ]

    class FoldRequested(Message):
        """Request to list the passed gates, or to hide them."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._offered: tuple[tuple[str, str], ...] = ()

    def offer(self, state: ConsoleState) -> None:
        """Show the keys that work for this state."""
        offered = tuple(hint for hint in self.HINTS if not why_unavailable(hint[0].split(".")[1], state))
        if offered != self._offered:
            self._offered = offered
            self.border_subtitle = self.keys_named()

    def keys_named(self) -> Content:
        return key_hints(*self._offered)

    def action_fold(self) -> None:
        self.post_message(self.FoldRequested())


class KeysPane(SheetPane):
    """The registry by event key."""

    HINTS = (("console.back", "back"), ("hooks.fire", "fire"))
    HELP = "For every event: its handlers in call order, and whether messages reach the user."


class HooksPane(RemovableWidget, Container):
    """Shows the state, and posts the user's requests."""

    BINDINGS: ClassVar[list[BindingType]] = [*HOOK_BINDINGS]

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.state = ConsoleState()
        self._narrowed = FilteredRows()
        self._filter_shown = ""
        self._told: tuple[object, ...] | None = None  # the inputs of the shown sheet

    def compose(self) -> ComposeResult:
        yield ListPane(id="list")
        yield WhyPane(id="why")

    def show(self, state: ConsoleState) -> None:
        """Show this state; only what has changed is updated."""
        before, self.state = self.state, state
        other = before.listing is not state.listing or state.view is None
        if other or (before.filter, before.grouping) != (state.filter, state.grouping):
            self._show_list(state)
        self._show_filter(before, state)
        if before.jumps != state.jumps:
            self.query_one(HookList).point_at(state.selected)
        view = state.view
        self.query_one(WhyPane).offer(state)
        if view is None:
            return
        sheet_inputs = (state.row, view, state.source, state.unfolded, state.checked)
        if self._told is None or any(
            current is not other for current, other in zip(sheet_inputs, self._told, strict=True)
        ):
            self._told = sheet_inputs
            self._show_why(state, view)
        if before.view is not view and self.has_keys_pane:
            self._show_registry(self.keys_pane, view)

    @cached_property
    def keys_pane(self) -> KeysPane:
        """The registry's pane, mounted on first use."""
        pane = KeysPane(id="keys")
        self.mount(pane)
        if self.state.view is not None:
            self._show_registry(pane, self.state.view)
        return pane

    @property
    def has_keys_pane(self) -> bool:
        """Whether the registry was shown before."""
        return "keys_pane" in self.__dict__

    def _show_registry(self, pane: KeysPane, view: Snapshot) -> None:
        from hookscope.console.panes.registry_sheet import registry_sheet

        title = Content.assemble("Registry", (f"   generation {view.registry.generation}", MUTED))
        pane.show("registry", [title], lambda width: registry_sheet(view, width))

    def name_keys(self) -> None:
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
            if state.filtering and state.filter != self._filter_shown:
                shown = (row for group in groups for row in group.rows)
                best = best_match(shown, state.filter, listed.pointed_row)
                if best is not None:
                    listed.point_at(best.id)
            self._filter_shown = state.filter
        self._show_title(state, len(rows))
        filtered = ("console.back", "clears") if state.filter else ("hooks.filter", "filter")
        hints = (filtered, *LIST_HINTS) if rows else (filtered,) if state.filter else ()
        pane.border_subtitle = key_hints(*hints)
        empty = self.query_one("#empty", Static)
        empty.update(_empty_text(state, len(rows)), layout=False)
        empty.display = not rows

    def _show_title(self, state: ConsoleState, shown: int) -> None:
        pane, total = self.query_one(ListPane), len(state.rows)
        grouping = "" if state.grouping == "source" else f"   by {state.grouping}"
        count = f"Hooks {shown}/{total}" if state.filter else f"Hooks {total}"
        title = Content.assemble(count, (grouping, MUTED))
        pane.border_title = fitting_title(pane.outer_size.width, title, *_shipped_title(state))

    def _show_filter(self, before: ConsoleState, state: ConsoleState) -> None:
        pane = self.query_one(ListPane)
        if not (state.filtering or state.filter or pane.has_filter_box):
            return
        box = pane.filter_box
        box.display = state.filtering
        typing = state.filtering and box.has_focus  # the field may be a letter ahead of the state
        if state.filter != box.value and not typing:
            with self.prevent(Input.Changed):
                box.value = state.filter
        if state.filtering and not before.filtering:
            box.focus()
        elif before.filtering and not state.filtering and state.mode == "hooks":
            self.query_one(HookList).focus()

    def _show_why(self, state: ConsoleState, view: Snapshot) -> None:
        from hookscope.console.panes import hook_sheets

        row, pane = state.row, self.query_one(WhyPane)
        if row is None:
            nothing = Content.styled("No hook is selected.", MUTED)
            pane.show("", [Content("Why")], lambda _: nothing)
            return
        source, unfolded, checked = state.source, state.unfolded, state.checked
        pane.show(
            row.id,
            hook_sheets.why_title(row, checked),
            lambda width: hook_sheets.why_sheet(
                row, view, source, hook_sheets.WhyOptions(width, unfolded, checked)
            ),
        )

    # Messages of the list and the filter.

    def on_hook_list_pointed(self, event: HookList.Pointed) -> None:
        event.stop()
        self.post_message(StateChanged(state_changes.RowSelected(event.row)))

    def on_hook_list_picked(self, event: HookList.Picked) -> None:
        event.stop()
        self.post_message(StateChanged(state_changes.RowSelected(event.row)))
        self.post_message(StateChanged(state_changes.SideChosen("why")))

    def on_hook_list_resized(self, event: HookList.Resized) -> None:
        event.stop()
        self._show_title(self.state, len(self._narrowed.rows(self.state.listing, self.state.filter)))
        self.query_one("#columns", Static).update(heading_line(event.columns), layout=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(StateChanged(state_changes.FilterChanged(event.value, typing=True)))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(StateChanged(state_changes.FilterChanged(event.value, typing=False)))

    def on_why_pane_fold_requested(self, event: WhyPane.FoldRequested) -> None:
        event.stop()
        if self._may("fold") is not None:
            self.post_message(StateChanged(state_changes.ChecksFolded()))

    # Actions. An unavailable action shows its reason.

    def cannot(self, action: str) -> str:
        """Return why an action has no effect; the key bar then omits it."""
        needs_rows = action in ("filter", "group") and not self.state.rows
        return "The list is empty." if needs_rows else ""

    def _may(self, action: str) -> HookRow | None:
        """Return the selected row if the action is available for it; else show the reason."""
        # A key can arrive before the message about the last move, so the list is read.
        pointed = self.query_one(HookList).pointed_row
        state = replace(self.state, selected=pointed) if pointed else self.state
        problem = why_unavailable(action, state)
        if problem:
            self.post_message(NoticeShown(problem, "warning"))
            return None
        return state.row

    def action_fire_hook(self, at_once: bool = False) -> None:
        row = self._may("fire_hook")
        if row is not None and self.state.view is not None:
            key = first_event(row, self.state.view)
            self.post_message(ComposeForHookRequested(key, row.name, fires=at_once))

    def action_edit(self) -> None:
        row = self._may("edit")
        if row is None:
            return
        from hookscope.console.panes.hook_sheets import fault_place

        place = fault_place(row)
        if place is None:
            self.post_message(NoticeShown(f"{row.name} was registered by code and has no file.", "warning"))
        else:
            self.post_message(EditorRequested(place))

    def action_switch(self) -> None:
        row = self._may("switch")
        if row is not None and isinstance(row.item, HookStatus):
            is_off = any(gate.name == "enabled" for gate in row.item.verdict.failed())
            self.post_message(ToggleRequested(row.name, is_off))

    def action_fix(self) -> None:
        row = self._may("fix")
        if row is not None:
            self.post_message(FixRequested(row.item))

    def action_fix_all(self) -> None:
        if self.state.view is None:
            self.post_message(NoticeShown(why_unavailable("fix_all", self.state), "warning"))
        else:
            self.post_message(CommandRequested("fix all"))

    def action_packs(self) -> None:
        self.post_message(CommandRequested("packs"))

    def action_new(self) -> None:
        if self.state.view is None:
            self.post_message(NoticeShown(why_unavailable("new", self.state), "warning"))
        else:
            self.post_message(CommandRequested("new hook"))

    def action_undo(self) -> None:
        self.post_message(CommandRequested("undo"))

    def action_trust(self) -> None:
        row = self._may("trust")
        view = self.state.view
        if row is not None and view is not None and isinstance(row.item, HookStatus):
            from hookscope.app.trust_requests import trust_targets  # not needed for the first frame

            self.post_message(TrustRequested(trust_targets(row.item, view)))

    def action_lift(self) -> None:
        row = self._may("lift")
        if row is not None and isinstance(row.item, HookStatus):
            self.post_message(QuarantineEndRequested(row.item.hook))

    def action_copy(self) -> None:
        row = self._may("copy")
        if row is not None and self.state.view is not None:
            from hookscope.console.panes.hook_sheets import hook_report

            source = self.state.source
            checked = self.state.checked
            text = hook_report(
                row,
                self.state.view,
                source if source and source.row == row.id else None,
                checked if checked and checked.row == row.id else None,
            )
            self.post_message(CopyRequested(text, f"report on {row.name}"))

    def action_filter(self) -> None:
        self.post_message(StateChanged(state_changes.FilterChanged(self.state.filter, typing=True)))

    def action_group(self) -> None:
        self.post_message(StateChanged(state_changes.GroupingChanged()))

    def action_keys(self) -> None:
        shown = self.has_keys_pane and self.keys_pane.display
        other = self.state.side == "keys" and (self.state.reading or shown)
        self.post_message(StateChanged(state_changes.SideChosen("why" if other else "keys")))

    def action_recheck(self) -> None:
        self.post_message(CommandRequested("scan"))

    def action_folders(self) -> None:
        view, state = self.state.view, self.state
        if view is None:
            self.post_message(NoticeShown("Still scanning: the host's folders are not known yet."))
            return
        self.post_message(
            StateChanged(state_changes.StartHereShown(True, not state.folders_shown if state.start else True))
        )

        def notify_if_hidden() -> None:  # the pane may be hidden or have no room
            start = self.screen.query_one_optional("#start")
            if start is None or not start.region:
                self.post_message(NoticeShown(_short_folders(view)))

        self.call_later(self.call_after_refresh, notify_if_hidden)


def first_event(row: HookRow, view: Snapshot) -> str:
    """Return the row's first event; for a wildcard, the first event that matches it."""
    from hookscope.console.panes.registry_sheet import is_subscribed

    first = row.events[0]
    if first in view.keys:
        return first
    return next((key for key in view.keys if is_subscribed(first, key, view)), first)


def _shipped_title(state: ConsoleState) -> tuple[Content, ...]:
    """Return how many hooks the shipped program would run; empty if it agrees with the guide."""
    summary = state.view.shipped_summary if state.view is not None else ""
    if not summary or state.filter:
        return ()
    words = summary.partition(";")[0].replace(" of these ", " of ").removesuffix(" hooks")
    words = words.replace(" would run ", " runs ")
    key = key_of("console.dialect")
    return Content.assemble(("   ≠ ", "$text-warning"), safe_line(words)), Content(f" · {key} shows why")


def _empty_text(state: ConsoleState, shown: int) -> Content:
    if shown:
        return Content()
    if state.view is None:
        return Content.styled("  Scanning …", MUTED)
    text = (
        "No hook matches the filter. Press {console.back} to clear it."
        if state.filter
        else "No hook was found. Press {hooks.new} to create one, {hooks.recheck} to scan again."
    )
    return Content.styled(f"  {with_keys(text)}", MUTED)


def _short_folders(view: Snapshot) -> str:
    short = view.host.machine.short
    folders = (f"{folder.source} {short(folder.path)}" for folder in by_precedence(view.folders))
    return "\n".join(f"{number} {folder}" for number, folder in enumerate(folders, 1))

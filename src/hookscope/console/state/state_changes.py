"""The changes of the console's state, its reducer, and the part of it that is saved. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from hookscope.console.state.console_state import (
    MODE_OF,
    ComposedEvent,
    ConsoleState,
    HookCheck,
    Mode,
    Pane,
    Side,
    SourceText,
)
from hookscope.console.state.hook_rows import GROUPINGS, Grouping, HookListing, listing_of
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.variables import VariableSources


KEPT_FIELDS = ("mode", "side", "reading", "zoom", "selected", "filter", "grouping", "start_hidden")


@dataclass(frozen=True, slots=True)
class ComposerDraft:
    """The composer's event. `text` is None for an unchanged template, which is restored as a template."""

    key: str = ""
    only: str | None = None
    session: str = ""
    text: str | None = None
    ctx_text: str = ""
    held: bool = False  # the current settings (`cfg`) are kept outside the text
    file: str | None = None  # its saved event


@dataclass(frozen=True, slots=True)
class SavedView:
    """The saved part of the state. Default values are omitted from the file."""

    mode: Mode = "hooks"
    side: Side = "why"
    reading: bool = False
    zoom: Pane | None = None
    selected: str = ""
    filter: str = ""
    grouping: Grouping = "source"
    start_hidden: bool = False
    part: str | None = None  # the zoomed part of the Fire mode
    form: bool = False  # the event is shown as a form
    draft: ComposerDraft = ComposerDraft()
    dialect: str | None = None  # chosen by hand
    environment: str | None = None  # chosen by hand; empty: no environment


def saved_view_of(state: ConsoleState) -> SavedView:
    """Return the saved part of a state. The panes supply the other fields of a view."""
    return SavedView(**{name: getattr(state, name) for name in KEPT_FIELDS})


def restore_view(state: ConsoleState, kept: SavedView) -> ConsoleState:
    """Return the state with the saved values. Values that the user has already changed stay."""
    initial = type(state)()
    untouched = [name for name in KEPT_FIELDS if getattr(state, name) == getattr(initial, name)]
    return replace(state, **{name: getattr(kept, name) for name in untouched})


def saved_view_values(kept: SavedView) -> dict[str, Any]:
    """Return the values to write to the file."""
    values = _changed_fields(kept, SavedView())
    if kept.draft != ComposerDraft():
        values["draft"] = _changed_fields(kept.draft, ComposerDraft())
    return values


FORMER_FIELDS = ("log_filter",)  # older versions wrote them


def saved_view_from(values: Mapping[str, Any]) -> SavedView:
    """Parse the values of a file. Raises ValueError with the name of an invalid value."""
    draft = values.get("draft", {})
    if not isinstance(draft, Mapping):
        raise ValueError("draft")
    own = {name: value for name, value in values.items() if name not in ("draft", *FORMER_FIELDS)}
    taken = _checked(own, FIELD_CHECKS)
    return SavedView(**taken, draft=ComposerDraft(**_checked(draft, DRAFT_FIELD_CHECKS)))


def _changed_fields(current: Any, default: Any) -> dict[str, Any]:
    names = [field.name for field in fields(current) if field.name != "draft"]
    return {
        name: getattr(current, name) for name in names if getattr(current, name) != getattr(default, name)
    }


def _checked(values: Mapping[str, Any], kinds: Mapping[str, Callable[[Any], bool]]) -> dict[str, Any]:
    for name, value in values.items():
        if name not in kinds or not kinds[name](value):
            raise ValueError(str(name)[:60])
    return dict(values)


def _one_of(*known: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in known


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


FIELD_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "mode": _one_of(*get_args(Mode)),
    "side": _one_of(*get_args(Side)),
    "zoom": _one_of(*MODE_OF),
    "grouping": _one_of(*GROUPINGS),
    "part": _one_of("composer", "plan", "run"),
    **dict.fromkeys(("reading", "start_hidden", "form"), _is_bool),
    **dict.fromkeys(("selected", "filter", "dialect", "environment"), _is_text),
}
DRAFT_FIELD_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "held": _is_bool,
    **dict.fromkeys(("key", "only", "session", "text", "ctx_text", "file"), _is_text),
}


@dataclass(frozen=True, slots=True)
class StateRestored:
    """The saved view of the last session was read."""

    kept: SavedView


@dataclass(frozen=True, slots=True)
class ScanStarted:
    """A scan has started."""


@dataclass(frozen=True, slots=True)
class ScanFinished:
    """A scan has a result."""

    generation: int
    view: Snapshot
    took: float  # seconds
    filling: VariableSources | None = None
    listing: HookListing | None = None  # of `view`, if the scanning thread has made it


@dataclass(frozen=True, slots=True)
class ScanFailed:
    """A scan has failed."""

    text: str


@dataclass(frozen=True, slots=True)
class SourceRead:
    source: SourceText


@dataclass(frozen=True, slots=True)
class HookChecked:
    checked: HookCheck


@dataclass(frozen=True, slots=True)
class RowSelected:
    row: str


@dataclass(frozen=True, slots=True)
class RowJumpedTo:
    """A row was selected outside the list, and the list must show it.

    `event`: the event that the sheet beside the list explains; empty: the hook's first event.
    """

    row: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class ModeChosen:
    mode: Mode


@dataclass(frozen=True, slots=True)
class PaneFocused:
    """The user focused a pane, by key or mouse."""

    pane: Pane


@dataclass(frozen=True, slots=True)
class SideChosen:
    """A sheet beside the list was requested; on a small screen it replaces the list."""

    side: Side


@dataclass(frozen=True, slots=True)
class FilterChanged:
    text: str
    typing: bool


@dataclass(frozen=True, slots=True)
class GroupingChanged:
    pass


@dataclass(frozen=True, slots=True)
class ChecksFolded:
    """Passed gates were folded or unfolded."""


@dataclass(frozen=True, slots=True)
class PaneZoomed:
    pane: Pane | None


@dataclass(frozen=True, slots=True)
class StartHereShown:
    """The "Start here" pane was shown or hidden, or its folders were."""

    shown: bool
    folders: bool = True


@dataclass(frozen=True, slots=True)
class EventComposed:
    draft: ComposedEvent


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A job has started, or ended if `job` is empty."""

    job: str


@dataclass(frozen=True, slots=True)
class VerificationShown:
    """The installed host's answers were compared; empty `text`: files have changed since."""

    text: str


@dataclass(frozen=True, slots=True)
class FireOnSaveChanged:
    """An event fires on every save from now on; None: no event does."""

    draft: ComposedEvent | None


@dataclass(frozen=True, slots=True)
class WatchedFilesChanged:
    """The watched files, or the way they are watched, have changed."""

    text: str


@dataclass(frozen=True, slots=True)
class SteppedBack:
    """The user stepped back: the innermost open view is closed."""


StateChange: TypeAlias = (
    StateRestored
    | ScanStarted
    | ScanFinished
    | ScanFailed
    | SourceRead
    | HookChecked
    | RowSelected
    | RowJumpedTo
    | ModeChosen
    | PaneFocused
    | SideChosen
    | FilterChanged
    | GroupingChanged
    | ChecksFolded
    | PaneZoomed
    | StartHereShown
    | EventComposed
    | JobChanged
    | FireOnSaveChanged
    | VerificationShown
    | WatchedFilesChanged
    | SteppedBack
)


def reduce(state: ConsoleState, change: StateChange) -> ConsoleState:
    """Return the state after a change; the same object if nothing changes."""
    match change:
        case StateRestored(kept):
            return restore_view(state, kept)
        case ScanStarted():
            return replace(state, is_scanning=True)
        case ScanFinished():
            return _scan_finished(state, change)
        case ScanFailed():
            return replace(state, is_scanning=False)
        case SourceRead(source):
            return replace(state, source=source) if source.row == state.selected else state
        case HookChecked(checked):
            return replace(state, checked=checked) if checked.row == state.selected else state
        case RowSelected(row):
            if row == state.selected:
                return state
            return replace(state, selected=row, asked_event="", source=None, checked=None, unfolded=False)
        case RowJumpedTo(row, event):
            return replace(reduce(state, RowSelected(row)), jumps=state.jumps + 1, asked_event=event)
        case ModeChosen(mode):
            return _with_mode(state, mode)
        case PaneFocused(pane):
            return _with_focus(state, pane)
        case SideChosen(side):
            return replace(_with_mode(state, "hooks"), side=side, reading=True, zoom=None)
        case FilterChanged(text, typing):
            return replace(state, filter=text, filtering=typing)
        case GroupingChanged():
            after = GROUPINGS.index(state.grouping) + 1
            return replace(state, grouping=GROUPINGS[after % len(GROUPINGS)])
        case ChecksFolded():
            return replace(state, unfolded=not state.unfolded)
        case PaneZoomed(pane):
            return replace(state, zoom=pane)
        case StartHereShown(shown, folders):
            return replace(state, start_hidden=not shown, folders_shown=folders)
        case EventComposed(draft):
            return replace(state, draft=draft)
        case JobChanged(job):
            return replace(state, job=job, start_hidden=state.start_hidden or bool(job))
        case FireOnSaveChanged(draft):
            return replace(state, armed=draft)
        case VerificationShown(text):
            return state if text == state.verified else replace(state, verified=text)
        case WatchedFilesChanged(text):
            return state if text == state.watching else replace(state, watching=text)
        case SteppedBack():
            return _stepped_back(state)


def _scan_finished(state: ConsoleState, change: ScanFinished) -> ConsoleState:
    if change.generation <= state.generation:
        return state  # the result of an older scan
    listing = change.listing or listing_of(change.view)
    is_listed = state.selected in listing.by_id
    has_vanished = (
        state.view is None and bool(state.selected) and not is_listed
    )  # selected last time, and gone now
    return replace(
        state,
        view=change.view,
        listing=listing,
        filling=change.filling,
        generation=change.generation,
        is_scanning=False,
        selected=state.selected if is_listed else "",
        reading=state.reading and not has_vanished,
        zoom=None if has_vanished and state.zoom == "why" else state.zoom,
        source=state.source if is_listed else None,
        checked=state.checked if is_listed else None,
    )


def _with_mode(state: ConsoleState, mode: Mode) -> ConsoleState:
    zoomed = state.zoom if state.zoom is not None and MODE_OF[state.zoom] == mode else None
    return replace(state, mode=mode, zoom=zoomed, filtering=state.filtering and mode == "hooks")


def _with_focus(state: ConsoleState, pane: Pane) -> ConsoleState:
    mode = MODE_OF[pane]
    reading = pane in ("why", "keys") if mode == "hooks" else state.reading
    if (mode, reading) == (state.mode, state.reading):
        return state
    return replace(_with_mode(state, mode), reading=reading)


def _stepped_back(state: ConsoleState) -> ConsoleState:
    if state.zoom is not None:
        return replace(state, zoom=None)
    if state.mode != "hooks":
        return _with_mode(state, "hooks")
    if state.filtering or state.filter:
        return replace(state, filter="", filtering=False)
    if state.side != "why":
        return replace(state, side="why", reading=False)
    if state.reading:
        return replace(state, reading=False, unfolded=False)
    if state.start:
        return replace(state, start_hidden=True)
    return state


class ConsoleStore:
    """Holds the console's one state: every change goes through the reducer."""

    def __init__(self, changed: Callable[[ConsoleState], object]) -> None:
        """`changed` receives the previous state, after each change that has an effect."""
        self.state = ConsoleState()
        self._changed = changed

    def change(self, change: StateChange) -> None:
        """Apply a change to the state."""
        before, self.state = self.state, reduce(self.state, change)
        if self.state is not before:
            self._changed(before)

"""What can happen to the console, and one pure function from what has happened to the next state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from hookscope.console.hooks.listing import Listing, listing_of
from hookscope.console.hooks.rows import GROUPINGS
from hookscope.console.last_time.model import Kept, restored
from hookscope.console.layout import MODE_OF, Mode, Pane, Side
from hookscope.console.state import Composed, ConsoleState, Linted, SourceText
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.workbench import View
    from hookscope.workbench.filling import Filling


@dataclass(frozen=True, slots=True)
class Restored:
    """What the console showed last time."""

    kept: Kept


@dataclass(frozen=True, slots=True)
class LookBegan:
    """A look is on its way."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A look has an answer."""

    generation: int
    view: View
    took: float  # seconds
    filling: Filling | None = None
    listing: Listing | None = None  # of the view, where the thread that looked has made it


@dataclass(frozen=True, slots=True)
class LookFailed:
    """A look has none."""

    text: str


@dataclass(frozen=True, slots=True)
class SourceRead:
    source: SourceText


@dataclass(frozen=True, slots=True)
class HookChecked:
    checked: Linted


@dataclass(frozen=True, slots=True)
class Selected:
    row: str


@dataclass(frozen=True, slots=True)
class Jumped:
    """A row was asked for from elsewhere: the list has to follow."""

    row: str


@dataclass(frozen=True, slots=True)
class ModeChosen:
    mode: Mode


@dataclass(frozen=True, slots=True)
class PaneFocused:
    """The user went to a pane: by tab or by mouse."""

    pane: Pane


@dataclass(frozen=True, slots=True)
class SideChosen:
    """Something beside the list is wanted; on a small screen it takes the list's place."""

    side: Side


@dataclass(frozen=True, slots=True)
class Filtered:
    text: str
    typing: bool


@dataclass(frozen=True, slots=True)
class Regrouped:
    pass


@dataclass(frozen=True, slots=True)
class Folded:
    """Passing checks shut or opened."""


@dataclass(frozen=True, slots=True)
class Zoomed:
    pane: Pane | None


@dataclass(frozen=True, slots=True)
class StartShown:
    """ "Start here": shown or hidden, its folders too."""

    shown: bool
    folders: bool = True


@dataclass(frozen=True, slots=True)
class Drafted:
    draft: Composed


@dataclass(frozen=True, slots=True)
class Busy:
    """Something that fires goes on; empty: nothing does."""

    job: str


@dataclass(frozen=True, slots=True)
class Armed:
    """An event fires on every save from now on; None: none does."""

    draft: Composed | None


@dataclass(frozen=True, slots=True)
class Watching:
    """Files are watched: which, and how."""

    text: str


@dataclass(frozen=True, slots=True)
class WentBack:
    """One step back: the nearest thing that is open is closed."""


Change: TypeAlias = (
    Restored
    | LookBegan
    | Looked
    | LookFailed
    | SourceRead
    | HookChecked
    | Selected
    | Jumped
    | ModeChosen
    | PaneFocused
    | SideChosen
    | Filtered
    | Regrouped
    | Folded
    | Zoomed
    | StartShown
    | Drafted
    | Busy
    | Armed
    | Watching
    | WentBack
)


def reduce(state: ConsoleState, change: Change) -> ConsoleState:
    """The state after a change. Returns the same object where nothing changes."""
    match change:
        case Restored(kept):
            return restored(state, kept)
        case LookBegan():
            return replace(state, looking=True)
        case Looked():
            return _looked(state, change)
        case LookFailed():
            return replace(state, looking=False)
        case SourceRead(source):
            return replace(state, source=source) if source.row == state.selected else state
        case HookChecked(checked):
            return replace(state, checked=checked) if checked.row == state.selected else state
        case Selected(row):
            if row == state.selected:
                return state
            return replace(state, selected=row, source=None, checked=None, unfolded=False)
        case Jumped(row):
            return replace(reduce(state, Selected(row)), jumps=state.jumps + 1)
        case ModeChosen(mode):
            return _in_mode(state, mode)
        case PaneFocused(pane):
            return _focused(state, pane)
        case SideChosen(side):
            return replace(_in_mode(state, "hooks"), side=side, reading=True, zoom=None)
        case Filtered(text, typing):
            return replace(state, filter=text, filtering=typing)
        case Regrouped():
            after = GROUPINGS.index(state.grouping) + 1
            return replace(state, grouping=GROUPINGS[after % len(GROUPINGS)])
        case Folded():
            return replace(state, unfolded=not state.unfolded)
        case Zoomed(pane):
            return replace(state, zoom=pane)
        case StartShown(shown, folders):
            return replace(state, start_hidden=not shown, folders_shown=folders)
        case Drafted(draft):
            return replace(state, draft=draft)
        case Busy(job):
            return replace(state, job=job, start_hidden=state.start_hidden or bool(job))
        case Armed(draft):
            return replace(state, armed=draft)
        case Watching(text):
            return state if text == state.watching else replace(state, watching=text)
        case WentBack():
            return _back(state)


def _looked(state: ConsoleState, change: Looked) -> ConsoleState:
    if change.generation <= state.generation:
        return state  # an answer to an older question
    listing = change.listing or listing_of(change.view)
    kept = state.selected in listing.by_id
    gone = state.view is None and bool(state.selected) and not kept  # read last time, and no more there
    return replace(
        state,
        view=change.view,
        listing=listing,
        filling=change.filling,
        generation=change.generation,
        looking=False,
        selected=state.selected if kept else "",
        reading=state.reading and not gone,
        zoom=None if gone and state.zoom == "why" else state.zoom,
        source=state.source if kept else None,
        checked=state.checked if kept else None,
    )


def _in_mode(state: ConsoleState, mode: Mode) -> ConsoleState:
    kept = state.zoom if state.zoom is not None and MODE_OF[state.zoom] == mode else None
    return replace(state, mode=mode, zoom=kept, filtering=state.filtering and mode == "hooks")


def _focused(state: ConsoleState, pane: Pane) -> ConsoleState:
    mode = MODE_OF[pane]
    reading = pane in ("why", "keys") if mode == "hooks" else state.reading
    if (mode, reading) == (state.mode, state.reading):
        return state
    return replace(_in_mode(state, mode), reading=reading)


def _back(state: ConsoleState) -> ConsoleState:
    if state.zoom is not None:
        return replace(state, zoom=None)
    if state.mode != "hooks":
        return _in_mode(state, "hooks")
    if state.filtering or state.filter:
        return replace(state, filter="", filtering=False)
    if state.side != "why":
        return replace(state, side="why", reading=False)
    if state.reading:
        return replace(state, reading=False, unfolded=False)
    if state.start:
        return replace(state, start_hidden=True)
    return state

"""The console's one frozen state, and which panes a screen of a given size shows. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hookscope.console.state.hook_rows import EMPTY_LISTING, Grouping, HookListing, HookRow
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.runs.activation_links import ActivationLink
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.variables import VariableSources
    from hookscope.authoring.lint.model import LintFinding
    from hookscope.console.state.fire_requests import FireOptions
    from hookscope.model.run import Event


Mode = Literal["hooks", "fire", "log", "hosts"]
Side = Literal["why", "keys"]
Pane = Literal["list", "why", "keys", "start", "fire", "log", "hosts"]
ScreenSize = Literal["tiny", "small", "medium", "wide"]

LEAST_SIZE = (60, 16)  # smaller terminals get one line that says so
MODE_OF: dict[Pane, Mode] = {
    "list": "hooks",
    "why": "hooks",
    "keys": "hooks",
    "start": "hooks",
    "fire": "fire",
    "log": "log",
    "hosts": "hosts",
}


@dataclass(frozen=True, slots=True)
class PaneLayout:
    """The panes that are shown, and how much room there is for them."""

    size: ScreenSize
    mode: Mode
    panes: tuple[Pane, ...]

    @property
    def classes(self) -> frozenset[str]:
        """The classes of the screen that the style sheet knows."""
        shown = (f"-show-{pane}" for pane in self.panes)
        alone = ("-alone",) if len(self.panes) == 1 else ()
        # A wide screen stands the same in all modes that have no pane of their own alone.
        inside = () if self.size == "wide" and len(self.panes) > 1 else (f"-in-{self.mode}",)
        return frozenset({f"-{self.size}", *inside, *shown, *alone})


def every_class() -> frozenset[str]:
    """All classes that some layout gives."""
    sizes = {f"-{size}" for size in ("tiny", "small", "medium", "wide")}
    return frozenset(
        sizes
        | {"-alone"}
        | {f"-in-{mode}" for mode in MODE_OF.values()}
        | {f"-show-{pane}" for pane in MODE_OF}
    )


def size_of(width: int, height: int) -> ScreenSize:
    """How much fits side by side."""
    if width < LEAST_SIZE[0] or height < LEAST_SIZE[1]:
        return "tiny"
    if width < 100:
        return "small"
    return "wide" if width >= 160 and height >= 40 else "medium"


def arrange_panes(
    width: int,
    height: int,
    mode: Mode,
    zoom: Pane | None = None,
    *,
    side: Side = "why",
    reading: bool = False,
    start: bool = False,
) -> PaneLayout:
    """The panes to show.

    Args:
        zoom: the one pane that has everything.
        side: what stands beside the list of hooks.
        reading: a small screen shows that side, not the list.
        start: "Start here" asks for room.
    """
    size = size_of(width, height)
    if size == "tiny":
        return PaneLayout(size, mode, ())
    if zoom is not None and MODE_OF[zoom] == mode:
        return PaneLayout(size, mode, (zoom,))
    if mode == "hosts":  # a matrix needs the width of any screen
        return PaneLayout(size, mode, ("hosts",))
    if size == "wide":
        return PaneLayout(size, mode, ("list", side, "fire", *(("start",) if start else ()), "log"))
    if mode != "hooks":
        return PaneLayout(size, mode, (mode,))
    if size == "small":
        return PaneLayout(size, mode, _small_panes(height, side, reading, start))
    return PaneLayout(size, mode, ("list", side, *_panes_below(height, start)))


def _small_panes(height: int, side: Side, reading: bool, start: bool) -> tuple[Pane, ...]:
    if reading:
        return (side,)
    return ("list", "start") if start and height >= 20 else ("list",)


def _panes_below(height: int, start: bool) -> tuple[Pane, ...]:
    if start and height >= 24:
        return ("start",)
    return ("log",) if height >= 30 else ()


def too_small(width: int, height: int) -> str:
    """The one line of a terminal that is too small."""
    wide, high = LEAST_SIZE
    return f"needs {wide}x{high}; now {width}x{height} – the command line does the same: hookscope list"


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file that is shown beside a hook, or why there is none."""

    row: str
    path: Path
    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class HookCheck:
    """What a lint says of one hook, and what has come of it so far."""

    row: str
    findings: tuple[LintFinding, ...] = ()
    problem: str = ""  # what it could not look at, or why there is none
    links: tuple[ActivationLink, ...] = ()  # what has come of it so far


@dataclass(frozen=True, slots=True)
class ComposedEvent:
    """The event in the composer. None: it cannot be fired as it stands."""

    event: Event | None = None
    only: str | None = None
    guarded: bool = False  # on copies of what handlers may write to
    written: bool = False  # its variables stand there as they were written, and are still to be filled
    way: FireOptions | None = None  # how it is fired, where it is not simply fired
    file: Path | None = None  # the saved event that it is, unchanged: its run is compared with that


@dataclass(frozen=True, slots=True)
class ConsoleState:
    """All that the panes show comes from here."""

    mode: Mode = "hooks"
    side: Side = "why"
    reading: bool = False  # a small screen shows the side, not the list
    zoom: Pane | None = None
    view: Snapshot | None = None
    filling: VariableSources | None = None  # what fills the variables of events
    listing: HookListing = EMPTY_LISTING  # all rows of the look, and what is known of them as a whole
    generation: int = 0  # of the look that is shown
    looking: bool = False
    selected: str = ""  # the id of a row
    jumps: int = 0  # how often it was set from outside the list
    filter: str = ""
    filtering: bool = False
    grouping: Grouping = "source"
    unfolded: bool = False  # passing checks are listed one by one
    start_hidden: bool = False
    folders_shown: bool = True  # in "Start here"
    source: SourceText | None = None
    checked: HookCheck | None = None
    draft: ComposedEvent = ComposedEvent()
    job: str = ""  # what is on its way, as the beginning of a sentence
    watching: str = ""  # what is watched, and how
    armed: ComposedEvent | None = None  # fires again after every save

    @property
    def rows(self) -> tuple[HookRow, ...]:
        """All rows: hooks, and what is none."""
        return self.listing.rows

    @property
    def row(self) -> HookRow | None:
        """The selected row."""
        return self.listing.by_id.get(self.selected)

    @property
    def start(self) -> bool:
        """Is "Start here" wanted: nothing is configured and nothing was allowed to run yet."""
        if self.start_hidden or self.view is None:
            return False
        host = self.view.host
        return not host.settings.exists and not host.trust.folders and not host.trust.everything

"""The console's one frozen state, and which panes a screen of a given size shows. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hookscope.console.state.hook_rows import EMPTY_LISTING, Grouping, HookListing, HookRow
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.analysis.why_chain import WhyChain
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.variables import VariableSources
    from hookscope.authoring.lint.model import LintFinding
    from hookscope.console.state.fire_requests import FireOptions
    from hookscope.model.run import Event


Mode = Literal["hooks", "fire", "log", "hosts"]
Side = Literal["why", "keys"]
Pane = Literal["list", "why", "keys", "start", "fire", "log", "hosts"]
ScreenSize = Literal["tiny", "small", "medium", "wide"]

LEAST_SIZE = (60, 16)  # smaller terminals get a one-line message
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
    """The visible panes, and the size of the screen."""

    size: ScreenSize
    mode: Mode
    panes: tuple[Pane, ...]

    @property
    def classes(self) -> frozenset[str]:
        """The screen's classes, for the style sheet."""
        shown = (f"-show-{pane}" for pane in self.panes)
        alone = ("-alone",) if len(self.panes) == 1 else ()
        # A wide screen with the list of hooks looks the same in all modes.
        inside = () if self.size == "wide" and "list" in self.panes else (f"-in-{self.mode}",)
        return frozenset({f"-{self.size}", *inside, *shown, *alone})


def every_class() -> frozenset[str]:
    """Return all CSS classes that a layout can have."""
    sizes = {f"-{size}" for size in ("tiny", "small", "medium", "wide")}
    return frozenset(
        sizes
        | {"-alone"}
        | {f"-in-{mode}" for mode in MODE_OF.values()}
        | {f"-show-{pane}" for pane in MODE_OF}
    )


def size_of(width: int, height: int) -> ScreenSize:
    """Return how much fits side by side on a screen of this size."""
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
    """Return the panes to show.

    Args:
        zoom: the pane that takes all the room.
        side: the sheet beside the list of hooks.
        reading: a small screen shows the sheet instead of the list.
        start: whether to show "Start here".
    """
    size = size_of(width, height)
    if size == "tiny":
        return PaneLayout(size, mode, ())
    if zoom is not None and MODE_OF[zoom] == mode:
        return PaneLayout(size, mode, (zoom,))
    if mode == "hosts":  # the matrix needs the full width
        return PaneLayout(size, mode, ("hosts",))
    if size == "wide" and mode == "log":  # its lines and details need the room
        return PaneLayout(size, mode, ("log",))
    if size == "wide":
        return PaneLayout(size, mode, ("list", side, "fire", *(("start",) if start else ()), "log"))
    if mode != "hooks":
        return PaneLayout(size, mode, (mode,))
    if size == "small" and reading:
        return PaneLayout(size, mode, (side,))
    if size == "small":
        return PaneLayout(size, mode, ("list", "start") if start and height >= 20 else ("list",))
    below: tuple[Pane, ...] = ("log",) if height >= 30 else ()
    if start and height >= 24:
        below = ("start",)
    return PaneLayout(size, mode, ("list", side, *below))


def too_small(width: int, height: int) -> str:
    """Return the message for a terminal that is too small."""
    wide, high = LEAST_SIZE
    return f"needs {wide}x{high}; now {width}x{height} – or use the command line: hookscope list"


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file that is shown beside a hook, or why there is none."""

    row: str
    path: Path
    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class HookCheck:
    """The lint findings of one hook, and its activation links."""

    row: str
    findings: tuple[LintFinding, ...] = ()
    problem: str = ""  # what lint could not check, or why there is no result
    links: tuple[ActivationLink, ...] = ()
    chain: WhyChain | None = None  # from the hook's file to its user, for one event


@dataclass(frozen=True, slots=True)
class ComposedEvent:
    """The event in the composer. `event` is None if it is not valid."""

    event: Event | None = None
    only: str | None = None
    guarded: bool = False  # runs in the sandbox
    written: bool = False  # its variables are not filled yet
    options: FireOptions | None = None  # fire options, if not the default ones
    file: Path | None = None  # its unchanged saved event, which the run is compared with


@dataclass(frozen=True, slots=True)
class ConsoleState:
    """The state that all panes are drawn from."""

    mode: Mode = "hooks"
    side: Side = "why"
    reading: bool = False  # a small screen shows the sheet instead of the list
    zoom: Pane | None = None
    view: Snapshot | None = None
    filling: VariableSources | None = None  # the source of event variables
    listing: HookListing = EMPTY_LISTING  # all rows of the scan, and their counts
    generation: int = 0  # of the scan that is shown
    is_scanning: bool = False
    selected: str = ""  # the id of a row
    asked_event: str = ""  # the event that the sheet explains; empty: the hook's first event
    jumps: int = 0  # how often the selection was set from outside the list
    filter: str = ""
    filtering: bool = False
    grouping: Grouping = "source"
    unfolded: bool = False  # passed gates are listed one by one
    start_hidden: bool = False
    folders_shown: bool = True  # in "Start here"
    source: SourceText | None = None
    checked: HookCheck | None = None
    draft: ComposedEvent = ComposedEvent()
    job: str = ""  # the current job, as the beginning of a sentence
    verified: str = ""  # how the installed host's own answers compare, until files change
    watching: str = ""  # which files are watched, and how
    armed: ComposedEvent | None = None  # the event that fires on every save

    @property
    def rows(self) -> tuple[HookRow, ...]:
        """All rows: hooks and rejected hooks."""
        return self.listing.rows

    @property
    def row(self) -> HookRow | None:
        """The selected row."""
        return self.listing.by_id.get(self.selected)

    @property
    def start(self) -> bool:
        """Whether to show "Start here": nothing is configured and no folder is trusted yet."""
        if self.start_hidden or self.view is None:
            return False
        host = self.view.host
        return not host.settings.exists and not host.trust.folders and not host.trust.everything

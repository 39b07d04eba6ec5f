"""What the console knows: one frozen state. All that the panes show comes from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.console.hooks.listing import EMPTY, Listing
from hookscope.console.hooks.rows import Grouping, Row
from hookscope.console.layout import Mode, Pane, Side
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.console.fire.otherwise import Otherwise
    from hookscope.core.runs import Event
    from hookscope.workbench import View
    from hookscope.workbench.filling import Filling
    from hookscope.workbench.links.link import Link
    from hookscope.workbench.linting import Finding


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file that is shown beside a hook, or why there is none."""

    row: str
    path: Path
    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Linted:
    """What a lint says of one hook, and what has come of it so far."""

    row: str
    findings: tuple[Finding, ...] = ()
    problem: str = ""  # what it could not look at, or why there is none
    links: tuple[Link, ...] = ()  # what has come of it so far


@dataclass(frozen=True, slots=True)
class Composed:
    """The event in the composer. None: it cannot be fired as it stands."""

    event: Event | None = None
    only: str | None = None
    guarded: bool = False  # on copies of what handlers may write to
    written: bool = False  # its variables stand there as they were written, and are still to be filled
    way: Otherwise | None = None  # how it is fired, where it is not simply fired
    file: Path | None = None  # the saved event that it is, unchanged: its run is compared with that


@dataclass(frozen=True, slots=True)
class ConsoleState:
    """All that the panes show comes from here."""

    mode: Mode = "hooks"
    side: Side = "why"
    reading: bool = False  # a small screen shows the side, not the list
    zoom: Pane | None = None
    view: View | None = None
    filling: Filling | None = None  # what fills the variables of events
    listing: Listing = EMPTY  # all rows of the look, and what is known of them as a whole
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
    checked: Linted | None = None
    draft: Composed = Composed()
    job: str = ""  # what is on its way, as the beginning of a sentence
    watching: str = ""  # what is watched, and how
    armed: Composed | None = None  # fires again after every save

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows: hooks, and what is none."""
        return self.listing.rows

    @property
    def row(self) -> Row | None:
        """The selected row."""
        return self.listing.by_id.get(self.selected)

    @property
    def start(self) -> bool:
        """Is "Start here" wanted: nothing is configured and nothing was allowed to run yet."""
        if self.start_hidden or self.view is None:
            return False
        host = self.view.host
        return not host.settings.exists and not host.trust.folders and not host.trust.everything

"""What a tab is given, and the few shapes that tabs are built of."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from hookscope.console.fire.model import CallRow, RunSheet
from hookscope.console.marks import MUTED
from hookscope.console.text import plain
from hookscope.core.dialect import Host
from hookscope.core.runs import Code
from hookscope.values import dataclass

ITEMS = 200  # messages, frames or changes that are drawn; the rest is counted


@dataclass(frozen=True, slots=True)
class Shown:
    """One row of one run, and how much of it may be drawn."""

    sheet: RunSheet
    row: CallRow
    host: Host
    limit: int = 20_000  # characters of one foreign text
    now: float = 0.0  # by the screen's own clock
    around: int = 2  # lines of source above and below the one that failed

    @property
    def product(self) -> str:
        """The host's name for people."""
        return self.host.dialect.product

    def path(self, path: str) -> str:
        """A path for people: below the hooks folder, the current one or home it is shortened."""
        target = self.row.call.target
        if isinstance(target, Code):
            base = f"{target.root.parent}/"
            if path.startswith(base):
                return path[len(base) :]
        home = f"{self.host.surroundings.home}/"
        return f"~/{path[len(home) :]}" if path.startswith(home) else path


def muted(text: str) -> Content:
    """Our own words beside the answer."""
    return Content.styled(text, MUTED)


def stack(lines: Iterable[Content]) -> Content:
    """Lines below each other."""
    return Content("\n").join(lines)


def foreign(text: str, limit: int) -> Content:
    """Foreign text of several lines. Tabs become spaces: behind a rule they are measured wrongly."""
    return plain(text[:limit].replace("\t", "    ") + text[limit:], limit)


def quoted(text: str, bar: str, style: str, limit: int) -> list[Content]:
    """Foreign text of several lines behind a rule, so that no line of it can pass for ours."""
    rule = Content.styled(bar, style)
    return [rule + piece for piece in foreign(text, limit).split("\n", allow_blank=True)]

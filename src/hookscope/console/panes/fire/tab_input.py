"""What every tab of a run is made from: the selected row, and safe pieces of text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from textual.content import Content

from hookscope.console.panes.fire.run_sheet import CallRow, PatchPath, RunSheet
from hookscope.console.theme.text_styles import MARK_MUTED, safe_text, safe_word
from hookscope.model.host import Host
from hookscope.model.run import Code
from hookscope.values import dataclass

MOST_ITEMS = 200  # messages, frames or changes to draw; the rest is counted


@dataclass(frozen=True, slots=True)
class TabInput:
    """One row of one run, and how much of it to draw."""

    sheet: RunSheet
    row: CallRow
    host: Host
    limit: int = 20_000  # characters of one foreign text
    now: float = 0.0  # by the screen's clock
    around: int = 2  # source lines above and below the failed one; negative: the source is beside it
    room: int = 1_000_000  # lines that fit on the screen
    as_fired: bool = False  # the event before its first handler is selected
    width: int = 1_000_000  # cells of a line

    @property
    def product(self) -> str:
        """The host's display name."""
        return self.host.dialect.product

    def path(self, path: str) -> str:
        """Return a path for display: relative below the folder of hooks, with `~` below the home folder."""
        target = self.row.call.target
        if isinstance(target, Code):
            base = f"{target.root.parent}/"
            if path.startswith(base):
                return path[len(base) :]
        home = f"{self.host.machine.home}/"
        return f"~/{path[len(home) :]}" if path.startswith(home) else path


def muted(text: str) -> Content:
    """Return words of Hookscope's own, muted to set them apart from a handler's output."""
    return Content.styled(text, MARK_MUTED)


def join_lines(lines: Iterable[Content]) -> Content:
    """Return the lines as one text."""
    return Content("\n").join(lines)


def safe_block(text: str, limit: int) -> Content:
    """Return foreign text of several lines. Tabs become spaces, as after a bar their width is wrong."""
    return safe_text(text[:limit].replace("\t", "    ") + text[limit:], limit)


def quoted_lines(text: str, bar: str, style: str, limit: int) -> list[Content]:
    """Return foreign lines behind a bar, so that they cannot be mistaken for Hookscope's own."""
    rule = Content.styled(bar, style)
    return [rule + piece for piece in safe_block(text, limit).split("\n", allow_blank=True)]


MOST_VALUE_CHARACTERS = 2_000  # characters of a value's JSON to process
MOST_PATH_PARTS = 12  # parts of a path to show


def path_name(path: PatchPath) -> str:
    """Return a path as in code: `turns[0].text`, without the leading `context`."""
    parts = path[1:] if len(path) > 1 and path[0] in ("context", "data") else path
    name = ""
    for part in parts[:MOST_PATH_PARTS]:
        if name and part.isdigit():
            name += f"[{part}]"
        else:
            name += f".{safe_word(part, 60)}" if name else safe_word(part, 60)
    return name or "the whole event"


def brief_json(value: Any) -> str:
    """Return a value as one line of JSON."""
    if isinstance(value, str) and len(value) > MOST_VALUE_CHARACTERS:
        value = value[:MOST_VALUE_CHARACTERS] + "…"
    try:
        shown = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        shown = repr(type(value))
    return safe_word(shown[:MOST_VALUE_CHARACTERS], 160)

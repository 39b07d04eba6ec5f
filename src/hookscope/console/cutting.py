"""Text that has more or less room than it needs. Pure."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from hookscope.console.text import line


def cells_of(text: str) -> int:
    """The cells that a text takes in one line."""
    return line(text).cell_length


def fit(text: Content | str, width: int) -> Content:
    """Exactly `width` cells of one line: cut with an ellipsis, or filled up."""
    content = line(text) if isinstance(text, str) else text
    return _no_tabs(content).truncate(width, ellipsis=True, pad=True)


def _no_tabs(content: Content) -> Content:
    return (
        Content(content.plain.replace("\t", " "), list(content.spans)) if "\t" in content.plain else content
    )


def tail(path: Content, room: int) -> Content:
    """A path that is too long loses its head: what tells folders apart is at the end."""
    if path.cell_length <= room:
        return path
    text = path.plain
    while text and Content("…" + text).cell_length > room:
        text = text[1:]
    return Content("…" + text) if room > 1 else Content()


def middle(text: str, room: int) -> str:
    """A text that is too long loses its middle: what tells such texts apart is at both ends."""
    if cell_len(text) <= room:
        return text
    before, behind = max(0, room - 1) // 2, max(0, room - 1) - max(0, room - 1) // 2
    while cell_len(text[:before]) > before and before:
        before -= 1
    while behind and cell_len(text[-behind:]) > behind:
        behind -= 1
    return f"{text[:before]}…{text[len(text) - behind :]}" if room > 0 else ""

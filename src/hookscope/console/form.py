"""A line for each thing that a dialog asks for."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Label


class Form(Horizontal):
    """Fields of one line each, by their labels. The labels are one part: a part a line takes as long to open
    as the fields do."""

    DEFAULT_CSS = """
    Form {
        height: auto;
        & > Label { width: auto; padding: 0 1 0 0; color: $text-muted; }
        & > Vertical { height: auto; }
        & Input { width: 1fr; margin: 0 0 0 1; background: transparent; }
        & Choice { width: 1fr; height: 1; }
    }
    """

    def __init__(self, fields: Mapping[str, Widget]) -> None:
        super().__init__()
        self._fields = fields

    def compose(self) -> ComposeResult:
        yield Label("\n".join(self._fields), markup=False)
        yield Vertical(*self._fields.values())

"""What stands over the panes until it is answered: a frame that names its keys."""

from __future__ import annotations

from typing import TypeVar

from textual.screen import ModalScreen

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    """One frame in the middle; whoever needs more or less room says only that."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > Vertical {
            width: 90%; height: auto;
            border: round $border; border-title-color: $foreground; border-title-style: none;
            border-subtitle-color: $text-muted; background: $surface; padding: 0 1;
        }
    }
    """

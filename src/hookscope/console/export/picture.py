"""The screen as a picture."""

from __future__ import annotations

from typing import Any

from textual.app import App


def picture_of(app: App[Any]) -> str:
    """The screen as SVG. Its indents are kept by every program that draws it."""
    picture = app.export_screenshot(title="hookscope")
    return picture.replace("<text ", '<text xml:space="preserve" ')

"""What a console has drawn, for tests and pictures."""

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.screen import Screen
from textual.strip import Strip

TURNS = 2_000  # of the event loop that a condition may take; each waits for idle widgets


def drawn(app: App[None]) -> list[Strip]:
    """The lines of the screen, with what shows through from the screens below it."""
    # Textual has no public way to the drawn text but an SVG, which loses columns and costs 10 ms.
    # Whoever draws first says what lies below: without it a modal screen is drawn, and kept, over nothing.
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def draw_when_looked_at(patch: pytest.MonkeyPatch) -> None:
    """Draw no change before somebody looks: without a terminal a fifth of a story is drawn for nobody."""
    at_once = Compositor.render_update

    def render_update(
        painter: Compositor,
        full: bool = False,
        screen_stack: list[Screen[object]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        if full:
            return at_once(painter, full, screen_stack, simplify)
        painter._dirty_regions.clear()
        return None

    patch.setattr(Compositor, "render_update", render_update)


def read_styles_once(patch: pytest.MonkeyPatch) -> None:
    """Read each text of styles once for all apps: each app would read the same forty texts again."""
    read: dict[object, list[RuleSet]] = {}
    anew = Stylesheet._parse_rules

    def _parse_rules(
        sheet: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        about = (css, read_from, is_default_rules, tie_breaker, scope)
        key = (frozenset(sheet._variables.items()), *about)
        if key not in read:
            read[key] = anew(sheet, *about)
        return read[key]

    patch.setattr(Stylesheet, "_parse_rules", _parse_rules)

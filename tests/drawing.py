"""What a console has drawn, for tests and pictures."""

from textual._context import visible_screen_stack
from textual.app import App
from textual.strip import Strip


def drawn(app: App[None]) -> list[Strip]:
    """The lines of the screen, with what shows through from the screens below it."""
    # Textual has no public way to the drawn text but an SVG, which loses columns and costs 10 ms.
    # Whoever draws first says what lies below: without it a modal screen is drawn, and kept, over nothing.
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()

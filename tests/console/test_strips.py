"""A line is drawn as Textual draws a paragraph of one line."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style as Drawn
from textual.app import App
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widgets import Static

from hookscope.console.widgets.lines import strip_of_line

STYLES = st.sampled_from(["bold", "$text-error", "$accent on $panel", "dim italic", "", "on red 40%"])
LINKS = st.just(Style.from_meta({"@click": "app.bell"}))
LETTERS = st.text(st.sampled_from("ab é漢·[]👩"), max_size=30)
SPANS = st.lists(st.tuples(STYLES | LINKS, st.integers(0, 30), st.integers(0, 30)), max_size=6)


def cells(strip: Strip) -> list[tuple[str, Drawn | None, bool]]:
    return [
        (letter, style.clear_meta_and_links() if style else None, bool(style and "@click" in style.meta))
        for text, style, _ in strip
        for letter in text
    ]


async def test_a_line_of_any_styles_equals_textuals_drawing() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        widget = Static("x")
        await app.mount(widget)
        await pilot.pause()

        @given(LETTERS, SPANS, st.integers(0, 9))
        @settings(suppress_health_check=list(HealthCheck), deadline=None)
        def looks(text: str, spans: list[tuple[str | Style, int, int]], more: int) -> None:
            line = Content(text)
            for style, start, end in spans:
                line = line.stylize(style, start, end)
            width = cell_len(text) + more
            with widget._context():
                theirs = Visual.to_strips(widget, line, width, 1, widget.visual_style) if width else []
                wanted = (theirs or [Strip([])])[0]
                wanted = wanted.adjust_cell_length(width, widget.visual_style.rich_style)
                drawn = strip_of_line(widget, line, width, widget.visual_style)
            assert drawn.cell_length == width
            assert cells(drawn) == cells(wanted)

        looks()

"""Colours: legible, told apart by all eyes, the user's own, none at all where none are wanted."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.color_contrast import MISSING, Rgb, apart, contrast, over, rgb
from tests.console.conftest import READY, Open, Story
from tests.drawing import drawn
from textual.color import Color

from hookscope.app.preferences import read_theme_choice, remember_theme
from hookscope.console.theme.text_styles import FAINT, MUTED, STATE_STYLES
from hookscope.console.theme.theme_manager import PALETTES, Palette, read_theme_files, theme_of, user_theme_of
from hookscope.storage.state_files import config_folder

LEGIBLE = 4.5  # WCAG 2.2, AA
AT_A_GLANCE = 20  # in CIE L*a*b*


def share(style: str) -> float:
    return int(style.rpartition(" ")[2].rstrip("%")) / 100


def colours_of_states(palette: Palette) -> dict[str, Rgb]:
    """As they are drawn: through the theme's variables."""
    variables = theme_of("tried", palette).variables
    text, ground = rgb(palette.text), rgb(palette.background)
    drawn = {}
    for state, state_style in STATE_STYLES.items():
        variable = state_style.style.removeprefix("$")
        drawn[state.value] = (
            over(text, ground, share(MUTED)) if state_style.style == MUTED else rgb(variables[variable])
        )
    return drawn


@pytest.mark.parametrize("name", PALETTES)
def test_every_text_colour_is_legible_on_every_background(name: str) -> None:
    palette = PALETTES[name]
    ground, text = rgb(palette.background), rgb(palette.text)
    tinted = over(rgb(palette.accent), ground, 0.22)  # the row under the cursor
    for surface in (ground, rgb(palette.panel)):
        for colour in (*colours_of_states(palette).values(), text, rgb(palette.accent)):
            assert contrast(colour, surface) >= LEGIBLE
        assert contrast(over(text, ground, share(MUTED)), surface) >= LEGIBLE
    assert contrast(over(text, ground, share(FAINT)), ground) >= LEGIBLE
    assert contrast(text, tinted) >= LEGIBLE
    assert contrast(text, rgb(palette.cursor)) >= LEGIBLE


@pytest.mark.parametrize("sight", MISSING)
@pytest.mark.parametrize("name", PALETTES)
def test_states_are_distinguishable_for_colour_blind_users(name: str, sight: str) -> None:
    """Those of one colour have other glyphs and words; those of two are told apart at a glance."""
    drawn = colours_of_states(PALETTES[name])
    for (one, first), (other, second) in combinations(drawn.items(), 2):
        if first != second:
            assert apart(first, second, sight) >= AT_A_GLANCE, (one, other)  # type: ignore[arg-type]
    assert (
        len({state_style.glyph for state_style in STATE_STYLES.values()})
        == len({state_style.word for state_style in STATE_STYLES.values()})
        == 7
    )


def test_the_colour_blindness_simulation_matches_the_published_one() -> None:
    """Grey stays grey for all eyes; red and green come together where one of the two is missing."""
    for sight in MISSING:
        assert apart((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), sight) == 0
    red, green = rgb("#c0392b"), rgb("#6b7d1c")
    assert apart(red, green, "deuteranopia") < apart(red, green) / 3
    assert contrast(rgb("#000000"), rgb("#ffffff")) == pytest.approx(21)


def write(name: str, text: str) -> Path:
    file = config_folder() / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_valid_parts_of_a_theme_file_apply() -> None:
    write(
        "themes/sand.yaml", "background: '#f5ecd7'\nready: teal\nbrokn: red\nborder: 7\naccent: no colour\n"
    )
    (file,) = read_theme_files().files
    theme, problems = user_theme_of(file)
    assert (theme.name, theme.dark, theme.success) == ("sand", False, "#008080")
    assert theme.background == "#F5ECD7"
    told = [(found.place.line if found.place else 0, found.text) for found in problems]
    assert [line for line, _ in told] == [3, 4, 5]
    assert "Did you mean broken?" in told[0][1]
    assert all("is not a colour" in text for _, text in told[1:])
    write("themes/broken.yaml", "{")
    assert [bool(user_theme_of(file)[1]) for file in read_theme_files().files] == [True, True]


def test_a_chosen_theme_lasts_until_the_configuration_changes_it() -> None:
    assert read_theme_choice().name == ""
    remember_theme("sand", "")
    assert (read_theme_choice().name, read_theme_choice().chosen) == ("sand", True)
    write("config.yaml", "theme: nord\nthme: x\n")
    wanted = read_theme_choice()
    assert (wanted.name, wanted.chosen) == ("nord", False)
    assert "Did you mean theme?" in wanted.problems[0].text
    remember_theme("sand", "nord")
    assert read_theme_choice().name == "sand"
    write("config.yaml", "{")
    assert read_theme_choice().problems


def colours(story: Story) -> set[str]:
    """Every colour that the terminal is told of."""
    found = set()
    last = story.app._filters[-1]  # what takes colours out, where they are not wanted
    for strip in drawn(story.app):
        for segment in strip.apply_filter(last, Color(0, 0, 0)):
            if segment.style is not None:
                found |= {str(c.name) for c in (segment.style.color, segment.style.bgcolor) if c is not None}
    return found


async def test_saved_themes_apply_at_once_and_chosen_ones_are_remembered(
    console: Open, make_hook: MakeHook, workspace: Path
) -> None:
    make_hook(workspace / "hooks", "one", READY)
    write("config.yaml", "theme: sand\n")
    sand = write("themes/sand.yaml", "background: '#f5ecd7'\n")
    async with console((80, 24), watches=True) as story:
        ground: Callable[[], str] = lambda: story.screen.styles.background.hex  # noqa: E731
        assert (story.app.theme, ground()) == ("sand", "#F5ECD7")
        sand.write_text("background: '#101820'\nreddy: red\n")
        await story.until(lambda: ground() == "#101820", "the saved colours are on the screen")
        await story.shows("reddy is not a theme colour", "sand.yaml:2")
        await story.press("ctrl+p", *"hookscope-light", "enter")
        await story.until(lambda: story.app.theme == "hookscope-light", "the palette puts it on")
        await story.until(lambda: read_theme_choice().name == "hookscope-light", "it is remembered")
        sand.unlink()
        await story.until(lambda: "reddy" not in story.text(), "the mistake is gone with its file")
        assert story.app.theme == "hookscope-light"
        # Its file is gone, the config still names it: the choice goes over that.
        write("config.yaml", "theme: sandy\n")
        await story.shows("There is no theme sandy.")
        assert story.app.theme == "hookscope"
    assert (config_folder() / "config.yaml").read_text() == "theme: sandy\n"


async def test_without_colours_states_and_the_cursor_are_visible(
    console: Open, make_hook: MakeHook, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "one", READY)
    make_hook(workspace / "hooks", "two", "{openclaw: {events: [command:new], requires: {env: [NO_SUCH]}}}")
    monkeypatch.setenv("NO_COLOR", "1")
    async with console((80, 24)) as story:
        await story.shows("◇ untrusted", "▲ blocked")
        assert colours(story) <= {"default"}
        strips = drawn(story.app)
        row = next(strip for strip in strips if "▸ one" in strip.text)
        assert any(segment.style and segment.style.bold for segment in row), "the row of the cursor"
        assert "┏" in story.text(), "the pane with the focus has a heavy border"
        await story.press("question_mark")
        await story.shows("Help")
        below, over = drawn(story.app)[0], drawn(story.app)[4]
        assert all(segment.style and segment.style.dim for segment in below), "what lies below is faint"
        assert any(not segment.style.dim for segment in over if segment.style and segment.text.strip())
        assert colours(story) <= {"default"}
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "help is left")
        await story.press("2")
        await story.shows("Event", '"sessionId"')  # the editor, too, draws without colours
        assert colours(story) <= {"default"}

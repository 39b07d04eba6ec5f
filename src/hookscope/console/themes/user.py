"""A user's theme file: a few colours over one of our palettes."""

from __future__ import annotations

from dataclasses import fields

from textual.color import Color, ColorParseError
from textual.theme import Theme

from hookscope.console.themes.ours import DARK, LIGHT, Palette, palette_with, theme_of
from hookscope.core.hooks import Place, Problem
from hookscope.core.text import nearest, one_line
from hookscope.values import dataclass
from hookscope.workbench.preferences import ThemeFile

NAMES = tuple(field.name for field in fields(Palette) if field.name != "dark")


@dataclass(frozen=True, slots=True)
class Made:
    """The theme of a file as far as it goes, and what is wrong with the file."""

    theme: Theme
    problems: tuple[Problem, ...]
    place: Place


def made_of(file: ThemeFile) -> Made:
    """Mix a theme of a file. A name or a colour that is unknown leaves that colour as the base has it."""
    problems = list(file.problems)
    colours: dict[str, str] = {}
    dark: bool | None = None
    for name, value, place in file.values:
        if name == "dark" and isinstance(value, bool):
            dark = value
        elif name == "dark":
            problems.append(Problem("dark wants true or false.", place))
        elif name not in NAMES:
            near = nearest(name, (*NAMES, "dark"))
            then = f"Did you mean {near}?" if near else f"There are dark, {', '.join(NAMES)}."
            problems.append(Problem(f"{one_line(name, 40)} is no colour of a theme. {then}", place))
        else:
            colour = _colour(value)
            if colour is None:
                said = f"{name}: {one_line(str(value), 40)} is no colour; '#7fb4d8' is one."
                problems.append(Problem(said, place))
            else:
                colours[name] = colour
    if dark is None:
        dark = Color.parse(colours["background"]).brightness < 0.5 if "background" in colours else True
    theme = theme_of(file.name, palette_with(DARK if dark else LIGHT, colours, dark))
    return Made(theme, tuple(problems), Place(file.file, 1))


def _colour(value: object) -> str | None:
    """`#rrggbb` of what is written: also `#rgb`, `teal`, `rgb(1, 2, 3)`."""
    if not isinstance(value, str) or value.startswith(("ansi_", "auto")):
        return None
    try:
        colour = Color.parse(value)
    except ColorParseError:
        return None
    return colour.hex6 if colour.a == 1 else None

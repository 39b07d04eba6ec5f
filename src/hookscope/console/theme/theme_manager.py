"""Built-in themes, the user's theme files, and which theme is active.

The order is `NO_COLOR`, `TEXTUAL_THEME`, the chosen theme, `config.yaml`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from time import time_ns

from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import Theme

from hookscope.app.preferences import ThemeChoice, ThemeFile, read_theme_choice, read_themes
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """The base colours of a theme, which all others are derived from. `#rrggbb` each."""

    background: str
    text: str
    accent: str  # only for the focus
    ready: str
    blocked: str
    broken: str
    waiting: str  # untrusted, silent
    panel: str = ""  # surfaces slightly above the background
    cursor: str = ""  # the cursor's row in the focused list
    border: str = ""  # of widgets without the focus
    dark: bool = True


DARK_PALETTE = Palette(
    background="#14171b",
    text="#d3d8df",
    accent="#7fb4d8",
    ready="#8ae6cf",
    blocked="#f2d04c",
    broken="#ec6a4c",
    waiting="#b878f6",
    panel="#1d2127",
    cursor="#2b3a47",
    border="#3a414b",
)
LIGHT_PALETTE = Palette(
    background="#fcfcfa",
    text="#15181c",
    accent="#1f6aa5",
    ready="#267942",
    blocked="#856c03",
    broken="#7a0b04",
    waiting="#5a2fc0",
    panel="#f3f4f1",
    cursor="#d5e3ef",
    border="#b9bfc6",
    dark=False,
)


def theme_of(name: str, palette: Palette) -> Theme:
    """Return the theme of a palette. State colours are used unchanged."""
    panel = palette.panel or palette.background
    border = palette.border or palette.text
    cursor = palette.cursor or panel
    return Theme(
        name=name,
        primary=palette.accent,
        secondary=palette.waiting,
        accent=palette.accent,
        success=palette.ready,
        warning=palette.blocked,
        error=palette.broken,
        foreground=palette.text,
        background=palette.background,
        surface=palette.background,
        panel=panel,
        dark=palette.dark,
        variables={
            "text-primary": palette.accent,
            "text-accent": palette.accent,
            "text-secondary": palette.waiting,
            "text-success": palette.ready,
            "text-warning": palette.blocked,
            "text-error": palette.broken,
            "border": palette.accent,
            "border-blurred": border,
            "block-cursor-foreground": palette.text,
            "block-cursor-background": cursor,
            "block-cursor-text-style": "none",
            "block-cursor-blurred-foreground": palette.text,
            "block-cursor-blurred-background": panel,
            "block-hover-background": panel,
            "input-selection-background": f"{palette.accent} 35%",
            "scrollbar": border,
            "scrollbar-hover": palette.accent,
            "scrollbar-active": palette.accent,
            "scrollbar-background": palette.background,
            "scrollbar-background-hover": palette.background,
            "scrollbar-background-active": palette.background,
            "scrollbar-corner-color": palette.background,
            "footer-background": palette.background,
        },
    )


# The terminal's own sixteen colours, on the terminal's background. Without colours, only bold, reverse and
# dim remain: glyphs and words tell states apart.
ANSI_THEME = Theme(
    name="hookscope-ansi",
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_magenta",
    accent="ansi_cyan",
    success="ansi_green",
    warning="ansi_yellow",
    error="ansi_red",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_cyan",
        "border-blurred": "ansi_bright_black",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "block-cursor-blurred-foreground": "ansi_default",
        "block-cursor-blurred-background": "ansi_default",
        "input-selection-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
        "scrollbar": "ansi_bright_black",
        "scrollbar-hover": "ansi_cyan",
        "scrollbar-active": "ansi_cyan",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
        "link-color": "ansi_default",
        "footer-key-foreground": "ansi_default",
    },
)

DEFAULT_THEME = "hookscope"
PALETTES = {DEFAULT_THEME: DARK_PALETTE, "hookscope-light": LIGHT_PALETTE}
BUILTIN_THEMES = (*(theme_of(name, palette) for name, palette in PALETTES.items()), ANSI_THEME)


def palette_with(base: Palette, colours: dict[str, str], dark: bool) -> Palette:
    """Return a palette with some colours changed; colours derived from them are derived again."""
    follows = {"panel", "cursor", "border"} if {"background", "text"} & set(colours) else set()
    return replace(base, **{**dict.fromkeys(follows, ""), **colours}, dark=dark)


@dataclass(frozen=True, slots=True)
class ThemeFiles:
    """The user's theme files, as read."""

    wanted: ThemeChoice
    files: tuple[ThemeFile, ...]


def read_theme_files() -> ThemeFiles:
    """Read `config.yaml`, the theme files and the chosen theme. Never raises."""
    return ThemeFiles(read_theme_choice(), read_themes())


class ThemeManager:
    """Registers themes with an app and activates one."""

    def __init__(self, app: App[None], no_color: bool) -> None:
        self.app = app
        self.no_color = no_color
        self.made_at = time_ns()  # before the user's files are read
        self.problems: tuple[Problem, ...] = ()
        self.configured = ""
        self.applied = ""  # the theme that this class activated, as opposed to the user
        self._before_preview = ""
        self._given = app.theme if app.theme != "textual-dark" else ""  # from TEXTUAL_THEME
        self._mine: dict[str, Theme] = {}
        for theme in BUILTIN_THEMES:
            app.register_theme(theme)
        self._shipped = frozenset(app.available_themes)

    def apply_files(self, read: ThemeFiles) -> None:
        """Register the user's themes and activate the configured one."""
        problems = list(read.wanted.problems)
        user_themes: dict[str, Theme] = {}
        for file in read.files:
            theme, faults = user_theme_of(file)
            problems += faults
            if file.name in self._shipped:
                sentence = f"A theme {one_line(file.name, 40)} already exists: rename the file."
                problems.append(Problem(sentence, FilePosition(file.file, 1)))
            else:
                user_themes[file.name] = theme
        for removed in self._mine.keys() - user_themes.keys():
            self.app.unregister_theme(removed)
        for theme in user_themes.values():
            self.app.register_theme(theme)
        before, self._mine = self._mine, user_themes
        self.configured = read.wanted.configured
        name = self._name(read.wanted, problems)
        self.problems = tuple(problems)
        if name != self.applied or name != self.app.theme:
            self.applied = name
            self.app.theme = name
        elif before.get(name) != user_themes.get(name):
            self.app.mutate_reactive(App.theme)

    def preview(self, name: str) -> None:
        """Show a theme without choosing it, until `end_preview`."""
        if not self.no_color and name != self.app.theme:
            self._before_preview = self._before_preview or self.app.theme
            self.applied = self.app.theme = name

    def end_preview(self) -> None:
        """Show the theme again that was shown before the preview."""
        if self._before_preview:
            self.applied = self.app.theme = self._before_preview
            self._before_preview = ""

    def _name(self, choice: ThemeChoice, problems: list[Problem]) -> str:
        available = self.app.available_themes
        name = self._given or choice.name
        if self.no_color:
            return ANSI_THEME.name
        if not name or name in available:
            return name or DEFAULT_THEME
        if not choice.chosen:
            closest = nearest_word(name, available)
            then = f" Did you mean {closest}?" if closest else " The palette lists them."
            problems.append(Problem(f"There is no theme {one_line(name, 40)}.{then}", choice.place))
        return DEFAULT_THEME


PALETTE_COLORS = tuple(field.name for field in fields(Palette) if field.name != "dark")


def user_theme_of(file: ThemeFile) -> tuple[Theme, list[Problem]]:
    """Return the theme of a file, as far as it is valid, and the file's problems.

    Unknown names and colours keep the base theme's colour.
    """
    problems = list(file.problems)
    colours: dict[str, str] = {}
    dark: bool | None = None
    for name, value, place in file.values:
        if name == "dark" and isinstance(value, bool):
            dark = value
        elif name == "dark":
            problems.append(Problem("dark must be true or false.", place))
        elif name not in PALETTE_COLORS:
            closest = nearest_word(name, (*PALETTE_COLORS, "dark"))
            then = f"Did you mean {closest}?" if closest else f"Use one of dark, {', '.join(PALETTE_COLORS)}."
            problems.append(Problem(f"{one_line(name, 40)} is not a theme colour. {then}", place))
        else:
            colour = _color(value)
            if colour is None:
                sentence = f"{name}: {one_line(str(value), 40)} is not a colour; '#7fb4d8' is one."
                problems.append(Problem(sentence, place))
            else:
                colours[name] = colour
    if dark is None:
        dark = Color.parse(colours["background"]).brightness < 0.5 if "background" in colours else True
    theme = theme_of(file.name, palette_with(DARK_PALETTE if dark else LIGHT_PALETTE, colours, dark))
    return theme, problems


def _color(value: object) -> str | None:
    """Return a written colour as `#rrggbb`: also `#rgb`, `teal`, `rgb(1, 2, 3)`."""
    if not isinstance(value, str) or value.startswith(("ansi_", "auto")):
        return None
    try:
        colour = Color.parse(value)
    except ColorParseError:
        return None
    return colour.hex6 if colour.a == 1 else None

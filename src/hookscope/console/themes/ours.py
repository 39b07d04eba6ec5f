"""The themes that come with the console. What colours of states have to be, its tests say."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import Theme

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """The few colours of a theme; all others follow. `#rrggbb` each."""

    background: str
    text: str
    accent: str  # focus, and nothing else
    ready: str
    blocked: str
    broken: str
    waiting: str  # untrusted, silent
    panel: str = ""  # what lies a little above the background
    cursor: str = ""  # the row under the cursor, where the focus is
    border: str = ""  # of what has no focus
    dark: bool = True


DARK = Palette(
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
LIGHT = Palette(
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
    """The theme of a palette. Colours of states are taken as they are, never mixed with others."""
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


# The terminal's own sixteen colours, on whatever background it has. Without colours, what is left is
# bold, reverse and dim: glyphs and words tell states apart.
ANSI = Theme(
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

DEFAULT = "hookscope"
PALETTES = {DEFAULT: DARK, "hookscope-light": LIGHT}
OURS = (*(theme_of(name, palette) for name, palette in PALETTES.items()), ANSI)


def palette_with(base: Palette, colours: dict[str, str], dark: bool) -> Palette:
    """A palette with some colours changed; what followed from one that was changed follows anew."""
    follows = {"panel", "cursor", "border"} if {"background", "text"} & set(colours) else set()
    return replace(base, **{**dict.fromkeys(follows, ""), **colours}, dark=dark)

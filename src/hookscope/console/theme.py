"""The console's own theme, and what a state looks like. Every sign is glyph, word and colour."""

from dataclasses import dataclass

from textual.theme import Theme

from hookscope.core.hooks import State

# Dark and quiet: the accent marks focus and nothing else.
DUSK = Theme(
    name="hookscope",
    primary="#7fb4d8",
    secondary="#b7a1dc",
    accent="#7fb4d8",
    success="#8fc48a",
    warning="#dfb06a",
    error="#e5808a",
    foreground="#d3d8df",
    background="#14171b",
    surface="#14171b",
    panel="#1d2127",
    dark=True,
    variables={
        "border": "#7fb4d8",
        "border-blurred": "#3a414b",
        "block-cursor-foreground": "#f2f5f8",
        "block-cursor-background": "#2b3a47",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-foreground": "#d3d8df",
        "block-cursor-blurred-background": "#22282f",
        "block-hover-background": "#1f252c",
        "input-selection-background": "#7fb4d8 35%",
        "scrollbar": "#2f363f",
        "scrollbar-hover": "#4a545f",
        "scrollbar-active": "#7fb4d8",
        "scrollbar-background": "#14171b",
        "scrollbar-background-hover": "#14171b",
        "scrollbar-background-active": "#14171b",
        "scrollbar-corner-color": "#14171b",
        "footer-background": "#14171b",
    },
)


@dataclass(frozen=True, slots=True)
class Look:
    """How something stands, for eyes: sign, word, colour, and what it comes to."""

    glyph: str
    word: str
    style: str
    phrase: str


# Of the foreground, because `$text-muted` is an automatic colour, which only style sheets can resolve.
MUTED = "$foreground 64%"
FAINT = "$foreground 44%"

LOOKS: dict[State, Look] = {
    State.READY: Look("●", "ready", "$text-success", "will run"),
    State.OFF: Look("○", "off", MUTED, "switched off, will not run"),
    State.BLOCKED: Look("▲", "blocked", "$text-warning", "will not run"),
    State.SHADOWED: Look("◌", "shadowed", MUTED, "another of this name wins"),
    State.BROKEN: Look("✗", "broken", "$text-error", "cannot run"),
    State.UNTRUSTED: Look("◇", "untrusted", "$text-secondary", "not allowed to run yet"),
    State.SILENT: Look("◐", "silent", "$text-secondary", "would run, but is never called"),
}
NO_HOOK = Look("✗", "no hook", "$text-error", "does not count as a hook")
IGNORED = Look("–", "ignored", MUTED, "is plainly something else, and stands among hooks")
WORD_WIDTH = 2 + max(len(look.word) for look in (*LOOKS.values(), NO_HOOK, IGNORED))

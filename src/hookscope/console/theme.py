"""What a state looks like. Every sign is glyph, word and colour; the colours are those of themes/."""

from hookscope.core.standing import State
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """How something stands, for eyes: sign, word, colour, and what it comes to."""

    glyph: str
    word: str
    style: str
    phrase: str


# Of the foreground, because `$text-muted` is an automatic colour, which only style sheets can resolve.
MUTED = "$foreground 68%"
FAINT = "$foreground 60%"

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

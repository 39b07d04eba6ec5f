"""Names of keys: as people write them, and as Textual does. Pure."""

from __future__ import annotations

from textual.keys import Keys

from hookscope.core.text import nearest, one_line

NONE = "no-key"  # stands for an action without a key: no terminal sends it

WRITTEN = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn"}
SAME = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "page_up": "pageup",
    "page_down": "pagedown",
    "spacebar": "space",
    "control": "ctrl",
    "option": "alt",
}
MODIFIERS = ("ctrl", "alt", "shift", "super")
# Textual's names of the signs on a keyboard.
SIGN_NAMES = """
    slash question_mark exclamation_mark quotation_mark number_sign dollar_sign percent_sign ampersand
    apostrophe left_parenthesis right_parenthesis asterisk plus comma minus full_stop colon semicolon
    less_than_sign equals_sign greater_than_sign at left_square_bracket backslash right_square_bracket
    circumflex_accent underscore grave_accent left_curly_bracket vertical_line right_curly_bracket tilde
"""
SIGNS = dict(zip(SIGN_NAMES.split(), "/?!\"#$%&'()*+,-.:;<=>@[\\]^_`{|}~", strict=True))
NAMES = {sign: name for name, sign in SIGNS.items()}
NAMED = frozenset(key.value for key in Keys if "+" not in key.value and key.value.replace("_", "").isalnum())
# What a terminal sends for these is another key: a binding of them would never be pressed, or always.
TWINS = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+h": "backspace",
    "ctrl+j": "enter",
}
TWICE = {"ctrl+space": "ctrl+@"}  # terminals differ in which of the two they send


class BadKey(ValueError):
    """A name that is no key, or one that cannot be used. The text is a sentence."""


def keys_named(text: str) -> tuple[str, ...]:
    """Textual's names for a key: two where terminals differ. Raises BadKey."""
    key = key_named(text)
    return (key, TWICE[key]) if key in TWICE else (key,)


def key_named(text: str) -> str:
    """Textual's name of a key: `?`, `^r`, `Ctrl+R`, `shift+a`, `f5`, `esc`. Raises BadKey."""
    if len(text) == 1:
        return _single(text)
    spelled = text.strip().replace("^", "ctrl+", 1) if text.startswith("^") else text.strip()
    *before, last = spelled.split("+") if not spelled.endswith("++") else [*spelled[:-2].split("+"), "+"]
    modifiers = {SAME.get(word.strip().lower(), word.strip().lower()) for word in before}
    if strange := modifiers - set(MODIFIERS):
        raise BadKey(f"{one_line(text, 40)} is no key: {one_line(sorted(strange)[0], 20)} is no modifier.")
    base = _base(last.strip(), text)
    if len(base) == 1 and base.isalpha() and modifiers:
        base = base.lower() if modifiers != {"shift"} else base.upper()
        modifiers -= {"shift"} if modifiers == {"shift"} else set()
    key = "+".join([*(name for name in MODIFIERS if name in modifiers), base])
    if key == "ctrl+at":
        return "ctrl+@"
    if key in TWINS:
        raise BadKey(f"{written(key)} is what terminals send for {written(TWINS[key])}: no program can tell.")
    return key


def _base(last: str, whole: str) -> str:
    if len(last) == 1:
        return _single(last)
    name = SAME.get(last.lower(), last.lower())
    if name in NAMED or name in SIGNS:
        return name
    keys = (key for key in (*NAMED, *SAME, *SIGNS) if SAME.get(key) not in MODIFIERS)
    near = nearest(name, sorted(keys))
    then = f" Did you mean {SAME.get(near, near)}?" if near else ""
    raise BadKey(f"{one_line(whole, 40)} is no key that is known.{then}")


def _single(character: str) -> str:
    if not character.isprintable():
        raise BadKey("A control character is no name of a key.")
    if character.isalnum():
        return character
    return NAMES.get(character, "space" if character == " " else character)


def typed(key: str) -> bool:
    """Does this key write something where one types."""
    return len(key) == 1 or key == "space" or key in SIGNS


def written(keys: str) -> str:
    """A key as people write it: `^p`, `esc`, `?`, `E`; the first of several."""
    first = keys.split(",")[0].strip() or keys
    if first == NONE:
        return ""
    *modifiers, base = first.split("+")
    shown = "+".join([*modifiers, WRITTEN.get(base) or SIGNS.get(base) or base])
    return shown.replace("ctrl+", "^")


def all_written(keys: str) -> tuple[str, ...]:
    """All keys of one action as people write them, each once."""
    return tuple(filter(None, dict.fromkeys(written(key) for key in keys.split(","))))

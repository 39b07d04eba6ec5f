"""Sets of keys to begin with: `preset: vim` in `keys.yaml`. The user's own lines go over them."""

from __future__ import annotations

from collections.abc import Mapping

Preset = Mapping[str, tuple[str, ...]]

MOVES = {
    "up": ("up", "k"),
    "down": ("down", "j"),
    "page_up": ("pageup", "ctrl+u", "ctrl+b"),
    "page_down": ("pagedown", "ctrl+d", "ctrl+f"),
    "first": ("home", "g"),
    "last": ("end", "G"),
}

# Letters that mean the same in all panes (E y / z f r u q) stay what they are; `g` and `k` move house.
VIM: Preset = {
    **{f"{room}.{move}": keys for room in ("list", "sheet", "lines") for move, keys in MOVES.items()},
    "console.next": ("tab", "ctrl+w"),
    "console.palette": ("ctrl+p", "colon"),
    "hooks.keys": ("K",),
    "list.why": ("enter", "l"),
    "fire.guarded": ("f7", "C"),
    "choice.next": ("right", "space", "l"),
    "choice.before": ("left", "h"),
    "trust.choose": ("left", "right", "h", "l"),
    "edit.choose": ("left", "right", "h", "l"),
    "forget.choose": ("left", "right", "h", "l"),
}

PRESETS: Mapping[str, Preset] = {"default": {}, "vim": VIM}

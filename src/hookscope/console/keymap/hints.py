"""The names of keys in sentences, frames and empty panes: those in force."""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol, runtime_checkable

from textual.binding import Binding
from textual.content import Content
from textual.style import Style

from hookscope.console.keymap.actions import binding_of
from hookscope.console.keymap.names import NONE, written
from hookscope.console.keymap.resolve import DEFAULT, Keymap

ENTER = "enter"  # in a field or on a button: Textual's own, no action of ours, so nobody moves it
ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}
NAMED = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")
PALETTE = "console.palette"
CLICK = "@click"
PRESSED = re.compile(r"app\.simulate_key\('(.+)'\)")

_force = DEFAULT  # a process has one console, and all its sentences have that one's keys


@runtime_checkable
class NamesKeys(Protocol):
    """A part of the screen that names keys, outside the line of keys."""

    def name_keys(self) -> None:
        """Name those that are in force now."""


def in_force() -> Keymap:
    """The keys that every sentence names."""
    return _force


def put_in_force(keymap: Keymap) -> None:
    """From now on these are."""
    global _force
    if keymap is not _force:
        _force = keymap
        key_of.cache_clear()


def key_in(keymap: Keymap, action: str) -> str:
    """The first key of an action in a keymap; of one without a key where else it is found. Pure."""
    binding = binding_of(action)
    return _key(keymap, binding) or f"{_key(keymap, binding_of(PALETTE))} {binding.description}".strip()


@cache
def key_of(action: str) -> str:
    """The same in the keys in force."""
    return key_in(_force, action)


def with_keys(template: str) -> str:
    """A sentence of ours with `{hooks.fix}` for the key of that action. Never for foreign text."""
    return NAMED.sub(lambda found: key_of(found[1]), template)


def with_keys_of(keymap: Keymap, template: str) -> str:
    """The same in another keymap. Pure."""
    return NAMED.sub(lambda found: key_in(keymap, found[1]), template)


def hints(*pairs: tuple[str, str], gap: int = 3) -> Content:
    """`e fix   E edit`: for a frame; a click is a key press. An action without a key is left out."""
    parts = []
    for action, what in pairs:
        keys = action if action == ENTER else _force.of(action, binding_of(action).key)
        pressed = keys.split(",")[0].strip()
        shown = ARROWS.get(written(pressed), written(pressed))
        if shown:
            meta = {CLICK: f"app.simulate_key('{pressed}')"}
            parts.append(Content(f"{shown} {what}".rstrip()).stylize(Style.from_meta(meta)))
    return Content(" " * gap).join(parts)


def keys_named(bar: Content | None) -> frozenset[str]:
    """The keys that such a bar names."""
    spans = bar.spans if bar is not None else ()
    clicks = (span.style.meta.get(CLICK, "") for span in spans if isinstance(span.style, Style))
    return frozenset(found[1] for found in map(PRESSED.fullmatch, clicks) if found)


def shared(one: str, other: str) -> bool:
    """Have two actions a key in common: the inner one may pass it on to the outer one."""
    keys, others = (
        set(_force.of(action, binding_of(action).key).split(",")) - {NONE} for action in (one, other)
    )
    return bool(keys & others)


def _key(keymap: Keymap, binding: Binding) -> str:
    key = written(keymap.of(binding.id, binding.key))
    return ARROWS.get(key, key)

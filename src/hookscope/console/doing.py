"""What can be done where one is, and doing it: help and palette list it, over dialogs too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Input

from hookscope.console.keymap.resolve import DEFAULT, Keymap
from hookscope.console.keys import obstacle_at
from hookscope.console.text import plain

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen


MOVES = frozenset({"up", "down", "page_up", "page_down", "first", "last"})  # everybody guesses these


class Deed(NamedTuple):
    """An action with its keys in force, and the part of the screen whose action it is."""

    binding: Binding
    node: DOMNode

    @property
    def id(self) -> str:
        return self.binding.id or ""


def own_bindings(node: DOMNode, keymap: Keymap = DEFAULT) -> list[Binding]:
    """The bindings that this node's class brings, those with an id: they are ours. With the keys in force."""
    found: dict[str, Binding] = {}
    for cls in type(node).__mro__:
        for binding in cls.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in found:
                keys = keymap.of(binding.id, binding.key)
                found[binding.id] = binding if keys == binding.key else replace(binding, key=keys)
        if not cls.__dict__.get("_inherit_bindings", True):  # what Textual keeps of `inherit_bindings`
            break
    return list(found.values())


def moves(binding: Binding) -> bool:
    """Does it move the cursor or the text, and no more."""
    return (binding.id or "").rpartition(".")[2] in MOVES


def here(screen: Screen[Any]) -> list[DOMNode]:
    """The parts whose keys act now, the innermost first."""
    focus = screen.focused
    return [*(focus.ancestors_with_self if focus is not None else (screen, screen.app))]


def anywhere(screen: Screen[Any]) -> Iterator[DOMNode]:
    """The same, and then all others of this screen. Keys of a field mean something while one types there."""
    near = here(screen)
    yield from near
    for node in screen.walk_children():
        if node not in near and not isinstance(node, Input):
            yield node


def deeds(nodes: Iterable[DOMNode], keymap: Keymap) -> Iterator[Deed]:
    """Each action once: that of the first part that has it."""
    seen: set[str] = set()
    for node in nodes:
        for binding in own_bindings(node, keymap):
            if binding.id not in seen:
                seen.add(binding.id or "")
                yield Deed(binding, node)


async def do(app: App[Any], deed: Deed) -> None:
    """Do it as its key does; an action that is another one's turn now says so."""
    if not await app.run_action(deed.binding.action, deed.node):
        why = obstacle_at(deed.node, deed.binding.action)
        why = why or f"{deed.binding.description}: there is nothing to do now."
        app.notify(plain(why, 400).plain, markup=False)

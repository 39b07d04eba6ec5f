"""The keys in force: defaults, a preset over them, the user's wishes over both. Pure.

A wish that cannot be granted is a Problem, and its action keeps the keys that it had: no action loses its
key to a mistake elsewhere in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from hookscope.console.keymap.actions import Action, actions, shared, together
from hookscope.console.keymap.names import NONE, BadKey, keys_named, typed, written
from hookscope.console.keymap.presets import PRESETS
from hookscope.core.hooks import Problem
from hookscope.core.text import nearest, one_line
from hookscope.values import dataclass
from hookscope.workbench.preferences import KeysFile, Wish

Keys = dict[str, tuple[str, ...]]
ALWAYS = {"app.quit": "ctrl+q"}  # one way out of every place


@dataclass(frozen=True, slots=True)
class Keymap:
    """Other keys than the bindings have: id → Textual's names of keys; none at all: no key."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    preset: str = "default"
    problems: tuple[Problem, ...] = ()

    def of(self, action: str | None, default: str) -> str:
        """The keys of an action in force, as a binding writes them."""
        keys = self.keys.get(action or "")
        return default if keys is None else ",".join(keys) or NONE

    def for_textual(self) -> dict[str, str]:
        """What `App.set_keymap` takes."""
        return {action: ",".join(keys) or NONE for action, keys in self.keys.items()}


DEFAULT = Keymap()


def resolve(file: KeysFile) -> Keymap:
    """Lay the user's file over the defaults."""
    problems = list(file.problems)
    name = file.preset or "default"
    if name not in PRESETS:
        near = nearest(name, PRESETS)
        then = f" Did you mean {near}?" if near else f" There are {' and '.join(PRESETS)}."
        problems.append(Problem(f"{one_line(name, 40)} is no preset of keys.{then}", file.preset_place))
        name = "default"
    known = actions()
    before = {**{action.id: action.keys for action in known.values()}, **PRESETS[name]}
    wishes: dict[str, Wish] = {}
    wanted: Keys = {}
    for wish in file.wishes:
        action = known.get(wish.action)
        if action is None:
            near = nearest(wish.action, known)
            then = f"Did you mean {near}?" if near else "`hookscope keys` lists them."
            text = f"There is no action {one_line(wish.action, 60)}. {then}"
            problems.append(Problem(text, wish.place))
            continue
        keys, wrong = _granted(action, wish)
        problems += wrong
        if keys or not wish.keys:
            wishes[wish.action], wanted[wish.action] = wish, keys
    problems += _part(known, before, wanted, wishes)
    problems.sort(key=lambda problem: problem.place.line if problem.place is not None else 0)
    force = {**before, **wanted}
    other = {action: keys for action, keys in force.items() if keys != known[action].keys}
    return Keymap(other, name, tuple(problems))


def _granted(action: Action, wish: Wish) -> tuple[tuple[str, ...], list[Problem]]:
    """The keys of a wish that can be keys of this action, and what is wrong with the others."""
    keys: list[str] = [ALWAYS[action.id]] if action.id in ALWAYS else []
    problems = []
    for text in wish.keys:
        try:
            named = keys_named(text)
        except BadKey as error:
            problems.append(Problem(f"{action.id}: {error}", wish.place))
            continue
        if action.typing and typed(named[0]):
            said = f"{action.id}: one types where it acts, so {written(named[0])} cannot be its key."
            problems.append(Problem(f"{said} ctrl+{named[0][:1].lower()} could.", wish.place))
        else:
            keys += named
    return tuple(dict.fromkeys(keys)), problems


def _part(
    known: Mapping[str, Action], before: Keys, wanted: Keys, wishes: dict[str, Wish]
) -> Iterator[Problem]:
    """Take keys away from wishes until no key does two things in one place. Changes `wanted`."""
    order = list(wishes)
    while clash := _clash(known, {**before, **wanted}, wishes):
        key, loser, other = clash
        left = tuple(found for found in wanted[loser] if found != key)
        if left:
            wanted[loser] = left
        else:
            del wanted[loser]
        keeps = ", ".join(written(found) for found in left or before[loser]) or "no key"
        yield Problem(f"{loser} keeps {keeps}: {written(key)} is {other} already.", wishes[loser].place)
        if not left:
            del wishes[loser]
    assert set(wanted) <= set(order)


def _clash(
    known: Mapping[str, Action], force: Keys, wishes: Mapping[str, Wish]
) -> tuple[str, str, str] | None:
    """A key that does two things in one place, the wish that has to give way, and the other action."""
    holders: dict[str, list[str]] = {}
    for action, keys in force.items():
        for key in keys:
            holders.setdefault(key, []).append(action)
    order = {action: number for number, action in enumerate(wishes)}
    for key, held in holders.items():
        for number, one in enumerate(held):
            for other in held[number + 1 :]:
                if one not in order and other not in order:
                    continue
                if frozenset({one, other}) in shared() or not together(known[one].rooms, known[other].rooms):
                    continue
                loser = max(one, other, key=lambda action: order.get(action, -1))
                return key, loser, other if loser == one else one
    return None

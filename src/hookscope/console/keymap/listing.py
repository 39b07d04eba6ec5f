"""What `hookscope keys` prints: every action by room, with its keys in force. Needs no terminal."""

from __future__ import annotations

from hookscope.console.keymap.actions import ROOMS, Action, actions
from hookscope.console.keymap.commands import command_of, reason_of
from hookscope.console.keymap.hints import with_keys_of
from hookscope.console.keymap.names import NONE, written
from hookscope.console.keymap.presets import PRESETS
from hookscope.console.keymap.resolve import resolve
from hookscope.core.hooks import Problem
from hookscope.values import dataclass
from hookscope.workbench.preferences import KeysFile

TITLES = {room.name: room.title for room in ROOMS}
ORDER = list(TITLES)


@dataclass(frozen=True, slots=True)
class Listed:
    """One action, for people who write `keys.yaml`."""

    id: str
    keys: tuple[str, ...]  # in force, as they can be written in the file
    default: tuple[str, ...]
    meaning: str
    room: str
    typing: bool
    command: str  # of the command line, that does the same
    without: str  # why there is none


@dataclass(frozen=True, slots=True)
class Listing:
    """All actions, under the titles of their rooms, and what is wrong with the file."""

    preset: str
    actions: tuple[Listed, ...]
    problems: tuple[Problem, ...]


def presets() -> tuple[str, ...]:
    """The names of all presets."""
    return tuple(PRESETS)


def listing(file: KeysFile, preset: str | None = None) -> Listing:
    """The keys of that file; `preset`: those of this preset alone, whatever the file says."""
    keymap = resolve(file if preset is None else KeysFile(file.file, preset))
    rows = tuple(
        Listed(
            action.id,
            _spelled(keymap.keys.get(action.id, action.keys)),
            _spelled(action.keys),
            with_keys_of(keymap, action.meaning),
            TITLES[_home(action)],
            action.typing,
            command_of(action.id),
            reason_of(action.id),
        )
        for action in sorted(actions().values(), key=lambda action: ORDER.index(_home(action)))
    )
    return Listing(keymap.preset, rows, keymap.problems)


def _home(action: Action) -> str:
    """The room that an action is listed in: the one that it is called after, where it acts in others too."""
    named = action.id.partition(".")[0]
    return named if named in action.rooms else action.rooms[-1]


def _spelled(keys: tuple[str, ...]) -> tuple[str, ...]:
    """`ctrl+r`, `?`, `esc`: as the file may have them. A second name for the same press is left out."""
    shown = (written(key).replace("^", "ctrl+", 1) if len(written(key)) > 1 else written(key) for key in keys)
    return tuple(key for key in shown if key and key not in ("ctrl+@", NONE))

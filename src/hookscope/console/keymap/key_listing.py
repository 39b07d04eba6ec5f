"""The answer of `hookscope keys`: every action, its keys, and the equivalent command. Needs no terminal."""

from __future__ import annotations

from enum import StrEnum

from hookscope.app.preferences import KeysFile
from hookscope.console.keymap.active_keys import (
    KEY_SCOPES,
    PRESETS,
    KeyAction,
    all_actions,
    key_label,
    resolve_keymap,
    spelled_key,
    with_keys_of,
)
from hookscope.model.hook import Problem
from hookscope.values import dataclass


class NoCommandReason(StrEnum):
    """Why an action has no command: it concerns only the screen."""

    MOVES = "moves the cursor, the focus or the text"
    VIEWS = "arranges what is on the screen"
    TYPES = "edits a field on the screen"
    LEAVES = "leaves what is open"
    OPENS = "opens your editor"
    NOW = "concerns only this console"


M, V, T, L, E, N = NoCommandReason  # their initials

MOVES: dict[str, str | NoCommandReason] = dict.fromkeys(
    ("up", "down", "page_up", "page_down", "first", "last"), M
)
# By scope as in active_keys.py: the end of the action's id, and its command after `hookscope`.
_COMMAND_TABLE: dict[str, dict[str, str | NoCommandReason]] = {
    "app": {"quit": L, "help": "help", "palette": "--help"},
    "console": {
        "hooks": "list",
        "fire": "fire KEY",
        "fire_composed": "fire KEY",
        "log": "log",
        "hosts": "compare",
        "next": M,
        "previous": M,
        "dialect": "--dialect D list",
        "what_if": "--os NAME --env K=V list",
        "all_real": "list",
        "workers": N,
        "verify": "verify",
        "report": "report",
        "workspaces": "--workspace DIR",
        "export": "log RUN --json",
        "share": "export RUN --html FILE",
        "zoom": V,
        "jump": M,
        "back": L,
        "palette": "--help",
        "menu": "keys",
        "help": "help",
        "manual": "help TOPIC",
        "change_key": N,
        "quit": L,
    },
    "hooks": {
        "fire": "fire KEY",
        "fire_only": "fire KEY --only NAME",
        "toggle": "enable NAME",
        "fix": "fix NAME",
        "fix_all": "fix --all",
        "undo": "undo",
        "edit": E,
        "trust": "trust DIR",
        "filter": V,
        "new": "new NAME",
        "packs": "packs",
        "group": V,
        "keys": "events",
        "copy": "info NAME",
        "lift": N,
        "recheck": "list",
        "folders": "doctor",
    },
    "list": {**MOVES, "why": "info NAME"},
    "filter": {"keep": V, "down": M, "again": V, "clear": V},
    "sheet": MOVES,
    "why": {"fold": "info NAME --places"},
    "fire": {
        "fire": "fire KEY",
        "again": "replay RUN",
        "step": "fire KEY --step",
        "debug": "fire KEY --debug",
        "pass_over": "fire KEY --step",
        "run_all": "fire KEY --step",
        "cancel": N,
        "leave": L,
        "arm": "test FILE --watch",
        "guarded": "fire KEY --sandbox",
        "play": "play MESSAGE",
        "template": "events KEY",
        "save": "fire KEY --save NAME",
        "save_as": "fire KEY --save NAME",
        "saved": "events --saved",
        "otherwise": "fire KEY --only HOOK --force --break HOOK=FAULT --repeat N --shuffle --step --debug",
        "fuzz": "fuzz KEY",
        "replay": "replay RUN",
        "from_here": "replay RUN --from HOOK",
        "compare": "replay RUN",
        "accept": "test FILE --accept",
        "form": V,
        "ctx": "fire KEY --ctx JSON",
        "environment": "--environment NAME fire FILE",
        "keys": "events",
        "older": "log",
        "newer": "log",
        "copy": "fire KEY",
        "zoom": V,
        "plan": "plan KEY",
        "everyone": "fire KEY",
    },
    "composer": {"pick": "events"},
    "editor": {"complete": "events KEY"},
    "form": {
        **dict.fromkeys(("up", "down", "page_up", "page_down"), M),
        **dict.fromkeys(("leave_out", "turn", "undo", "redo"), T),
        "complete": "events KEY",
    },
    "run": {
        **dict.fromkeys(("tab_left", "tab_right", "earlier", "later"), V),
        **{"edit": E, "read": M, "others": "plan KEY"},
    },
    "log": {
        "filter": "log --text WORDS",
        "pause": N,
        "tail": "log --follow",
        "save": "tap save ID",
        "tap": "tap status",
        "session": N,
        "event_chip": "log --event KEY",
        "hook_chip": "log --hook NAME",
        "outcome_chip": "log --outcome WORD",
        "origin_chip": "tap events",
        "unfold": "log RUN",
        "fold": V,
        "copy": "log",
        "clear": V,
        "filter_drop": V,
        "filter_keep": M,
        "filter_again": V,
    },
    "session": {"close": L, "older": V, "newer": V, "copy": N},
    "hosts": {
        "fire": "compare --fire KEY",
        "narrow": "compare --different",
        "choose": "compare --dialects A,B",
        "runs": "compare --fire KEY",
        "edit": E,
        "copy": "compare NAME",
        "again": "compare",
        "leave": L,
    },
    "lines": {**MOVES, "choose": V},
    "chooser": {"turn": "compare --dialects A,B", "take": "compare --dialects A,B", "leave": L},
    "trust": {"cancel": L, "trust": "trust DIR", "without": "fire KEY", "choose": M},
    "edit": {"cancel": L, "write": "fix NAME --apply", "choose": M},
    "fixes": {"cancel": L, "write": "fix --all --apply", "turn": V},
    "forget": {"cancel": L, "forget": "undo --forget", "choose": M},
    "question": {"cancel": L},
    "whatif": {
        "leave": L,
        "reset": "list",
        "compare": "compare --surroundings here,SOURCE",
        "next": M,
        "previous": M,
    },
    "new": {
        **dict.fromkeys(("down", "up", "more", "less"), M),
        **{"cancel": L, "write": "new NAME", "events": "new NAME --event KEY"},
    },
    "choice": {"next": T, "before": T},
    "keys": {"cancel": L, "down": M, "up": M},
    "completion": {"cancel": L, "down": M, "up": M},
    "environment": {"cancel": L},
    "saved": {"cancel": L, "test": "test", "down": M, "up": M},
    "otherwise": {
        "leave": L,
        "left": T,
        "right": T,
        "fire": "fire KEY --only HOOK --force --break HOOK=FAULT --repeat N --shuffle --step --debug",
    },
    "debug": {
        **dict.fromkeys(
            ("over", "into", "out", "on", "rest", "line", "caller", "called"), "fire KEY --debug"
        ),
        "ask": "fire KEY --debug",
        "copy": "fire KEY --debug",
        "condition": "fire KEY --debug --stop-at FILE:LINE",
        "left": M,
        "right": M,
        "end": N,
        "leave": L,
    },
    "beside": {"leave": L, "older": V, "newer": V},
    "repeated": {"leave": L},
    "fuzzed": {"leave": L},
    "packs": {
        "close": L,
        "install": "install SPEC",
        "link": "install DIR --link",
        "update": "update ID",
        "all": "update --all",
        "check": "update --all --dry-run",
        "diff": "packs",
        "remove": "uninstall ID",
        "recheck": "packs",
        "copy": "packs",
        "help": "keys",
        "more": M,
        "less": M,
    },
    "spec": {"cancel": L, "take": "install SPEC --dry-run", "down": M, "up": M},
    "plan": {
        "trust": "trust DIR",
        "others": "plan KEY",
        "cancel": L,
        "yes": "install SPEC --yes",
        "copy": "install SPEC --dry-run",
    },
    "tap": {"close": L, "copy": "tap lists"},
    "workers": {"close": L},
    "verify": {"cancel": L, "yes": "verify", "choose": M},
    "verification": {"close": L, "copy": "verify", "report": "report --verify"},
    "help": {**MOVES, "close": L, "change_key": N},
    "menu": {"leave": L, "menu": L},
    "manual": {"close": L, "older": M, "newer": M},
    "actions": {"cancel": L, "down": M, "up": M},
    "newkey": {"cancel": L, "remove": N},
    "workspaces": {"leave": L, "complete": T, "down": M, "up": M},
    "find": {"leave": L, "change_key": N, "down": M, "up": M, "page_down": M, "page_up": M},
    "jump": {"leave": L},
}
COMMANDS_OF_ACTIONS = {
    f"{scope}.{name}": does for scope, actions in _COMMAND_TABLE.items() for name, does in actions.items()
}


def command_of(action: str) -> str:
    """Return the equivalent command, such as `hookscope fix NAME`; empty if there is none."""
    does = COMMANDS_OF_ACTIONS.get(action, "")
    return "" if isinstance(does, NoCommandReason) or not does else f"hookscope {does}"


def reason_of(action: str) -> str:
    """Return why there is no equivalent command; empty if there is one."""
    does = COMMANDS_OF_ACTIONS.get(action, "")
    return str(does) if isinstance(does, NoCommandReason) else ""


# Each key with several actions: its one meaning, and those actions, or the ends of their ids.
SHARED_KEYS: dict[str, tuple[str, str]] = {
    "up k": ("the line above", "up previous again filter_again"),
    "down j": ("the line below", "down next pick filter_keep"),
    "pageup": ("a page up", "page_up less"),
    "pagedown": ("a page down", "page_down more"),
    "home": ("the first line", "first"),
    "end": ("the last line", "last"),
    "left h": ("to the left, or close", "left tab_left fold choose before"),
    "right l": ("to the right, or open", "right tab_right unfold choose next"),
    "left_square_bracket": ("the previous item", "older caller"),
    "right_square_bracket": ("the next item", "newer called"),
    "tab": ("continue", "next complete"),
    "enter": ("open or accept the selection", "why keep fold pick choose take write leave yes close"),
    "escape": ("go back", "back clear leave cancel close filter_drop"),
    "space": ("turn the selection on or off", "toggle turn pick pause next right line"),
    "delete": ("remove the selection", "forget remove"),
    "ctrl+space ctrl+@": ("possible values", "keys complete events"),
    "ctrl+k": ("change a key", "change_key"),
    "ctrl+l": ("remove the entry", "leave_out reset"),
    "ctrl+o": ("jump", "console.jump jump.leave"),
    "ctrl+p": ("the palette", "palette"),
    "ctrl+r f5": ("run it", "fire fire_composed fire_only test verify.yes whatif.compare"),
    "ctrl+s": ("save it", "save"),
    "m f9": ("the menu", "menu"),
    "number_sign": ("the manual", "console.manual manual.close"),
    "question_mark": ("help", "help help.close"),
    "slash": ("filter", "filter"),
    "full_stop": ("the other hooks", "others"),
    "minus": ("continue without it", "pass_over without"),
    "C": ("run the rest", "run_all rest"),
    "E": ("open the editor", "edit"),
    "H": ("verify", "console.verify verification.close"),
    "I": ("packs", "hooks.packs packs.close"),
    "P": ("processes", "console.workers workers.close"),
    "Q": ("end the run", "fire.cancel debug.end"),
    "R": ("read and compare again", "recheck hosts.again"),
    "T": ("the tap", "log.tap tap.close"),
    "X": ("a report", "report"),
    "d": ("side by side", "compare runs diff beside.leave"),
    "n": ("add a new one", "new install"),
    "q": ("leave", "quit close cancel"),
    "t": ("trust", "trust"),
    "v": ("another view", "group form hosts.choose session"),
    "w": ("write", "write"),
    "y": ("copy", "copy"),
    "z": ("zoom", "zoom"),
}


def key_meanings() -> dict[str, str]:
    """Return the one meaning of each key. Raises ValueError for a key with two meanings."""
    shared = {key: row for keys, row in SHARED_KEYS.items() for key in keys.split()}
    actions_by_key: dict[str, list[KeyAction]] = {}
    for action in all_actions().values():
        for key in action.keys:
            actions_by_key.setdefault(key, []).append(action)
    meanings = {}
    for key, actions in actions_by_key.items():
        meaning, named = shared.get(key, (actions[0].meaning, ""))
        for action in actions if len(actions) > 1 else ():
            if not {action.id, action.id.partition(".")[2]} & {*named.split()}:
                raise ValueError(f"{key_label(key)} means {meaning!r}, so it cannot be a key of {action.id}")
        meanings[key] = meaning
    return meanings


SCOPE_TITLES = {scope.name: scope.title for scope in KEY_SCOPES}
SCOPE_ORDER = list(SCOPE_TITLES)


@dataclass(frozen=True, slots=True)
class ListedAction:
    """An action, for people who write `keys.yaml`."""

    id: str
    keys: tuple[str, ...]  # the active keys, as spelled in the file
    default: tuple[str, ...]
    meaning: str
    scope_title: str
    typing: bool
    command: str  # the equivalent command
    without: str  # why there is no command


@dataclass(frozen=True, slots=True)
class KeyListing:
    """All actions by scope, and the problems of the user's key file."""

    preset: str
    actions: tuple[ListedAction, ...]
    problems: tuple[Problem, ...]


def preset_names() -> tuple[str, ...]:
    return tuple(PRESETS)


def key_listing_of(file: KeysFile, preset: str | None = None) -> KeyListing:
    """Return the keys of a file, or of `preset` if it is given."""
    keymap = resolve_keymap(file if preset is None else KeysFile(file.file, preset))
    rows = tuple(
        ListedAction(
            action.id,
            _spelled(keymap.keys.get(action.id, action.keys)),
            _spelled(action.keys),
            with_keys_of(keymap, action.meaning),
            SCOPE_TITLES[_listing_scope(action)],
            action.typing,
            command_of(action.id),
            reason_of(action.id),
        )
        for action in sorted(
            all_actions().values(), key=lambda action: SCOPE_ORDER.index(_listing_scope(action))
        )
    )
    return KeyListing(keymap.preset, rows, keymap.problems)


def _listing_scope(action: KeyAction) -> str:
    """Return the scope that an action is listed in: the one in its id, if it acts there."""
    named = action.id.partition(".")[0]
    return named if named in action.scopes else action.scopes[-1]


def _spelled(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return keys as the file can spell them: `ctrl+r`, `?`, `esc`. Aliases are omitted."""
    return tuple(dict.fromkeys(filter(None, map(spelled_key, keys))))

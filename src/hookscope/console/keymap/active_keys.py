"""The active keymap: key names, presets, the user's keys over the defaults, and key hints."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from importlib import import_module
from typing import Protocol, runtime_checkable

from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.keys import Keys
from textual.style import Style

from hookscope.app.preferences import KeyPreference, KeysFile
from hookscope.model.hook import FilePosition, Problem
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class KeyScope:
    """A part of the screen with its own keys. `typing`: it is a text field, so letters are not keys."""

    name: str
    title: str
    place: str  # module and class, below hookscope.console
    within: tuple[str, ...] = ("app",)
    typing: bool = False
    prefix: str = ""  # of its actions' ids, if not its name


READING_SCOPES = ("fixes", "hooks", "run", "hosts", "debug", "beside", "repeated", "tap", "log", "manual")

LIST_SCOPES = (
    "fire", "run", "waterfall", "plan", "log", "hosts", "chooser", "fixes", "otherwise", "debug", "fuzzed",
    "session",
)  # fmt: skip
# In the order of help and `hookscope keys`. A test compares it with the open console.
KEY_SCOPES = (
    KeyScope("app", "everywhere, in editors too", "app:Console", (), typing=True),
    KeyScope("console", "in every pane", "screens.main_screen:MainScreen"),
    KeyScope("hooks", "Hooks", "panes.hooks_pane:HooksPane", ("console",)),
    KeyScope("list", "the list of hooks", "panes.hook_list:HookList", ("hooks",)),
    KeyScope("filter", "the filter of hooks", "widgets.input_fields:FilterBox", ("hooks",), typing=True),
    KeyScope("sheet", "texts beside a list", "widgets.lines:KeyScroll", READING_SCOPES),
    KeyScope("why", "Why", "panes.hooks_pane:WhyPane", ("hooks",)),
    KeyScope("fire", "Fire", "panes.fire.fire_pane:FirePane", ("console",)),
    KeyScope("composer", "the event's key", "panes.fire.composer:KeyField", ("fire",)),
    KeyScope("editor", "the JSON editor", "panes.fire.context_editor:JsonEditor", ("fire",), typing=True),
    KeyScope("form", "the form", "panes.fire.context_form:ValueInput", ("fire",), typing=True),
    KeyScope("run", "a run", "panes.fire.run_pane:RunPane", ("fire",)),
    KeyScope("waterfall", "the handlers of a run", "panes.fire.waterfall:Waterfall", ("run",), prefix="run"),
    KeyScope("plan", "the plan", "panes.fire.plan_view:PlanView", ("fire",)),
    KeyScope("log", "Log", "panes.log_pane:LogPane", ("console",)),
    KeyScope(
        "log filter",
        "the filter of the log",
        "widgets.input_fields:FilterInput",
        ("log",),
        typing=True,
        prefix="log",
    ),
    KeyScope("hosts", "Hosts", "panes.hosts_pane:HostsPane", ("console",)),
    KeyScope("lines", "the selected line", "widgets.lines:LineList", LIST_SCOPES),
    KeyScope("chooser", "which hosts", "dialogs.choosers:HostChooser"),
    KeyScope("trust", "the question of trust", "dialogs.trust_question:TrustScreen"),
    KeyScope("edit", "an edit before it is written", "dialogs.edit_preview:EditScreen"),
    KeyScope("fixes", "the fixes of all hooks", "dialogs.edit_preview:FixAllScreen"),
    KeyScope("forget", "an edit that cannot be undone", "dialogs.edit_preview:ForgetScreen"),
    KeyScope("question", "a question", "dialogs.base_dialogs:Question", typing=True),
    KeyScope("whatif", "what if", "dialogs.what_if_form:WhatIfForm", typing=True),
    KeyScope("new", "a new hook", "dialogs.new_hook_form:NewHookForm", typing=True),
    KeyScope("choice", "a choice of a new hook", "widgets.input_fields:WordChoice", ("new",)),
    KeyScope("keys", "the list of events", "dialogs.choosers:EventPicker", typing=True),
    KeyScope("completion", "the completions", "dialogs.completion_list:CompletionScreen", typing=True),
    KeyScope("environment", "the environments", "dialogs.choosers:EnvironmentScreen"),
    KeyScope("saved", "the saved events", "dialogs.saved_events:SavedScreen", typing=True),
    KeyScope("otherwise", "fire options", "dialogs.fire_options:FireOptionsScreen"),
    KeyScope("debug", "a handler line by line", "screens.debugger:DebugScreen"),
    KeyScope("beside", "two runs side by side", "dialogs.run_comparison:RunComparisonScreen"),
    KeyScope("repeated", "an event fired several times", "dialogs.fire_reports:RepeatScreen"),
    KeyScope("fuzzed", "fuzzing", "dialogs.fire_reports:FuzzScreen"),
    KeyScope("packs", "the installed packs", "screens.packs_screen:PacksScreen"),
    KeyScope("spec", "a pack to install", "screens.packs_screen:PackSpecScreen", typing=True),
    KeyScope(
        "plan of a pack", "what a pack would write", "screens.packs_screen:PackPlanScreen", prefix="plan"
    ),
    KeyScope("verify", "the question before the host is started", "dialogs.verification:VerifyQuestion"),
    KeyScope("verification", "the comparison with the host", "dialogs.verification:VerificationScreen"),
    KeyScope("tap", "the tap", "dialogs.tap_and_workers:TapScreen"),
    KeyScope("session", "a session", "dialogs.session_screen:SessionScreen"),
    KeyScope("workers", "the processes", "dialogs.tap_and_workers:WorkersScreen"),
    KeyScope("help", "help", "dialogs.help:HelpScreen", typing=True),
    KeyScope("menu", "the menu", "dialogs.help:MenuScreen"),
    KeyScope("manual", "the manual", "dialogs.help:ManualScreen"),
    KeyScope("actions", "the keys of all actions", "dialogs.key_editor:KeyEditor", typing=True),
    KeyScope("newkey", "a new key", "dialogs.key_editor:KeyQuestion"),
    KeyScope("workspaces", "another workspace", "dialogs.choosers:WorkspaceScreen", typing=True),
    KeyScope("find", "the palette", "dialogs.palette:PaletteScreen", typing=True),
    KeyScope("jump", "letters that choose a jump target", "dialogs.jump:JumpScreen", typing=True),
)
# Pairs of actions with the same effect where both are active: they may share keys.
EQUIVALENT_ACTIONS = frozenset({frozenset({"lines.last", "log.tail"}), frozenset({"sheet.last", "log.tail"})})


@dataclass(frozen=True, slots=True)
class KeyAction:
    """An action that has keys."""

    id: str
    keys: tuple[str, ...]  # defaults, in Textual's names
    meaning: str
    scopes: tuple[str, ...]
    typing: bool


@cache
def all_actions() -> Mapping[str, KeyAction]:
    """Return all actions by id, in the order of the scopes."""
    actions: dict[str, KeyAction] = {}
    for scope in KEY_SCOPES:
        for binding in bindings_of(owner_of(scope)):
            existing = actions.get(binding.id or "")
            scopes = (*(existing.scopes if existing else ()), scope.name)
            keys = tuple(key.strip() for key in binding.key.split(","))
            letters = scope.typing or binding.priority
            actions[binding.id or ""] = KeyAction(binding.id or "", keys, binding.tooltip, scopes, letters)
    return actions


def owner_of(scope: KeyScope) -> type[DOMNode]:
    """Return the class that has the bindings of a scope."""
    module, _, name = scope.place.partition(":")
    owner: type[DOMNode] = getattr(import_module(f"hookscope.console.{module}"), name)
    return owner


def binding_of(action: str) -> Binding:
    """Return the binding of one action. Imports only the scopes that its name refers to."""
    return _home_of(action)[1]


def scope_of(action: str) -> KeyScope:
    """Return the scope that defines this action."""
    return _home_of(action)[0]


@cache
def _home_of(action: str) -> tuple[KeyScope, Binding]:
    prefix = action.partition(".")[0]
    for scope in KEY_SCOPES:
        if (scope.prefix or scope.name) == prefix:
            for binding in bindings_of(owner_of(scope)):
                if binding.id == action:
                    return scope, binding
    raise KeyError(action)


def bindings_of(owner: type[DOMNode]) -> tuple[Binding, ...]:
    """Return the bindings that a class itself defines and that have an id, as all of ours have."""
    own = owner.__dict__.get("BINDINGS", ())
    return tuple(binding for binding in own if isinstance(binding, Binding) and binding.id)


@cache
def enclosing_scopes(name: str) -> frozenset[str]:
    """Return a scope and all scopes around it."""
    within = next(scope.within for scope in KEY_SCOPES if scope.name == name)
    return frozenset({name}).union(*(enclosing_scopes(outer) for outer in within))


@cache
def active_together(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if actions of `one` and of `other` scopes can be active at the same place."""
    return any(a in enclosing_scopes(b) or b in enclosing_scopes(a) for a in one for b in other)


@cache
def shared_keys() -> frozenset[frozenset[str]]:
    """Return pairs of actions that share a key on purpose: the inner one refines the outer one."""
    pairs: set[frozenset[str]] = set(EQUIVALENT_ACTIONS)
    everything = tuple(all_actions().values())
    for number, first in enumerate(everything):
        for second in everything[number + 1 :]:
            if set(first.keys) & set(second.keys) and active_together(first.scopes, second.scopes):
                pairs.add(frozenset({first.id, second.id}))
    return frozenset(pairs)


NO_KEY = "no-key"  # the key of an action without one: no terminal sends it

SHORT_NAMES = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn"}
KEY_ALIASES = {
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
# Textual's names of punctuation keys.
SIGN_NAMES = """
    slash question_mark exclamation_mark quotation_mark number_sign dollar_sign percent_sign ampersand
    apostrophe left_parenthesis right_parenthesis asterisk plus comma minus full_stop colon semicolon
    less_than_sign equals_sign greater_than_sign at left_square_bracket backslash right_square_bracket
    circumflex_accent underscore grave_accent left_curly_bracket vertical_line right_curly_bracket tilde
"""
SIGNS = dict(zip(SIGN_NAMES.split(), "/?!\"#$%&'()*+,-.:;<=>@[\\]^_`{|}~", strict=True))
NAMES_OF_SIGNS = {sign: name for name, sign in SIGNS.items()}
NAMED_KEYS = frozenset(
    key.value for key in Keys if "+" not in key.value and key.value.replace("_", "").isalnum()
)
# Terminals send the second key for the first: a binding of the first would never match.
EQUAL_KEYS = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+h": "backspace",
    "ctrl+j": "enter",
}
TERMINAL_VARIANTS = {"ctrl+space": "ctrl+@"}  # terminals send one or the other


class BadKey(ValueError):
    """The text is not a key, or a key that cannot be used. The message is a sentence."""


def parse_key(text: str) -> tuple[str, ...]:
    """Return Textual's names for a key: two where terminals differ. Raises BadKey."""
    key = parse_key_name(text)
    return (key, TERMINAL_VARIANTS[key]) if key in TERMINAL_VARIANTS else (key,)


def parse_key_name(text: str) -> str:
    """Return Textual's name of a key: `?`, `^r`, `Ctrl+R`, `shift+a`, `f5`, `esc`. Raises BadKey."""
    if len(text) == 1:
        return _single(text)
    spelled = text.strip().replace("^", "ctrl+", 1) if text.startswith("^") else text.strip()
    *before, last = spelled.split("+") if not spelled.endswith("++") else [*spelled[:-2].split("+"), "+"]
    modifiers = {KEY_ALIASES.get(word.strip().lower(), word.strip().lower()) for word in before}
    if unknown := modifiers - set(MODIFIERS):
        raise BadKey(f"{one_line(text, 40)}: {one_line(sorted(unknown)[0], 20)} is not a modifier key.")
    base = _base(last.strip(), text)
    if len(base) == 1 and base.isalpha() and modifiers:
        base = base.lower() if modifiers != {"shift"} else base.upper()
        modifiers -= {"shift"} if modifiers == {"shift"} else set()
    key = "+".join([*(name for name in MODIFIERS if name in modifiers), base])
    if key == "ctrl+at":
        return "ctrl+@"
    if key in EQUAL_KEYS:
        raise BadKey(f"Terminals send {key_label(key)} as {key_label(EQUAL_KEYS[key])}: use another key.")
    return key


def _base(last: str, spelled: str) -> str:
    if len(last) == 1:
        return _single(last)
    name = KEY_ALIASES.get(last.lower(), last.lower())
    if name in NAMED_KEYS or name in SIGNS:
        return name
    keys = (key for key in (*NAMED_KEYS, *KEY_ALIASES, *SIGNS) if KEY_ALIASES.get(key) not in MODIFIERS)
    closest = nearest_word(name, sorted(keys))
    then = f" Did you mean {KEY_ALIASES.get(closest, closest)}?" if closest else ""
    raise BadKey(f"{one_line(spelled, 40)} is not a known key.{then}")


def _single(character: str) -> str:
    if not character.isprintable():
        raise BadKey("A control character does not name a key.")
    if character.isalnum():
        return character
    return NAMES_OF_SIGNS.get(character, "space" if character == " " else character)


def spelled_key(key: str) -> str:
    """Return a key as `keys.yaml` spells it: `ctrl+r`, `?`, `esc`."""
    label = key_label({other: name for name, other in TERMINAL_VARIANTS.items()}.get(key, key))
    return label.replace("^", "ctrl+", 1) if len(label) > 1 else label


def writes_text(key: str) -> bool:
    """Return True if this key types text in a field."""
    return len(key) == 1 or key == "space" or key in SIGNS


def key_label(keys: str) -> str:
    """Return a key as people write it: `^p`, `esc`, `?`, `E`; the first of several."""
    first = keys.split(",")[0].strip() or keys
    if first == NO_KEY:
        return ""
    *modifiers, base = first.split("+")
    shown = "+".join([*modifiers, SHORT_NAMES.get(base) or SIGNS.get(base) or base])
    return shown.replace("ctrl+", "^")


def key_labels(keys: str) -> tuple[str, ...]:
    """Return all keys of an action as people write them, each once."""
    return tuple(filter(None, dict.fromkeys(key_label(key) for key in keys.split(","))))


KeyPreset = Mapping[str, tuple[str, ...]]

VIM_MOVES = {
    "up": ("up", "k"),
    "down": ("down", "j"),
    "page_up": ("pageup", "ctrl+u"),
    "page_down": ("pagedown", "ctrl+d"),
    "first": ("home", "g"),
    "last": ("end", "G"),
}

# Only `g` gets another meaning: it goes to the first line, so that firing on copies keeps only F7.
VIM_PRESET: KeyPreset = {
    **{f"{scope}.{move}": keys for scope in ("list", "sheet", "lines") for move, keys in VIM_MOVES.items()},
    "console.next": ("tab", "ctrl+w"),
    "console.palette": ("ctrl+p", "colon"),
    "list.why": ("enter", "l"),
    "fire.guarded": ("f7",),
    "choice.next": ("right", "space", "l"),
    "choice.before": ("left", "h"),
    "trust.choose": ("left", "right", "h", "l"),
    "edit.choose": ("left", "right", "h", "l"),
    "forget.choose": ("left", "right", "h", "l"),
}

PRESETS: Mapping[str, KeyPreset] = {"default": {}, "vim": VIM_PRESET}


KeysOfActions = dict[str, tuple[str, ...]]
FIXED_ACTIONS = {"app.quit": "ctrl+q"}  # one key that always quits


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys that override the bindings: id → Textual's key names. An action with no names has no key."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    preset: str = "default"
    problems: tuple[Problem, ...] = ()

    def of(self, action: str | None, default: str) -> str:
        """Return the active keys of an action, as in a binding."""
        keys = self.keys.get(action or "")
        return default if keys is None else ",".join(keys) or NO_KEY

    def for_textual(self) -> dict[str, str]:
        """Return the argument of `App.set_keymap`."""
        return {action: ",".join(keys) or NO_KEY for action, keys in self.keys.items()}


DEFAULT_KEYMAP = Keymap()


def resolve_keymap(file: KeysFile) -> Keymap:
    """Return the keymap of the user's file over the defaults."""
    problems = list(file.problems)
    name = file.preset or "default"
    if name not in PRESETS:
        closest = nearest_word(name, PRESETS)
        then = f" Did you mean {closest}?" if closest else f" Use {' or '.join(PRESETS)}."
        problems.append(Problem(f"{one_line(name, 40)} is not a key preset.{then}", file.preset_place))
        name = "default"
    actions = all_actions()
    before = {**{action.id: action.keys for action in actions.values()}, **PRESETS[name]}
    wishes: dict[str, KeyPreference] = {}
    preferred: KeysOfActions = {}
    for preference in file.preferences:
        action = actions.get(preference.action)
        if action is None:
            closest = nearest_word(preference.action, actions)
            then = f"Did you mean {closest}?" if closest else "`hookscope keys` lists them."
            text = f"There is no action {one_line(preference.action, 60)}. {then}"
            problems.append(Problem(text, preference.place))
            continue
        keys, wrong = _accepted_keys(action, preference)
        problems += wrong
        if keys or not preference.keys:
            wishes[preference.action], preferred[preference.action] = preference, keys
    problems += _section(actions, before, preferred, wishes)
    problems.sort(key=lambda problem: problem.place.line if problem.place is not None else 0)
    force = {**before, **preferred}
    other = {action: keys for action, keys in force.items() if keys != actions[action].keys}
    return Keymap(other, name, tuple(problems))


def why_not_key(action: str, key: str, file: KeysFile) -> str:
    """Return why a file cannot give this key to an action, as a sentence; empty if it can."""
    others = tuple(one for one in file.preferences if one.action != action)
    last = KeyPreference(action, (key,), FilePosition(file.file, sys.maxsize))
    found = resolve_keymap(replace(file, preferences=(*others, last))).problems
    return next((problem.text for problem in found if problem.place == last.place), "")


def _accepted_keys(action: KeyAction, preference: KeyPreference) -> tuple[tuple[str, ...], list[Problem]]:
    """Return the preferred keys that this action can have, and the problems of the others."""
    keys: list[str] = [FIXED_ACTIONS[action.id]] if action.id in FIXED_ACTIONS else []
    problems = []
    for text in preference.keys:
        try:
            named = parse_key(text)
        except BadKey as error:
            problems.append(Problem(f"{action.id}: {error}", preference.place))
            continue
        if action.typing and writes_text(named[0]):
            sentence = f"{action.id}: it works while typing, so {key_label(named[0])} cannot be its key."
            problems.append(Problem(f"{sentence} Try ctrl+{named[0][:1].lower()}.", preference.place))
        else:
            keys += named
    return tuple(dict.fromkeys(keys)), problems


def _section(
    actions: Mapping[str, KeyAction],
    preset_keys: KeysOfActions,
    preferred: KeysOfActions,
    preferences: dict[str, KeyPreference],
) -> Iterator[Problem]:
    """Remove preferred keys until no key has two actions in one scope. Changes `preferred`."""
    order = list(preferences)
    while clash := _clash(actions, {**preset_keys, **preferred}, preferences):
        key, loser, other = clash
        remaining = tuple(preferred_key for preferred_key in preferred[loser] if preferred_key != key)
        if remaining:
            preferred[loser] = remaining
        else:
            del preferred[loser]
        keeps = (
            ", ".join(key_label(preferred_key) for preferred_key in remaining or preset_keys[loser])
            or "no key"
        )
        yield Problem(
            f"{loser} keeps {keeps}: {key_label(key)} already belongs to {other}.", preferences[loser].place
        )
        if not remaining:
            del preferences[loser]
    assert set(preferred) <= set(order)


def _clash(
    actions_by_id: Mapping[str, KeyAction], force: KeysOfActions, preferences: Mapping[str, KeyPreference]
) -> tuple[str, str, str] | None:
    """Return a key with two actions in one scope, the preference that loses it, and the other action."""
    holders: dict[str, list[str]] = {}
    for action, keys in force.items():
        for key in keys:
            holders.setdefault(key, []).append(action)
    order = {action: number for number, action in enumerate(preferences)}
    for key, held in holders.items():
        for number, first in enumerate(held):
            for second in held[number + 1 :]:
                if first not in order and second not in order:
                    continue
                if frozenset({first, second}) in shared_keys() or not active_together(
                    actions_by_id[first].scopes, actions_by_id[second].scopes
                ):
                    continue
                loser = max(first, second, key=lambda action: order.get(action, -1))
                return key, loser, second if loser == first else first
    return None


ENTER_KEY = "enter"  # in a field or on a button: Textual's own, so it cannot be changed
ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}
KEY_PLACEHOLDER = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")
PALETTE_ACTION = "console.palette"
CLICK_META = "@click"
CLICKED_KEY = re.compile(r"app\.simulate_key\('(.+)'\)")

_active = DEFAULT_KEYMAP  # a process has one console, so the keymap is global


@runtime_checkable
class NamesKeys(Protocol):
    """A widget that shows key names outside the key bar."""

    def name_keys(self) -> None:
        """Show the active keys."""


def active_keymap() -> Keymap:
    return _active


def use_keymap(keymap: Keymap) -> None:
    """Activate a keymap."""
    global _active
    if keymap is not _active:
        _active = keymap
        key_of.cache_clear()


def key_in(keymap: Keymap, action: str) -> str:
    """Return an action's first key in a keymap; if it has none, the palette's key and the action's name."""
    binding = binding_of(action)
    return (
        _hint(keymap, binding) or f"{_hint(keymap, binding_of(PALETTE_ACTION))} {binding.description}".strip()
    )


@cache
def key_of(action: str) -> str:
    """Return the active first key of an action."""
    return key_in(_active, action)


def with_keys(template: str) -> str:
    """Replace `{hooks.fix}` in our own sentence with that action's key. Never use it on foreign text."""
    return KEY_PLACEHOLDER.sub(lambda found: key_of(found[1]), template)


def with_keys_of(keymap: Keymap, template: str) -> str:
    """Like `with_keys`, but with the keys of `keymap`. Pure."""
    return KEY_PLACEHOLDER.sub(lambda found: key_in(keymap, found[1]), template)


def key_hints(*pairs: tuple[str, str], gap: int = 3) -> Content:
    """Return `e fix   ← → choose` for a border; clicks press the first key. Skips actions without a key."""
    parts = []
    for action, what in pairs:
        keys = action if action == ENTER_KEY else _active.of(action, binding_of(action).key)
        pressed = keys.split(",")[0].strip()
        arrows = [ARROWS[label] for label in key_labels(keys) if label in ARROWS]
        shown = " ".join(arrows) if key_label(pressed) in ARROWS else key_label(pressed)
        if shown:
            meta = {CLICK_META: f"app.simulate_key('{pressed}')"}
            parts.append(Content(f"{shown} {what}".rstrip()).stylize(Style.from_meta(meta)))
    return Content(" " * gap).join(parts)


def keys_in_hints(bar: Content | None) -> frozenset[str]:
    """Return the keys in hints that `key_hints` has made."""
    spans = bar.spans if bar is not None else ()
    clicks = (span.style.meta.get(CLICK_META, "") for span in spans if isinstance(span.style, Style))
    return frozenset(match[1] for match in map(CLICKED_KEY.fullmatch, clicks) if match)


def share_a_key(one: str, other: str) -> bool:
    """Return True if two actions share a key: the inner one may pass it on to the outer one."""
    keys, others = (
        set(_active.of(action, binding_of(action).key).split(",")) - {NO_KEY} for action in (one, other)
    )
    return bool(keys & others)


def _hint(keymap: Keymap, binding: Binding) -> str:
    key = key_label(keymap.of(binding.id, binding.key))
    return ARROWS.get(key, key)

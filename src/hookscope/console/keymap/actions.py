"""Every action with a key, read from the bindings of all panes and screens, with its scope."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from textual.binding import Binding
from textual.dom import DOMNode

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class KeyScope:
    """A part of the screen with its own keys. `typing`: it is a text field, so letters are no keys."""

    name: str
    title: str
    place: str  # module and class, below hookscope.console
    within: tuple[str, ...] = ("app",)
    typing: bool = False
    prefix: str = ""  # of its actions' ids, if not its name


READING_SCOPES = ("hooks", "run", "hosts", "debug", "beside", "repeated", "help", "tap")

# In the order of help and `hookscope keys`. A test compares it with the open console.
KEY_SCOPES = (
    KeyScope("app", "everywhere, in editors too", "app:Console", (), typing=True),
    KeyScope("console", "in every pane", "screens.main_screen:MainScreen"),
    KeyScope("hooks", "Hooks", "panes.hooks_pane:HooksPane", ("console",)),
    KeyScope("list", "the list of hooks", "panes.hook_list:HookList", ("hooks",)),
    KeyScope("filter", "the filter of hooks", "widgets.input_fields:FilterBox", ("hooks",), typing=True),
    KeyScope(
        "sheet",
        "texts beside a list",
        "widgets.lines:KeyScroll",
        READING_SCOPES,
    ),
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
    KeyScope(
        "lines",
        "other lists",
        "widgets.lines:LineList",
        ("fire", "run", "waterfall", "plan", "log", "hosts", "chooser", "otherwise", "debug", "fuzzed"),
    ),
    KeyScope("chooser", "which hosts", "dialogs.choosers:HostChooser"),
    KeyScope("trust", "the question of trust", "dialogs.trust_question:TrustScreen"),
    KeyScope("edit", "an edit before it is written", "dialogs.edit_preview:EditScreen"),
    KeyScope("forget", "an undo that cannot be", "dialogs.edit_preview:ForgetScreen"),
    KeyScope("question", "a question", "dialogs.base_dialogs:Question", typing=True),
    KeyScope("whatif", "what if", "dialogs.what_if_form:WhatIfForm", typing=True),
    KeyScope("new", "a new hook", "dialogs.new_hook_form:NewHookForm", typing=True),
    KeyScope("choice", "a choice of a new hook", "widgets.input_fields:WordChoice", ("new",)),
    KeyScope("keys", "the list of events", "dialogs.event_choosers:EventPicker", typing=True),
    KeyScope("completion", "what could stand there", "dialogs.completion_list:CompletionScreen", typing=True),
    KeyScope("environment", "the environments", "dialogs.event_choosers:EnvironmentScreen"),
    KeyScope("saved", "the saved events", "dialogs.saved_events:SavedScreen", typing=True),
    KeyScope("otherwise", "firing otherwise", "dialogs.fire_options:FireOptionsScreen"),
    KeyScope("debug", "a handler line by line", "screens.debugger:DebugScreen"),
    KeyScope("beside", "two runs side by side", "dialogs.run_comparison:RunComparisonScreen"),
    KeyScope("repeated", "an event fired several times", "dialogs.fire_reports:RepeatScreen"),
    KeyScope("fuzzed", "strange events", "dialogs.fire_reports:FuzzScreen"),
    KeyScope("packs", "the installed packs", "screens.packs_screen:PacksScreen"),
    KeyScope("spec", "a pack to install", "screens.packs_screen:PackSpecScreen", typing=True),
    KeyScope(
        "plan of a pack", "what a pack would write", "screens.packs_screen:PackPlanScreen", prefix="plan"
    ),
    KeyScope("tap", "the tap", "dialogs.tap_and_workers:TapScreen"),
    KeyScope("workers", "the processes", "dialogs.tap_and_workers:WorkersScreen"),
    KeyScope("help", "help", "dialogs.help:HelpScreen"),
    KeyScope("workspaces", "another workspace", "dialogs.choosers:WorkspaceScreen", typing=True),
    KeyScope("find", "the palette", "dialogs.palette:PaletteScreen", typing=True),
    KeyScope("jump", "the letters of a jump", "dialogs.jump:JumpScreen", typing=True),
)
# Two actions with the same effect where both are active: they may share keys.
EQUIVALENT_ACTIONS = frozenset({frozenset({"lines.last", "log.tail"})})


@dataclass(frozen=True, slots=True)
class KeyAction:
    """An action that has keys."""

    id: str
    keys: tuple[str, ...]  # defaults, in Textual's names
    meaning: str
    rooms: tuple[str, ...]
    typing: bool


@cache
def all_actions() -> Mapping[str, KeyAction]:
    """Return all actions by id, in the order of the scopes."""
    actions: dict[str, KeyAction] = {}
    for scope in KEY_SCOPES:
        for binding in bindings_of(owner_of(scope)):
            existing = actions.get(binding.id or "")
            scopes = (*(existing.rooms if existing else ()), scope.name)
            keys = tuple(key.strip() for key in binding.key.split(","))
            letters = scope.typing or binding.priority
            actions[binding.id or ""] = KeyAction(binding.id or "", keys, binding.tooltip, scopes, letters)
    return actions


def owner_of(room: KeyScope) -> type[DOMNode]:
    """Return the class that has the bindings of a scope."""
    module, _, name = room.place.partition(":")
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
    """Return the bindings that a class itself defines, if they have an id: those are ours."""
    own = owner.__dict__.get("BINDINGS", ())
    return tuple(binding for binding in own if isinstance(binding, Binding) and binding.id)


@cache
def enclosing_scopes(room: str) -> frozenset[str]:
    """Return a scope and all scopes around it."""
    within = next(scope.within for scope in KEY_SCOPES if scope.name == room)
    return frozenset({room}).union(*(enclosing_scopes(outer) for outer in within))


@cache
def active_together(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if actions of both can be active at the same place."""
    return any(a in enclosing_scopes(b) or b in enclosing_scopes(a) for a in one for b in other)


@cache
def shared_keys() -> frozenset[frozenset[str]]:
    """Return pairs of actions that share a key on purpose: the inner one refines the outer one."""
    pairs: set[frozenset[str]] = set(EQUIVALENT_ACTIONS)
    everything = tuple(all_actions().values())
    for number, first in enumerate(everything):
        for second in everything[number + 1 :]:
            if set(first.keys) & set(second.keys) and active_together(first.rooms, second.rooms):
                pairs.add(frozenset({first.id, second.id}))
    return frozenset(pairs)

"""Every action that a key has: read from the bindings of all panes and screens, with the room it acts in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from textual.binding import Binding
from textual.dom import DOMNode

from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """A part of the screen that has keys of its own. `typing`: one types there, so letters are no keys."""

    name: str
    title: str
    place: str  # module and class, below hookscope.console
    within: tuple[str, ...] = ("app",)
    typing: bool = False
    prefix: str = ""  # of the ids of its actions, where that is not its name


READ_IN = ("hooks", "run", "hosts", "debug", "beside", "repeated", "help", "tap")

# In the order in which help and `hookscope keys` show them. A test compares it with the open console.
ROOMS = (
    Room("app", "everywhere, in editors too", "app:Console", (), typing=True),
    Room("console", "in every pane", "shell:Shell"),
    Room("hooks", "Hooks", "hooks.pane:HooksPane", ("console",)),
    Room("list", "the list of hooks", "hooks.list:HookList", ("hooks",)),
    Room("filter", "the filter of hooks", "hooks.filter_box:FilterBox", ("hooks",), typing=True),
    Room(
        "sheet",
        "texts beside a list",
        "reading:Reading",
        READ_IN,
    ),
    Room("why", "Why", "hooks.panes:WhyPane", ("hooks",)),
    Room("fire", "Fire", "fire.pane:FirePane", ("console",)),
    Room("composer", "the event's key", "fire.head:KeyField", ("fire",)),
    Room("editor", "the JSON editor", "fire.json_editor:JsonEditor", ("fire",), typing=True),
    Room("form", "the form", "fire.value_input:ValueInput", ("fire",), typing=True),
    Room("run", "a run", "fire.run_pane:RunPane", ("fire",)),
    Room("waterfall", "the handlers of a run", "fire.waterfall:Waterfall", ("run",), prefix="run"),
    Room("plan", "the plan", "fire.plan_view:PlanView", ("fire",)),
    Room("log", "Log", "log.pane:LogPane", ("console",)),
    Room(
        "log filter",
        "the filter of the log",
        "log.filter_input:FilterInput",
        ("log",),
        typing=True,
        prefix="log",
    ),
    Room("hosts", "Hosts", "hosts.pane:HostsPane", ("console",)),
    Room(
        "lines",
        "other lists",
        "lines:Lines",
        ("fire", "run", "waterfall", "plan", "log", "hosts", "chooser", "otherwise", "debug", "fuzzed"),
    ),
    Room("chooser", "which hosts", "hosts.chooser:ChooserScreen"),
    Room("trust", "the question of trust", "trust:TrustScreen"),
    Room("edit", "an edit before it is written", "edits:EditScreen"),
    Room("forget", "an undo that cannot be", "edits:ForgetScreen"),
    Room("question", "a question", "question:Question", typing=True),
    Room("whatif", "what if", "whatif.bar:WhatIfBar", typing=True),
    Room("new", "a new hook", "making.form:NewScreen", typing=True),
    Room("choice", "a choice of a new hook", "making.choice:Choice", ("new",)),
    Room("keys", "the list of events", "fire.event_picker:EventPicker", typing=True),
    Room("completion", "what could stand there", "fire.completion_list:CompletionScreen", typing=True),
    Room("environment", "the environments", "fire.environments:EnvironmentScreen"),
    Room("saved", "the saved events", "fire.saved_screen:SavedScreen", typing=True),
    Room("otherwise", "firing otherwise", "fire.otherwise:OtherwiseScreen"),
    Room("debug", "a handler line by line", "debug.screen:DebugScreen"),
    Room("beside", "two runs side by side", "fire.beside:BesideScreen"),
    Room("repeated", "an event fired several times", "fire.repeated:RepeatScreen"),
    Room("fuzzed", "strange events", "fire.fuzzed:FuzzScreen"),
    Room("packs", "the installed packs", "packs.screen:PacksScreen"),
    Room("spec", "a pack to install", "packs.asking:SpecScreen", typing=True),
    Room("plan of a pack", "what a pack would write", "packs.asking:SheetScreen", prefix="plan"),
    Room("tap", "the tap", "tap_screen:TapScreen"),
    Room("workers", "the processes", "workers:WorkersScreen"),
    Room("help", "help", "help:HelpScreen"),
    Room("workspaces", "another workspace", "workspaces.screen:WorkspaceScreen", typing=True),
    Room("find", "the palette", "palette_screen:PaletteScreen", typing=True),
    Room("jump", "the letters of a jump", "jump.screen:JumpScreen", typing=True),
)
# Two actions that come to the same where both are active: either may take the other's key.
ALIKE = frozenset({frozenset({"lines.last", "log.tail"})})


@dataclass(frozen=True, slots=True)
class Action:
    """What a key can do."""

    id: str
    keys: tuple[str, ...]  # by default, as Textual names them
    meaning: str
    rooms: tuple[str, ...]
    typing: bool


@cache
def actions() -> Mapping[str, Action]:
    """All of them by id, in the order of the rooms."""
    found: dict[str, Action] = {}
    for room in ROOMS:
        for binding in bindings_of(owner_of(room)):
            known = found.get(binding.id or "")
            rooms = (*(known.rooms if known else ()), room.name)
            keys = tuple(key.strip() for key in binding.key.split(","))
            letters = room.typing or binding.priority
            found[binding.id or ""] = Action(binding.id or "", keys, binding.tooltip, rooms, letters)
    return found


def owner_of(room: Room) -> type[DOMNode]:
    """The class whose keys act in a room."""
    module, _, name = room.place.partition(":")
    owner: type[DOMNode] = getattr(import_module(f"hookscope.console.{module}"), name)
    return owner


def binding_of(action: str) -> Binding:
    """The binding of one action. Only rooms that its name speaks of are imported."""
    return _home_of(action)[1]


def room_of(action: str) -> Room:
    """The room that brings this action."""
    return _home_of(action)[0]


@cache
def _home_of(action: str) -> tuple[Room, Binding]:
    prefix = action.partition(".")[0]
    for room in ROOMS:
        if (room.prefix or room.name) == prefix:
            for binding in bindings_of(owner_of(room)):
                if binding.id == action:
                    return room, binding
    raise KeyError(action)


def bindings_of(owner: type[DOMNode]) -> tuple[Binding, ...]:
    """The bindings that a class itself brings, those with an id: they are ours."""
    own = owner.__dict__.get("BINDINGS", ())
    return tuple(binding for binding in own if isinstance(binding, Binding) and binding.id)


@cache
def around(room: str) -> frozenset[str]:
    """A room and all that it lies in."""
    within = next(known.within for known in ROOMS if known.name == room)
    return frozenset({room}).union(*(around(outer) for outer in within))


@cache
def together(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Is there a place where actions of both are active."""
    return any(a in around(b) or b in around(a) for a in one for b in other)


@cache
def shared() -> frozenset[frozenset[str]]:
    """Pairs of actions that have a key in common on purpose: the inner one refines the outer one."""
    pairs: set[frozenset[str]] = set(ALIKE)
    everything = tuple(actions().values())
    for number, one in enumerate(everything):
        for other in everything[number + 1 :]:
            if set(one.keys) & set(other.keys) and together(one.rooms, other.rooms):
                pairs.add(frozenset({one.id, other.id}))
    return frozenset(pairs)

"""What can be done now: available actions, reasons why one is unavailable, and the key bar."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input

from hookscope.console.keymap.active_keys import (
    ARROWS,
    DEFAULT_KEYMAP,
    Keymap,
    active_keymap,
    binding_of,
    key_label,
    key_of,
    with_keys,
)
from hookscope.console.state.hook_rows import matching_rows
from hookscope.console.theme.text_styles import MUTED, safe_text
from hookscope.model.hook_status import HookStatus, RejectedHook, State

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from hookscope.console.state.console_state import ConsoleState


def bindings_of_scope(
    scope: str, rows: Iterable[tuple[str, str, str, str, str]], in_key_bar: Container[str]
) -> tuple[Binding, ...]:
    """Return a binding for each row of keys, action, the end of its id, label and tooltip."""
    return tuple(
        Binding(keys, action, label, show=end in in_key_bar, id=f"{scope}.{end}", tooltip=tooltip)
        for keys, action, end, label, tooltip in rows
    )


# The keys that every pane has.
_GLOBAL_ACTIONS = (
    ("1", "mode('hooks')", "hooks", "Hooks", "All hooks, and why each has its status"),
    ("2", "mode('fire')", "fire", "Fire", "Compose an event and run it"),
    ("ctrl+r,f5", "fire", "fire_composed", "Fire", "Fire the event of the composer"),
    ("3", "mode('log')", "log", "Log", "Everything since the console started"),
    ("4", "mode('hosts')", "hosts", "Hosts", "Compare hooks across hosts"),
    ("tab", "app.focus_next", "next", "Pane", "Go to the next pane"),
    ("shift+tab", "app.focus_previous", "previous", "Pane back", "Go to the previous pane"),
    ("D", "dialect", "dialect", "Dialect", "Next dialect: a guide, or a shipped program"),
    ("W", "what_if", "what_if", "What if", "Assume another platform, environment, settings, agent or host"),
    ("0", "all_real", "all_real", "Drop what-if", "Drop all assumptions; again: return to the first dialect"),
    ("H", "verify", "verify", "Verify", "Compare with the answers of the installed host's own program"),
    ("X", "report", "report", "Report", "Write a zip file about this host for a report, without secrets"),
    ("P", "workers", "workers", "Processes", "Running worker processes"),
    ("O", "workspaces", "workspaces", "Workspaces", "Open a recent workspace, or a folder"),
    ("x", "export", "export", "Export", "Write the focused pane to a file: text, JSON or SVG"),
    ("at", "share", "share", "Share", "Write the selected run as one web page, without secrets"),
    ("z", "zoom", "zoom", "Zoom", "Show only the focused pane, or all"),
    ("ctrl+o", "jump", "jump", "Jump", "Jump to any pane, tab or row by letter"),
    ("escape", "back", "back", "Back", "Close what is open; cancel a run"),
    ("ctrl+p", "app.command_palette", "palette", "Commands", "Find a hook, event or action"),
    ("m,f9", "menu", "menu", "Menu", "All keys that work here; f9 also from an editor"),
    ("question_mark", "app.help", "help", "Help", "The keys of this pane"),
    ("number_sign", "app.manual", "manual", "Manual", "The manual, at the chapter about this pane"),
    ("ctrl+k", "app.change_key", "change_key", "Change key", "Choose an action, and press its new key"),
    ("q", "app.quit", "quit", "Quit", "Leave the console; workers end with it"),
)
IN_KEY_BAR = frozenset({"next", "zoom", "jump", "palette", "menu", "help", "quit"})
GLOBAL_BINDINGS = bindings_of_scope("console", _GLOBAL_ACTIONS, IN_KEY_BAR)

RIGHT_END_ACTIONS = ("console.menu", "console.help", "console.quit")  # at the right end of the key bar
RIGHT_END_WHILE_TYPING = ("app.help", "app.quit")  # the last two, while typing in a field
CORE_KEYS = 12  # keys in the key bar; the menu has the others


def _waits_for_trust(item: object, state: ConsoleState) -> bool:
    """Return True if a hook needs trust in its folder, or in a workspace that provides its interpreter."""
    if not isinstance(item, HookStatus) or state.view is None:
        return False
    from hookscope.app.trust_requests import trust_targets  # not needed for the first frame

    return bool(trust_targets(item, state.view))


def why_unavailable(action: str, state: ConsoleState) -> str:
    """Return why an action is unavailable, with the next step; empty if it is available."""
    row = state.row
    needs_row = {"fire_hook", "edit", "copy", "trust", "switch", "fold", "lift", "fix"}
    if action in needs_row and row is None:
        return (
            "No hook is selected: the list is empty."
            if not state.rows
            else "Select a hook in the list first."
        )
    if action in needs_row and row is not None and state.filter and not matching_rows((row,), state.filter):
        return f"{row.name} does not match the filter: {key_of('console.back')} clears it."
    match action:
        case "trust" if row is not None and not _waits_for_trust(row.item, state):
            return f"{row.name} does not need trust: it is {row.state_style.word}."
        case "fix" if row is not None and row.failed is not None:
            return f"{row.name} {row.why}: {key_of('hooks.edit')} opens it there."
        case "fix" if row is not None and row.state is State.READY:
            return f"{row.name} is ready: nothing to fix."
        case "fix" if row is not None and row.state is State.UNTRUSTED and row.reasons == 1:
            return f"{row.name} needs only trust: {key_of('hooks.trust')} trusts its folder."
        case "lift" if row is not None and not row.quarantined:
            return f"{row.name} is not in quarantine: automatically fired events reach it."
        case "switch" if row is not None and isinstance(row.item, RejectedHook):
            return f"{row.name} is not a hook: nothing to switch."
        case "fire_hook" if row is not None and isinstance(row.item, RejectedHook):
            return f"{row.name} is not a hook and receives no events. {key_of('hooks.edit')} opens it."
        case "fire_hook" if row is not None and not row.events:
            return f"{row.name} subscribes to no event. {key_of('hooks.edit')} opens its HOOK.md."
        case "fold" if row is not None and isinstance(row.item, RejectedHook):
            return f"{row.name} is not a hook: it has no checks."
        case "new" | "fix_all" | "packs" if state.view is None:
            return "Still scanning: the folders of the host are not known yet."
        case "keys" if state.view is None:
            return "Still scanning: the handlers are not known yet."
        case "cancel_run" if not state.job:
            return "Nothing is running."
        case "filter" if state.filtering:
            return with_keys("Type a search; {filter.clear} clears it.")
        case "recheck" if state.is_scanning:
            return "Already scanning."
    return ""


def why_unavailable_at(node: DOMNode, action: str) -> str:
    """Return why an action of this node would have no effect now, with the next step; else empty.

    A node that knows such actions has a method `cannot`.
    """
    cannot: Callable[[str], str] | None = getattr(node, "cannot", None)
    return cannot(action) if cannot is not None else ""


class ShownKey(NamedTuple):
    """One key of the key bar."""

    key: str
    shown: str
    what: str
    last: bool


def keys_of_screen(screen: Screen[Any], state: ConsoleState | None = None) -> tuple[ShownKey, ...]:
    """Return the keys of a screen that work now; `state`: the panes' state, if it has panes."""
    acting = screen.active_bindings.values()
    keys = keys_of_bindings(
        (one.binding for one in acting if one.binding.show and can_act(one.binding, one.node, None)), state
    )
    if state is None:
        return keys
    last = [key for key in keys if key.last]
    if len(last) < len(RIGHT_END_ACTIONS):
        last += [active for action in RIGHT_END_WHILE_TYPING for active in keys_of_action(action, last=True)]
    return (*[key for key in keys if not key.last][: CORE_KEYS - len(last)], *last)


def can_act(binding: Binding, node: DOMNode, state: ConsoleState | None) -> bool:
    """Return whether an action has an effect now. `state`: the panes' state, if the screen has panes."""
    name = binding.action.rpartition(".")[2].partition("(")[0]
    return not (
        (state is not None and why_unavailable(name, state)) or why_unavailable_at(node, binding.action)
    )


def keys_of_bindings(bindings: Iterable[Binding], state: ConsoleState | None) -> tuple[ShownKey, ...]:
    """Return the keys that work now, in the order of the bindings; each action once."""
    shown_keys: dict[str, ShownKey] = {}
    for binding in bindings:
        name = binding.action.rpartition(".")[2].partition("(")[0]
        if (
            not binding.show
            or binding.action in shown_keys
            or (state is not None and why_unavailable(name, state))
        ):
            continue
        label = key_label(binding.key)
        shown = binding.key_display or ARROWS.get(label, label)
        if not shown:
            continue
        shown_keys[binding.action] = ShownKey(
            binding.key, shown, binding.description, binding.id in RIGHT_END_ACTIONS
        )
    return tuple(shown_keys.values())


def keys_of_action(action: str, *, last: bool = False) -> tuple[ShownKey, ...]:
    """Return the active key of one action; empty if it has none."""
    binding = binding_of(action)
    keys = active_keymap().of(action, binding.key).split(",")[0].strip()
    shown = key_label(keys)
    return (ShownKey(keys, shown, binding.description, last),) if shown else ()


def key_line(keys: Iterable[ShownKey], width: int) -> Content:
    """Return as many keys as fit; help and quit are always at the right end."""
    keys = tuple(keys)
    last = Content("  ").join([_shown_key(key) for key in keys if key.last])
    room = width - last.cell_length - 3
    line = Content(" ")
    for key in keys:
        part = _shown_key(key)
        if key.last:
            continue
        if line.cell_length + part.cell_length > room:
            break
        line = Content.assemble(line, part, "  ")
    return Content.assemble(line.truncate(max(0, width - last.cell_length - 1), pad=True), last)


def _shown_key(key: ShownKey) -> Content:
    named = Content.assemble((key.shown, "bold"), " ", (key.what, MUTED))
    return named.stylize(Style.from_meta({"@click": f"app.simulate_key('{key.key}')"}))


class KeyBar(Widget):
    """The keys that work now; a click presses the key."""

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; background: $background; }"

    keys: reactive[tuple[ShownKey, ...]] = reactive(())

    def render(self) -> Content:
        return key_line(self.keys, self.size.width)


MOVING_ACTIONS = frozenset({"up", "down", "page_up", "page_down", "first", "last"})  # too obvious to list


class AvailableAction(NamedTuple):
    """An action with its active keys, and the node that has it."""

    binding: Binding
    node: DOMNode

    @property
    def id(self) -> str:
        return self.binding.id or ""


def own_bindings(node: DOMNode, keymap: Keymap = DEFAULT_KEYMAP) -> list[Binding]:
    """Return the bindings of this node's class that have an id, with their active keys."""
    bindings: dict[str, Binding] = {}
    for cls in type(node).__mro__:
        for binding in cls.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in bindings:
                keys = keymap.of(binding.id, binding.key)
                bindings[binding.id] = binding if keys == binding.key else replace(binding, key=keys)
        if not cls.__dict__.get("_inherit_bindings", True):  # Textual's record of `inherit_bindings`
            break
    return list(bindings.values())


def is_move(binding: Binding) -> bool:
    """Return True if the action only moves the cursor or scrolls."""
    return (binding.id or "").rpartition(".")[2] in MOVING_ACTIONS


def focused_nodes(screen: Screen[Any]) -> list[DOMNode]:
    """Return the nodes whose keys work now, innermost first."""
    focus = screen.focused
    return [*(focus.ancestors_with_self if focus is not None else (screen, screen.app))]


def all_nodes(screen: Screen[Any]) -> Iterator[DOMNode]:
    """Yield the focused nodes, then all others, except input fields: their keys need the focus."""
    focused = focused_nodes(screen)
    yield from focused
    for node in screen.walk_children():
        if node not in focused and not isinstance(node, Input):
            yield node


def available_actions_of(nodes: Iterable[DOMNode], keymap: Keymap) -> Iterator[AvailableAction]:
    """Yield each action once, from the first node that has it."""
    seen: set[str] = set()
    for node in nodes:
        for binding in own_bindings(node, keymap):
            if binding.id not in seen:
                seen.add(binding.id or "")
                yield AvailableAction(binding, node)


async def run_action(app: App[Any], action: AvailableAction) -> None:
    """Run an action as its key does; if it is unavailable, notify the user of the reason."""
    if not await app.run_action(action.binding.action, action.node):
        why = why_unavailable_at(action.node, action.binding.action)
        why = why or f"{action.binding.description}: nothing to do now."
        app.notify(safe_text(why, 400).plain, markup=False)

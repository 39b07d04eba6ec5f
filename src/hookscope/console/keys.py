"""The line of keys at the bottom, and why a key cannot act now. Bindings are the one list of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from hookscope.console.hooks.rows import matching
from hookscope.console.keymap.actions import binding_of
from hookscope.console.keymap.hints import in_force, key_of, with_keys
from hookscope.console.keymap.names import written
from hookscope.console.theme import MUTED
from hookscope.core.inventory import Rejected
from hookscope.core.standing import Standing, State

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import Screen

    from hookscope.console.state import ConsoleState

# The keys that every pane has.
EVERYWHERE = (
    Binding(
        "1",
        "mode('hooks')",
        "Hooks",
        show=False,
        id="console.hooks",
        tooltip="Every hook, and why it stands so",
    ),
    Binding(
        "2", "mode('fire')", "Fire", show=False, id="console.fire", tooltip="Compose an event and run it"
    ),
    Binding("3", "mode('log')", "Log", show=False, id="console.log", tooltip="What happened since the start"),
    Binding(
        "4",
        "mode('hosts')",
        "Hosts",
        show=False,
        id="console.hosts",
        tooltip="The same hooks under several hosts, side by side",
    ),
    Binding("tab", "app.focus_next", "Pane", id="console.next", tooltip="To the next pane"),
    Binding(
        "shift+tab",
        "app.focus_previous",
        "Pane back",
        show=False,
        id="console.previous",
        tooltip="To the pane before",
    ),
    Binding(
        "D",
        "dialect",
        "Dialect",
        show=False,
        id="console.dialect",
        tooltip="Another dialect: a guide, or a program as it ships",
    ),
    Binding(
        "W",
        "what_if",
        "What if",
        show=False,
        id="console.what_if",
        tooltip="Another platform, environment, settings, agent or host: assumed, never written",
    ),
    Binding(
        "0",
        "all_real",
        "All real",
        show=False,
        id="console.all_real",
        tooltip="Assume nothing any more: the view is this machine's again",
    ),
    Binding(
        "P",
        "workers",
        "Processes",
        show=False,
        id="console.workers",
        tooltip="The worker processes that run now",
    ),
    Binding(
        "O",
        "workspaces",
        "Workspaces",
        show=False,
        id="console.workspaces",
        tooltip="Open another workspace: one that was open lately, or a folder",
    ),
    Binding(
        "x",
        "export",
        "Export",
        show=False,
        id="console.export",
        tooltip="Write what the focus is on to a file: text, JSON or a picture",
    ),
    Binding("z", "zoom", "Zoom", id="console.zoom", tooltip="The focused pane alone, or all again"),
    Binding(
        "ctrl+o,o",
        "jump",
        "Jump",
        id="console.jump",
        tooltip="A letter on every pane, tab and row: press it to go there",
    ),
    Binding(
        "escape",
        "back",
        "Back",
        show=False,
        id="console.back",
        tooltip="Close what is open; cancel a run",
    ),
    Binding(
        "ctrl+p",
        "app.command_palette",
        "Commands",
        id="console.palette",
        tooltip="Find a hook, event or action",
    ),
    Binding("question_mark", "app.help", "Help", id="console.help", tooltip="The keys of this pane"),
    Binding("q", "app.quit", "Quit", id="console.quit", tooltip="Leave the console; workers end with it"),
)

LAST = ("console.help", "console.quit")  # stand at the right end
LAST_TYPING = ("app.help", "app.quit")  # and where one types


def _waits(item: object, state: ConsoleState) -> bool:
    """Return whether a hook waits for trust in its folder, or in the workspace that names its interpreter."""
    if not isinstance(item, Standing) or state.view is None:
        return False
    from hookscope.workbench.left_out import targets_of  # not needed for the first frame

    return bool(targets_of(item, state.view))


def obstacle(action: str, state: ConsoleState) -> str:
    """Why this cannot be done now, in one line that names the next step; empty where it can."""
    row = state.row
    needs_row = {"fire_hook", "edit", "copy", "trust", "switch", "fold", "lift", "fix"}
    if action in needs_row and row is None:
        return (
            "No hook is selected: the list is empty."
            if not state.rows
            else "Select a hook in the list first."
        )
    if action in needs_row and row is not None and state.filter and not matching((row,), state.filter):
        return f"{row.name} does not fit the filter: {key_of('console.back')} clears it."
    match action:
        case "trust" if row is not None and not _waits(row.item, state):
            return f"{row.name} waits for no trust: it is {row.look.word}."
        case "fix" if row is not None and row.failed is not None:
            return f"{row.name} {row.why}: {key_of('hooks.edit')} opens it there."
        case "fix" if row is not None and row.state is State.READY:
            return f"{row.name} is ready: nothing stops it here."
        case "fix" if row is not None and row.state is State.UNTRUSTED and row.reasons == 1:
            return f"{row.name} waits for trust alone: {key_of('hooks.trust')} asks."
        case "lift" if row is not None and not row.quarantined:
            return f"{row.name} is not in quarantine: automatic fires run it."
        case "switch" if row is not None and isinstance(row.item, Rejected):
            return f"{row.name} is no hook: there is nothing to switch."
        case "fire_hook" if row is not None and isinstance(row.item, Rejected):
            return f"{row.name} is no hook, so no event reaches it. {key_of('hooks.edit')} opens its folder."
        case "fire_hook" if row is not None and not row.events:
            return f"{row.name} listens to no event. {key_of('hooks.edit')} opens its HOOK.md."
        case "fold" if row is not None and isinstance(row.item, Rejected):
            return f"{row.name} is no hook: it has no checks to list."
        case "new" if state.view is None:
            return "Still looking: the folders of the host are not known yet."
        case "cancel_run" if not state.job:
            return "Nothing is running."
        case "filter" if state.filtering:
            return with_keys("Type what to look for; {filter.clear} clears it.")
        case "recheck" if state.looking:
            return "Already looking."
    return ""


def obstacle_at(node: DOMNode, action: str) -> str:
    """Why an action of this part of the screen would come to nothing now, and the next step; else empty.

    A part that knows such actions has a method `cannot`.
    """
    cannot: Callable[[str], str] | None = getattr(node, "cannot", None)
    return cannot(action) if cannot is not None else ""


class Key(NamedTuple):
    """One key of the line."""

    key: str
    shown: str
    what: str
    last: bool


def keys_here(screen: Screen[Any], state: ConsoleState | None = None) -> tuple[Key, ...]:
    """The keys of a screen that act now; `state` is that of the panes, where it has them."""
    acting = screen.active_bindings.values()
    keys = keys_of((one.binding for one in acting if not obstacle_at(one.node, one.binding.action)), state)
    if state is None or any(key.last for key in keys):
        return keys
    return (*keys, *(one for action in LAST_TYPING for one in key_for(action, last=True)))


def keys_of(bindings: Iterable[Binding], state: ConsoleState | None) -> tuple[Key, ...]:
    """The keys that act now, in the order of the bindings; each action once."""
    found: dict[str, Key] = {}
    for binding in bindings:
        name = binding.action.rpartition(".")[2].partition("(")[0]
        if not binding.show or binding.action in found or (state is not None and obstacle(name, state)):
            continue
        shown = binding.key_display or written(binding.key)
        if not shown:
            continue
        found[binding.action] = Key(binding.key, shown, binding.description, binding.id in LAST)
    return tuple(found.values())


def key_for(action: str, *, last: bool = False) -> tuple[Key, ...]:
    """The key in force of one action; none where it has none."""
    binding = binding_of(action)
    keys = in_force().of(action, binding.key).split(",")[0].strip()
    shown = written(keys)
    return (Key(keys, shown, binding.description, last),) if shown else ()


def key_line(keys: Iterable[Key], width: int) -> Content:
    """As many keys as fit in whole; help and quit always at the right end."""
    keys = tuple(keys)
    last = Content("  ").join([_key(key) for key in keys if key.last])
    room = width - last.cell_length - 3
    line = Content(" ")
    for key in keys:
        part = _key(key)
        if key.last:
            continue
        if line.cell_length + part.cell_length > room:
            break
        line = Content.assemble(line, part, "  ")
    return Content.assemble(line.truncate(max(0, width - last.cell_length - 1), pad=True), last)


def _key(key: Key) -> Content:
    named = Content.assemble((key.shown, "bold"), " ", (key.what, MUTED))
    return named.stylize(Style.from_meta({"@click": f"app.simulate_key('{key.key}')"}))


class KeyBar(Widget):
    """The keys that work now; a click is a key press."""

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; background: $background; }"

    keys: reactive[tuple[Key, ...]] = reactive(())

    def render(self) -> Content:
        return key_line(self.keys, self.size.width)

"""What can be done with the hooks, and by which keys. Ids are what `keys.yaml` and `help` know."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("f", "fire_hook", "Fire", id="hooks.fire", tooltip="Compose a test event for the selected hook"),
    Binding(
        "space", "switch", "On/off", id="hooks.toggle", tooltip="Switch the selected hook in the settings"
    ),
    Binding(
        "e", "fix", "Fix", id="hooks.fix", tooltip="Show the edit that opens what stops the selected hook"
    ),
    Binding("u", "undo", "Undo", show=False, id="hooks.undo", tooltip="Take back the last such change"),
    Binding("E", "edit", "Edit", id="hooks.edit", tooltip="Open $EDITOR at the fault, else at HOOK.md"),
    Binding("t", "trust", "Trust", id="hooks.trust", tooltip="Allow the folder of the selected hook to run"),
    Binding(
        "slash",
        "filter",
        "Filter",
        id="hooks.filter",
        tooltip="Show hooks by name, event, source or state",
    ),
    Binding(
        "n",
        "new",
        "New",
        id="hooks.new",
        tooltip="Write a new hook, pack, plugin or module that works, and open it in $EDITOR",
    ),
    Binding(
        "I",
        "packs",
        "Packs",
        id="hooks.packs",
        tooltip="What is installed: install, update, remove, and what has changed on disk since",
    ),
    Binding("s", "group", "Group", id="hooks.group", tooltip="Group by source, state or event"),
    Binding("k", "keys", "Registry", id="hooks.keys", tooltip="Who is called for each event, in order"),
    Binding("y", "copy", "Copy", id="hooks.copy", tooltip="Copy a report on the selected hook as plain text"),
    Binding(
        "L",
        "lift",
        "Lift",
        id="hooks.lift",
        tooltip="End the quarantine of the selected hook: automatic fires run it again",
    ),
    Binding("R", "recheck", "Recheck", id="hooks.recheck", tooltip="Look at all hooks again"),
    Binding(
        "i",
        "folders",
        "Folders",
        show=False,
        id="hooks.folders",
        tooltip="Which folders are looked in, best first",
    ),
]

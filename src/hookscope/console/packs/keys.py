"""What can be done with the packs, with its keys."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("escape,q,I", "close", "Close", id="packs.close", tooltip="Stop what goes on; else back"),
    Binding(
        "i", "install", "Install", id="packs.install", tooltip="Show what a package would write, then ask"
    ),
    Binding(
        "l",
        "link",
        "Link",
        id="packs.link",
        tooltip="Copy nothing: the host looks into a folder of yours",
    ),
    Binding(
        "u", "update", "Update", id="packs.update", tooltip="Fetch the chosen pack again; show, then ask"
    ),
    Binding(
        "U",
        "update_all",
        "Update all",
        id="packs.all",
        tooltip="The same for every pack, one after another",
    ),
    Binding(
        "c",
        "check",
        "Check",
        id="packs.check",
        tooltip="Ask every source whether there is something newer",
    ),
    Binding("d", "diff", "Diff", id="packs.diff", tooltip="What has changed on disk since it was installed"),
    Binding("x,delete", "remove", "Remove", id="packs.remove", tooltip="Show what goes, then ask"),
    Binding("R", "recheck", "Recheck", id="packs.recheck", tooltip="Read all files of the packs again"),
    Binding("y", "copy", "Copy", id="packs.copy", tooltip="Copy what is known of the chosen pack"),
    Binding("question_mark", "app.help", "Help", show=False, id="packs.help", tooltip="These keys"),
    Binding(
        "pagedown",
        "scroll(1)",
        "More",
        show=False,
        priority=True,
        id="packs.more",
        tooltip="More of the sheet",
    ),
    Binding(
        "pageup",
        "scroll(-1)",
        "Back up",
        show=False,
        priority=True,
        id="packs.less",
        tooltip="The same, upwards",
    ),
]

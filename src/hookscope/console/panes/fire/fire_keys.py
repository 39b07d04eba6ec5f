"""The keys of the Fire pane."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from hookscope.console.keymap.available_actions import bindings_of_scope

_FIRE_ACTIONS = (
    ("ctrl+r,f5", "fire", "fire", "Fire", "Fire the event of the composer"),
    ("r", "again", "again", "Re-fire", "Fire the event of the shown run again, with the same options"),
    ("b", "step", "step", "Step", "Fire handler by handler; then run the paused one"),
    ("minus", "pass_over", "pass_over", "Skip", "Skip the paused handler"),
    ("C", "run_all", "run_all", "Run all", "Run the paused handler and all later ones"),
    ("B", "debug", "debug", "By line", "Debug line by line; during a run, show the debugger again"),
    ("Q", "cancel", "cancel", "Cancel", "Cancel the running job"),
    ("escape", "leave", "leave", "Cancel", "Cancel the running job; else leave the editor, then go back"),
    ("f6", "arm", "arm", "On save", "Fire this event again whenever a file is saved"),
    ("g,f7", "guarded", "guarded", "On copies", "Fire on copies of your files, and show the changes"),
    ("M", "play", "play", "Play", "Simulate a session with a message and a scripted model"),
    ("ctrl+t", "template", "template", "Template", "Load the event's example"),
    ("ctrl+s", "save", "save", "Save", "Save the event to its file"),
    ("S", "save(True)", "save_as", "Save as", "Save under another name"),
    ("s,f2", "saved", "saved", "Saved", "Saved events: load one, test all"),
    ("o,f3", "otherwise", "otherwise", "Options",
     "Fire options: target, run anyway, fault, repeat, order, copies, step"),
    ("Z", "fuzz", "fuzz", "Fuzz", "Find the smallest failing variant of this event, on copies"),
    ("Y", "replay", "replay", "Replay", "Replay the shown run"),
    ("J", "replay(True)", "from_here", "From here",
     "Replay from the selected handler, with the event as it was"),
    ("d", "compare", "compare", "Diff", "Compare with another run"),
    ("A", "accept", "accept", "Accept", "Accept these results as expected"),
    ("v,f4", "face", "form", "Form", "Show the context as a form or as JSON"),
    ("c,ctrl+b", "part", "ctx", "ctx", "Show the handlers' second argument, or the context"),
    ("V", "environment", "environment", "Environment",
     "Choose the environment whose variables fill the event"),
    ("ctrl+space,ctrl+@", "pick", "keys", "Events", "Choose the event to fire"),
    ("left_square_bracket", "turn_run(-1)", "older", "Older", "Show the previous run"),
    ("right_square_bracket", "turn_run(1)", "newer", "Newer", "Show the next run"),
    ("y", "copy_tab", "copy", "Copy", "Copy the focused part: event, plan, or open tab"),
    ("z", "zoom", "zoom", "Zoom", "Show only this part, or all"),
    ("p", "swap", "plan", "Plan", "Switch between plan and run"),
    ("a", "everyone", "everyone", "All hooks", "Fire at all hooks"),
)  # fmt: skip
_IN_KEY_BAR = {
    "fire", "again", "step", "pass_over", "run_all", "arm", "play", "template", "save", "saved", "form",
    "ctx", "keys", "older", "newer", "copy", "plan",
}  # fmt: skip
FIRE_BINDINGS: list[BindingType] = [
    *bindings_of_scope("fire", _FIRE_ACTIONS, _IN_KEY_BAR),
    Binding("u", "undo", "Undo", id="hooks.undo", show=False, tooltip="Undo the last change"),
]

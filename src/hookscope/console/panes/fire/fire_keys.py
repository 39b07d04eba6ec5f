"""The keys of the Fire pane."""

from __future__ import annotations

from textual.binding import Binding, BindingType

FIRE_BINDINGS: list[BindingType] = [
    Binding("ctrl+r,f5", "fire", "Fire", id="fire.fire", tooltip="Fire the event of the composer"),
    Binding(
        "r",
        "again",
        "Re-fire",
        id="fire.again",
        tooltip="Fire the event of the shown run again, with the same options",
    ),
    Binding("b", "step", "Step", id="fire.step", tooltip="Fire handler by handler; then run the paused one"),
    Binding("minus", "pass_over", "Skip", id="fire.pass_over", tooltip="Skip the paused handler"),
    Binding(
        "C", "run_all", "Run all", id="fire.run_all", tooltip="Run the paused handler and all later ones"
    ),
    Binding(
        "B",
        "debug",
        "By line",
        id="fire.debug",
        show=False,
        tooltip="Debug line by line; during a run, show the debugger again",
    ),
    Binding("Q", "cancel", "Cancel", id="fire.cancel", show=False, tooltip="Cancel the running job"),
    Binding(
        "escape",
        "leave",
        "Cancel",
        id="fire.leave",
        show=False,
        tooltip="Cancel the running job; else leave the editor, then go back",
    ),
    Binding("f6", "arm", "On save", id="fire.arm", tooltip="Fire this event again whenever a file is saved"),
    Binding(
        "g,f7",
        "guarded",
        "On copies",
        id="fire.guarded",
        show=False,
        tooltip="Fire on copies of your files, and show the changes",
    ),
    Binding(
        "M", "play", "Play", id="fire.play", tooltip="Simulate a session with a message and a scripted model"
    ),
    Binding("ctrl+t", "template", "Template", id="fire.template", tooltip="Load the event's example"),
    Binding("ctrl+s", "save", "Save", id="fire.save", tooltip="Save the event to its file"),
    Binding("S", "save(True)", "Save as", id="fire.save_as", show=False, tooltip="Save under another name"),
    Binding("s,f2", "saved", "Saved", id="fire.saved", tooltip="Saved events: load one, test all"),
    Binding(
        "o,f3",
        "otherwise",
        "Options",
        id="fire.otherwise",
        show=False,
        tooltip="Fire options: target, run anyway, fault, repeat, order, copies, step",
    ),
    Binding(
        "Z",
        "fuzz",
        "Fuzz",
        id="fire.fuzz",
        show=False,
        tooltip="Find the smallest failing variant of this event, on copies",
    ),
    Binding("Y", "replay", "Replay", id="fire.replay", show=False, tooltip="Replay the shown run"),
    Binding(
        "J",
        "replay(True)",
        "From here",
        id="fire.from_here",
        show=False,
        tooltip="Replay from the selected handler, with the event as it was",
    ),
    Binding("d", "compare", "Diff", id="fire.compare", show=False, tooltip="Compare with another run"),
    Binding(
        "A", "accept", "Accept", id="fire.accept", show=False, tooltip="Accept these results as expected"
    ),
    Binding("v,f4", "face", "Form", id="fire.form", tooltip="Show the context as a form or as JSON"),
    Binding(
        "c,ctrl+b", "part", "ctx", id="fire.ctx", tooltip="Show the handlers' second argument, or the context"
    ),
    Binding(
        "V",
        "environment",
        "Environment",
        id="fire.environment",
        show=False,
        tooltip="Choose the environment whose variables fill the event",
    ),
    Binding("ctrl+space,ctrl+@", "pick", "Events", id="fire.keys", tooltip="Choose the event to fire"),
    Binding("left_square_bracket", "turn_run(-1)", "Older", id="fire.older", tooltip="Show the previous run"),
    Binding("right_square_bracket", "turn_run(1)", "Newer", id="fire.newer", tooltip="Show the next run"),
    Binding(
        "y", "copy_tab", "Copy", id="fire.copy", tooltip="Copy the focused part: event, plan, or open tab"
    ),
    Binding("u", "undo", "Undo", id="hooks.undo", show=False, tooltip="Undo the last change"),
    Binding("z", "zoom", "Zoom", id="fire.zoom", show=False, tooltip="Show only this part, or all"),
    Binding("p", "swap", "Plan", id="fire.plan", tooltip="Switch between plan and run"),
    Binding("a", "everyone", "All hooks", id="fire.everyone", show=False, tooltip="Fire at all hooks"),
]

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
        tooltip="Fire the event of the shown run again, as it was fired",
    ),
    Binding(
        "b",
        "step",
        "Step",
        id="fire.step",
        tooltip="Fire handler by handler: wait before each one; then let the one that waits begin",
    ),
    Binding(
        "i", "pass_over", "Pass over", id="fire.pass_over", tooltip="Go on without the handler that waits"
    ),
    Binding(
        "f",
        "run_all",
        "The rest",
        id="fire.run_all",
        tooltip="Run the handler that waits and all that follow",
    ),
    Binding(
        "B",
        "debug",
        "By line",
        id="fire.debug",
        show=False,
        tooltip="Fire line by line: stop in each handler; then show again where it stands",
    ),
    Binding(
        "x",
        "cancel",
        "Cancel",
        id="fire.cancel",
        show=False,
        tooltip="Stop the run, session, test or search that goes on",
    ),
    Binding(
        "escape",
        "leave",
        "Cancel",
        id="fire.leave",
        show=False,
        tooltip="Stop what goes on; else out of an editor, then back",
    ),
    Binding(
        "w,f6", "arm", "On save", id="fire.arm", tooltip="Fire this event again whenever a file is saved"
    ),
    Binding(
        "g,f7",
        "guarded",
        "On copies",
        id="fire.guarded",
        show=False,
        tooltip="Fire on copies of your files, and see what handlers did to them",
    ),
    Binding(
        "m,f9",
        "play",
        "Play",
        id="fire.play",
        tooltip="Play a whole session: the composer's message, the scripted model, every event",
    ),
    Binding(
        "ctrl+t",
        "template",
        "Template",
        id="fire.template",
        tooltip="Write the event's realistic example",
    ),
    Binding("ctrl+s", "save", "Save", id="fire.save", tooltip="Save the event, over the file it came from"),
    Binding("S", "save(True)", "Save as", id="fire.save_as", show=False, tooltip="Save under another name"),
    Binding("s,f2", "saved", "Saved", id="fire.saved", tooltip="The saved events: load one, test all"),
    Binding(
        "o,f3",
        "otherwise",
        "Otherwise",
        id="fire.otherwise",
        show=False,
        tooltip="Fire forced, with a fault, several times, in other orders, by steps, by lines",
    ),
    Binding(
        "Z,f10",
        "fuzz",
        "Fuzz",
        id="fire.fuzz",
        show=False,
        tooltip="Fire strange events like this one on copies, and keep the smallest that fails",
    ),
    Binding(
        "R", "replay", "Replay", id="fire.replay", show=False, tooltip="Fire the shown run again, marked so"
    ),
    Binding(
        "K",
        "replay(True)",
        "From here",
        id="fire.from_here",
        show=False,
        tooltip="Replay from the handler under the cursor on, with the event as it was then",
    ),
    Binding("d", "compare", "Diff", id="fire.compare", show=False, tooltip="This run beside another one"),
    Binding(
        "A", "accept", "Accept", id="fire.accept", show=False, tooltip="Expect from now on what happened"
    ),
    Binding("v,f4", "face", "Form", id="fire.form", tooltip="The context as a form, or as JSON again"),
    Binding(
        "c,f12",
        "part",
        "ctx",
        id="fire.ctx",
        tooltip="The second argument of the event's handlers, or its context again",
    ),
    Binding(
        "V",
        "environment",
        "Environment",
        id="fire.environment",
        show=False,
        tooltip="Whose variables fill the event: one of the workspace's environments",
    ),
    Binding("ctrl+space,ctrl+@", "pick", "Events", id="fire.keys", tooltip="Choose the event to fire"),
    Binding("left_square_bracket", "turn_run(-1)", "Older", id="fire.older", tooltip="Show the run before"),
    Binding("right_square_bracket", "turn_run(1)", "Newer", id="fire.newer", tooltip="Show the run after"),
    Binding(
        "y",
        "copy_tab",
        "Copy",
        id="fire.copy",
        tooltip="Copy what has the focus: the event, the plan, or the open tab of the run",
    ),
    Binding("u", "undo", "Undo", id="hooks.undo", show=False, tooltip="Take back the last such change"),
    Binding("z", "zoom", "Zoom", id="fire.zoom", show=False, tooltip="This part alone, or all again"),
    Binding("p", "swap", "Plan", id="fire.plan", tooltip="Go to the plan, or back to the run"),
    Binding(
        "a,f8", "everyone", "All hooks", id="fire.everyone", show=False, tooltip="Fire at all hooks again"
    ),
]

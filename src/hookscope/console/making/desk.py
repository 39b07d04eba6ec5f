"""From n to a hook that stands in the list, selected and open in the editor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.console.happening import Jumped
from hookscope.console.keymap.hints import key_of
from hookscope.console.messages import EditAsked, Said
from hookscope.core.hooks import Place
from hookscope.core.text import one_line
from hookscope.workbench.external_editor import editor_of
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.console.making.form import Answer
    from hookscope.console.shell import Shell
    from hookscope.workbench.making.sketching import Sketched
    from hookscope.workbench.making.wish import Wish
    from hookscope.workbench.making.writing import Made

ROOM = "new"


class NewDesk:
    """What is asked of new things. Files are seen before they are written."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._awaited: Path | None = None  # the new hook, which no look has found yet

    def ask(self) -> None:
        """Open the form."""
        view = self.screen.state.view
        if view is None:
            self.screen.post_message(Said("Still looking.", "warning"))
            return
        from hookscope.console.making.form import NewScreen  # here: the first paint does without

        self.screen.app.push_screen(NewScreen(view, self._plan), self._agreed)

    def _plan(self, wish: Wish, answered: Answer) -> None:
        """What a wish comes to, worked out in a thread."""
        bench, view = self.screen.bridge.bench, self.screen.state.view
        if view is None:
            return

        def planning() -> Sketched | str:
            from hookscope.workbench.making.writing import sketch_new  # here: the first paint does without

            try:
                return sketch_new(bench, view, wish)
            except Refusal as refused:
                return str(refused)

        self.screen.bridge.ask(ROOM, planning, answered)

    def _agreed(self, sketch: Sketched | None) -> None:
        if sketch is None:
            return

        def writing() -> Made:
            from hookscope.workbench.making.writing import make  # here: as above

            return make(self.screen.bridge.bench, sketch)

        self.screen.bridge.ask(ROOM, writing, self._written)

    def _written(self, made: Made) -> None:
        sketch = made.sketched
        name, count = one_line(sketch.wish.name, 60), len(sketch.files)
        self.screen.log_line("new", f"{sketch.kind}, {count} files in {sketch.root}", subject=name)
        for note in made.notes:
            self.screen.log_line("new", note, "warning", name)
        first = made.stands[0] if made.stands else None
        if first is None or first.row is None:
            said = f"{name} is written; no list here has it: {made.next[0]}"
        elif first.shut:
            said = f"{name} is written and {first.row.state}: {one_line(first.shut[0].reason, 160)}"
        else:
            fire, undo = key_of("hooks.fire"), key_of("hooks.undo")
            said = f"{name} is written and ready: {fire} fires at it, {undo} takes it back."
        self.screen.post_message(Said(said))
        self._awaited = sketch.main
        self.screen.bridge.look()
        if editor_of(os.environ):  # which looks again when it ends
            self.screen.post_message(EditAsked(Place(sketch.main)))

    def looked(self) -> None:
        """Select the new one, as soon as a look has found it."""
        if self._awaited is None:
            return
        found = (row for row in self.screen.state.rows if row.hook and row.hook.handler == self._awaited)
        row = next(found, None)
        if row is not None:
            self._awaited = None
            self.screen.change(Jumped(row.id))

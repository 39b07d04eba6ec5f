"""What would be written: the files, what is to be said of them, and the code to begin with. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.cutting import tail
from hookscope.console.header import below_home
from hookscope.console.sheet import foreign, literal
from hookscope.console.theme import FAINT, MUTED

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench.making.sketching import Sketched


def sketch_sheet(sketch: Sketched, surroundings: Surroundings, width: int) -> Content:
    """Paths first, notes, then the text of each file."""
    top = sketch.where.workspace
    parts = [Content.assemble(("in ", MUTED), tail(foreign(below_home(top, surroundings)), width - 3))]
    for path, _ in sketch.files:
        shown = str(path.relative_to(top)) if path.is_relative_to(top) else surroundings.short(path)
        parts.append(Content.assemble(("+ ", "$text-success"), tail(foreign(shown), width - 2)))
    parts += [foreign(note).stylize(MUTED) for note in sketch.notes]
    for path, content in sorted(sketch.files, key=lambda file: file[0] != sketch.main):
        parts += [Content(), Content.styled(path.name, MUTED)]
        parts += [literal(line).stylize(FAINT) for line in content.decode().splitlines()]
    return Content("\n").join(parts)


def problem_sheet(problem: str, *, wrong: bool) -> Content:
    """Why nothing can be written as it is. `wrong`: something was typed, and it will not do."""
    text = foreign(f"! {problem}" if wrong else problem)
    return text.stylize("$text-warning" if wrong else MUTED)

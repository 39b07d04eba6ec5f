"""What has changed on disk since a pack was installed, file by file. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.cutting import tail
from hookscope.console.packs.parts import diff_part
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import MUTED

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench.packs.since import Compared


def compared_sheet(compared: Compared, surroundings: Surroundings, width: int) -> Content:
    """A diff for each file, or why there is none."""
    sheet = Sheet(width)
    if compared.problem:
        sheet.say(Content.assemble(("✗ ", "$text-error"), foreign(compared.problem)))
    if not compared.files:
        sheet.say(Content("Nothing has changed on disk since it was installed."))
    for file in compared.files:
        sheet.blank()
        path = tail(foreign(surroundings.short(file.path)), sheet.width - 10)
        sheet.say(Content.assemble((f"{file.word}  ", "$text-warning"), path))
        if file.change is not None:
            diff_part(sheet, file.change.preview())
        else:
            sheet.say(foreign(file.why).stylize(MUTED), 2)
    return sheet.content()

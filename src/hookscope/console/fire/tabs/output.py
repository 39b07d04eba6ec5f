"""The output tab: what the handler printed, the two streams apart."""

from textual.content import Content

from hookscope.console.fire.tabs.shown import Shown, foreign, muted, quoted, stack
from hookscope.console.marks import MUTED


def text(shown: Shown) -> Content:
    """Standard output, standard error, and what was cut."""
    result = shown.row.result
    if result is None:
        return muted("Output is shown when the handler has ended.")
    lines: list[Content] = []
    if result.stdout:
        lines += quoted(result.stdout.rstrip("\n"), "out │ ", MUTED, shown.limit)
    if result.stderr:
        lines += quoted(result.stderr.rstrip("\n"), "err │ ", "$text-warning", shown.limit)
    lines += [Content.styled("note  ", "$text-warning") + foreign(note, 400) for note in result.notes]
    return stack(lines) if lines else muted("It printed nothing.")

"""What a run on copies did to them: each file with its diff, then which walls stood."""

from collections.abc import Callable, Iterator
from pathlib import Path

from textual.content import Content

from hookscope.console.fire.tabs.shown import foreign, muted, stack
from hookscope.console.marks import MUTED, word
from hookscope.console.theme import FAINT
from hookscope.core.copies import FileChange, Guarded

MOST = 400  # lines of one diff
STYLES = {"+": "$text-success", "-": "$text-error", "@": FAINT}


def text(guarded: Guarded | None, short: Callable[[Path], str]) -> Content:
    """All of it. `short` says a path for people."""
    if guarded is None:
        return Content()
    lines: list[Content] = []
    for change in guarded.changes:
        lines += _change(change, short)
    if guarded.more:
        lines.append(muted(f"and {guarded.more:,} more"))
    lines += (
        [Content(), foreign(guarded.walls, 600).stylize(MUTED)] if lines else [foreign(guarded.walls, 600)]
    )
    lines += [muted("note  ") + foreign(note, 400) for note in guarded.notes]
    return stack(lines)


def _change(change: FileChange, short: Callable[[Path], str]) -> Iterator[Content]:
    sizes = " → ".join("–" if size is None else f"{size:,}" for size in (change.before, change.after))
    path = Content(word(short(change.path), 300))
    yield Content.styled(f"{change.kind:<8} ", "bold") + path + muted(f"  {sizes} bytes")
    for line in change.diff.split("\n")[2:MOST]:
        if line:
            yield Content("    ") + foreign(line, 300).stylize(STYLES.get(line[0], MUTED))

"""The messages tab: what the handler pushed, literally, and whether anybody would read it."""

from textual.content import Content

from hookscope.console.fire.tabs.shown import ITEMS, Shown, muted, quoted, stack
from hookscope.console.marks import MUTED, count


def text(shown: Shown) -> Content:
    """Every message as it was pushed."""
    result = shown.row.result
    if result is None or not result.messages:
        return muted("It pushed no messages.")
    lines = [fate(shown)]
    for number, message in enumerate(result.messages[:ITEMS], 1):
        first, *more = quoted(message, "│ ", MUTED, shown.limit)
        lines += [muted(f"{number:>3} ") + first, *(Content("    ") + line for line in more)]
    if len(result.messages) > ITEMS:
        lines.append(muted(f"and {count(len(result.messages) - ITEMS, 'more message')}"))
    return stack(lines)


def fate(shown: Shown) -> Content:
    """What the host does with messages of this event."""
    if shown.sheet.plan.delivers:
        return Content.styled("✓ delivered", "$text-success") + muted(
            f"  {shown.product} hands them to the user"
        )
    return Content.styled("– ignored", "$text-warning") + muted(
        f"  {shown.product} drops messages of this event"
    )

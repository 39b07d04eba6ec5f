"""The context tab: what the handler changed in the event, before → after by path."""

import json
from typing import Any

from textual.content import Content

from hookscope.console.fire.diff import ABSENT, Path, ValueChange
from hookscope.console.fire.model import MOST, context_change
from hookscope.console.fire.tabs.shown import ITEMS, Shown, muted, stack
from hookscope.console.marks import count, fitted, word

STYLES = {"+": "$text-success", "-": "$text-error", "~": "$text-warning"}
VALUE = 2_000  # characters of a value's JSON that are looked at
PARTS = 12  # parts of a path that are written
WIDEST = 32  # cells of the column of paths


def text(shown: Shown) -> Content:
    """Every change in the order in which it was made."""
    if shown.row.result is None:
        return muted("Changes are shown when the handler has ended.")
    changes = context_change(shown.sheet, shown.row)
    if not changes:
        return muted("It left the event as it was.")
    names = [name_of(change.path) for change in changes[:ITEMS]]
    width = min(max(len(name) for name in names), WIDEST)
    lines = [_line(change, name, width) for change, name in zip(changes, names, strict=False)]
    if len(changes) > ITEMS:
        lines.append(muted(f"and {count(len(changes) - ITEMS, 'more change')}"))
    if len(shown.row.result.patch) > MOST:
        lines.append(muted(f"of {len(shown.row.result.patch):,} operations the first {MOST:,} were read"))
    return stack([*lines, *_afterwards(shown, changes)])


def name_of(path: Path) -> str:
    """A path as one would write it in code: `turns[0].text`; context is understood."""
    parts = path[1:] if len(path) > 1 and path[0] in ("context", "data") else path
    name = ""
    for part in parts[:PARTS]:
        if name and part.isdigit():
            name += f"[{part}]"
        else:
            name += f".{word(part, 60)}" if name else word(part, 60)
    return name or "the whole event"


def brief(value: Any) -> str:
    """A value as one line of JSON."""
    if isinstance(value, str) and len(value) > VALUE:
        value = value[:VALUE] + "…"
    try:
        shown = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        shown = repr(type(value))
    return word(shown[:VALUE], 160)


def _line(change: ValueChange, name: str, width: int) -> Content:
    sign = Content.styled(f"{change.kind} ", STYLES[change.kind])
    column = fitted(name, width) + Content("  ")
    if change.before is ABSENT:
        return sign + column + Content(brief(change.after))
    if change.after is ABSENT:
        return sign + column + muted("was ") + Content(brief(change.before))
    return sign + column + muted(brief(change.before)) + muted(" → ") + Content(brief(change.after))


def _afterwards(shown: Shown, changes: tuple[ValueChange, ...]) -> list[Content]:
    rows = [row for row in shown.sheet.rows if row.follow_up is shown.row.follow_up]
    later = sum(row.number > shown.row.number for row in rows)
    lines = [
        muted(
            f"shared with {count(later, 'later handler')}"
            if later
            else "no later handler sees this: it was the last"
        )
    ]
    event = shown.row.follow_up or shown.sheet.plan.event
    known = shown.host.dialect.catalogue().find(event.key)
    touched = {change.path[1] for change in changes if len(change.path) > 1 and change.path[0] == "context"}
    used = sorted(touched & set(known.mutable)) if known is not None else []
    if used:
        lines.append(muted(f"{shown.product} goes on with what is now in {', '.join(used)}"))
    return lines

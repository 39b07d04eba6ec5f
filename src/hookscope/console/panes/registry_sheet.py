"""The sheet of the registry: each event with its handlers in call order. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.theme.text_styles import (
    FAINT,
    MUTED,
    Sheet,
    keep_ends,
    safe_paragraph,
    safe_word,
    word_width,
)

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.run import Registration

MOST_HANDLERS = 40  # handlers to name under one key; the rest is counted


def registry_sheet(view: Snapshot, width: int) -> Content:
    """Return all event keys with their handlers in call order, then the keys without handlers."""
    sheet = Sheet(width)
    handled_keys = [(key, calls) for key in all_keys(view) if (calls := registrations_of(key, view))]
    if not handled_keys:
        sheet.paragraph(Content.styled("No handler is registered.", MUTED))
    for key, calls in handled_keys:
        sheet.blank()
        _event_part(sheet, key, view)
        _registrations_part(sheet, view, key, calls)
    handled = {key for key, _ in handled_keys}
    if unhandled := [key for key in view.keys if key not in handled]:
        sheet.title("Events without a handler")
        sheet.paragraph(safe_paragraph(", ".join(unhandled)).stylize(MUTED), 2)
    return sheet.content()


def all_keys(view: Snapshot) -> tuple[str, ...]:
    """Return the keys that can be fired, then other registered keys."""
    other_keys = [
        key for key in view.registry.by_key if not any(is_subscribed(key, other, view) for other in view.keys)
    ]
    return tuple(dict.fromkeys([*view.keys, *other_keys]))


def is_subscribed(listened: str, fired: str, view: Snapshot) -> bool:
    """Return True if a handler registered for `listened` receives events with the key `fired`."""
    return listened in keys_of(fired, view)


def registrations_of(key: str, view: Snapshot) -> tuple[Registration, ...]:
    """Return the registrations that an event of this key calls, in call order."""
    return view.registry.listeners(keys_of(key, view))


def keys_of(key: str, view: Snapshot) -> tuple[str, ...]:
    """Return the registry keys that receive an event with this key."""
    dialect = view.host.dialect
    event = dialect.event_of(key)
    return dialect.system_of(event.kind).keys(event)


def _event_part(sheet: Sheet, key: str, view: Snapshot) -> None:
    event_type = view.host.dialect.catalogue().find(key)
    sheet.paragraph(safe_paragraph(key).stylize("bold"))
    if event_type is None:
        sheet.paragraph(Content.styled(f"{view.host.dialect.product} has no such event", MUTED), 2)
        return
    sends = "" if view.host.dialect.catalogue().sends(key) else "never sent; "
    reach = "messages reach the user" if event_type.delivers else "messages are not delivered"
    sheet.paragraph(safe_paragraph(f"{event_type.when}; {sends}{reach}").stylize(MUTED), 2)


def _registrations_part(sheet: Sheet, view: Snapshot, key: str, calls: tuple[Registration, ...]) -> None:
    names = [safe_word(call.name, 40) for call in calls[:MOST_HANDLERS]]
    width = min(max(map(word_width, names)), sheet.width * 2 // 5)
    for number, (name, call) in enumerate(zip(names, calls, strict=False), 1):
        under = "" if call.key == key else f" · via {call.key}"
        source = call.hook.folder.source if call.hook is not None else "registered by code"
        runs = call.hook is None or call.hook.language in view.languages
        node = "" if runs else " · needs Node"
        body = safe_paragraph(source + under + node).stylize(FAINT)
        head = [(Content.styled(f"{number:>3}", MUTED), 5), (Content(keep_ends(name, width)), width + 3)]
        sheet.put(head, body, 1)
    if len(calls) > MOST_HANDLERS:
        sheet.paragraph(Content.styled(f"… and {len(calls) - MOST_HANDLERS} more", MUTED), 6)

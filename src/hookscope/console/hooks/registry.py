"""What the registry holds per event key: who is called, in order, and when. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.sheet import Sheet, foreign
from hookscope.console.text import line
from hookscope.console.theme import FAINT, MUTED

if TYPE_CHECKING:
    from hookscope.core.runs import Registration
    from hookscope.workbench import View

MOST = 40  # handlers named under one key; more are counted


def registry_sheet(view: View, width: int) -> Content:
    """Event keys with their handlers in order of calling, then the keys that nobody hears."""
    sheet = Sheet(width)
    heard = [(key, calls) for key in all_keys(view) if (calls := calls_of(key, view))]
    if not heard:
        sheet.say(Content.styled("No handler is registered: no event would call anything.", MUTED))
    for key, calls in heard:
        sheet.blank()
        _key(sheet, key, view)
        _calls(sheet, view, key, calls)
    _unheard(sheet, view, {key for key, _ in heard})
    return sheet.content()


def all_keys(view: View) -> tuple[str, ...]:
    """The keys that can be fired, then what is registered beside them."""
    beside = [key for key in view.registry.by_key if not any(hears(key, other, view) for other in view.keys)]
    return tuple(dict.fromkeys([*view.keys, *beside]))


def hears(listened: str, fired: str, view: View) -> bool:
    """Does a listener of one key hear an event of the other: the dialect says so."""
    return listened in keys_of(fired, view)


def calls_of(key: str, view: View) -> tuple[Registration, ...]:
    """Who is called for this key, in order: the dialect orders the keys, the registry each key's calls."""
    return view.registry.listeners(keys_of(key, view))


def keys_of(key: str, view: View) -> tuple[str, ...]:
    """The registry keys that hear an event of this key."""
    dialect = view.host.dialect
    event = dialect.event_of(key)
    return dialect.system_of(event.kind).keys(event)


def _key(sheet: Sheet, key: str, view: View) -> None:
    known = view.host.dialect.catalogue().find(key)
    sheet.say(foreign(key).stylize("bold"))
    if known is None:
        sheet.say(Content.styled(f"no event of {view.host.dialect.product}", MUTED), 2)
        return
    sends = "" if view.host.dialect.catalogue().sends(key) else "never sent; "
    reach = "messages reach the user" if known.delivers else "messages are not delivered"
    sheet.say(foreign(f"{known.when}; {sends}{reach}").stylize(MUTED), 2)


def _calls(sheet: Sheet, view: View, key: str, calls: tuple[Registration, ...]) -> None:
    for number, call in enumerate(calls[:MOST], 1):
        under = "" if call.key == key else f" · listens to {call.key}"
        source = call.hook.folder.source if call.hook is not None else "by code"
        runs = call.hook is None or call.hook.language in view.languages
        node = "" if runs else " · needs Node"
        body = Content.assemble(line(call.name, 40), "   ", foreign(source + under + node).stylize(FAINT))
        sheet.put([(Content.styled(f"{number:>3}", MUTED), 5)], body, 1)
    if len(calls) > MOST:
        sheet.say(Content.styled(f"… and {len(calls) - MOST} more", MUTED), 6)


def _unheard(sheet: Sheet, view: View, heard: set[str]) -> None:
    rest = [key for key in view.keys if key not in heard]
    if rest:
        sheet.title("Nobody that may run listens to")
        sheet.say(foreign(", ".join(rest)).stylize(MUTED), 2)

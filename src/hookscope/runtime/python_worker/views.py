"""What handlers get, in a worker: made of the host's document, and told back where they changed it."""

from __future__ import annotations

import marshal
from contextlib import suppress
from typing import Any, Callable  # noqa: UP035  (3.9)

PLAIN = 2  # of marshal's formats, the last one whose bytes do not depend on who else holds a value
SMALL = 64 * 1024  # bytes of a view that nobody has had to cut

# Bound before any handler runs.
_print_of, _value_of, _len = marshal.dumps, marshal.loads, len


class Views:
    """Makes the views of a worker, with the event class and the parts that it was started with."""

    def __init__(self, event: Any, plain: Any, encode: Callable[[Any], str], given: Callable[[], Any]):
        self.event_class, self.from_iso = event.HookEvent, event.from_iso
        self.to_document, self.put_back = event.to_document, event.put_back
        self.plain, self.plain_event, self.encode = plain.plain, plain.plain_event, encode
        self.given = given

    def of(self, document: Any, message: Any) -> View:
        """The view of that document in a run message, which says what it stands for."""
        if message["hook"]:
            return _EventView(self, self._event(document), document["timestamp"])
        return _ArgumentsView(self, document) if message.get("arguments") else View(self, document)

    def _event(self, document: Any) -> Any:
        moment = document["timestamp"]
        with suppress(TypeError, ValueError):  # somebody put something else there; handlers shall see what
            moment = self.from_iso(moment)
        return self.event_class(
            document["type"],
            document["action"],
            document["sessionKey"],
            document["context"],
            moment,
            document["messages"],
        )


class View:
    """Any value. Handlers get `value` itself; `tell` says what became of it since the host last knew."""

    def __init__(self, views: Views, value: Any) -> None:
        self.value = value
        self._views = views
        self._print = self._taken()
        self._known: Any = None  # a copy, where the print is none: handlers change the value itself
        self._said: list[str] = []
        if type(self._print) is not bytes or _len(self._print) > SMALL:  # it may have been cut to fit
            self._known, self._said = self._seen()

    def begin(self, who: str) -> None:
        """A handler of that hook gets it next."""

    def end(self, late: Callable[[str, str], None]) -> None:
        """All its handlers have returned; `late` hears what they ask for from now on."""

    def tell(self, answer: dict[str, Any]) -> None:
        """Put the view into the answer, where it changed, and what is to be said of it."""
        now = self._taken()
        if now is None or now != self._print:
            notes = self._repaired()
            now = self._taken()
            known = self._known if self._known is not None else _value_of(self._print)
            self._print = now
            self._known, said = self._seen()
            if self._known != known or self._views.encode(self._known) != self._views.encode(known):
                answer["view"] = self._known  # the text tells what Python does not: `True` from `1`
            notes += [note for note in said if note not in self._said]
            self._said = said
            if notes:
                answer["notes"] = [*answer.get("notes", ()), *notes]

    def _document(self) -> Any:
        return self.value

    def _taken(self) -> Any:
        """A print of it: equal prints, equal views. None where it holds what JSON cannot.

        Bytes that it can be made of again; text where it holds classes that stand on a dict or a list.
        """
        try:
            document = self._document()
        except BaseException:  # a handler's doing
            return None
        try:
            return _print_of(document, PLAIN)
        except BaseException:  # it holds more than plain values: the encoder may still take it
            pass
        try:
            return self._views.encode(document)
        except BaseException:  # a handler's classes, cycles, NaN
            return None

    def _seen(self) -> tuple[Any, list[str]]:
        seen: tuple[Any, list[str]] = self._views.plain(self.value)
        return seen

    def _repaired(self) -> list[str]:
        return []


class _EventView(View):
    """A folder hook's event."""

    def __init__(self, views: Views, value: Any, moment: Any) -> None:
        self._moment, self._text = value.timestamp, moment  # the same as text
        super().__init__(views, value)

    def _document(self) -> Any:
        value = self.value
        if value.timestamp is not self._moment:
            return self._views.to_document(value)
        return {
            "type": value.type,
            "action": value.action,
            "sessionKey": value.session_key,
            "timestamp": self._text,
            "messages": value.messages,
            "context": value.context,
        }

    def _seen(self) -> tuple[Any, list[str]]:
        seen: tuple[Any, list[str]] = self._views.plain_event(self._document())
        return seen

    def _repaired(self) -> list[str]:
        repaired: list[str] = self._views.put_back(self.value)
        return repaired


class _ArgumentsView(View):
    """What a handler of two arguments gets, see model/payload.py."""

    def _document(self) -> Any:
        asked = self.value.get("asked")  # a list that knows who asks, and else a list like any other
        return {**self.value, "asked": [*asked]} if isinstance(asked, list) else self.value

    def begin(self, who: str) -> None:
        self._views.given().opened(self.value).who = who

    def end(self, late: Callable[[str, str], None]) -> None:
        self._views.given().closed(self.value, late)

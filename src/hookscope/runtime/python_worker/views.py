"""What handlers get, in a worker: made of the host's document, and told back where they changed it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Callable, Optional  # noqa: UP035  (3.9)


class Views:
    """Makes the views of a worker, with the event class and the parts that it was started with."""

    def __init__(self, event: Any, plain: Any, encode: Callable[[Any], str], authoring: Callable[[], Any]):
        self.event_class, self.from_iso = event.HookEvent, event.from_iso
        self.to_document, self.put_back = event.to_document, event.put_back
        self.plain, self.plain_event, self.encode = plain.plain, plain.plain_event, encode
        self.authoring = authoring

    def of(self, document: Any, message: Any) -> View:
        """The view of that document in a run message, which says what it stands for."""
        if message["hook"]:
            return _EventView(self, self._event(document))
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
        self._known, self._said = self._seen()  # a copy: handlers change the value itself
        self._text = self._as_text()

    def begin(self, who: str) -> None:
        """A handler of that hook gets it next."""

    def end(self, late: Callable[[str, str], None]) -> None:
        """All its handlers have returned; `late` hears what they ask for from now on."""

    def tell(self, answer: dict[str, Any]) -> None:
        """Put the view into the answer, where it changed, and what is to be said of it."""
        answer["notes"] += self._repaired()
        now = self._as_text()
        if now is None or now != self._text:
            self._text = now
            after, notes = self._seen()
            if after != self._known:
                self._known = answer["view"] = after
            answer["notes"] += [note for note in notes if note not in self._said]
            self._said = notes

    def _document(self) -> Any:
        return self.value

    def _as_text(self) -> Optional[str]:  # noqa: UP045
        """As JSON text: equal texts, equal views. None where it holds what JSON cannot."""
        try:
            return self._views.encode(self._document())
        except BaseException:  # a handler's classes, cycles, NaN
            return None

    def _seen(self) -> tuple[Any, list[str]]:
        seen: tuple[Any, list[str]] = self._views.plain(self.value)
        return seen

    def _repaired(self) -> list[str]:
        return []


class _EventView(View):
    """A folder hook's event."""

    def _document(self) -> Any:
        return self._views.to_document(self.value)

    def _seen(self) -> tuple[Any, list[str]]:
        seen: tuple[Any, list[str]] = self._views.plain_event(self._document())
        return seen

    def _repaired(self) -> list[str]:
        repaired: list[str] = self._views.put_back(self.value)
        return repaired


class _ArgumentsView(View):
    """What a handler of two arguments gets, see core/arguments.py."""

    def begin(self, who: str) -> None:
        self._views.authoring().opened(self.value).who = who

    def end(self, late: Callable[[str, str], None]) -> None:
        self._views.authoring().closed(self.value, late)

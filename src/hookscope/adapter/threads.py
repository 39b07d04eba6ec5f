"""The protocol's threads: one for each handler that runs, and what it has printed so far."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.core.text import one_line
from hookscope.values import dataclass

LOADING = "a module that is loaded"


@dataclass(slots=True)
class Thread:
    """A handler that runs."""

    number: int
    who: str
    printed: tuple[str, str] = ("", "")  # what the editor has been told of that

    @property
    def name(self) -> str:
        """For people."""
        return one_line(self.who) or LOADING

    def news(self, stdout: str, stderr: str) -> Iterator[tuple[str, str]]:
        """What there is of both beyond what was told: ("stdout" or "stderr", text)."""
        for category, text, told in zip(("stdout", "stderr"), (stdout, stderr), self.printed, strict=True):
            rest = text[len(told) :] if text.startswith(told) else text
            if rest:
                yield category, rest
        self.printed = stdout, stderr


class Threads:
    """Those that have begun and not ended. Handlers of one name may run side by side."""

    def __init__(self) -> None:
        self._numbers = 0
        self.open: list[Thread] = []

    def begin(self, who: str) -> Thread:
        """One more."""
        self._numbers += 1
        thread = Thread(self._numbers, who)
        self.open.append(thread)
        return thread

    def of(self, who: str) -> Thread | None:
        """The first of that name."""
        return next((thread for thread in self.open if thread.who == who), None)

    def end(self, thread: Thread) -> None:
        """It has ended."""
        self.open = [known for known in self.open if known is not thread]

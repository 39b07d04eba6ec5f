"""How something that takes time is followed and stopped."""

from __future__ import annotations

from collections.abc import Callable

from hookscope.packs.errors import Cancelled
from hookscope.values import dataclass


def _ignore(_: str) -> None:
    return None


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Progress:
    """Callbacks of whoever waits. Both are called from the thread that works."""

    tell: Callable[[str], None] = _ignore  # what is being done now, as half a sentence
    cancelled: Callable[[], bool] = _never

    def step(self, what: str) -> None:
        """The next thing is begun. Raises Cancelled."""
        self.check()
        self.tell(what)

    def check(self) -> None:
        """Raises Cancelled where somebody wants it to stop."""
        if self.cancelled():
            raise Cancelled()


QUIETLY = Progress()

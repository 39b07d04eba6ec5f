"""A workbench that is opened when it is first needed: what it loads, the first paint does without."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookscope.workbench import Workbench


class Opener:
    """Opens one workbench, once. May be called from any thread: who comes meanwhile waits for it."""

    def __init__(self, opening: Callable[[], Workbench]) -> None:
        self._opening = opening
        self._lock = Lock()
        self._bench: Workbench | None = None

    @property
    def opened(self) -> Workbench | None:
        """The workbench, if it is open."""
        return self._bench

    def __call__(self) -> Workbench:
        """The workbench. Raises Refusal where it cannot be opened."""
        with self._lock:
            if self._bench is None:
                self._bench = self._opening()
            return self._bench

"""Faults of each hook.

a hook that harmed its worker gets a worker of its own; after three faults it is quarantined.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from hookscope.model.run import Code
from hookscope.values import dataclass

QUARANTINE_FAULTS = 3  # faults within the window: then only a fire by hand runs it
FAULT_WINDOW = 300.0  # seconds


@dataclass(slots=True)
class FaultCounter:
    """Faults by hook: it hung, died, or left its worker dirty. One for all lanes of a workbench.

    Handlers are told apart by their file. A handler that has changed since its last fault begins
    anew: it is asked for by the name of its content, and another content has no faults.
    """

    clock: Callable[[], float] = time.monotonic
    _faults: dict[Path, list[float]] = field(default_factory=dict)
    _harmful_content: dict[Path, str] = field(default_factory=dict)  # with which it last did harm
    _left_running: dict[Path, str] = field(default_factory=dict)  # with which it left something running
    _lasting: dict[Path, str] = field(default_factory=dict)  # with which that went on for longer than we wait

    def add_fault(self, code: Code, content: str) -> bool:
        """Note one. True where it is the one that puts the hook into quarantine."""
        if self._harmful_content.get(code.path) != content:
            self._faults.pop(code.path, None)
        before = self.is_quarantined(code.path)
        self._harmful_content[code.path] = content
        self._faults[code.path] = [*self._recent(code.path), self.clock()]
        return self.is_quarantined(code.path) and not before

    def note_left_running(self, code: Code, content: str) -> None:
        """Note that it left a thread, a timer or a process: no fault, but others shall not feel it."""
        self._left_running[code.path] = content

    def note_lasting(self, code: Code, content: str) -> None:
        """Note that what it left running went on for longer than anybody waits."""
        self._lasting[code.path] = content

    def is_lasting(self, code: Code, content: str) -> bool:
        """Has this very content left something that goes on: who waits for it again waits in vain."""
        return self._lasting.get(code.path) == content

    @property
    def is_empty(self) -> bool:
        """Has nobody done harm, or left something running."""
        return not self._harmful_content and not self._left_running

    def needs_own_worker(self, code: Code, content: str) -> bool:
        """Has this very content of the hook done harm, or left something running: it has its own worker."""
        if self.is_empty:
            return False
        return content in (self._harmful_content.get(code.path), self._left_running.get(code.path))

    def is_quarantined(self, path: Path) -> bool:
        """Has it done so three times within five minutes, by its handler's path."""
        return len(self._recent(path)) >= QUARANTINE_FAULTS

    def quarantined_paths(self) -> frozenset[Path]:
        """Those that have, mostly none."""
        return frozenset(path for path in tuple(self._faults) if self.is_quarantined(path))

    def lift_quarantine(self, path: Path) -> bool:
        """Let automatic fires run it again. False where nothing kept it from them."""
        was_quarantined = self.is_quarantined(path)
        self._faults.pop(path, None)
        return was_quarantined

    def _recent(self, path: Path) -> list[float]:
        since = self.clock() - FAULT_WINDOW
        return [moment for moment in self._faults.get(path, ()) if moment > since]

"""What an answer says beside its result: what the call left behind, and what it had to do without."""

from __future__ import annotations

import os
import sys
from typing import Any


class Remarks:
    """Put into one answer after another. `leftovers` is the file of that name."""

    def __init__(self, line: Any, leftovers: Any, memory: int) -> None:
        self._line, self._leftovers, self._memory = line, leftovers, memory
        self._most = line.free() + leftovers.MANY  # the next free descriptor, where none leak
        self.left_out: list[str] = []  # names of variables that no environment can hold
        self.shared = False  # the worker runs something of an earlier handler's
        self._passed: dict[str, None] = {}  # places of `breakpoint()` at which nobody could be asked
        sys.breakpointhook = self._pass_over

    def _pass_over(self, *_: object, **__: object) -> None:
        frame = sys._getframe(1)
        self._passed[f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"] = None

    def size(self, answer: dict[str, Any]) -> None:
        """Say that this process has grown, and has served its time."""
        if self._leftovers.is_large(self._memory):
            note(answer, "it has taken half of the memory that its worker may have, and kept it")
            answer["worn"] = True

    def beside(self, answer: dict[str, Any], there: Any, who: str = "it") -> None:
        """Say what the call left running, and what it had to do without. `who` stands for the handler."""
        left, self.shared = there.left()
        try:
            free = self._line.free()
        except BaseException:  # of an audit hook that a handler has added: nothing can be opened any more
            free = 0
            answer["dirty"] = True
        if not 0 <= free <= self._most:
            left_open = "all descriptors" if free < 0 else f"more than {self._leftovers.MANY} descriptors"
            note(answer, f"{who} left {left_open} open")
            answer["dirty"] = True
        if left:
            answer["left"], answer["apart"] = left, True
            note(answer, f"{who} left {left} running: handlers of other hooks run in another worker")
        if self._passed:
            places, self._passed = ", ".join(list(self._passed)[:8]), {}
            note(answer, f"breakpoint() was passed over ({places}): `fire --debug` stops there")
        if self.left_out:
            names = ", ".join(repr(name)[:80] for name in self.left_out[:8])
            note(answer, f"left out of its environment, which cannot hold them: {names}")


def note_tasks(answer: dict[str, Any], left_over: int, who: str = "it") -> None:
    """Say that asyncio tasks were left behind."""
    if left_over:
        tasks = f"asyncio task{'s' * (left_over > 1)}"
        note(answer, f"{who} left {left_over} {tasks} unfinished, cancelled now: `await` what is to end")


def note(answer: dict[str, Any], *notes: str) -> None:
    """Say so with the answer."""
    if notes:
        answer["notes"] = [*answer.get("notes", ()), *notes]

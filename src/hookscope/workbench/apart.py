"""Lanes that one run has for itself: workers in which its handlers can be debugged."""

from __future__ import annotations

from collections.abc import Mapping

from hookscope.core.hooks import Language
from hookscope.core.lanes import Lane
from hookscope.core.runs import Run
from hookscope.runtime.process_lane import ProcessLane
from hookscope.runtime.which_lane import Lanes

WORKERS: Mapping[Language, str] = {"python": "python", "typescript": "node", "javascript": "node"}


class Apart:
    """Lanes by the name of their worker, python or node. `complete` ends them with the run."""

    def __init__(self, functions: Lane, lanes: Mapping[str, ProcessLane]) -> None:
        self._lanes = lanes
        code: dict[Language, Lane] = {
            language: lanes[name] for language, name in WORKERS.items() if name in lanes
        }
        self.lanes = Lanes(functions, code)

    def running(self) -> tuple[ProcessLane, ...]:
        """The lanes of worker processes."""
        return tuple(self._lanes.values())

    async def tell(self, run: Run) -> Run:
        """The run as it is."""
        return run

    async def complete(self, run: Run) -> Run:
        """The run as it is; its workers are gone then."""
        for lane in self._lanes.values():
            await lane.close()
        return run

"""The lines that `fire --debug --stop-at` names: told where they cannot be had, and where nothing stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import realpath
from pathlib import Path

import click

from hookscope.core.runs import Plan
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line, printable
from hookscope.workbench import Bound, Debugger, Point, Stop
from hookscope.workbench.stop_places import points_of


class Stops:
    """A debugger of one run, and the lines of it that were named beforehand. Without any, handlers stop at
    their first line."""

    def __init__(self, plan: Plan, here: Surroundings) -> None:
        self.plan, self.here = plan, here
        self.debugger = Debugger(bound=self._bound)
        self._waits: dict[tuple[str, int], Point] = {}  # by file and line; nothing has stopped there yet

    async def name(self, texts: Sequence[str]) -> None:
        """Stop at these lines. Raises Refusal for what is none of this run."""
        if not texts or not self.plan.calls:
            return
        self.debugger.begins = False
        for file, points in points_of(texts, self.plan, self.here).items():
            self._waits |= {_key(file, point.line): point for point in points}
            await self.debugger.name_lines(str(file), points)

    def _bound(self, news: Bound) -> None:
        """Where the lines of a file are: those without code stop further down, or nowhere."""
        wrong = dict(news.wrong)
        for line, at in news.lines:
            point = self._waits.get(_key(news.file, line))
            if point is None or at == line:
                continue
            del self._waits[_key(news.file, line)]
            place = self._place(news.file, line)
            if at:
                self._waits[_key(news.file, at)] = point
                said = f"No code begins in {place}: it stops in line {at}."
            else:
                why = wrong.get(line, "no code begins there, or further down")
                said = f"Nothing stops at {place}: {why}."
            click.echo(printable(said), err=True)

    def met(self, stop: Stop) -> None:
        """A handler stands there."""
        self._waits.pop(_key(stop.frame.file, stop.frame.line), None)

    def unmet(self) -> Iterator[str]:
        """A sentence for each line at which nothing has stopped."""
        for (file, line), point in self._waits.items():
            where = f" where {one_line(point.condition)}" if point.condition else ""
            why = ", or that did not hold there" if point.condition else ""
            yield f"Nothing stopped at {self._place(file, line)}{where}: no handler came there{why}."

    def _place(self, file: str, line: int) -> str:
        return f"{one_line(self.here.short(Path(file)))}:{line}"


def _key(file: str | Path, line: int) -> tuple[str, int]:
    """Files may be named through links."""
    return realpath(file), line

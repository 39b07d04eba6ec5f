"""A run is over for its author when what its handlers left running is: heard of, and not cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hookscope.core.runs import Run
from hookscope.runtime.process_lane import ProcessLane
from hookscope.runtime.rest import AT_REST, Patience, Rest


async def settled(lanes: Iterable[ProcessLane], waits: Patience) -> Rest:
    """What handlers of these lanes do that have answered, until it is over or `waits` is."""
    rest = AT_REST
    for lane in tuple(lanes):
        rest += await lane.settle(waits)
    return rest


async def lingered(run: Run, lanes: Iterable[ProcessLane], waits: Patience) -> Run:
    """The run, with what its handlers did after they had answered. A cancelled one waits for nothing."""
    if run.cancelled:
        return run
    said = tuple(in_words(await settled(lanes, waits), waits.seconds))
    return replace(run, notes=(*run.notes, *said)) if said else run


def in_words(rest: Rest, seconds: float) -> Iterator[str]:
    """A sentence for each thing that came late or goes on."""
    for who, text in rest.late:
        yield f"{who} {text}"
    for who, left in rest.lasting:
        yield (
            f"{who} left {left} running, not over {seconds:g} s later: "
            "that ends with its worker here, and goes on in a host"
        )

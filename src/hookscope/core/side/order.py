"""Whether hosts call the same hooks in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hookscope.core.hooks import Hook
from hookscope.core.plan import registrations_of
from hookscope.core.registry import Registry
from hookscope.core.side.model import Line, Side

Orders = Mapping[int, tuple[str, ...]]  # the number of a line → a sentence for each way its turn differs
MOST = 3  # events named one by one


def orders_of(sides: Sequence[Side], lines: Sequence[Line]) -> Orders:
    """For each hook whom the first host calls after it and another host before it, or the other way round."""
    keys = tuple(dict.fromkeys(key for line in lines for key in line.events))
    turns = [_all_turns(keys, side, _numbers(lines, at)) for at, side in enumerate(sides)]
    found: dict[tuple[int, int, bool], dict[str, list[str]]] = {}  # → by event the hosts that do otherwise
    for side, there in zip(sides[1:], turns[1:], strict=True):
        for key in keys:
            for moved in _reversed(turns[0][key], there[key]):
                found.setdefault(moved, {}).setdefault(key, []).append(side.called)
    texts: dict[int, list[str]] = {}
    for (number, partner, earlier), by_event in found.items():
        was, now = ("before", "after") if earlier else ("after", "before")
        for others, events in _by_hosts(by_event).items():
            named = ", ".join(events[:MOST]) + (f" and {len(events) - MOST} more" if events[MOST:] else "")
            hosts = ", ".join(others)
            told = f"{sides[0].called} calls it {was} {lines[partner].name}"
            text = f"on {named} {told}; {hosts}: {now} it"
            texts.setdefault(number, []).append(text)
    return {number: tuple(several) for number, several in texts.items()}


def _by_hosts(by_event: Mapping[str, Sequence[str]]) -> Mapping[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, hosts in by_event.items():
        groups.setdefault(tuple(hosts), []).append(key)
    return groups


def _numbers(lines: Sequence[Line], at: int) -> Mapping[Hook, int]:
    """Each hook of one side → the number of its line."""
    return {row.hook: number for number, line in enumerate(lines) if (row := line.cells[at].row) is not None}


def _all_turns(keys: Sequence[str], side: Side, numbers: Mapping[Hook, int]) -> Mapping[str, list[int]]:
    registry = Registry(0, registrations_of(side.inventory, side.host))
    return {key: _turns(key, side, registry, numbers) for key in keys}


def _turns(key: str, side: Side, registry: Registry, numbers: Mapping[Hook, int]) -> list[int]:
    """Whom this host calls for an event, in order, each once."""
    event = side.dialect.event_of(key)
    system = side.dialect.system_of(event.kind)
    arranged = system.arrange(event, registry.listeners(system.keys(event)))
    calls = [call.hook for group in arranged.groups for call in group.calls if call.hook is not None]
    return list(dict.fromkeys(numbers[hook] for hook in calls if hook in numbers and not hook.beyond_host))


def _reversed(first: Sequence[int], second: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Each that has a partner on its other side there: itself, the partner, does `first` call it earlier."""
    place = {number: at for at, number in enumerate(second)}
    common = [number for number in first if number in place]
    for at, number in enumerate(common):
        later = next((other for other in common[at + 1 :] if place[other] < place[number]), None)
        sooner = next((other for other in common[:at] if place[other] > place[number]), None)
        if later is not None:
            yield number, later, True
        elif sooner is not None:
            yield number, sooner, False

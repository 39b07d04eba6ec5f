"""Orders in which the calls of a plan can be made, and the way from one to another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, permutations, product
from math import factorial, prod
from random import Random

from hookscope.core.called import Order
from hookscope.core.runs import Plan

# The places of calls that can change places among themselves; one block comes behind the other.
Blocks = tuple[tuple[int, ...], ...]


def blocks_of(plan: Plan) -> Blocks:
    """The groups of the plan. Calls that begin at once have no order, and each is a block of its own."""
    blocks: list[tuple[int, ...]] = []
    first = 0
    for group in plan.groups:
        places = tuple(range(first, first + len(group.calls)))
        blocks += [(place,) for place in places] if group.together else [places]
        first += len(places)
    return tuple(blocks)


def registered(blocks: Blocks) -> Order:
    """The order in which the host calls them."""
    return tuple(chain(*blocks))


def count(blocks: Blocks) -> int:
    """How many orders there are."""
    return prod(factorial(len(block)) for block in blocks)


def other_orders(blocks: Blocks, seed: int, most: int) -> Iterator[Order]:
    """All but the registered order, each once: the reversed one first, in which every two have changed
    places. Beyond that all in turn where there are at most so many, else random ones."""
    told = {registered(blocks)}
    every = _every(blocks) if count(blocks) <= most else _random(blocks, Random(seed))
    for order in chain([tuple(chain(*(block[::-1] for block in blocks)))], every):
        if order not in told:
            told.add(order)
            yield order
        if len(told) == count(blocks):
            return


def _every(blocks: Blocks) -> Iterator[Order]:
    return (tuple(chain(*parts)) for parts in product(*map(permutations, blocks)))


def _random(blocks: Blocks, chance: Random) -> Iterator[Order]:
    while True:
        yield tuple(chain(*(chance.sample(block, len(block)) for block in blocks)))


def between(start: Order, end: Order) -> list[Order]:
    """The way from one order of the same calls to another: in each step two neighbours change places that
    stand otherwise at the end, and no others."""
    now, way = list(start), [start]
    for place, call in enumerate(end):
        for at in range(now.index(call), place, -1):
            now[at - 1], now[at] = now[at], now[at - 1]
            way.append(tuple(now))
    return way


def exchanged(one: Order, other: Order) -> tuple[int, int]:
    """The two calls, in their registered order, that have changed places in one step."""
    first, second = (call for call, there in zip(one, other, strict=True) if call != there)
    return (first, second) if first < second else (second, first)

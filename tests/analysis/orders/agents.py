"""Handlers that do nothing but read and write a few names of one context, and a host that calls them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from hookscope.analysis.order_findings import OrderFindings, RunFacts, run_facts
from hookscope.analysis.order_search import CallBlocks, OrderSearch
from hookscope.engine.planning import CallOrder
from hookscope.model.failure import Failure
from hookscope.model.run import Ending, Event, Registration, Result, Run
from hookscope.runtime.payloads import patch_of

# What, name, value: `needs` fails where the name is not there, `count` leaves one more than it finds, `says`
# pushes what it finds, `adds` appends to a list.
Operation = tuple[str, str, int]
GIVEN = {"sender": "ada"}  # by the event
Handler = tuple[Operation, ...]


def called(handlers: Sequence[Handler], order: CallOrder, number: int = 1) -> RunFacts:
    """What comes of calling these handlers in this order."""
    calls = [Registration("command:new", f"h{place}", print) for place in range(len(handlers))]
    document: dict[str, Any] = {"context": dict(GIVEN), "messages": []}
    results = []
    for place in order:
        before = deepcopy(document)
        error = _does(handlers[place], document)
        results.append(
            Result(
                calls[place],
                "error" if error else "ok",
                messages=tuple(document["messages"][len(before["messages"]) :]),
                error=Failure(error.__class__.__name__, str(error)) if error else None,
                patch=patch_of(before, document),
            )
        )
    messages, context = tuple(document["messages"]), document["context"]
    run = Run(number, Event("command", "new", context=GIVEN), tuple(results), (), Ending(), messages, context)
    return run_facts(run, calls, order)


def _does(handler: Handler, document: dict[str, Any]) -> Exception | None:
    context = document["context"]
    for what, name, value in handler:
        match what:
            case "needs" if name not in context:
                return KeyError(name)
            case "set":
                context[name] = value
            case "drop":
                context.pop(name, None)
            case "count":
                found = context.get(name)
                context[name] = (found if isinstance(found, int) else 0) + 1
            case "says":
                document["messages"].append(str(context.get(name)))
            case "adds":
                found = context.get(name)
                context[name] = [*(found if isinstance(found, list) else []), value]
    return None


def searched(
    handlers: Sequence[Handler], times: int, seed: int = 0, blocks: CallBlocks | None = None
) -> OrderFindings:
    """The search through all orders of these handlers, or those of their blocks."""
    search = OrderSearch(blocks or (tuple(range(len(handlers))),), times, seed)
    asking, facts = search.run(), None
    for number in range(1, 10_000):
        try:
            order = next(asking) if facts is None else asking.send(facts)
        except StopIteration:
            break
        facts = called(handlers, order, number)
    return search.findings([f"h{place}" for place in range(len(handlers))])


def every_order(handlers: Sequence[Handler]) -> Iterator[RunFacts]:
    """What comes of each order."""
    from itertools import permutations

    return (called(handlers, order) for order in permutations(range(len(handlers))))

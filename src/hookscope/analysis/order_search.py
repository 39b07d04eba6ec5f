"""Search for the smallest cause of an order dependency: which two handlers, among which others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, permutations, product
from math import factorial, prod
from random import Random
from typing import TYPE_CHECKING

from hookscope.analysis.order_findings import (
    PARTLY_CHANGED,
    FactKind,
    FactSubject,
    OrderFinding,
    OrderFindings,
    RunFacts,
    run_facts,
)
from hookscope.app.trust_requests import trust_next_steps
from hookscope.engine.planning import CallOrder, reordered
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan
from hookscope.model.text import one_line
from hookscope.runtime.firing import Firing

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

FEWEST_RUNS = 4  # registered order twice, reversed order twice


class OrderRuns:
    """Fires a plan in several orders, at most `times` times, and narrows down the differences.

    The event is fired twice as registered, then in reverse, then in all orders if there are at most
    `times`, else in random orders from the seed. Before the next order, a difference is narrowed down to two
    consecutive handlers: the result changes if they change places. Other handlers are excluded as long as
    the difference remains. Only handlers of the same sequential group change places; concurrent calls and
    the order of groups never change. The order of messages follows from that of their handlers, so it is
    not a difference.

    Every fire has a new event with the current time. With `sandbox` each has fresh copies and workers;
    without, handlers keep their memory and files between fires, as in their host.

    Raises Refusal if fewer than two handlers can change places, or `times` is too small.

    Args:
        times: the maximum number of fires; at least FEWEST_RUNS.
        seed: the seed of the random orders.
    """

    def __init__(
        self, bench: Workbench, view: Snapshot, plan: Plan, times: int, *, seed: int, sandbox: bool = False
    ) -> None:
        blocks = call_blocks(plan)
        if times < FEWEST_RUNS:
            raise Refusal(
                f"Comparing orders needs {FEWEST_RUNS} fires or more.", "Use a higher number.", code=2
            )
        if order_count(blocks) == 1:
            key = one_line(plan.event.key)
            untrusted = trust_next_steps(view, plan)
            next_step = f"{untrusted[0]}." if untrusted else f"`hookscope plan {key}` shows why."
            raise Refusal(f"There is nothing to shuffle: {_calls_phrase(plan)} for {key}.", next_step)
        self._bench, self._view, self._sandbox = bench, view, sandbox
        self._registered = plan
        self.plan = plan  # plan of the latest fire
        self._search = OrderSearch(blocks, times, seed)

    async def firings(self) -> AsyncGenerator[Firing]:
        """Yield the fires, one after another; `findings` returns the result.

        Each is yielded when it has started; the next starts when it has ended, and none after a cancelled
        one. Close the generator (`contextlib.aclosing`). Raises OSError if copies cannot be made.
        """
        orders = self._search.run()
        order = next(orders, None)
        while order is not None:
            event = replace(self._registered.event, timestamp=datetime.now(UTC))
            self.plan = reordered(replace(self._registered, event=event), order)
            firing = await self._start()
            yield firing
            run = await firing
            if run.cancelled:
                return
            try:
                order = orders.send(run_facts(run, self._registered.calls, order))
            except StopIteration:
                return

    def findings(self) -> OrderFindings:
        """Return the findings so far."""
        return self._search.findings(_call_names(self._registered))

    async def _start(self) -> Firing:
        if self._sandbox:
            return await self._bench.fire_sandboxed(self._view, self.plan)
        return self._bench.fire(self._view, self.plan)


def _call_names(plan: Plan) -> list[str]:
    """Return the handlers' names in call order, with the key if a hook is called under several keys."""
    names = [call.name for call in plan.calls]
    return [
        one_line(call.name if names.count(call.name) == 1 else f"{call.name} ({call.key})")
        for call in plan.calls
    ]


def _calls_phrase(plan: Plan) -> str:
    if len(plan.calls) > 1:
        return f"the {len(plan.calls)} handlers start at once or in a fixed order"
    return f"only {one_line(plan.calls[0].name)} runs" if plan.calls else "no handler runs"


# Blocks of call positions that can be exchanged within the block; blocks follow each other.
CallBlocks = tuple[tuple[int, ...], ...]


def call_blocks(plan: Plan) -> CallBlocks:
    """Return the plan's groups. Concurrent calls have no order, so each is a block of its own."""
    blocks: list[tuple[int, ...]] = []
    first = 0
    for group in plan.groups:
        places = tuple(range(first, first + len(group.calls)))
        blocks += [(place,) for place in places] if group.concurrent else [places]
        first += len(places)
    return tuple(blocks)


def registered_order(blocks: CallBlocks) -> CallOrder:
    """Return the order in which the host calls the handlers."""
    return tuple(chain(*blocks))


def order_count(blocks: CallBlocks) -> int:
    """Return the number of possible orders."""
    return prod(factorial(len(block)) for block in blocks)


def other_orders(blocks: CallBlocks, seed: int, most: int) -> Iterator[CallOrder]:
    """Yield all orders except the registered one, each once: first the reverse, where every pair is
    exchanged, then all if there are at most `most`, else random ones.
    """
    yielded = {registered_order(blocks)}
    candidates = (
        (tuple(chain(*parts)) for parts in product(*map(permutations, blocks)))
        if order_count(blocks) <= most
        else _random_orders(blocks, Random(seed))
    )
    for order in chain([tuple(chain(*(block[::-1] for block in blocks)))], candidates):
        if order not in yielded:
            yielded.add(order)
            yield order
        if len(yielded) == order_count(blocks):
            return


def _random_orders(blocks: CallBlocks, chance: Random) -> Iterator[CallOrder]:
    while True:
        yield tuple(chain(*(chance.sample(block, len(block)) for block in blocks)))


def orders_between(start: CallOrder, end: CallOrder) -> list[CallOrder]:
    """Return the steps between two orders; each exchanges neighbours whose order differs at the end."""
    now, orders = list(start), [start]
    for place, call in enumerate(end):
        for at in range(now.index(call), place, -1):
            now[at - 1], now[at] = now[at], now[at - 1]
            orders.append(tuple(now))
    return orders


def exchanged_calls(one: CallOrder, other: CallOrder) -> tuple[int, int]:
    """Return the two calls exchanged by one step, in registered order."""
    first, second = (call for call, other_call in zip(one, other, strict=True) if call != other_call)
    return (first, second) if first < second else (second, first)


class RunsExhausted(Exception):
    """The maximum number of runs is used up."""


class OrderSearch:
    """Requests runs, up to a maximum, and derives findings after each.

    The registered order runs twice: what differs then does not depend on the order. For each difference
    in another order, the steps between the two orders are bisected until one exchange is left. Then all
    other handlers are excluded at once, else in smaller and smaller parts. A handler is required if the
    difference disappears without it. Every finding has been seen twice.
    """

    def __init__(self, blocks: CallBlocks, times: int, seed: int) -> None:
        self._blocks, self._times, self._seed = blocks, times, seed
        self._fired: list[RunFacts] = []
        self._seen: dict[CallOrder, RunFacts] = {}  # order → facts of its last run
        self._found: list[OrderFinding] = []
        self._unstable: set[FactSubject] = set()
        self._causes: dict[FactSubject, list[tuple[int, int]]] = {}
        # Subject → directions of its causes → value → an order with that value.
        self._tables: dict[FactSubject, dict[object, dict[str, CallOrder]]] = {}

    def run(self) -> Generator[CallOrder, RunFacts, None]:
        """Yield the next order to run, and receive its facts."""
        try:
            first = registered_order(self._blocks)
            yield from self._fire(first)
            yield from self._fire(first)
            for order in other_orders(self._blocks, self._seed, self._times):
                yield from self._facts_of(order)
                while (differing := next(self._differing(), None)) is not None:
                    yield from self._narrow(*differing)
        except RunsExhausted:
            return

    def findings(self, names: Sequence[str]) -> OrderFindings:
        """Return the findings so far. `names`: the handlers in registered order."""
        unexplained: dict[tuple[CallOrder, CallOrder], FactSubject] = {}
        for subject, one, other in self._differing():
            unexplained.setdefault((one, other), subject)
        return OrderFindings(
            tuple(names),
            order_count(self._blocks),
            self._times,
            self._seed,
            tuple(self._fired),
            tuple(self._finished(one) for one in self._found if one.subject not in self._unstable),
            _most_significant(subject for subject in self._unstable if self._is_reportable(subject)),
            tuple(
                (subject, self._seen[one], self._seen[other]) for (one, other), subject in unexplained.items()
            ),
        )

    def _facts_of(self, order: CallOrder) -> Generator[CallOrder, RunFacts, RunFacts]:
        known = self._seen.get(order)
        return known if known is not None else (yield from self._fire(order))

    def _fire(self, order: CallOrder) -> Generator[CallOrder, RunFacts, RunFacts]:
        if len(self._fired) >= self._times:
            raise RunsExhausted
        facts = yield order
        before = self._seen.get(order)
        self._fired.append(facts)
        self._seen[order] = facts
        if before is not None:
            self._unstable |= _differing_subjects(before, facts)
        if len(order) == len(registered_order(self._blocks)):
            for subject in facts.values:
                if subject not in self._tables:
                    self._tabulate(subject)
            for subject in self._tables:
                self._add_to_table(subject, facts)
        return facts

    def _tabulate(self, subject: FactSubject) -> None:
        """Group the subject's values in all runs by the causes known so far."""
        self._tables[subject] = {}
        for order, facts in self._seen.items():
            if len(order) == len(registered_order(self._blocks)):
                self._add_to_table(subject, facts)

    def _add_to_table(self, subject: FactSubject, facts: RunFacts) -> None:
        self._tables[subject].setdefault(self._key(subject, facts), {}).setdefault(
            facts.value(subject), facts.order
        )

    def _key(self, subject: FactSubject, facts: RunFacts) -> object:
        """Return the key of a run's group, in which the known causes predict one value of the subject."""
        place = {call: at for at, call in enumerate(facts.order)}
        directions = tuple(place[one] < place[other] for one, other in self._causes.get(subject, ()))
        return self._writers_that_count(subject, facts), directions

    def _writers_that_count(self, subject: FactSubject, facts: RunFacts) -> tuple[int, ...]:
        """Return the writers of a shared place, whose order should explain its value."""
        kinds = (FactKind.PLACE, subject.kind)  # what each left there does not determine the final value
        found = [
            one
            for one in self._found
            if one.subject.what == subject.what and one.subject.kind in kinds and one.is_shared_place
        ]
        if not found or subject.kind not in (FactKind.PLACE, FactKind.CHANGED):
            return ()
        writers = facts.writers(subject.what)
        if subject.kind is FactKind.CHANGED:
            return writers[: writers.index(subject.call)] if subject.call in writers else writers
        return writers[-1:] if any(one.last_wins for one in found) else writers

    def _differing(self) -> Iterator[tuple[FactSubject, CallOrder, CallOrder]]:
        """Yield unexplained subjects, most significant first, each with two orders that show it."""
        for subject in sorted(self._tables, key=lambda subject: subject.rank):
            for by_value in self._tables[subject].values() if subject not in self._unstable else ():
                if len(by_value) > 1:
                    one, other, *_ = by_value.values()
                    if _is_significant(subject, self._seen[one], self._seen[other]):
                        yield subject, one, other

    def _narrow(
        self, subject: FactSubject, one: CallOrder, other: CallOrder
    ) -> Generator[CallOrder, RunFacts, None]:
        """Narrow two orders down to two neighbours, and to the other handlers that are required."""
        orders = orders_between(one, other)
        low, high, start = 0, len(orders) - 1, self._seen[one].value(subject)
        while high - low > 1:
            middle = (low + high) // 2
            facts = yield from self._facts_of(orders[middle])
            if facts.value(subject) == start:
                low = middle
            else:
                high = middle
        trial = self._seen[orders[low]], self._seen[orders[high]]
        pair = exchanged_calls(orders[low], orders[high])
        differing = [other for other in _differing_by_rank(*trial) if other not in self._unstable]
        for found in (subject, *differing):
            if pair not in (causes := self._causes.setdefault(found, [])):
                causes.append(pair)
        reported = {(one.first, one.second, one.subject) for one in self._found}
        new = [other for other in differing if (*pair, other) not in reported]
        first = min((subject, *new), key=lambda subject: subject.rank)
        if _is_significant(subject, *trial):
            self._found.append(_order_finding(first, pair, trial))
        places = {found.what for found in (subject, *differing)} - {""}
        again = {found for found in self._tables if found.what in places}  # it may explain others
        for found in {subject, *differing} | again:
            self._tabulate(found)
        if _is_significant(subject, *trial):
            yield from self._shrink(first, pair, trial)

    def _shrink(
        self, subject: FactSubject, pair: tuple[int, int], trial: tuple[RunFacts, RunFacts]
    ) -> Generator[CallOrder, RunFacts, None]:
        """Exclude all handlers that are not required, and confirm the finding."""
        needed = {*pair, subject.call}
        others = [call for call in trial[0].order if call not in needed]
        alone = (yield from self._try_without(subject, trial, set(others))) if others else None
        if alone is None:
            for facts in trial:
                if sum(facts.order == fired.order for fired in self._fired) < 2:
                    yield from self._fire(facts.order)
            if subject in self._unstable:
                self._found.pop()
                return
        else:
            self._found[-1] = _order_finding(subject, pair, alone)
        size = len(others) // 2 if alone is None else 0
        while size:
            fewer = others
            for start in range(0, len(others), size):
                part = set(others[start : start + size]) & set(fewer)
                smaller = (yield from self._try_without(subject, trial, part)) if part else None
                if smaller is not None:
                    trial, fewer = smaller, [call for call in fewer if call not in part]
                    self._found[-1] = _order_finding(subject, pair, trial)
            size = size // 2 if size > 1 else int(0 < len(fewer) < len(others))
            others = fewer
        self._found[-1] = replace(self._found[-1], narrowed=True)

    def _try_without(
        self, subject: FactSubject, trial: tuple[RunFacts, RunFacts], without: set[int]
    ) -> Generator[CallOrder, RunFacts, tuple[RunFacts, RunFacts] | None]:
        """Run both orders without some handlers; None if the difference disappears."""
        found = []
        for facts in trial:
            seen = yield from self._facts_of(tuple(call for call in facts.order if call not in without))
            if subject.kind is FactKind.ENDED and seen.value(subject) != facts.value(subject):
                return None
            found.append(seen)
        one, other = found
        return (
            (one, other)
            if one.value(subject) != other.value(subject) and _is_significant(subject, *found)
            else None
        )

    def _is_reportable(self, subject: FactSubject) -> bool:
        return subject.kind is not FactKind.CHANGED or any(subject in facts.written for facts in self._fired)

    def _finished(self, finding: OrderFinding) -> OrderFinding:
        """Return the finding without redundant subjects, and with all writers whose order counts."""
        also = _most_significant(one for one in finding.other_subjects if one not in self._unstable)
        kept = {finding.subject, *_most_significant((finding.subject, *also))}
        finding = replace(finding, other_subjects=tuple(one for one in also if one in kept))
        if not finding.is_shared_place:
            return finding
        writers = {call for facts in self._seen.values() for call in facts.writers(finding.subject.what)}
        if finding.last_wins:
            writers = {call for call in writers if self._won(call, finding.subject)}
        return replace(finding, writers=tuple(sorted(writers | {finding.first, finding.second})))

    def _won(self, call: int, subject: FactSubject) -> bool:
        """Return whether this handler's write was the last one, and stayed, in some order."""
        wrote = FactSubject(FactKind.CHANGED, subject.what, call)
        return any(
            facts.writers(subject.what)[-1:] == (call,) and facts.value(subject) == facts.value(wrote)
            for facts in self._seen.values()
        )


def _differing_by_rank(one: RunFacts, other: RunFacts) -> list[FactSubject]:
    """Return the subjects that differ between the two runs, most significant first."""
    differing = (
        subject for subject in _differing_subjects(one, other) if _is_significant(subject, one, other)
    )
    return sorted(differing, key=lambda subject: subject.rank)


def _differing_subjects(one: RunFacts, other: RunFacts) -> set[FactSubject]:
    subjects = one.values.keys() | other.values.keys()
    return {subject for subject in subjects if one.value(subject) != other.value(subject)}


def _most_significant(subjects: Iterable[FactSubject]) -> tuple[FactSubject, ...]:
    """Return the subjects, most significant first, without redundant ones: what a handler left at a place
    that differs afterwards, and messages that handlers' messages explain.
    """
    found = sorted(subjects, key=lambda subject: subject.rank)
    places = {one.what for one in found if one.kind is FactKind.PLACE}
    says = any(one.kind is FactKind.SAID for one in found)
    return tuple(
        one
        for one in found
        if not (one.kind is FactKind.CHANGED and one.what in places)
        and not (one.kind is FactKind.MESSAGES and says)
    )


def _is_significant(subject: FactSubject, one: RunFacts, other: RunFacts) -> bool:
    """Return whether a value left at a place is known, and the handler wrote it in one of the runs."""
    if subject.kind is not FactKind.CHANGED:
        return True
    known = PARTLY_CHANGED not in (one.value(subject), other.value(subject))
    return known and (subject in one.written or subject in other.written)


def _order_finding(
    subject: FactSubject, pair: tuple[int, int], trial: tuple[RunFacts, RunFacts]
) -> OrderFinding:
    one, other = trial
    if one.order.index(pair[0]) > one.order.index(pair[1]):
        one, other = other, one
    also = tuple(differing for differing in _differing_by_rank(one, other) if differing != subject)
    company = tuple(sorted(call for call in one.order if call not in {*pair, subject.call}))
    return OrderFinding(*pair, subject, one, other, also, company)

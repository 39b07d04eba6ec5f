"""The search for the smallest cause: which two handlers, in whose company, come to something else."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace

from hookscope.core.called import Order
from hookscope.core.orders.facts import PART, Facts, Kind, Subject
from hookscope.core.orders.findings import Finding, Findings
from hookscope.core.orders.ways import Blocks, between, count, exchanged, other_orders, registered


class Spent(Exception):
    """No more runs were asked for."""


class Search:
    """Asks for runs, so many at most, and knows after each what they tell.

    The registered order comes twice: what differs then is not the order's doing. Wherever something is
    otherwise in another order, the way between the two, on which neighbours change places step by step, is
    halved until one step is left. Then all other handlers are left out, else one by one: those without whom
    the difference does not show are its company. What is found has been seen twice.
    """

    def __init__(self, blocks: Blocks, times: int, seed: int) -> None:
        self._blocks, self._times, self._seed = blocks, times, seed
        self._fired: list[Facts] = []
        self._seen: dict[Order, Facts] = {}  # by the last run of each
        self._found: list[Finding] = []
        self._unsteady: set[Subject] = set()
        self._causes: dict[Subject, list[tuple[int, int]]] = {}
        # Subject → which way round its causes stand → value → an order that came to it.
        self._tables: dict[Subject, dict[object, dict[str, Order]]] = {}

    def run(self) -> Generator[Order, Facts, None]:
        """Yields the order that is wanted next, and is sent what came of it."""
        try:
            first = registered(self._blocks)
            yield from self._fire(first)
            yield from self._fire(first)
            for order in other_orders(self._blocks, self._seed, self._times):
                yield from self._once(order)
                while (differing := next(self._differing(), None)) is not None:
                    yield from self._narrow(*differing)
        except Spent:
            return

    def told(self, names: Sequence[str]) -> Findings:
        """What is known by now. `names` are those of the handlers, in the registered order."""
        left: dict[tuple[Order, Order], Subject] = {}
        for subject, one, other in self._differing():
            left.setdefault((one, other), subject)
        return Findings(
            tuple(names),
            count(self._blocks),
            self._times,
            self._seed,
            tuple(self._fired),
            tuple(self._finished(one) for one in self._found if one.subject not in self._unsteady),
            _telling(subject for subject in self._unsteady if self._is_told(subject)),
            tuple((subject, self._seen[one], self._seen[other]) for (one, other), subject in left.items()),
        )

    def _once(self, order: Order) -> Generator[Order, Facts, Facts]:
        known = self._seen.get(order)
        return known if known is not None else (yield from self._fire(order))

    def _fire(self, order: Order) -> Generator[Order, Facts, Facts]:
        if len(self._fired) >= self._times:
            raise Spent
        facts = yield order
        before = self._seen.get(order)
        self._fired.append(facts)
        self._seen[order] = facts
        if before is not None:
            self._unsteady |= _unlike(before, facts)
        if len(order) == len(registered(self._blocks)):
            for subject in facts.values:
                if subject not in self._tables:
                    self._tabulate(subject)
            for subject in self._tables:
                self._enter(subject, facts)
        return facts

    def _tabulate(self, subject: Subject) -> None:
        """Sort all that was seen anew, by the causes that are known by now."""
        self._tables[subject] = {}
        for order, facts in self._seen.items():
            if len(order) == len(registered(self._blocks)):
                self._enter(subject, facts)

    def _enter(self, subject: Subject, facts: Facts) -> None:
        self._tables[subject].setdefault(self._key(subject, facts), {}).setdefault(
            facts.value(subject), facts.order
        )

    def _key(self, subject: Subject, facts: Facts) -> object:
        """Orders of one key ought to come to the same."""
        place = {call: at for at, call in enumerate(facts.order)}
        ways = tuple(place[one] < place[other] for one, other in self._causes.get(subject, ()))
        return self._writers_that_count(subject, facts), ways

    def _writers_that_count(self, subject: Subject, facts: Facts) -> tuple[int, ...]:
        """Where it is known that several write a place: by them, in their order, it ought to be explained."""
        kinds = (Kind.PLACE, subject.kind)  # what each leaves there does not say what stands there in the end
        found = [
            one
            for one in self._found
            if one.subject.what == subject.what and one.subject.kind in kinds and one.shared
        ]
        if not found or subject.kind not in (Kind.PLACE, Kind.CHANGED):
            return ()
        writers = facts.writers(subject.what)
        if subject.kind is Kind.CHANGED:
            return writers[: writers.index(subject.call)] if subject.call in writers else writers
        return writers[-1:] if any(one.last_wins for one in found) else writers

    def _differing(self) -> Iterator[tuple[Subject, Order, Order]]:
        """What no cause that is known explains, the most telling first, with two orders that show it."""
        for subject in sorted(self._tables, key=lambda subject: subject.rank):
            for by_value in self._tables[subject].values() if subject not in self._unsteady else ():
                if len(by_value) > 1:
                    one, other, *_ = by_value.values()
                    if _tells(subject, self._seen[one], self._seen[other]):
                        yield subject, one, other

    def _narrow(self, subject: Subject, one: Order, other: Order) -> Generator[Order, Facts, None]:
        """From two orders to two neighbours, and those without whom it does not show."""
        way = between(one, other)
        low, high, start = 0, len(way) - 1, self._seen[one].value(subject)
        while high - low > 1:
            middle = (low + high) // 2
            facts = yield from self._once(way[middle])
            if facts.value(subject) == start:
                low = middle
            else:
                high = middle
        trial = self._seen[way[low]], self._seen[way[high]]
        pair = exchanged(way[low], way[high])
        differing = [other for other in _differing(*trial) if other not in self._unsteady]
        for found in (subject, *differing):
            if pair not in (causes := self._causes.setdefault(found, [])):
                causes.append(pair)
        told = {(one.first, one.second, one.subject) for one in self._found}
        new = [other for other in differing if (*pair, other) not in told]
        first = min((subject, *new), key=lambda subject: subject.rank)
        if _tells(subject, *trial):
            self._found.append(_finding(first, pair, trial))
        places = {found.what for found in (subject, *differing)} - {""}
        again = {found for found in self._tables if found.what in places}  # others may be explained by it
        for found in {subject, *differing} | again:
            self._tabulate(found)
        if _tells(subject, *trial):
            yield from self._shrink(first, pair, trial)

    def _shrink(
        self, subject: Subject, pair: tuple[int, int], trial: tuple[Facts, Facts]
    ) -> Generator[Order, Facts, None]:
        """Leave out all that have no part in it; and see it twice."""
        needed = {*pair, subject.call}
        others = [call for call in trial[0].order if call not in needed]
        alone = (yield from self._tried(subject, trial, set(others))) if others else None
        if alone is None:
            for facts in trial:
                if sum(facts.order == fired.order for fired in self._fired) < 2:
                    yield from self._fire(facts.order)
            if subject in self._unsteady:
                self._found.pop()
                return
        else:
            self._found[-1] = _finding(subject, pair, alone)
        size = len(others) // 2 if alone is None else 0
        while size:
            fewer = others
            for start in range(0, len(others), size):
                part = set(others[start : start + size]) & set(fewer)
                smaller = (yield from self._tried(subject, trial, part)) if part else None
                if smaller is not None:
                    trial, fewer = smaller, [call for call in fewer if call not in part]
                    self._found[-1] = _finding(subject, pair, trial)
            size = size // 2 if size > 1 else int(0 < len(fewer) < len(others))
            others = fewer
        self._found[-1] = replace(self._found[-1], narrowed=True)

    def _tried(
        self, subject: Subject, trial: tuple[Facts, Facts], without: set[int]
    ) -> Generator[Order, Facts, tuple[Facts, Facts] | None]:
        """Both orders without these; None where the difference does not show any more."""
        found = []
        for facts in trial:
            seen = yield from self._once(tuple(call for call in facts.order if call not in without))
            if subject.kind is Kind.ENDED and seen.value(subject) != facts.value(subject):
                return None
            found.append(seen)
        one, other = found
        return (
            (one, other) if one.value(subject) != other.value(subject) and _tells(subject, *found) else None
        )

    def _is_told(self, subject: Subject) -> bool:
        return subject.kind is not Kind.CHANGED or any(subject in facts.written for facts in self._fired)

    def _finished(self, finding: Finding) -> Finding:
        """Without what tells nothing; of a place where the last one wins, with all who won in some order."""
        also = _telling(one for one in finding.also if one not in self._unsteady)
        kept = {finding.subject, *_telling((finding.subject, *also))}
        finding = replace(finding, also=tuple(one for one in also if one in kept))
        if not finding.shared:
            return finding
        writers = {call for facts in self._seen.values() for call in facts.writers(finding.subject.what)}
        if finding.last_wins:
            writers = {call for call in writers if self._won(call, finding.subject)}
        return replace(finding, writers=tuple(sorted(writers | {finding.first, finding.second})))

    def _won(self, call: int, subject: Subject) -> bool:
        """Did in some order stand there in the end what this one wrote, as the last."""
        wrote = Subject(Kind.CHANGED, subject.what, call)
        return any(
            facts.writers(subject.what)[-1:] == (call,) and facts.value(subject) == facts.value(wrote)
            for facts in self._seen.values()
        )


def _differing(one: Facts, other: Facts) -> list[Subject]:
    """What the two came to differently, the most telling first."""
    differing = (subject for subject in _unlike(one, other) if _tells(subject, one, other))
    return sorted(differing, key=lambda subject: subject.rank)


def _unlike(one: Facts, other: Facts) -> set[Subject]:
    subjects = one.values.keys() | other.values.keys()
    return {subject for subject in subjects if one.value(subject) != other.value(subject)}


def _telling(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """The most telling first, without those that only say again what another one does: a handler leaves
    at a place what stands there afterwards, and messages are what handlers say."""
    found = sorted(subjects, key=lambda subject: subject.rank)
    places = {one.what for one in found if one.kind is Kind.PLACE}
    says = any(one.kind is Kind.SAID for one in found)
    return tuple(
        one
        for one in found
        if not (one.kind is Kind.CHANGED and one.what in places) and not (one.kind is Kind.MESSAGES and says)
    )


def _tells(subject: Subject, one: Facts, other: Facts) -> bool:
    """What a handler left at a place is known, and its own doing in one of the two at least."""
    if subject.kind is not Kind.CHANGED:
        return True
    known = PART not in (one.value(subject), other.value(subject))
    return known and (subject in one.written or subject in other.written)


def _finding(subject: Subject, pair: tuple[int, int], trial: tuple[Facts, Facts]) -> Finding:
    one, other = trial
    if one.order.index(pair[0]) > one.order.index(pair[1]):
        one, other = other, one
    also = tuple(differing for differing in _differing(one, other) if differing != subject)
    company = tuple(sorted(call for call in one.order if call not in {*pair, subject.call}))
    return Finding(*pair, subject, one, other, also, company)

"""What a search for the influence of order has found."""

from __future__ import annotations

from hookscope.core.called import Order
from hookscope.core.orders.facts import Facts, Kind, Subject
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Two handlers that, called one behind the other, come to something else the other way round.

    Numbers are places in the registered order, and `first` is called before `second` there.
    """

    first: int
    second: int
    subject: Subject  # what is otherwise; the most telling of it
    registered: Facts  # a run with the two as registered
    exchanged: Facts  # and one that differs from it in nothing but that they have changed places
    also: tuple[Subject, ...] = ()  # what else is otherwise
    company: tuple[int, ...] = ()  # others without whom it does not show
    narrowed: bool = False  # was it shown again, and does it not show without any one of the company
    writers: tuple[int, ...] = ()  # of a place that both write: all that do; where the last one wins, who did

    def values(self, subject: Subject) -> tuple[str, str]:
        """As registered, and exchanged."""
        return self.registered.value(subject), self.exchanged.value(subject)

    @property
    def shared(self) -> bool:
        """Is it a place that both of them write."""
        pair, runs = {self.first, self.second}, (self.registered, self.exchanged)
        of_places = self.subject.kind in (Kind.PLACE, Kind.CHANGED)
        return of_places and all(pair <= set(facts.writers(self.subject.what)) for facts in runs)

    @property
    def last_wins(self) -> bool:
        """Do both write there the same in both orders, and what the later one wrote stands there."""
        if self.subject.kind is not Kind.PLACE or not self.shared:
            return False
        (one, again), (other, other_again) = (
            self.values(Subject(Kind.CHANGED, self.subject.what, call)) for call in (self.first, self.second)
        )
        return (one, other) == (again, other_again) and self.values(self.subject) == (other, one)


@dataclass(frozen=True, slots=True)
class Findings:
    """All that can be told of runs of one event in several orders, in the order of running."""

    names: tuple[str, ...]  # of the handlers, as registered
    possible: int  # orders that there are
    times: int  # the most runs that were asked for
    seed: int
    fired: tuple[Facts, ...]
    found: tuple[Finding, ...] = ()
    unsteady: tuple[Subject, ...] = ()  # what differs in one and the same order, and so tells nothing of it
    left: tuple[tuple[Subject, Facts, Facts], ...] = ()  # differs in these orders, and was not narrowed down

    @property
    def orders(self) -> tuple[Order, ...]:
        """Those of all handlers that were tried, each once, the registered one first."""
        whole = (facts.order for facts in self.fired if len(facts.order) == len(self.names))
        return tuple(dict.fromkeys(whole))

    @property
    def drawn(self) -> bool:
        """Are there too many orders to try all of them, so that random ones were."""
        return self.possible > self.times

    @property
    def matters(self) -> bool:
        """Has anything been seen to depend on the order."""
        return bool(self.found or self.left)

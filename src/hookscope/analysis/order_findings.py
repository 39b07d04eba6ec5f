"""Findings of an order analysis, and the sentences that report them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.analysis.order_facts import (
    ENDED_OK,
    NOT_RUN,
    REMOVED,
    UNTOUCHED,
    FactKind,
    FactSubject,
    RunFacts,
)
from hookscope.engine.planning import CallOrder
from hookscope.model.text import one_line
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class OrderFinding:
    """Two consecutive handlers whose exchange changes the result.

    Numbers are positions in the registered order, where `first` is called before `second`.
    """

    first: int
    second: int
    subject: FactSubject  # the most telling difference
    registered: RunFacts  # a run in registered order
    exchanged: RunFacts  # a run with only these two exchanged
    other_subjects: tuple[FactSubject, ...] = ()  # the other differences
    required_others: tuple[int, ...] = ()  # handlers without which it does not show
    narrowed: bool = False  # confirmed, and every required handler is needed
    writers: tuple[int, ...] = ()  # of a shared place: all its writers; if the last wins, those that won

    def values(self, subject: FactSubject) -> tuple[str, str]:
        """Return the subject's values in the registered and in the exchanged order."""
        return self.registered.value(subject), self.exchanged.value(subject)

    @property
    def is_shared_place(self) -> bool:
        """True if the subject is a place that both handlers write."""
        pair, runs = {self.first, self.second}, (self.registered, self.exchanged)
        of_places = self.subject.kind in (FactKind.PLACE, FactKind.CHANGED)
        return of_places and all(pair <= set(facts.writers(self.subject.what)) for facts in runs)

    @property
    def last_wins(self) -> bool:
        """True if both write the same in both orders, and the later write stays."""
        if self.subject.kind is not FactKind.PLACE or not self.is_shared_place:
            return False
        (one, again), (other, other_again) = (
            self.values(FactSubject(FactKind.CHANGED, self.subject.what, call))
            for call in (self.first, self.second)
        )
        return (one, other) == (again, other_again) and self.values(self.subject) == (other, one)


@dataclass(frozen=True, slots=True)
class OrderFindings:
    """Everything known from the runs of one event in several orders."""

    names: tuple[str, ...]  # of the handlers, as registered
    possible_orders: int  # number of possible orders
    max_runs: int  # maximum number of runs
    seed: int
    fired: tuple[RunFacts, ...]
    findings: tuple[OrderFinding, ...] = ()
    unstable: tuple[FactSubject, ...] = ()  # differs within one order, so is no evidence
    unexplained: tuple[
        tuple[FactSubject, RunFacts, RunFacts], ...
    ] = ()  # differs in these orders, not narrowed down

    @property
    def orders(self) -> tuple[CallOrder, ...]:
        """The tried orders of all handlers, each once, the registered one first."""
        whole = (facts.order for facts in self.fired if len(facts.order) == len(self.names))
        return tuple(dict.fromkeys(whole))

    @property
    def is_sampled(self) -> bool:
        """True if there were too many orders to try all, so that random ones were tried."""
        return self.possible_orders > self.max_runs

    @property
    def order_matters(self) -> bool:
        """True if anything depends on the order."""
        return bool(self.findings or self.unexplained)


LONGEST_VALUE = 60  # characters of a value
MOST_ALSO = 4  # other differences listed per finding
STATE_KEPT_NOTE = (
    "What handlers keep in files and in memory was there the next time; {} each fire begins anew."
)
NAME_GAP = "\0"  # gap for names in a claim


@dataclass(frozen=True, slots=True)
class FindingSentence:
    """One dependency on the order. `finding` is the first that shows it."""

    text: str
    finding: OrderFinding


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence with a gap for the names of one or several findings."""

    text: str  # with NAME_GAP for names
    calls: tuple[int, ...]
    word: str  # between the last two


def finding_sentences(findings: OrderFindings) -> tuple[FindingSentence, ...]:
    """Return a sentence for each finding, most telling first; equal sentences about several handlers are
    merged.
    """
    claims: dict[tuple[str, str], tuple[set[int], OrderFinding]] = {}
    for finding in sorted(findings.findings, key=_rank):
        claim = _claim(finding, findings.names)
        calls, _ = claims.setdefault((claim.text, claim.word), (set(), finding))
        calls.update(claim.calls)
    return tuple(
        FindingSentence(text.replace(NAME_GAP, _name_list(sorted(calls), findings.names, word), 1), finding)
        for (text, word), (calls, finding) in claims.items()
    )


def unexplained_sentences(findings: OrderFindings) -> tuple[str, ...]:
    """Return a sentence for each two orders whose difference the runs did not explain."""
    return tuple(
        f"{_sentence_start(subject, findings.names)} differs between run {one.run} and run {other.run}; "
        "the fires did not suffice to say why."
        for subject, one, other in findings.unexplained
    )


def unsteady_subjects(findings: OrderFindings) -> tuple[str, ...]:
    """Return what differs between runs in the same order."""
    return tuple(dict.fromkeys(_subject_phrase(subject, findings.names) for subject in findings.unstable))


def order_summary(findings: OrderFindings) -> str:
    """Return the result in one sentence."""
    tried = len(findings.orders)
    if findings.order_matters:
        what = len(finding_sentences(findings)) + len(findings.unexplained)
        return f"The order matters: {what} finding{'s' * (what != 1)} in {_orders_phrase(tried, findings)}."
    if tried < 2:
        return "No other order was tried to the end, so nothing can be said."
    return f"The order does not matter: the same came of {_orders_phrase(tried, findings)}."


def evidence_lines(finding: OrderFinding, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each of the two runs, then what else differed and what is not known."""
    for facts in (finding.registered, finding.exchanged):
        outcome = _outcome_phrase(finding.subject, facts.value(finding.subject), names)
        yield f"run {facts.run}  {_calls(facts, names)}  {outcome}"
    for subject in finding.other_subjects[:MOST_ALSO]:
        one, other = (_value_phrase(subject, value) for value in finding.values(subject))
        yield f"also {_subject_phrase(subject, names)}: {one} → {other}"
    if len(finding.other_subjects) > MOST_ALSO:
        yield f"also {len(finding.other_subjects) - MOST_ALSO} more"
    if not finding.narrowed:
        yield "The fires did not suffice to leave out all who have no part in it."


def _rank(finding: OrderFinding) -> tuple[object, ...]:
    """Return the sort key: most telling first; within a kind, pairs before findings with others."""
    kind, *rest = finding.subject.rank
    pair = (finding.first, finding.second)
    return kind, len(finding.required_others), finding.subject.call not in pair, *rest, *pair


def _claim(finding: OrderFinding, names: Sequence[str]) -> _Claim:
    own = finding.subject.call in (finding.first, finding.second) and not finding.is_shared_place
    claim = _pair_claim(finding, names) if own else _third_party_claim(finding, names)
    if not finding.required_others or (finding.is_shared_place and not finding.narrowed):
        return claim
    among = f"With {_name_list(finding.required_others, names, 'and')} called too"
    if not finding.narrowed:  # which of them are required is not known
        among = f"Among the {len(finding.registered.order)} called"
    return replace(claim, text=f"{among}, {claim.text}")


def _pair_claim(finding: OrderFinding, names: Sequence[str]) -> _Claim:
    """Return the claim for a finding about one of the two handlers."""
    subject = finding.subject
    who = names[subject.call]
    other = finding.second if subject.call == finding.first else finding.first
    registered, exchanged = finding.values(subject)
    behind, before = (registered, exchanged) if subject.call == finding.second else (exchanged, registered)
    if subject.kind is FactKind.ENDED and ENDED_OK in (behind, before):
        if behind == ENDED_OK:
            return _Claim(f"{who} {_ending_phrase(before)} unless {NAME_GAP} runs before it.", (other,), "or")
        return _Claim(f"{who} {_ending_phrase(behind)} when {NAME_GAP} runs before it.", (other,), "or")
    one, two = (_action_phrase(subject, value) for value in (behind, before))
    return _Claim(f"{who} {one} when {NAME_GAP} runs before it, else it {two}.", (other,), "or")


def _third_party_claim(finding: OrderFinding, names: Sequence[str]) -> _Claim:
    """Return the claim for a finding about a third handler or the event."""
    subject = finding.subject
    pair = finding.first, finding.second
    if finding.is_shared_place:
        calls = finding.writers or pair
        who = "both" if len(calls) == 2 else "all"
        if finding.last_wins:
            return _Claim(f"{NAME_GAP} {who} write {_place(subject.what)}: the last one wins.", calls, "and")
        what = "what stands there" if subject.kind is FactKind.PLACE else "what each leaves there"
        claim = f"{NAME_GAP} {who} change {_place(subject.what)}: {what} depends on who goes first."
        return _Claim(claim, calls, "and")
    registered, exchanged = finding.values(subject)
    first, second = names[finding.first], names[finding.second]
    if subject.call >= 0:
        who = names[subject.call]
        one, two = (_action_phrase(subject, value) for value in (registered, exchanged))
        return _Claim(f"{who} {one} when {first} runs before {second}, else it {two}.", (), "")
    one, two = (_value_phrase(subject, value) for value in (registered, exchanged))
    return _Claim(
        f"{_sentence_start(subject, names)} is {one} when {first} runs before {second}, else {two}.", (), ""
    )


def _ending_phrase(value: str) -> str:
    if value.startswith(NOT_RUN):
        return f"does not run ({one_line(value.removeprefix(NOT_RUN), LONGEST_VALUE)})"
    return f"fails ({one_line(value, LONGEST_VALUE)})"


def _action_phrase(subject: FactSubject, value: str) -> str:
    phrase = _value_phrase(subject, value)
    match subject.kind:
        case FactKind.ENDED:
            return phrase
        case FactKind.SAID:
            return f"says {phrase}"
        case FactKind.ANSWERED:
            return f"answers {phrase}"
        case _:
            return f"leaves {_place(subject.what)} as {phrase}"


def _value_phrase(subject: FactSubject, value: str) -> str:
    match subject.kind:
        case FactKind.ENDED:
            return "runs well" if value == ENDED_OK else _ending_phrase(value)
        case FactKind.SAID | FactKind.MESSAGES if value != UNTOUCHED:
            return one_line(", ".join(_json(text) for text in json.loads(value)), LONGEST_VALUE)
        case FactKind.FILE if value != UNTOUCHED:
            return _file(json.loads(value))
        case _ if value in (UNTOUCHED, REMOVED):
            return "untouched" if subject.kind is FactKind.FILE else "nothing"
        case _:
            return one_line(value, LONGEST_VALUE)


def _outcome_phrase(subject: FactSubject, value: str, names: Sequence[str]) -> str:
    if subject.call >= 0:
        return f"{names[subject.call]} {_action_phrase(subject, value)}"
    return f"{_subject_phrase(subject, names)}: {_value_phrase(subject, value)}"


def _subject_phrase(subject: FactSubject, names: Sequence[str]) -> str:
    who = names[subject.call] if subject.call >= 0 else ""
    words: dict[FactKind, Callable[[], str]] = {
        FactKind.ENDED: lambda: f"how {who} ends",
        FactKind.SAID: lambda: f"what {who} says",
        FactKind.ANSWERED: lambda: f"what {who} answers",
        FactKind.VERDICT: lambda: "the verdict",
        FactKind.RESULT: lambda: "the answer",
        FactKind.PLACE: lambda: _place(subject.what),
        FactKind.CHANGED: lambda: f"what {who} makes of {_place(subject.what)}",
        FactKind.MESSAGES: lambda: "the messages",
        FactKind.CAUSED: lambda: "what follows",
        FactKind.FILE: lambda: f"the file {one_line(subject.what, 200)}",
    }
    return words[subject.kind]()


def _sentence_start(subject: FactSubject, names: Sequence[str]) -> str:
    """Return the subject capitalised; names of the context stay as written."""
    text = _subject_phrase(subject, names)
    return text if subject.kind is FactKind.PLACE else text[:1].upper() + text[1:]


def _place(pointer: str) -> str:
    """Return `/context/user/name` as `context.user.name`."""
    names = (name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:])
    return one_line(".".join(names), LONGEST_VALUE)


def _file(state: Mapping[str, Any]) -> str:
    """Return how a file was changed, with added and removed lines."""
    lines = str(state["diff"]).splitlines()
    changed_lines = [
        one_line(line, 20) for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    size = "" if state["bytes"] is None else f", {state['bytes']:,} bytes"
    return one_line(
        f"{state['kind']}{size}{': ' if changed_lines else ''}{', '.join(changed_lines)}", LONGEST_VALUE
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _calls(facts: RunFacts, names: Sequence[str]) -> str:
    return ", ".join(names[call] for call in facts.order)


def _orders_phrase(tried: int, findings: OrderFindings) -> str:
    if tried == findings.possible_orders:
        return f"all {tried} orders of {len(findings.names)} handlers"
    return f"{tried} of {findings.possible_orders:,} orders of {len(findings.names)} handlers"


def _name_list(calls: Iterable[int], names: Sequence[str], word: str) -> str:
    """Return `a, b or c`."""
    *first, last = [*(names[call] for call in calls)] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last

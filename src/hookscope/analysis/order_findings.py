"""Findings of an order analysis, and the sentences that report them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from hookscope.engine.planning import CallOrder
from hookscope.model.run import Registration, Result, Run
from hookscope.model.run_comparison import json_text
from hookscope.model.text import one_line
from hookscope.storage.journal.secrets import pointer_keys
from hookscope.values import dataclass

REMOVED = "gone"  # a removed value; other values are JSON
UNTOUCHED = ""
PARTLY_CHANGED = "part"  # part of a list was changed: the patch does not show the whole
NOT_RUN = "did not run: "
ENDED_OK = "ok"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")  # address of an object: differs in every run


class FactKind(StrEnum):
    """What can differ between orders, most significant first."""

    ENDED = "ended"  # how a handler ended, and whether it ran
    SAID = "said"  # the messages that it pushed
    ANSWERED = "answered"  # what it returned and requested from its host
    VERDICT = "verdict"  # the verdict on the event, and its failure
    RESULT = "result"  # the merged answer
    PLACE = "place"  # a place of the event afterwards
    CHANGED = "changed"  # what a handler left at a place of the event
    MESSAGES = "messages"  # the messages afterwards, regardless of their order
    CAUSED = "caused"  # the events that followed
    FILE = "file"  # content of a file, in a sandbox


FACT_KINDS = tuple(FactKind)


@dataclass(frozen=True, slots=True)
class FactSubject:
    """A value or an effect that may depend on the call order."""

    kind: FactKind
    what: str = ""  # a JSON pointer into the event, or a file path
    call: int = -1  # the handler's position in registered order; -1: the whole event

    @property
    def rank(self) -> tuple[int, int, str]:
        """The sort key, most significant first."""
        return FACT_KINDS.index(self.kind), self.call, self.what


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run: its number, its call order, and each value as text.

    `values` holds only places of the event that differ from `initial_values`. `written` holds the CHANGED
    subjects that the handler itself changed; the others were changed by earlier handlers.
    """

    run: int
    order: CallOrder
    values: Mapping[FactSubject, str]
    written: frozenset[FactSubject] = frozenset()
    initial_values: Mapping[str, str] = field(default_factory=dict)

    def value(self, subject: FactSubject) -> str:
        """Return the value of a subject; UNTOUCHED if there is none."""
        known = self.values.get(subject)
        if known is None and subject.kind in (FactKind.PLACE, FactKind.CHANGED):
            return self.initial_values.get(subject.what, UNTOUCHED)
        return UNTOUCHED if known is None else known

    def writers(self, place: str) -> tuple[int, ...]:
        """Return the handlers that changed this place, in call order."""
        return tuple(
            call for call in self.order if FactSubject(FactKind.CHANGED, place, call) in self.written
        )


def run_facts(run: Run, calls: Sequence[Registration], order: CallOrder) -> RunFacts:
    """Return the facts of a run. `calls`: the plan's, as registered; `order`: the order of this run."""
    places = {call: place for place, call in enumerate(calls)}
    results = {places[result.call]: result for result in run.results if result.call in places}
    why = {item.name: item.reason for item in run.not_run}
    values: dict[FactSubject, str] = {}
    for call in order:
        values |= _of_handler(call, results.get(call), why.get(calls[call].name, ""))
    left_values, written = _changes(results, order)
    folder = run.event.kind == "folder"
    before = dict(_leaves("/context" if folder else "", run.event.context))
    after = dict(_leaves("/context" if folder else "", run.context))
    for place in before.keys() | after.keys():
        if before.get(place) != after.get(place):
            values[FactSubject(FactKind.PLACE, place)] = after.get(place, REMOVED)
    return RunFacts(run.id, order, values | left_values | dict(_of_event(run)), written, before)


def _of_handler(call: int, result: Result | None, why: str) -> dict[FactSubject, str]:
    if result is None:
        return {FactSubject(FactKind.ENDED, call=call): f"{NOT_RUN}{why}"}
    facts = {FactSubject(FactKind.ENDED, call=call): _ended(result)}
    if result.messages:
        facts[FactSubject(FactKind.SAID, call=call)] = json_text(list(result.messages))
    if result.returned is not None or result.asked:
        requests = [f"requests {one}" for one in result.asked]
        facts[FactSubject(FactKind.ANSWERED, call=call)] = ", ".join([json_text(result.returned), *requests])
    return facts


def _ended(result: Result) -> str:
    error = result.error
    if error is None:
        return result.status
    what = error.type if result.status == "error" else result.status
    return _ADDRESS.sub("0x…", f"{what}: {error.message}")


def _of_event(run: Run) -> Iterator[tuple[FactSubject, str]]:
    ending = run.ending
    if ending.verdict or ending.failure:
        yield FactSubject(FactKind.VERDICT), _ADDRESS.sub("0x…", ending.failure or ending.verdict)
    if ending.answer:
        yield FactSubject(FactKind.RESULT), json_text(ending.answer)
    if run.messages:
        yield FactSubject(FactKind.MESSAGES), json_text(sorted(run.messages))
    if run.caused:
        yield FactSubject(FactKind.CAUSED), ", ".join(caused.event.key for caused in run.caused)
    for change in run.guarded.changes if run.guarded is not None else ():
        state = {"kind": change.kind, "bytes": change.after, "diff": change.diff, "digest": change.digest}
        yield FactSubject(FactKind.FILE, str(change.path)), json_text(state)


def _changes(
    results: Mapping[int, Result], order: CallOrder
) -> tuple[dict[FactSubject, str], frozenset[FactSubject]]:
    """Return the value that each handler left at every changed place, and the places it changed itself.

    A handler that sets a place to its existing value has changed nothing, whether it ran first or not.
    """
    now: dict[str, str] = {}
    left_values: dict[FactSubject, str] = {}
    written: set[FactSubject] = set()
    for call in order:
        if call not in results:
            continue
        operations = dict(_operations(results[call]))
        now |= operations
        left_values |= {FactSubject(FactKind.CHANGED, place, call): value for place, value in now.items()}
        written |= {FactSubject(FactKind.CHANGED, place, call) for place in operations}
    return left_values, frozenset(written)


def _operations(result: Result) -> Iterator[tuple[str, str]]:
    """Yield place → value of each patch operation; pushed messages are excluded."""
    for one in result.patch:
        place, part = _whole(str(one["path"]))
        if place == "/messages":
            continue
        if part or one["op"] == "remove":
            yield place, PARTLY_CHANGED if part else REMOVED
        else:
            yield from _leaves(place, one.get("value"))


def _whole(place: str) -> tuple[str, bool]:
    """Return the place to compare and whether it is a list: an item is compared with its whole list."""
    names = place.split("/")
    at = next((at for at, name in enumerate(names) if at and name.isascii() and name.isdigit()), None)
    return ("/".join(names[:at]), True) if at is not None else (place, False)


def _leaves(place: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield all values in mappings, each under its JSON pointer. A list is one value."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(f"{place}/{str(name).replace('~', '~0').replace('/', '~1')}", inner)
    else:
        yield place, json_text(value)


@dataclass(frozen=True, slots=True)
class OrderFinding:
    """Two consecutive handlers whose exchange changes the result.

    Numbers are positions in the registered order, where `first` is called before `second`.
    """

    first: int
    second: int
    subject: FactSubject  # the most significant difference
    registered: RunFacts  # a run in registered order
    exchanged: RunFacts  # a run with only these two exchanged
    other_subjects: tuple[FactSubject, ...] = ()  # the other differences
    required_others: tuple[int, ...] = ()  # other handlers without which the difference disappears
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
        """True if each handler writes the same value in both orders, and the later write stays."""
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
    unstable: tuple[FactSubject, ...] = ()  # differs within one order, so is not evidence
    # differs in these orders, not narrowed down
    unexplained: tuple[tuple[FactSubject, RunFacts, RunFacts], ...] = ()

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
STATE_KEPT_NOTE = "Handlers kept their files and memory between the runs; {} each run starts with new copies."
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
    """Return the findings' sentences, most significant first, merged where only the handlers differ."""
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
    """Return a sentence for each pair of orders whose difference the runs did not explain."""
    return tuple(
        f"{_sentence_start(subject, findings.names)} differs between run {one.run} and run {other.run}; "
        "there were not enough runs to explain why."
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
        return "No other order was completed, so there is no result."
    return f"The order does not matter: {_orders_phrase(tried, findings)} gave the same result."


def evidence_lines(finding: OrderFinding, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each of the two runs, then the other differences and what is not known."""
    for facts in (finding.registered, finding.exchanged):
        outcome = _outcome_phrase(finding.subject, facts.value(finding.subject), names)
        yield f"run {facts.run}  {', '.join(names[call] for call in facts.order)}  {outcome}"
    for subject in finding.other_subjects[:MOST_ALSO]:
        one, other = (_value_phrase(subject, value) for value in finding.values(subject))
        yield f"also {_subject_phrase(subject, names)}: {one} → {other}"
    if len(finding.other_subjects) > MOST_ALSO:
        yield f"also {len(finding.other_subjects) - MOST_ALSO} more"
    if not finding.narrowed:
        yield "There were not enough runs to exclude all unrelated handlers."


def _rank(finding: OrderFinding) -> tuple[object, ...]:
    """Return the sort key: most significant first; within a kind, pairs before findings with others."""
    kind, *rest = finding.subject.rank
    pair = (finding.first, finding.second)
    return kind, len(finding.required_others), finding.subject.call not in pair, *rest, *pair


def _claim(finding: OrderFinding, names: Sequence[str]) -> _Claim:
    own = finding.subject.call in (finding.first, finding.second) and not finding.is_shared_place
    claim = _pair_claim(finding, names) if own else _third_party_claim(finding, names)
    if not finding.required_others or (finding.is_shared_place and not finding.narrowed):
        return claim
    others = _name_list(finding.required_others, names, "and")
    among = f"If {others} {'is' if len(finding.required_others) == 1 else 'are'} also called"
    if not finding.narrowed:  # which of them are required is not known
        among = f"Among the {len(finding.registered.order)} called"
    return replace(claim, text=f"{among}, {claim.text}")


def _pair_claim(finding: OrderFinding, names: Sequence[str]) -> _Claim:
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
    subject = finding.subject
    pair = finding.first, finding.second
    if finding.is_shared_place:
        calls = finding.writers or pair
        who = "both" if len(calls) == 2 else "all"
        if finding.last_wins:
            return _Claim(
                f"{NAME_GAP} {who} write {_place(subject.what)}: the last write wins.", calls, "and"
            )
        what = "its value" if subject.kind is FactKind.PLACE else "each handler's value"
        claim = f"{NAME_GAP} {who} change {_place(subject.what)}: {what} depends on which handler runs first."
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
            return f"pushes {phrase}"
        case FactKind.ANSWERED:
            return f"returns {phrase}"
        case _:
            return f"leaves {_place(subject.what)} as {phrase}"


def _value_phrase(subject: FactSubject, value: str) -> str:
    match subject.kind:
        case FactKind.ENDED:
            return "runs well" if value == ENDED_OK else _ending_phrase(value)
        case FactKind.SAID | FactKind.MESSAGES if value != UNTOUCHED:
            texts = (json.dumps(text, ensure_ascii=False) for text in json.loads(value))
            return one_line(", ".join(texts), LONGEST_VALUE)
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
        FactKind.ENDED: lambda: f"the outcome of {who}",
        FactKind.SAID: lambda: f"the messages of {who}",
        FactKind.ANSWERED: lambda: f"the return value of {who}",
        FactKind.VERDICT: lambda: "the verdict",
        FactKind.RESULT: lambda: "the merged answer",
        FactKind.PLACE: lambda: _place(subject.what),
        FactKind.CHANGED: lambda: f"{_place(subject.what)} after {who}",
        FactKind.MESSAGES: lambda: "the messages",
        FactKind.CAUSED: lambda: "the caused events",
        FactKind.FILE: lambda: f"the file {one_line(subject.what, 200)}",
    }
    return words[subject.kind]()


def _sentence_start(subject: FactSubject, names: Sequence[str]) -> str:
    """Return the subject capitalised; names of context fields stay as written."""
    text = _subject_phrase(subject, names)
    return text if subject.kind is FactKind.PLACE else text[:1].upper() + text[1:]


def _place(pointer: str) -> str:
    """Return `/context/user/name` as `context.user.name`."""
    return one_line(".".join(pointer_keys(pointer)), LONGEST_VALUE)


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


def _orders_phrase(tried: int, findings: OrderFindings) -> str:
    if tried == findings.possible_orders:
        return f"all {tried} orders of {len(findings.names)} handlers"
    return f"{tried} of {findings.possible_orders:,} orders of {len(findings.names)} handlers"


def _name_list(calls: Iterable[int], names: Sequence[str], word: str) -> str:
    """Return `a, b or c`."""
    *first, last = [*(names[call] for call in calls)] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last

"""Findings as sentences: who disturbs whom, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hookscope.core.orders.facts import GONE, NOT_RUN, OK, UNTOUCHED, Facts, Kind, Subject
from hookscope.core.orders.findings import Finding, Findings
from hookscope.core.text import one_line
from hookscope.values import dataclass

MOST = 60  # characters of a value
ALSO = 4  # things that are otherwise too, of one finding
KEPT = "What handlers keep in files and in memory was there the next time; {} each fire begins anew."
GAP = "\0"  # in a claim: names come here


@dataclass(frozen=True, slots=True)
class Sentence:
    """One thing that depends on the order. `finding` is the first that shows it."""

    text: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence with a gap for names, which may have those of several findings."""

    text: str  # with a GAP for names
    calls: tuple[int, ...]
    word: str  # between the last two


def sentences(told: Findings) -> tuple[Sentence, ...]:
    """A sentence for each thing that was found, the most telling first; those that say the same of several
    handlers are one."""
    claims: dict[tuple[str, str], tuple[set[int], Finding]] = {}
    for finding in sorted(told.found, key=_rank):
        claim = _claim(finding, told.names)
        calls, _ = claims.setdefault((claim.text, claim.word), (set(), finding))
        calls.update(claim.calls)
    return tuple(
        Sentence(text.replace(GAP, _listed(sorted(calls), told.names, word), 1), finding)
        for (text, word), (calls, finding) in claims.items()
    )


def left_over(told: Findings) -> tuple[str, ...]:
    """A sentence for each two orders that differ, of which the cause was not found in the runs there were."""
    return tuple(
        f"{_begins(subject, told.names)} differs between run {one.run} and run {other.run}; "
        "the fires did not suffice to say why."
        for subject, one, other in told.left
    )


def unsteady(told: Findings) -> tuple[str, ...]:
    """What differs from run to run in one and the same order."""
    return tuple(dict.fromkeys(_subject(subject, told.names) for subject in told.unsteady))


def summary(told: Findings) -> str:
    """The answer in one sentence, where there is nothing to tell; else how much there is."""
    tried = len(told.orders)
    if told.matters:
        what = len(sentences(told)) + len(told.left)
        return f"The order matters: {what} finding{'s' * (what != 1)} in {_tried(tried, told)}."
    if tried < 2:
        return "No other order was tried to the end, so nothing can be said."
    return f"The order does not matter: the same came of {_tried(tried, told)}."


def evidence(finding: Finding, names: Sequence[str]) -> Iterator[str]:
    """A line for each of the two runs, as registered first; then what else was otherwise, and what is not
    known."""
    for facts in (finding.registered, finding.exchanged):
        came = _came(finding.subject, facts.value(finding.subject), names)
        yield f"run {facts.run}  {_calls(facts, names)}  {came}"
    for subject in finding.also[:ALSO]:
        one, other = (_value(subject, value) for value in finding.values(subject))
        yield f"also {_subject(subject, names)}: {one} → {other}"
    if len(finding.also) > ALSO:
        yield f"also {len(finding.also) - ALSO} more"
    if not finding.narrowed:
        yield "The fires did not suffice to leave out all who have no part in it."


def _rank(finding: Finding) -> tuple[object, ...]:
    """The most telling first; of its kind, what two do by themselves before what takes others."""
    kind, *rest = finding.subject.rank
    pair = (finding.first, finding.second)
    return kind, len(finding.company), finding.subject.call not in pair, *rest, *pair


def _claim(finding: Finding, names: Sequence[str]) -> _Claim:
    own = finding.subject.call in (finding.first, finding.second) and not finding.shared
    claim = _of_pair(finding, names) if own else _of_others(finding, names)
    if not finding.company or (finding.shared and not finding.narrowed):
        return claim
    among = f"With {_listed(finding.company, names, 'and')} called too"
    if not finding.narrowed:  # who of them must be there is not known
        among = f"Among the {len(finding.registered.order)} called"
    return replace(claim, text=f"{among}, {claim.text}")


def _of_pair(finding: Finding, names: Sequence[str]) -> _Claim:
    """One of the two is the one that does otherwise."""
    subject = finding.subject
    who = names[subject.call]
    other = finding.second if subject.call == finding.first else finding.first
    registered, exchanged = finding.values(subject)
    behind, before = (registered, exchanged) if subject.call == finding.second else (exchanged, registered)
    if subject.kind is Kind.ENDED and OK in (behind, before):
        if behind == OK:
            return _Claim(f"{who} {_ends(before)} unless {GAP} runs before it.", (other,), "or")
        return _Claim(f"{who} {_ends(behind)} when {GAP} runs before it.", (other,), "or")
    one, two = (_does(subject, value) for value in (behind, before))
    return _Claim(f"{who} {one} when {GAP} runs before it, else it {two}.", (other,), "or")


def _of_others(finding: Finding, names: Sequence[str]) -> _Claim:
    """A third handler does otherwise, or the event comes to something else."""
    subject = finding.subject
    pair = finding.first, finding.second
    if finding.shared:
        calls = finding.writers or pair
        who = "both" if len(calls) == 2 else "all"
        if finding.last_wins:
            return _Claim(f"{GAP} {who} write {_place(subject.what)}: the last one wins.", calls, "and")
        what = "what stands there" if subject.kind is Kind.PLACE else "what each leaves there"
        claim = f"{GAP} {who} change {_place(subject.what)}: {what} depends on who goes first."
        return _Claim(claim, calls, "and")
    registered, exchanged = finding.values(subject)
    first, second = names[finding.first], names[finding.second]
    if subject.call >= 0:
        who = names[subject.call]
        one, two = (_does(subject, value) for value in (registered, exchanged))
        return _Claim(f"{who} {one} when {first} runs before {second}, else it {two}.", (), "")
    one, two = (_value(subject, value) for value in (registered, exchanged))
    return _Claim(
        f"{_begins(subject, names)} is {one} when {first} runs before {second}, else {two}.", (), ""
    )


def _ends(value: str) -> str:
    if value.startswith(NOT_RUN):
        return f"does not run ({one_line(value.removeprefix(NOT_RUN), MOST)})"
    return f"fails ({one_line(value, MOST)})"


def _does(subject: Subject, value: str) -> str:
    said = _value(subject, value)
    match subject.kind:
        case Kind.ENDED:
            return said
        case Kind.SAID:
            return f"says {said}"
        case Kind.ANSWERED:
            return f"answers {said}"
        case _:
            return f"leaves {_place(subject.what)} as {said}"


def _value(subject: Subject, value: str) -> str:
    match subject.kind:
        case Kind.ENDED:
            return "runs well" if value == OK else _ends(value)
        case Kind.SAID | Kind.MESSAGES if value != UNTOUCHED:
            return one_line(", ".join(_json(text) for text in json.loads(value)), MOST)
        case Kind.FILE if value != UNTOUCHED:
            return _file(json.loads(value))
        case _ if value in (UNTOUCHED, GONE):
            return "untouched" if subject.kind is Kind.FILE else "nothing"
        case _:
            return one_line(value, MOST)


def _came(subject: Subject, value: str, names: Sequence[str]) -> str:
    if subject.call >= 0:
        return f"{names[subject.call]} {_does(subject, value)}"
    return f"{_subject(subject, names)}: {_value(subject, value)}"


def _subject(subject: Subject, names: Sequence[str]) -> str:
    who = names[subject.call] if subject.call >= 0 else ""
    words: dict[Kind, Callable[[], str]] = {
        Kind.ENDED: lambda: f"how {who} ends",
        Kind.SAID: lambda: f"what {who} says",
        Kind.ANSWERED: lambda: f"what {who} answers",
        Kind.VERDICT: lambda: "the verdict",
        Kind.RESULT: lambda: "the answer",
        Kind.PLACE: lambda: _place(subject.what),
        Kind.CHANGED: lambda: f"what {who} makes of {_place(subject.what)}",
        Kind.MESSAGES: lambda: "the messages",
        Kind.CAUSED: lambda: "what follows",
        Kind.FILE: lambda: f"the file {one_line(subject.what, 200)}",
    }
    return words[subject.kind]()


def _begins(subject: Subject, names: Sequence[str]) -> str:
    """At the beginning of a sentence; names of the context stay as they are written."""
    text = _subject(subject, names)
    return text if subject.kind is Kind.PLACE else text[:1].upper() + text[1:]


def _place(pointer: str) -> str:
    """`/context/user/name` as `context.user.name`."""
    names = (name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:])
    return one_line(".".join(names), MOST)


def _file(state: Mapping[str, Any]) -> str:
    """How it was changed, and the lines that came and went."""
    lines = str(state["diff"]).splitlines()
    told = [one_line(line, 20) for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    size = "" if state["bytes"] is None else f", {state['bytes']:,} bytes"
    return one_line(f"{state['kind']}{size}{': ' if told else ''}{', '.join(told)}", MOST)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _calls(facts: Facts, names: Sequence[str]) -> str:
    return ", ".join(names[call] for call in facts.order)


def _tried(tried: int, told: Findings) -> str:
    if tried == told.possible:
        return f"all {tried} orders of {len(told.names)} handlers"
    return f"{tried} of {told.possible:,} orders of {len(told.names)} handlers"


def _listed(calls: Iterable[int], names: Sequence[str], word: str) -> str:
    """`a, b or c`."""
    *first, last = [*(names[call] for call in calls)] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last

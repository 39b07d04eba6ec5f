"""The result of a verification: which hooks agree, and what each difference means. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hookscope.model.program_report import FOUND, RESULT, ReportedItem
from hookscope.model.text import one_line
from hookscope.values import dataclass

NOT_LISTED = "not listed"


@dataclass(frozen=True, slots=True)
class FactDifference:
    """One gate or field with both answers."""

    name: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class ItemDifference:
    """A hook about which the answers differ, and what that means for the user."""

    name: str
    facts: tuple[FactDifference, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class GeneralDifference:
    """A difference that concerns the host as a whole: its settings or its workspace."""

    name: str
    ours: str
    theirs: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The comparison of all hooks."""

    product: str
    version: str
    dialect: str
    program: str
    workspace: str
    isolated: bool  # whether the program ran without network
    compared: int = 0
    agreed: int = 0
    differences: tuple[ItemDifference, ...] = ()
    host: tuple[GeneralDifference, ...] = ()
    not_compared: tuple[str, ...] = ()  # hooks that the copy lacks, or the list of the program
    notes: tuple[str, ...] = ()
    both_refuse: bool = False  # the program and Hookscope reject the settings, so no hooks are compared

    @property
    def agrees(self) -> bool:
        """Whether there is no difference at all."""
        return not self.differences and not self.host

    @property
    def summary(self) -> str:
        """`58 of 60 agree`."""
        if any(one.name == "settings" for one in self.host):
            return "the settings differ"
        if self.both_refuse:
            return "both refuse the settings"
        return f"{self.agreed} of {self.compared} agree" if self.compared else "no hooks to compare"

    def document(self) -> dict[str, Any]:
        """Return the document of `verify --json`."""
        return {
            "product": self.product,
            "version": self.version,
            "dialect": self.dialect,
            "program": self.program,
            "workspace": self.workspace,
            "isolated": self.isolated,
            "agrees": self.agrees,
            "summary": self.summary,
            "compared": self.compared,
            "agreed": self.agreed,
            "host": [
                {"what": one.name, "hookscope": one.ours, "program": one.theirs, "meaning": one.meaning}
                for one in self.host
            ],
            "differences": [
                {
                    "hook": one.name,
                    "meaning": one.meaning,
                    "facts": [
                        {"what": fact.name, "hookscope": fact.ours, "program": fact.theirs}
                        for fact in one.facts
                    ],
                }
                for one in self.differences
            ],
            "not_compared": list(self.not_compared),
            "notes": list(self.notes),
        }


def compare_items(
    ours: Sequence[ReportedItem], theirs: Sequence[ReportedItem], skipped: Collection[str]
) -> tuple[tuple[ItemDifference, ...], int, tuple[str, ...]]:
    """Return the differences, the number of items that agree, and the skipped names that occur."""
    differences, agreed, left_out = [], 0, []
    for name, mine, other in _pairs(ours, theirs):
        is_taken = mine is not None and other is not None and other.may_be_code > mine.may_be_code
        if name in skipped or is_taken:
            left_out.append(name)
        elif facts := tuple(_different_facts(mine, other)):
            differences.append(ItemDifference(name, facts, _meaning(mine, other)))
        else:
            agreed += 1
    return tuple(differences), agreed, tuple(left_out)


def differing_names(ours: Sequence[ReportedItem], theirs: Sequence[ReportedItem]) -> list[str]:
    """Return the names of the items that differ."""
    return [name for name, mine, other in _pairs(ours, theirs) if any(_different_facts(mine, other))]


def _pairs(
    ours: Sequence[ReportedItem], theirs: Sequence[ReportedItem]
) -> Iterator[tuple[str, ReportedItem | None, ReportedItem | None]]:
    mine, other = _numbered(ours), _numbered(theirs)
    for key in dict.fromkeys((*other, *mine)):
        if key in mine or not other[key].may_be_code:
            yield key[0], mine.get(key), other.get(key)


def _numbered(items: Sequence[ReportedItem]) -> Mapping[tuple[str, int], ReportedItem]:
    """Return the items by name; items of one name in their order."""
    found: dict[tuple[str, int], ReportedItem] = {}
    count: Counter[str] = Counter()
    for item in items:
        found[item.name, count[item.name]] = item
        count[item.name] += 1
    return found


def _different_facts(mine: ReportedItem | None, other: ReportedItem | None) -> Iterator[FactDifference]:
    if mine is None or other is None:
        texts = (NOT_LISTED if item is None else _result_text(item) for item in (mine, other))
        yield FactDifference(FOUND, *texts)
        return
    for name, fact in mine.facts.items():
        theirs = other.facts.get(name)
        if theirs is None or theirs.value == fact.value:
            continue
        # Of two hooks of one name the program registers the first, and names are not read.
        if not (isinstance(fact.value, frozenset) and theirs.value < fact.value):
            yield FactDifference(name, fact.text, theirs.text)


def _result_text(item: ReportedItem) -> str:
    result = item.facts.get(RESULT)
    return "listed" if result is None else f"listed, {result.text}"


def _meaning(mine: ReportedItem | None, other: ReportedItem | None) -> str:
    ours, theirs = mine is not None and mine.loads, other is not None and other.loads
    if ours and not theirs:
        return "It does not run in the program, although Hookscope shows it as ready."
    if theirs and not ours:
        return "It runs in the program, although Hookscope shows that it does not."
    if other is None:
        return "The program does not list this hook. Neither the program nor Hookscope runs it."
    if mine is None:
        return "Hookscope does not list this hook. Neither the program nor Hookscope runs it."
    return f"The result is the same: {'it runs' if ours else 'it does not run'}. Only the reasons differ."


def verification_lines(result: Verification) -> Iterator[str]:
    """Yield the lines of a verification for people."""
    sign = "✓" if result.agrees else "✗"
    yield f"{sign} {result.summary}: {result.product} {one_line(result.version, 40)} and {result.dialect}"
    if not result.isolated:
        yield "! Without bubblewrap, the program had network access and could write wherever you can."
    for one in result.host:
        yield from ("", f"✗ {one.name}: {one_line(one.meaning, 300)}")
        yield from _both(result.product, one.ours, one.theirs)
    for item in result.differences:
        yield from ("", f"✗ {one_line(item.name)}: {item.meaning}")
        for fact in item.facts:
            yield f"  {fact.name}"
            yield from _both(result.product, fact.ours, fact.theirs)
    if result.not_compared:
        names = ", ".join(one_line(name) for name in result.not_compared)
        why = "since the copy lacks their files, or the program lists a plugin's hook of that name instead"
        yield from ("", f"Not compared, {why}: {names}.")
    yield from (one_line(note, 400) for note in result.notes)
    if not result.agrees:
        yield from ("", "`hookscope report` writes a bundle about this, without secrets.")


def _both(product: str, ours: str, theirs: str) -> Iterator[str]:
    width = max(len(product), len("Hookscope"))
    for name, text in (("Hookscope", ours), (product, theirs)):
        yield f"    {name:<{width}}  {one_line(text, 400)}"

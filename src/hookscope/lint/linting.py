"""All rules over all subjects: findings but for what authors ignore, and what could not be looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from hookscope.core.hooks import LANGUAGE_OF, Place
from hookscope.lint.ignoring import ignored_in_header, ignored_in_source
from hookscope.lint.model import Finding, NotLinted, Rule, Said, Severity
from hookscope.lint.rules import RULES
from hookscope.lint.subject import Subject
from hookscope.values import dataclass

ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Report:
    """What a lint found. Findings by hook, then by severity, file and line."""

    subjects: tuple[Subject, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_run: tuple[NotLinted, ...] = ()

    @property
    def failed(self) -> bool:
        """Is there an error. Warnings alone do not fail a lint."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity."""
        return sum(finding.severity is severity for finding in self.findings)


def lint(subjects: Iterable[Subject], only: Collection[str] = ()) -> Report:
    """Every rule over every subject; with `only`, the rules of those ids."""
    subjects = tuple(subjects)
    rules = [rule for rule in RULES.values() if not only or rule.id in only]
    findings = [finding for subject in subjects for finding in _of_one(subject, rules)]
    return Report(subjects, tuple(findings), tuple(_not_run(subjects, rules)))


def _of_one(subject: Subject, rules: Iterable[Rule]) -> list[Finding]:
    nowhere = ignored_in_header(subject.header)
    by_line = ignored_in_source(subject.text)
    found = [
        _finding(rule, subject, said)
        for rule in rules
        if rule.id not in nowhere and (not rule.reads_source or subject.facts is not None)
        for said in rule.check(subject)
        if not (said.place.file == subject.handler and rule.id in by_line.get(said.place.line, ()))
    ]
    return sorted(found, key=lambda one: (ORDER.index(one.severity), str(one.place.file), one.place.line))


def _finding(rule: Rule, subject: Subject, said: Said) -> Finding:
    return Finding(
        rule.id, said.severity, subject.name, said.place, said.text, said.then, said.fix, rule.docs
    )


def _not_run(subjects: Iterable[Subject], rules: Iterable[Rule]) -> Iterator[NotLinted]:
    """Rules of the source say where they had none to look at: once for each reason."""
    files: dict[str, list[Place]] = {}
    for subject in subjects:
        if subject.facts is None and subject.handler is not None:
            files.setdefault(subject.unread, []).append(Place(subject.handler))
    for why, places in files.items():
        kinds = {LANGUAGE_OF.get(place.file.suffix, "script") for place in places}
        what = (
            str(places[0].file) if len(places) == 1 else f"{len(places)} {'/'.join(sorted(kinds))} handlers"
        )
        for rule in rules:
            if rule.reads_source:
                yield NotLinted(rule.id, f"{what}: {why}")

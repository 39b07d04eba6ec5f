"""Runs all rules over all subjects, without ignored findings, and reports what was not checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from hookscope.authoring.lint.header import ignored_in_header, ignored_in_source
from hookscope.authoring.lint.model import LintFinding, LintSubject, NotLinted, Rule, RuleMessage, Severity
from hookscope.authoring.lint.rules import RULES
from hookscope.model.hook import LANGUAGE_OF, FilePosition
from hookscope.values import dataclass

ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class LintReport:
    """The result of a lint. Findings are sorted by hook, severity, file and line."""

    subjects: tuple[LintSubject, ...] = ()
    findings: tuple[LintFinding, ...] = ()
    not_run: tuple[NotLinted, ...] = ()

    @property
    def failed(self) -> bool:
        """True if there is an error. Warnings alone do not fail a lint."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """Return the number of findings with this severity."""
        return sum(finding.severity is severity for finding in self.findings)


def run_rules(subjects: Iterable[LintSubject], only: Collection[str] = ()) -> LintReport:
    """Run every rule, or only the named ones, over every subject."""
    subjects = tuple(subjects)
    rules = [rule for rule in RULES.values() if not only or rule.id in only]
    findings = [finding for subject in subjects for finding in _run_rule(subject, rules)]
    return LintReport(subjects, tuple(findings), tuple(_rules_not_run(subjects, rules)))


def _run_rule(subject: LintSubject, rules: Iterable[Rule]) -> list[LintFinding]:
    ignored = ignored_in_header(subject.header)
    by_line = ignored_in_source(subject.text)
    found = [
        _finding(rule, subject, message)
        for rule in rules
        if rule.id not in ignored and (not rule.reads_source or subject.facts is not None)
        for message in rule.check(subject)
        if not (message.place.file == subject.handler and rule.id in by_line.get(message.place.line, ()))
    ]
    return sorted(found, key=lambda one: (ORDER.index(one.severity), str(one.place.file), one.place.line))


def _finding(rule: Rule, subject: LintSubject, message: RuleMessage) -> LintFinding:
    return LintFinding(
        rule.id,
        message.severity,
        subject.name,
        message.place,
        message.text,
        message.next_step,
        message.fix,
        rule.docs,
    )


def _rules_not_run(subjects: Iterable[LintSubject], rules: Iterable[Rule]) -> Iterator[NotLinted]:
    """Yield the source rules that had no source to check, once per reason."""
    files: dict[str, list[FilePosition]] = {}
    for subject in subjects:
        if subject.facts is None and subject.handler is not None:
            files.setdefault(subject.unread_reason, []).append(FilePosition(subject.handler))
    for why, places in files.items():
        kinds = {LANGUAGE_OF.get(place.file.suffix, "script") for place in places}
        what = (
            str(places[0].file) if len(places) == 1 else f"{len(places)} {'/'.join(sorted(kinds))} handlers"
        )
        for rule in rules:
            if rule.reads_source:
                yield NotLinted(rule.id, f"{what}: {why}")

"""What a lint found: as JSON, and as lines grouped by hook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from hookscope.cli.folding import folded, folds
from hookscope.core.text import one_line, printable

if TYPE_CHECKING:
    from hookscope.core.hooks import Edit
    from hookscope.workbench.linting import Documented, Finding, Linted, Report, Rule, Subject

COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}
LEVELS = ("error", "warning", "hint")


def document(linted: Linted) -> dict[str, Any]:
    """The whole answer, for programs."""
    report = linted.report
    return {
        "dialect": linted.host.dialect.name,
        "findings": [_finding(finding) for finding in report.findings],
        "rules_not_run": [{"rule": one.rule, "why": one.why} for one in report.not_run],
        "counts": {"hooks": len(report.subjects), **_counts(report)},
        "hooks": [_hook(subject) for subject in report.subjects],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "hook": finding.hook,
        "file": str(finding.place.file),
        "line": finding.place.line,
        "column": finding.place.column,
        "text": finding.text,
        "then": finding.then,
        "fix": None if finding.fix is None else [_edit(edit) for edit in finding.fix],
        "docs": finding.docs,
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {"file": str(edit.file), "path": list(edit.path), "value": edit.value, "meaning": edit.meaning}


def _hook(subject: Subject) -> dict[str, Any]:
    from hookscope.workbench.linting import uses_of

    uses = None if subject.facts is None or subject.facts.error else asdict(uses_of(subject.facts))
    return {"name": subject.name, "path": str(subject.folder), "uses": uses}


def _counts(report: Report) -> dict[str, int]:
    return {level: sum(one.severity.value == level for one in report.findings) for level in LEVELS}


def shown(linted: Linted) -> str:
    """The findings, hook after hook, and how many there are."""
    report, short = linted.report, linted.host.surroundings.short
    lines: list[str] = []
    for (name, folder), findings in groupby(report.findings, lambda one: (one.hook, one.place.file.parent)):
        lines.append(click.style(f"{one_line(name)}  {printable(short(folder))}", bold=True))
        for finding in findings:
            lines += folds(_lines(finding))
        lines.append("")
    lines.append(_summary(linted))
    lines += _not_run(report)
    return "\n".join(lines)


def _lines(finding: Finding) -> Iterator[str]:
    where = f"{one_line(finding.place.file.name)}:{finding.place.line}"
    level = click.style(f"{finding.severity.value:<7}", fg=COLOURS[finding.severity.value])
    rule = click.style(f"[{finding.rule}]", dim=True)
    yield f"  {level} {where}  {printable(finding.text)} {rule}"
    if finding.then:
        yield f"          {printable(finding.then)}"


def _summary(linted: Linted) -> str:
    report = linted.report
    hooks, counts = len(report.subjects), _counts(report)
    of = f"{_number(hooks, 'hook')} under {linted.host.dialect.name}"
    if not hooks:
        return f"There are no hooks here to lint, under {linted.host.dialect.name}."
    if not report.findings:
        return f"Nothing found in {of}."
    said = ", ".join(_number(count, level) for level, count in counts.items() if count)
    return f"{said} in {of}. `hookscope lint --explain RULE` says more."


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _not_run(report: Report) -> Iterator[str]:
    """Why some rules could not look, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for one in report.not_run:
        by_reason.setdefault(one.why, []).append(one.rule)
    for why, rules in by_reason.items():
        yield f"{_number(len(rules), 'rule')} did not run for {printable(why)}."


def listed(rules: Mapping[str, str]) -> str:
    """Every rule's id and title."""
    width = max(map(len, rules))
    return folded(f"{name:<{width}}  {title}" for name, title in rules.items())


def rule_document(rule: Rule, told: Documented) -> dict[str, Any]:
    """A rule's documentation, for programs."""
    return {
        "rule": rule.id,
        "title": told.title,
        "why": told.why,
        "by_host": rule.by_host,
        "reads_source": rule.reads_source,
        "bad": dict(told.bad.files),
        "good": dict(told.good.files),
    }


def explained(rule: Rule, told: Documented) -> str:
    """A rule's documentation, for people."""
    lines = [click.style(rule.id, bold=True), "", *folds([told.title, "", told.why])]
    if rule.by_host:
        lines += ["", "What it says depends on the host: `--dialect` picks one."]
    for title, example in (("Bad", told.bad), ("Good", told.good)):
        lines += ["", click.style(title, bold=True)]
        for file, text in example.files.items():
            lines += [f"  {file}", *(f"    {line}".rstrip() for line in text.splitlines())]
    return "\n".join(lines)

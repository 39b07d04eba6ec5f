"""`hookscope lint [PATH...]`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import fold_lines, fold_text
from hookscope.cli.shared_options import ReportFile, write_report
from hookscope.installation import installed_version
from hookscope.model.regular_file import read_regular
from hookscope.model.text import one_line, printable_line

if TYPE_CHECKING:
    from hookscope.authoring.lint.linting import LintReport, LintResult, RuleDocumentation
    from hookscope.authoring.lint.model import LintFinding, LintSubject, Rule
    from hookscope.model.hook import Edit, FilePosition
    from hookscope.storage.journal.redaction import Redaction

LEVEL_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}
LEVELS = ("error", "warning", "hint")


def lint_document(linted: LintResult) -> dict[str, Any]:
    """Return the document of `lint --json`."""
    report = linted.report
    return {
        "dialect": linted.host.dialect.name,
        "findings": [_finding_document(finding) for finding in report.findings],
        "rules_not_run": [{"rule": skipped.rule, "why": skipped.why} for skipped in report.not_run],
        "counts": {"hooks": len(report.subjects), **_level_counts(report)},
        "hooks": [_hook_document(subject) for subject in report.subjects],
    }


def _finding_document(finding: LintFinding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "hook": finding.hook,
        "file": str(finding.place.file),
        "line": finding.place.line,
        "column": finding.place.column,
        "text": finding.text,
        "then": finding.next_step,
        "fix": None if finding.fix is None else [_edit_document(edit) for edit in finding.fix],
        "docs": finding.docs,
    }


def _edit_document(edit: Edit) -> dict[str, Any]:
    return {"file": str(edit.file), "path": list(edit.path), "value": edit.value, "meaning": edit.meaning}


def _hook_document(subject: LintSubject) -> dict[str, Any]:
    from hookscope.hosts.source.facts import handler_uses

    uses = None if subject.facts is None or subject.facts.error else asdict(handler_uses(subject.facts))
    return {"name": subject.name, "path": str(subject.folder), "uses": uses}


def _level_counts(report: LintReport) -> dict[str, int]:
    return {level: sum(finding.severity.value == level for finding in report.findings) for level in LEVELS}


def lint_text(linted: LintResult) -> str:
    """Return the findings by hook, and their counts."""
    report, shorten = linted.report, linted.host.machine.short
    lines: list[str] = []
    for (name, folder), findings in groupby(report.findings, lambda one: (one.hook, one.place.file.parent)):
        lines.append(click.style(f"{one_line(name)}  {printable_line(shorten(folder))}", bold=True))
        for finding in findings:
            lines += fold_lines(_finding_lines(finding))
        lines.append("")
    lines.append(_lint_summary(linted))
    lines += _skipped_rule_lines(report)
    return "\n".join(lines)


def _finding_lines(finding: LintFinding) -> Iterator[str]:
    where = f"{one_line(finding.place.file.name)}:{finding.place.line}"
    level = click.style(f"{finding.severity.value:<7}", fg=LEVEL_COLOURS[finding.severity.value])
    rule = click.style(f"[{finding.rule}]", dim=True)
    yield f"  {level} {where}  {printable_line(finding.text)} {rule}"
    if finding.next_step:
        yield f"          {printable_line(finding.next_step)}"


def _lint_summary(linted: LintResult) -> str:
    report = linted.report
    counts = _level_counts(report)
    rejected = sum(subject.hook is None for subject in report.subjects)
    hooks = len(report.subjects) - rejected
    others = f" and {_count_text(rejected, 'folder')} without a hook" if rejected else ""
    scope = f"{_count_text(hooks, 'hook')}{others} under {linted.host.dialect.name}"
    if not report.subjects:
        return f"There are no hooks to lint here, under {linted.host.dialect.name}."
    if not report.findings:
        return f"Nothing found in {scope}."
    counts_text = ", ".join(_count_text(count, level) for level, count in counts.items() if count)
    return f"{counts_text} in {scope}. `hookscope lint --explain RULE` explains a rule."


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _skipped_rule_lines(report: LintReport) -> Iterator[str]:
    """Yield why some rules did not run, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for skipped in report.not_run:
        by_reason.setdefault(skipped.why, []).append(skipped.rule)
    for why, rules in by_reason.items():
        yield f"{_count_text(len(rules), 'rule')} did not run for {printable_line(why)}."


def rule_list_text(rules: Mapping[str, str]) -> str:
    """Return the id and title of every rule."""
    width = max(map(len, rules))
    return fold_text(f"{name:<{width}}  {title}" for name, title in rules.items())


def rule_document(rule: Rule, documentation: RuleDocumentation) -> dict[str, Any]:
    """Return a rule's documentation, for programs."""
    return {
        "rule": rule.id,
        "title": documentation.title,
        "why": documentation.why,
        "by_host": rule.depends_on_host,
        "reads_source": rule.reads_source,
        "bad": documentation.bad,
        "good": documentation.good,
    }


def rule_text(rule: Rule, documentation: RuleDocumentation) -> str:
    """Return a rule's documentation, for people."""
    lines = [click.style(rule.id, bold=True), "", *fold_lines([documentation.title, "", documentation.why])]
    if rule.depends_on_host:
        lines += ["", "Its findings depend on the host: choose one with `--dialect`."]
    for title, example in (("Bad", documentation.bad), ("Good", documentation.good)):
        lines += ["", click.style(title, bold=True)]
        for file, text in example.items():
            lines += [f"  {file}", *(f"    {line}".rstrip() for line in text.splitlines())]
    return "\n".join(lines)


SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_ROOT = "%SRCROOT%"  # readers of SARIF resolve it to the repository root
WORD = re.compile(r"[\w.:-]+")
SARIF_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}


def sarif_document(
    linted: LintResult, rules: Sequence[tuple[Rule, RuleDocumentation]], root: Path, redaction: Redaction
) -> str:
    """Return the SARIF log with one run. Files below `root` are relative to it, others are URIs.

    Secrets in findings are masked.
    """
    rule_indexes = {rule.id: index for index, (rule, _) in enumerate(rules)}
    report = linted.report
    run = {
        "tool": {
            "driver": {
                "name": "hookscope",
                "version": installed_version(),
                **_project_address(),
                "rules": [_sarif_rule(*pair) for pair in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": f"{skipped.rule} did not run: {skipped.why}"}}
                    for skipped in report.not_run
                ],
            }
        ],
        "results": redaction.masked_value(
            [_sarif_result(finding, rule_indexes, root) for finding in report.findings]
        ),
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(rule: Rule, documentation: RuleDocumentation) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": documentation.title},
        "fullDescription": {"text": documentation.why or documentation.title},
        "help": {"text": f"{documentation.why}\n\n`{rule.docs}` shows an example.".lstrip()},
        "defaultConfiguration": {"level": _default_level(rule)},
    }


def _project_address() -> dict[str, str]:
    """Return `informationUri`: the first address in the package's metadata. Empty if it has none."""
    from importlib.metadata import metadata  # imported late: only SARIF needs it

    addresses = metadata("hookscope").get_all("Project-URL")
    return {"informationUri": str(addresses[0]).rpartition(", ")[2]} if addresses else {}


def _default_level(rule: Rule) -> str:
    """Return the most severe level of a rule: its module imports the levels that it uses.

    A rule that imports `Severity` chooses among all of them.
    """
    used = rule.check.__globals__
    if "Severity" in used:
        return SARIF_LEVELS["error"]
    return next(SARIF_LEVELS[name] for name in SARIF_LEVELS if name in used)


@cache
def _lines_of(file: Path) -> tuple[str, ...]:
    try:
        return tuple(read_regular(file).decode("utf-8", "replace").splitlines())
    except OSError:
        return ()


def _region(place: FilePosition) -> dict[str, int]:
    """Return the region of the word at a position; a single character if no word begins there."""
    lines = _lines_of(place.file)
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    word = WORD.match(line, place.column - 1)
    end = word.end() + 1 if word else place.column + 1
    return {"startLine": place.line, "startColumn": place.column, "endColumn": end}


def _sarif_result(finding: LintFinding, rule_indexes: Mapping[str, int], root: Path) -> dict[str, Any]:
    location = _sarif_location(finding.place, root)
    name = "\0".join((finding.rule, location["artifactLocation"]["uri"], finding.text))
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_indexes[finding.rule],
        "level": SARIF_LEVELS[finding.severity.value],
        "message": {"text": f"{finding.hook}: {finding.text} {finding.next_step}".rstrip()},
        "locations": [{"physicalLocation": location}],
        # Identifies the same finding in a later version of the file, on any line.
        "partialFingerprints": {"hookscope/v1": sha256(name.encode("utf-8", "surrogatepass")).hexdigest()},
    }


def _sarif_location(place: FilePosition, root: Path) -> dict[str, Any]:
    file = place.file
    if file.is_relative_to(root):
        address = file.relative_to(root).as_posix()
        artifact = {"uri": quote(os.fsencode(address)), "uriBaseId": SARIF_ROOT}
    else:
        artifact = {"uri": file.as_uri()}
    return {"artifactLocation": artifact, "region": _region(place)}


PARAMETERS = (
    click.Argument(["paths"], metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path)),
    click.Option(["--rule", "rules"], multiple=True, metavar="ID", help="Only this rule. Repeatable."),
    click.Option(
        ["--sarif"], metavar="FILE", help="Also write SARIF, for code hosts and editors.",
        type=ReportFile(),
    ),
    click.Option(
        ["--explain"], metavar="ID", help="Explain a rule with an example; `all` lists them."
    ),
)  # fmt: skip


@answers.command("lint", *PARAMETERS)
def lint_command(
    options: Options, paths: tuple[Path, ...], rules: tuple[str, ...], sarif: Path | None, explain: str | None
) -> Answer:
    """Find mistakes in hooks, and show how to correct them. Runs nothing.

    PATH is a hook's folder, a folder with hooks below it, or the name of a hook. Without one, all hooks of
    the host are checked, except those that ship with Hookscope. Exit code 1: there are errors. Warnings and
    hints alone: 0.

    To ignore a rule for a hook, write `metadata: {hookscope: {lint: {ignore: [ID]}}}` in its HOOK.md. To
    ignore it for one line of the handler, write the comment `hookscope: ignore[ID]` there.
    """
    from hookscope.authoring.lint.linting import lint_hooks, rule_named, rule_titles

    if explain is not None and (paths or rules or sarif):
        raise click.UsageError("--explain takes no hook: it explains a rule and lints nothing")
    if explain == "all":
        return Answer(rule_titles(), rule_list_text(rule_titles()))
    if explain is not None:
        rule, documentation = rule_named(explain)
        return Answer(rule_document(rule, documentation), rule_text(rule, documentation))
    bench = answers.workbench_for(options)
    linted = lint_hooks(bench, paths, rules)
    if sarif is not None:
        _write_sarif(sarif, linted, bench)
    return Answer(lint_document(linted), lint_text(linted), ok=not linted.report.failed)


def _write_sarif(file: Path, linted: LintResult, bench: Workbench) -> None:
    from hookscope.authoring.lint.linting import rule_named, rule_titles

    rules = [rule_named(name) for name in rule_titles()]
    write_report(file, sarif_document(linted, rules, bench.setup.machine.cwd, bench.redaction))

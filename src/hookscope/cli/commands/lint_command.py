"""`hookscope lint [PATH...]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.cli import answers, lint_tables
from hookscope.cli.answers import Answer
from hookscope.cli.report_files import ReportFile, write_report
from hookscope.workbench import Options, Workbench

if TYPE_CHECKING:
    from hookscope.workbench.linting import Linted

PARAMETERS = (
    click.Argument(["paths"], metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path)),
    click.Option(["--rule", "rules"], multiple=True, metavar="ID", help="Only this rule; may be repeated."),
    click.Option(
        ["--sarif"], metavar="FILE", help="Write SARIF there too, for code hosts and editors.",
        type=ReportFile(),
    ),
    click.Option(
        ["--explain"], metavar="ID", help="What a rule is about, with an example; `all` lists them."
    ),
)  # fmt: skip


@answers.command("lint", *PARAMETERS)
def command(
    options: Options,
    paths: tuple[Path, ...],
    rules: tuple[str, ...],
    sarif: Path | None,
    explain: str | None,
) -> Answer:
    """What is wrong with hooks, and what to do about it. Runs nothing.

    PATH is a hook's folder, a folder with hooks somewhere below it, or the name of a hook; without one, all
    hooks of the host are linted, but for those that ship with Hookscope. Exit code 1: there are errors.
    Warnings and hints alone: 0.

    `metadata: {hookscope: {lint: {ignore: [ID]}}}` in a HOOK.md ignores a rule for the hook, and a comment
    `hookscope: ignore[ID]` in its handler for that line.
    """
    from hookscope.workbench.linting import lint_hooks, rule_named, rules_in_short

    if explain is not None and (paths or rules or sarif):
        raise click.UsageError("--explain stands alone: it is about a rule, and lints nothing")
    if explain == "all":
        return Answer(rules_in_short(), lint_tables.listed(rules_in_short()))
    if explain is not None:
        rule, told = rule_named(explain)
        return Answer(lint_tables.rule_document(rule, told), lint_tables.explained(rule, told))
    bench = answers.bench_of(options)
    linted = lint_hooks(bench, paths, rules)
    if sarif is not None:
        _write(sarif, linted, bench)
    return Answer(lint_tables.document(linted), lint_tables.shown(linted), yes=not linted.report.failed)


def _write(file: Path, linted: Linted, bench: Workbench) -> None:
    from hookscope.cli.sarif import sarif
    from hookscope.workbench.linting import rule_named, rules_in_short

    rules = [rule_named(name) for name in rules_in_short()]
    write_report(file, sarif(linted, rules, bench.setup.surroundings.cwd, bench.redaction))

"""`hookscope lint [PATH...]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import lint_output
from hookscope.cli.shared_options import ReportFile, write_report

if TYPE_CHECKING:
    from hookscope.authoring.lint.linting import LintResult

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
    from hookscope.authoring.lint.linting import lint_hooks, rule_named, rule_titles

    if explain is not None and (paths or rules or sarif):
        raise click.UsageError("--explain stands alone: it is about a rule, and lints nothing")
    if explain == "all":
        return Answer(rule_titles(), lint_output.rule_list_text(rule_titles()))
    if explain is not None:
        rule, documentation = rule_named(explain)
        return Answer(
            lint_output.rule_document(rule, documentation), lint_output.rule_text(rule, documentation)
        )
    bench = answers.workbench_for(options)
    linted = lint_hooks(bench, paths, rules)
    if sarif is not None:
        _write_sarif(sarif, linted, bench)
    return Answer(
        lint_output.lint_document(linted), lint_output.lint_text(linted), ok=not linted.report.failed
    )


def _write_sarif(file: Path, linted: LintResult, bench: Workbench) -> None:
    from hookscope.authoring.lint.linting import rule_named, rule_titles
    from hookscope.cli.render.lint_output import sarif_document

    rules = [rule_named(name) for name in rule_titles()]
    write_report(file, sarif_document(linted, rules, bench.setup.machine.cwd, bench.redaction))

"""`hookscope verify`."""

from __future__ import annotations

import sys

import click

from hookscope.analysis.verification import Verifier, with_node
from hookscope.analysis.verification_result import Verification, verification_lines
from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import fold_text
from hookscope.model.failure import Refusal


@answers.command(
    "verify",
    click.Option(["--yes", "-y"], is_flag=True, help="Do not ask; for scripts."),
    click.Option(["--each"], is_flag=True, help="Also compare the files and keys of every hook (slow)."),
)
def command(options: Options, yes: bool, each: bool, as_json: bool) -> Answer:
    """Compare Hookscope's answers with those of the installed host, hook by hook and gate by gate.

    The host's own program is started on a copy of its settings, hooks and workspace: without credentials and
    sessions, with secrets masked, and without network if bubblewrap works here. It may load plugins, so the
    command asks first. Exit code 1: something differs, or nothing was compared.
    """
    result = verified(options, yes=yes, as_json=as_json, each=each)
    return Answer(result.document(), fold_text(verification_lines(result)), ok=result.agrees)


def verified(options: Options, *, yes: bool, as_json: bool, each: bool = False) -> Verification:
    """Ask, start the host's program and return the comparison. Raises Refusal without a yes."""
    verifier = Verifier(options, answers.workbench_for)
    if not yes:
        _confirm(verifier, as_json)
    try:
        return with_node(verifier).run(each=each)
    finally:
        verifier.bench.close_now()


def _confirm(verifier: Verifier, as_json: bool) -> None:
    """Ask before a program is started. Raises Refusal without a yes."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal(f"Nothing was started. {verifier.question}", "In a script, `--yes` starts it.")
    if not click.confirm(verifier.question, default=False):
        raise Refusal("Nothing was started.")

"""`hookscope doctor`, `verify` and `report`: what Hookscope found, and whether the host agrees."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from hookscope.analysis.support_bundle import BUNDLE_NAME, write_bundle
from hookscope.analysis.verification import Verifier, with_node
from hookscope.analysis.verification_result import Verification, verification_lines
from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import fold_text
from hookscope.installation import installed_version
from hookscope.model.failure import Refusal
from hookscope.model.text import one_line, printable


@answers.command("doctor")
def doctor_command(options: Options) -> Answer:
    """Show what was detected, from where, and what is missing, each with the next step."""
    bench = answers.workbench_for(options)
    findings = bench.doctor(bench.scan())
    width = max(len(item.name) for item in findings)
    lines = []
    for item in findings:
        lines.append(f"{'✓' if item.ok else '!'} {item.name:<{width}}  {one_line(item.found, 400)}")
        if item.next_step:
            lines.append(f"  {'':<{width}}  {one_line(item.next_step, 400)}")
    document = [
        {"name": item.name, "found": item.found, "well": item.ok, "next": item.next_step} for item in findings
    ]
    return Answer({"findings": document}, fold_text(lines))


@answers.command(
    "verify",
    click.Option(["--yes", "-y"], is_flag=True, help="Do not ask; for scripts."),
    click.Option(["--each"], is_flag=True, help="Also compare the files and keys of every hook (slow)."),
)
def verify_command(options: Options, yes: bool, each: bool, as_json: bool) -> Answer:
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


@answers.command(
    "report",
    click.Argument(["file"], required=False, type=click.Path(), default=BUNDLE_NAME),
    click.Option(["--verify"], is_flag=True, help="Also run `hookscope verify`, which starts the host."),
    click.Option(["--yes", "-y"], is_flag=True, help="Do not ask before the host is started."),
)
def report_command(options: Options, file: str, verify: bool, yes: bool, as_json: bool) -> Answer:
    """Write a zip file about this host for a problem report, with secrets masked.

    It contains the versions, the answers of `list` and `doctor`, the masked settings, and with --verify the
    result of `hookscope verify`. Nothing is sent anywhere.
    """
    verification = _verification(options, yes, as_json) if verify else None
    bench = answers.workbench_for(options)
    try:
        names = write_bundle(
            Path(os.path.realpath(file)), bench, bench.scan(), installed_version(), verification
        )
    finally:
        bench.close_now()
    text = f"Wrote {printable(file)}: {', '.join(names)}. Read it before you send it."
    return Answer({"file": file, "contents": list(names)}, text)


def _verification(options: Options, yes: bool, as_json: bool) -> dict[str, Any]:
    from hookscope.cli.commands.diagnosis_commands import verified

    return verified(options, yes=yes, as_json=as_json).document()

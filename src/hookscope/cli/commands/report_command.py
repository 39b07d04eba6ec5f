"""`hookscope report [FILE]`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from hookscope.analysis.support_bundle import BUNDLE_NAME, write_bundle
from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.installation import installed_version
from hookscope.model.text import printable


@answers.command(
    "report",
    click.Argument(["file"], required=False, type=click.Path(), default=BUNDLE_NAME),
    click.Option(["--verify"], is_flag=True, help="Also run `hookscope verify`, which starts the host."),
    click.Option(["--yes", "-y"], is_flag=True, help="Do not ask before the host is started."),
)
def command(options: Options, file: str, verify: bool, yes: bool, as_json: bool) -> Answer:
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
    from hookscope.cli.commands.verify_command import verified

    return verified(options, yes=yes, as_json=as_json).document()

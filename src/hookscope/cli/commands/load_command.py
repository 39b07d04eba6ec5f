"""`hookscope load`."""

import asyncio

import click

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.runs.activation_chain import load_report
from hookscope.app.trust_requests import untrusted_folders
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import run_output
from hookscope.engine.registry import LoadReport
from hookscope.model.hook_status import State
from hookscope.model.trust import trust_target


@answers.command(
    "load",
    click.Argument(["name"], required=False),
    click.Option(
        ["--trust"], is_flag=True, help="Also import handlers in untrusted folders, this time only."
    ),
)
def load_command(options: Options, name: str | None, trust: bool) -> Answer:
    """Import all trusted handlers, or those of one hook; report what the host's loader would report."""
    bench = answers.workbench_for(options, trust_all=trust)
    view = bench.scan()
    folders = untrusted_folders(view)
    if name is not None:
        row = bench.hook(view, name)
        name = row.hook.name
        folders = (trust_target(row.hook, view.host),) if row.state is State.UNTRUSTED else ()
    not_trusted = answers.untrusted_folder_warnings(folders, bench.setup.machine)
    report = asyncio.run(_load_hooks(bench, name))
    return Answer(
        json_documents.load_document(report),
        run_output.load_text(report, bench.setup.machine),
        ok=not (report.failed or report.stopped or not_trusted) and (name is None or report.registered > 0),
        notes=(*answers.unreadable_settings_warnings(view.host), *not_trusted),
    )


async def _load_hooks(bench: Workbench, name: str | None) -> LoadReport:
    try:
        return await load_report(bench, only=name)
    finally:
        await bench.close()

"""`--format host`: answers in the format, words and exit codes of the host's own command."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.unknown_names import host_command_missing
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.model.host import CommandFlags, CommandOutput, HostCommand
from hookscope.model.text import printable

FORMATS = ("hookscope", "host")


def format_option() -> click.Option:
    """Return `--format`, for the commands that the host has too."""
    return click.Option(
        ["--format", "shape"],
        type=click.Choice(FORMATS),
        default=FORMATS[0],
        help="The format of the answer: Hookscope's, or that of the host's own command.",
    )


def host_list_options() -> list[click.Parameter]:
    """Return `--format`, and the flags of the host's own list command."""
    return [
        format_option(),
        click.Option(["--eligible"], is_flag=True, help="Only hooks whose requirements are met."),
        click.Option(["--verbose", "-v"], is_flag=True, help="For each failed check: what is missing."),
    ]


def is_host_format(format_name: str, **flags: Any) -> bool:
    """Return whether the host's format is requested. Raises UsageError for a host's flag without it."""
    if format_name == "host":
        return True
    flag = next((name for name, value in flags.items() if value), None)
    if flag is not None:
        raise click.UsageError(f"--{flag} is the host's own flag; add `--format host`.")
    return False


def host_list(options: Options, eligible: bool, verbose: bool) -> Answer:
    """Return the answer of the host's `list`."""
    command, view, output = _open_host(options)
    output = output or command.list(view.host, view.inventory, CommandFlags(eligible, verbose))
    return answer_from_host_output(_with_plugin_hooks(output, view))


def host_check(options: Options, verbose: bool) -> Answer:
    """Return the answer of the host's `check`."""
    command, view, output = _open_host(options)
    output = output or command.check(view.host, view.inventory, CommandFlags(verbose=verbose))
    return answer_from_host_output(_with_plugin_hooks(output, view))


def host_info(options: Options, name: str) -> Answer:
    """Return the answer of the host's `info`."""
    command, view, output = _open_host(options)
    return answer_from_host_output(output or command.info(view.host, view.inventory, name))


def _with_plugin_hooks(output: CommandOutput, view: Snapshot) -> CommandOutput:
    """Return the output with a note about hooks that plugins register.

    The host's command loads plugins and lists the hooks of folder events that they register. A scan
    loads nothing, so standard error names these plugins.
    """
    loads_plugins = view.host.dialect.load_rules.plugins_use_folder_events
    names = [row.hook.name for row in view.inventory.hooks if row.folder_events and row.verdict.enabled]
    if not (loads_plugins and names):
        return output
    command = f"{view.host.dialect.product} loads plugins here and lists their hooks; Hookscope does not."
    line = f"{command} Plugins not included: {', '.join(names)}. See `hookscope load`."
    return replace(output, errors=(*output.errors, line))


def workbench_as_host(options: Options) -> Workbench:
    """Return a workbench whose scan follows the host's own command."""
    return answers.workbench_for(replace(options, as_host=True))


def _open_host(options: Options) -> tuple[HostCommand, Snapshot, CommandOutput | None]:
    view = workbench_as_host(options).scan()
    command = host_command(view)
    return command, view, command.refused_settings(view.host)


def host_command(view: Snapshot) -> HostCommand:
    """Return the host's command. Raises Refusal if the host's dialect has none."""
    dialect = view.host.dialect
    if dialect.command is None:
        raise host_command_missing(dialect)
    return dialect.command


def answer_from_host_output(output: CommandOutput) -> Answer:
    """Return the host's output as an answer; output without JSON is put into a document of Hookscope's."""
    for line in output.errors:
        click.echo(printable(line), err=True)
    lines = [printable(line) for line in output.lines]
    document = output.document
    if document is None:
        document = {
            "ok": output.code == 0,
            "lines": lines,
            "errors": [printable(line) for line in output.errors],
        }
    return Answer(document, "\n".join(lines), ok=output.code == 0, extensible=False)

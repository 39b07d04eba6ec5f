"""`hookscope enable` and `disable`: switch a hook in the host's settings, and show the edit."""

from __future__ import annotations

from contextlib import suppress

import click

from hookscope.app.edits import Toggle
from hookscope.app.json_documents import effect_document
from hookscope.app.options import Options, command_on
from hookscope.app.workbench import Workbench
from hookscope.cli import answers, host_format
from hookscope.cli.answers import Answer
from hookscope.cli.render import change_output
from hookscope.model.failure import Outdated, Refusal
from hookscope.model.host import CommandFlags, CommandOutput
from hookscope.model.machine import Machine
from hookscope.model.text import one_line
from hookscope.storage.edits.masked_preview import masked_preview

WRITE_ATTEMPTS = 20  # as many other commands may write the settings at the same time, once each


def toggle_hook(options: Options, name: str, on: bool, dry_run: bool) -> Answer:
    """Switch a hook as the host's own command does, and return the edit as an answer."""
    bench = answers.workbench_for(options)
    toggle = bench.edits.toggle(bench.scan(), name, on, as_command=True)
    if not dry_run:
        try:
            toggle = apply_toggle(bench, name, toggle)
        except Refusal as refusal:
            command = command_on(options, "enable" if on else "disable", name, "--dry-run")
            raise with_manual_command(refusal, command) from None
        bench.close_now()
    written = toggle.needed and not dry_run
    notes = answers.written_despite_what_if(options, toggle.change.path) if written else ()
    text = toggle_text(toggle, dry_run, bench.setup.machine)
    return Answer(toggle_document(toggle, written=written), text, notes=notes)


def apply_toggle(bench: Workbench, name: str, toggle: Toggle) -> Toggle:
    """Write the edit; plan it again if another command has written the same settings. Raises Refusal."""
    for _ in range(WRITE_ATTEMPTS):
        with suppress(Outdated):
            bench.edits.apply(toggle)
            return toggle
        toggle = bench.edits.toggle(bench.scan(), name, toggle.on, as_command=True)
    bench.edits.apply(toggle)
    return toggle


def with_manual_command(refusal: Refusal, command: str) -> Refusal:
    """Return a refusal to write that also names the command which prints the change."""
    if isinstance(refusal, Outdated) or refusal.next_step:
        return refusal
    return Refusal(refusal.problem, f"`{command}` prints the change to make by hand.", code=refusal.code)


def host_toggle(options: Options, name: str, on: bool, dry_run: bool, as_json: bool) -> Answer:
    """Return the answer of the host's `enable` or `disable`.

    Hookscope writes the edit, so it can be undone.
    """
    bench = host_format.workbench_as_host(options)
    view = bench.scan()
    command = host_format.host_command(view)
    output = command.refused_settings(view.host)
    row = output or command.to_switch(view.inventory, name, on, CommandFlags(json=as_json))
    if isinstance(row, CommandOutput):
        return host_format.answer_from_host_output(row)
    toggle = bench.edits.toggle(view, row.hook.name, on, as_command=True)
    if not dry_run:
        apply_toggle(bench, row.hook.name, toggle)
        bench.close_now()
    return host_format.answer_from_host_output(command.switched(row, on))


def toggle_document(toggle: Toggle, *, written: bool) -> dict[str, object]:
    """Return the document of `enable --json` and `disable --json`."""
    return {
        "hook": toggle.name,
        "enabled": toggle.on,
        "changed": toggle.needed,
        "written": written,
        "file": str(toggle.change.path),
        "diff": masked_preview(toggle.change),
        "after": toggle.after,
        "others": [effect_document(other) for other in toggle.others],
        "notices": toggle.notices,
    }


def toggle_text(toggle: Toggle, dry_run: bool, machine: Machine) -> str:
    """Return the file with its diff, the other affected hooks, and when the host notices the change."""
    name = one_line(toggle.name)
    if not toggle.needed:
        status, comma, detail = one_line(toggle.after).partition(",")
        return f"{name} is already {status}{comma}{detail}; nothing was written."
    lines = [*change_output.diff_lines(toggle.change, machine)]
    lines += [
        f"{one_line(other.name)} ({other.source}): {other.before} → {other.after}" for other in toggle.others
    ]
    tense = "would be" if dry_run else "is"
    lines.append(f"{name} {tense} {one_line(toggle.after)}. {toggle.notices}")
    return "\n".join(lines)


def _toggle_command(name: str, on: bool, summary: str) -> click.Command:
    """Return `enable` or `disable`, with this help."""

    def toggle(options: Options, name: str, dry_run: bool, shape: str, as_json: bool) -> Answer:
        if host_format.is_host_format(shape):
            return host_toggle(options, name, on, dry_run, as_json)
        return toggle_hook(options, name, on, dry_run)

    toggle.__doc__ = summary
    dry_run_option = click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing.")
    parameters = (click.Argument(["name"]), dry_run_option, host_format.format_option())
    return answers.command(name, *parameters)(toggle)


enable_command = _toggle_command(
    "enable", True, "Switch a hook on in the host's settings, as the host's own command does; print the edit."
)
disable_command = _toggle_command(
    "disable",
    False,
    "Switch a hook off in the host's settings, as the host's own command does; print the edit.",
)

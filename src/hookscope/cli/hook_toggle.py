"""Switch a hook on or off in the host's settings, and show the edit."""

from __future__ import annotations

from contextlib import suppress

from hookscope.app.edits import Toggle
from hookscope.app.json_documents import effect_document
from hookscope.app.options import Options, command_on
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import change_output
from hookscope.model.failure import Outdated, Refusal
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

"""What `enable`, `disable` and `undo` have in common."""

from __future__ import annotations

from contextlib import suppress

from hookscope.cli import answers, diffs
from hookscope.cli.answers import Answer
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line
from hookscope.workbench import Options, Toggle, Workbench
from hookscope.workbench.documents import effect
from hookscope.workbench.options import command_on
from hookscope.workbench.refusal import Outdated, Refusal
from hookscope.workbench.shown import preview_of

TRIES = 20  # of commands that switch at once, each of which writes once


def switched(options: Options, name: str, on: bool, dry_run: bool) -> Answer:
    """Switch a hook as the host's own command does, and show the edit."""
    bench = answers.bench_of(options)
    toggle = bench.edits.toggle(bench.look(), name, on, as_command=True)
    if not dry_run:
        try:
            toggle = applied(bench, name, toggle)
        except Refusal as refused:
            command = command_on(options, "enable" if on else "disable", name, "--dry-run")
            raise by_hand(refused, command) from None
        bench.close_now()
    written = toggle.needed and not dry_run
    aside = answers.really_written(options, toggle.change.path) if written else ()
    said = text(toggle, dry_run, bench.setup.surroundings)
    return Answer(document(toggle, written=written), said, aside=aside)


def applied(bench: Workbench, name: str, toggle: Toggle) -> Toggle:
    """Write it; made anew, where another command has written the same settings meanwhile. Raises Refusal."""
    for _ in range(TRIES):
        with suppress(Outdated):
            bench.edits.apply(toggle)
            return toggle
        toggle = bench.edits.toggle(bench.look(), name, toggle.on, as_command=True)
    bench.edits.apply(toggle)
    return toggle


def by_hand(refused: Refusal, command: str) -> Refusal:
    """Why a change was not written, with the command that prints it for its user to make."""
    if isinstance(refused, Outdated) or refused.then:
        return refused
    return Refusal(refused.what, f"`{command}` prints the change to make by hand.", code=refused.code)


def document(toggle: Toggle, *, written: bool) -> dict[str, object]:
    """`enable --json` and `disable --json`."""
    return {
        "hook": toggle.name,
        "enabled": toggle.on,
        "changed": toggle.needed,
        "written": written,
        "file": str(toggle.change.path),
        "diff": preview_of(toggle.change),
        "after": toggle.after,
        "others": [effect(other) for other in toggle.others],
        "notices": toggle.notices,
    }


def text(toggle: Toggle, dry_run: bool, surroundings: Surroundings) -> str:
    """The file with its diff, what else it changes, and when the host notices."""
    name = one_line(toggle.name)
    if not toggle.needed:
        stands, comma, but = one_line(toggle.after).partition(",")
        return f"{name} is {stands} already{comma}{but}; nothing was written."
    lines = [*diffs.lines(toggle.change, surroundings)]
    lines += [
        f"{one_line(other.name)} ({other.source}): {other.before} → {other.after}" for other in toggle.others
    ]
    tense = "would be" if dry_run else "is"
    lines.append(f"{name} {tense} {one_line(toggle.after)}. {toggle.notices}")
    return "\n".join(lines)

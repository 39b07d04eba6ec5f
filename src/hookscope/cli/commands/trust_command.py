"""`hookscope trust DIR`."""

import os
from pathlib import Path

import click

from hookscope.app.options import Options
from hookscope.app.trust_requests import trust_request, waiting_below
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.model.failure import Refusal
from hookscope.model.text import printable, printable_line
from hookscope.model.trust import EVERYTHING_BELOW, folder_target, trust_target

LINK_LIMIT = 5  # links to name one by one


@answers.command(
    "trust",
    click.Argument(["folder"], metavar="DIR", type=click.Path()),
    click.Option(
        [EVERYTHING_BELOW],
        is_flag=True,
        help="Allow DIR even if it is your home, the root, or a folder above your home or the workspace.",
    ),
)
def trust_command(options: Options, folder: str, everything_below: bool) -> Answer:
    """Allow the handlers in DIR, and in all folders below it, to run on this machine.

    Links in DIR are resolved first. Hookscope refuses your home folder, every folder above it or above the
    workspace, and the root folder, unless --everything-below allows them. Targets of links inside DIR are not
    included: the answer names them, with the command that allows them.
    """
    if not folder:  # probably an unset variable
        raise Refusal("The folder's name is empty.", "`hookscope trust .` trusts the current folder.", code=2)
    bench = answers.workbench_for(options)
    _check_folder(bench, folder)
    snapshot_before = bench.scan()
    real = bench.trust(Path(folder), everything_below=everything_below)
    request = trust_request(snapshot_before, folder_target(real, snapshot_before.host))
    view = bench.scan()
    short = view.host.machine.short
    count_text = f": {request.handlers_text} so far" if request.handlers else ""
    lines = [
        f"Handlers in {printable_line(short(real))} may run now, in all folders below it too{count_text}.",
        *(
            f"The workspace may run them with {printable(program.description)}."
            for program in request.programs
        ),
    ]
    waiting = waiting_below(view, Path(folder))
    for path, target in waiting[:LINK_LIMIT]:
        lines.append(
            f"Not yet trusted: {printable_line(short(path))} links to "
            f"{printable_line(short(target.folder))}; "
            f"`{printable(target.command(short))}` trusts that folder."
        )
    if len(waiting) > LINK_LIMIT:
        lines.append(f"{len(waiting) - LINK_LIMIT} more links are not trusted: `hookscope list` names them.")
    document: dict[str, object] = {
        "trusted": str(real),
        "handlers": request.handlers,
        "more": request.more,
        "everything_below": real in view.host.trust.everything_below,
        "waiting": [
            {"path": str(path), "trust": str(target.folder)}
            | ({"refused": target.refusal_reason} if target.refusal_reason else {})
            for path, target in waiting
        ],
    }
    if request.programs:
        document["programs"] = [{"key": program.key, "path": program.path} for program in request.programs]
    return Answer(document, "\n".join(lines))


def _check_folder(bench: Workbench, name: str) -> None:
    """Raise Refusal for a file or a hook's name, with the folder to trust instead."""
    machine = bench.setup.machine
    path = machine.absolute(Path(name))
    if os.path.isdir(path):
        return
    row = bench.scan().inventory.find(name)
    if os.path.isfile(path):
        target = folder_target(path.parent, bench.open())
        sentence = f"{name} is a file, but only folders can be trusted."
    elif row is not None:
        target = trust_target(row.hook, bench.open())
        sentence = f"{name} is a hook, but only folders can be trusted."
    else:
        return  # neither exists: the workbench reports it
    raise Refusal(sentence, f"`{target.command(machine.short)}` trusts its folder.")

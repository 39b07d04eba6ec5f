"""`hookscope trust DIR`."""

import os
from pathlib import Path

import click

from hookscope.app.options import Options
from hookscope.app.trust_requests import trust_request, waiting_below
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.model.refusal import Refusal
from hookscope.model.text import printable
from hookscope.model.trust import EVERYTHING_BELOW, folder_target, trust_target

LINK_LIMIT = 5  # links to name one by one


@answers.command(
    "trust",
    click.Argument(["folder"], metavar="DIR", type=click.Path()),
    click.Option(
        [EVERYTHING_BELOW],
        is_flag=True,
        help="Also where DIR is your home, lies above it or above the workspace, or is the root.",
    ),
)
def command(options: Options, folder: str, everything_below: bool) -> Answer:
    """Allow the handlers in DIR, and in all folders below it, to run on this machine.

    Links in DIR are resolved first. Hookscope refuses your home folder, every folder above it or above the
    workspace, and the root of all folders, unless --everything-below allows them. What a link inside DIR
    leads out to is not below it: the answer names it, with the command that allows it.
    """
    if not folder:  # probably an unset variable
        raise Refusal("An empty text names no folder.", "`hookscope trust .` is of this one.", code=2)
    bench = answers.workbench_for(options)
    _check_folder(bench, folder)
    before = bench.look()
    real = bench.trust(Path(folder), everything_below=everything_below)
    asked = trust_request(before, folder_target(real, before.host))
    view = bench.look()
    short = view.host.surroundings.short
    found = f": {asked.counted} so far" if asked.handlers else ""
    lines = [
        f"Handlers in {printable(short(real))} may run now, in all folders below it too{found}.",
        *(f"The workspace may run them with {printable(one.in_words)}." for one in asked.programs),
    ]
    left = waiting_below(view, Path(folder))
    for path, target in left[:LINK_LIMIT]:
        lines.append(
            f"Not yet {printable(short(path))}: it leads to {printable(short(target.folder))}; "
            f"`{printable(target.command(short))}` allows that."
        )
    if len(left) > LINK_LIMIT:
        lines.append(f"{len(left) - LINK_LIMIT} more wait: `hookscope list` names them.")
    document: dict[str, object] = {
        "trusted": str(real),
        "handlers": asked.handlers,
        "more": asked.more,
        "everything_below": real in view.host.trust.everything_below,
        "waiting": [
            {"path": str(path), "trust": str(target.folder)}
            | ({"refused": target.refused} if target.refused else {})
            for path, target in left
        ],
    }
    if asked.programs:
        document["programs"] = [{"key": one.key, "path": one.path} for one in asked.programs]
    return Answer(document, "\n".join(lines))


def _check_folder(bench: Workbench, named: str) -> None:
    """Raise Refusal for a file or a hook's name, with the folder to trust instead."""
    here = bench.setup.surroundings
    path = here.absolute(Path(named))
    if os.path.isdir(path):
        return
    found = bench.look().inventory.find(named)
    if os.path.isfile(path):
        target = folder_target(path.parent, bench.open())
        said = f"{named} is a file, and it is folders that are trusted."
    elif found is not None:
        target = trust_target(found.hook, bench.open())
        said = f"{named} is a hook, and it is folders that are trusted."
    else:
        return  # neither exists: the workbench reports it
    raise Refusal(said, f"`{target.command(here.short)}` allows the one that it lies in.")

"""`hookscope trust DIR`."""

import os
from pathlib import Path

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.core.text import as_typed, printable
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.left_out import waiting_below
from hookscope.workbench.named_programs import programs_allowed_by

MOST = 5  # links that are named one by one


@answers.command("trust", click.Argument(["folder"], metavar="DIR", type=click.Path()))
def command(options: Options, folder: str) -> Answer:
    """Allow the handlers in DIR, and in all folders below it, to run on this machine.

    What a link in DIR leads out to is not below it: that is said, with the command that allows it.
    """
    if not folder:  # a variable that is not set, most likely
        raise Refusal("An empty text names no folder.", "`hookscope trust .` is of this one.", code=2)
    bench = answers.bench_of(options)
    _check_folder(bench, folder)
    real = bench.trust(Path(folder))
    view = bench.look()
    short = view.host.surroundings.short
    lines = [f"Handlers in {printable(short(real))} may run now, in all folders below it too."]
    programs = programs_allowed_by(real, (bench.setup.python, bench.setup.node))
    lines += [
        f"So may {printable(short(Path(one.path)))}, which the workspace names under `{one.key}:`."
        for one in programs
    ]
    left = waiting_below(view, Path(folder))
    for path, root in left[:MOST]:
        at = short(root)
        lines.append(
            f"Not yet {printable(short(path))}: it leads to {printable(at)}; "
            f"`hookscope trust {printable(as_typed(at))}` allows that."
        )
    if len(left) > MOST:
        lines.append(f"{len(left) - MOST} more wait: `hookscope list` names them.")
    document: dict[str, object] = {
        "trusted": str(real),
        "waiting": [{"path": str(path), "trust": str(root)} for path, root in left],
    }
    if programs:
        document["programs"] = [{"key": one.key, "path": one.path} for one in programs]
    return Answer(document, "\n".join(lines))


def _check_folder(bench: Workbench, named: str) -> None:
    """Raises Refusal for a file and for a hook's name, with the folder that is trusted for it."""
    here = bench.setup.surroundings
    path = here.absolute(Path(named))
    if os.path.isdir(path):
        return
    found = bench.look().inventory.find(named)
    if os.path.isfile(path):
        of, said = path.parent, f"{named} is a file, and it is folders that are trusted."
    elif found is not None:
        of, said = found.hook.trust_root, f"{named} is a hook, and it is folders that are trusted."
    else:
        return  # what there is no word for but that it is not there
    raise Refusal(said, f"`hookscope trust {as_typed(here.short(of))}` allows the one that it lies in.")

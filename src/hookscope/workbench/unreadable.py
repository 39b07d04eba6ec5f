"""Files that are there and cannot be read, beside settings and hooks: Hookscope's own, and `.env` files."""

from collections.abc import Iterator
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Place, Problem
from hookscope.core.surroundings import RealFiles
from hookscope.core.text import why_of
from hookscope.workbench.state_files import state_folder, unreadable
from hookscope.workbench.variables import DOTENV

STATE_FILES = {
    "trust.json": "no folder counts as trusted",
    "packs/installed.json": "what is installed is not known",
    "tap/installed.json": "which taps are installed is not known",
}


def unreadable_files(host: Host) -> tuple[Problem, ...]:
    """A problem for each such file, with what follows from it."""
    return tuple(Problem(f"{why}; {meaning}", Place(file)) for file, why, meaning in _unreadable(host) if why)


def _unreadable(host: Host) -> Iterator[tuple[Path, str, str]]:
    for name, meaning in STATE_FILES.items():
        file = state_folder() / name
        yield file, unreadable(file), meaning
    undo = state_folder() / "undo"
    yield undo, unreadable(undo, folder=True), "nothing can be undone"
    rules, files = host.dialect.settings_rules, RealFiles()
    dotenv = [host.workspace / name for name in (*rules.project_dotenv, DOTENV)]
    if rules.dotenv is not None:
        dotenv.append(host.state / rules.dotenv)
    for file in dict.fromkeys(dotenv):
        trouble = files.trouble(file)
        why = f"cannot read {file}: {why_of(trouble)}" if trouble is not None else ""
        yield file, why, "its variables are not set"

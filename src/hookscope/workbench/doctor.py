"""What was detected, from where, and what is missing: one sentence each, with the next step."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hookscope.core.surroundings import Surroundings
from hookscope.workbench.trust import state_folder

if TYPE_CHECKING:
    from hookscope.workbench.bench import View
    from hookscope.workbench.options import Setup

OLDEST_PYTHON = (3, 9)  # that a worker runs on
PATIENCE = 10  # seconds for an interpreter to say its version


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. `well`: nothing needs doing."""

    name: str
    found: str
    well: bool = True
    then: str = ""


def examine_setup(view: View, setup: Setup) -> tuple[Finding, ...]:
    """Everything that decides what Hookscope shows here. Runs the handlers' interpreter for its version."""
    return (
        Finding("dialect", f"{view.host.dialect.name}, {view.because}"),
        *_places(view),
        *_folders(view),
        _trusted(view),
        _python(setup),
        _node(view, setup.surroundings),
    )


def _places(view: View) -> Iterator[Finding]:
    host = view.host
    there = host.workspace.is_dir()
    then = "" if there else "Run in the agent's folder, or name it with `--workspace DIR`."
    yield Finding("workspace", f"{host.workspace}" + ("" if there else ", which is not there"), there, then)
    if host.settings.problems:
        problem = host.settings.problems[0].text
        yield Finding("settings", problem, False, f"Mend {host.settings.file}.")
    elif host.settings.exists:
        yield Finding("settings", str(host.settings.file))
    else:
        yield Finding("settings", f"none yet; they would be in {host.settings.file}")
    for problem_ in host.problems:
        yield Finding("settings", problem_.text, False, f"Mend {host.settings.file}.")
    yield Finding("state", f"{state_folder()}, for what you trusted")


def _folders(view: View) -> Iterator[Finding]:
    for folder in sorted(view.host.folders, key=lambda folder: -folder.rank):
        rows = [row for row in view.inventory.hooks if row.hook.folder is folder]
        what = "absent" if folder.real is None else f"{len(rows)} hook{'s' * (len(rows) != 1)}"
        yield Finding(f"{folder.source} hooks", f"{folder.path}: {what}")


def _trusted(view: View) -> Finding:
    waiting = sorted({str(row.hook.trust_root) for row in view.inventory.hooks if row.state == "untrusted"})
    if not waiting:
        return Finding("trust", "every hook that could run is allowed to")
    then = f"`hookscope trust {waiting[0]}` allows it."
    return Finding("trust", f"not allowed to run yet: {', '.join(waiting)}", False, then)


def _python(setup: Setup) -> Finding:
    python = setup.python or sys.executable
    then = "`python:` in .hookscope/config.yaml names the interpreter, 3.9 or newer."
    try:
        asked = [python, "-I", "-c", "import sys; print(*sys.version_info[:3], sep='.')"]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=True)
        version = tuple(int(part) for part in done.stdout.strip().split("."))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return Finding("python", f"{python} does not say its version: {error}", False, then)
    found = f"{python}, version {done.stdout.strip()}"
    well = version >= OLDEST_PYTHON
    return Finding("python", found if well else f"{found}, too old for handlers", well, "" if well else then)


def _node(view: View, surroundings: Surroundings) -> Finding:
    needing = [row.hook.name for row in view.inventory.hooks if row.hook.language != "python"]
    node = surroundings.files.program("node", surroundings.search_path()).path
    found = node or "not on PATH"
    if not needing:
        return Finding("node", f"{found}; no hook here needs it")
    then = "This version runs Python handlers; those in TypeScript and JavaScript are explained only."
    need = "1 hook needs" if len(needing) == 1 else f"{len(needing)} hooks need"
    return Finding("node", f"{found}; {need} it: {', '.join(needing[:5])}", False, then)

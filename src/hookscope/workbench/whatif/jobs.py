"""What a launchd job gives its program."""

from __future__ import annotations

from pathlib import Path

from hookscope.core.surroundings import Surroundings
from hookscope.core.text import nearest
from hookscope.formats import FormatError
from hookscope.formats.launchd import read_launchd
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.whatif.source import Source
from hookscope.workbench.whatif.sources import home_in, read_small
from hookscope.workbench.whatif.users import User, user_here, user_named

LAUNCHD_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
OF_USER = "~/Library/LaunchAgents"
FOLDERS = (OF_USER, "/Library/LaunchAgents", "/Library/LaunchDaemons")
DAEMONS = "LaunchDaemons"


def job_named(label: str, here: Surroundings) -> Source:
    """The job of that label in the usual folders. Raises Refusal that names the nearest one."""
    known = {
        path.stem: path for folder in reversed(FOLDERS) for path in here.absolute(folder).glob("*.plist")
    }
    if label.removesuffix(".plist") not in known:
        near = nearest(label, known)
        looked = ", ".join(FOLDERS)
        then = (
            f"Did you mean launchd:{near}?" if near else f"Looked in {looked}; a path to a .plist works, too."
        )
        raise Refusal(f"There is no launchd job {label!r}.", then, code=2)
    return job_at(known[label.removesuffix(".plist")], here)


def job_at(path: Path, here: Surroundings) -> Source:
    """The job of that file. Raises Refusal."""
    try:
        job = read_launchd(read_small(path))
    except FormatError as error:
        raise Refusal(f"{path}: {error.problem}.", "Name another file.", code=2) from None
    notes = []
    daemon = path.parent.name == DAEMONS
    user = user_here(here)
    if daemon:
        user = user_named(job.user or "root") or User(job.user or "root")
    env = {"PATH": LAUNCHD_PATH, **user.variables(), **job.variables}
    if job.folder:
        notes.append(f"It works in {job.folder}; relative paths here still count from the current folder.")
    name = job.label or path.stem
    home = home_in(env)
    return Source(
        "launchd", f"job {name}", env, home=home, files=(path,), notes=tuple(notes), of_user=not daemon
    )

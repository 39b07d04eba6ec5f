"""An environment from what a user names: a file, a systemd unit, a launchd job, a running process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from hookscope.app.whatif.source import (
    EnvironmentSource,
    ServiceUser,
    current_user,
    user_named,
)
from hookscope.formats.environment_files import read_environment
from hookscope.formats.positions import FormatError
from hookscope.formats.service_units import read_launchd
from hookscope.model.machine import Machine
from hookscope.model.refusal import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason, nearest_word

SOURCE_FORMS = "FILE, unit:NAME, launchd:LABEL, pid:NUMBER or process:NAME"
LARGEST_FILE = 2**20  # bytes of a file with an environment: systems allow no more
SourceReader = Callable[[str, Machine], EnvironmentSource]


def environment_source(text: str, here: Machine) -> EnvironmentSource:
    """Return the environment that `text` names, on the real machine. Reads files, or asks the kernel for a
    process's environment. Raises Refusal.
    """
    kind, sign, rest = text.partition(":")
    if sign and kind in SOURCE_READERS:
        if not rest.strip() or "\0" in rest:
            raise Refusal(f"{text!r} names nothing.", f"An environment comes from {SOURCE_FORMS}.", code=2)
        return SOURCE_READERS[kind](rest.strip(), here)
    path = here.absolute(text)
    if path.suffix == ".service" and os.path.isfile(path):
        from hookscope.app.whatif.systemd import unit_at

        return unit_at(path, here)
    if path.suffix == ".plist" and os.path.isfile(path):
        return job_at(path, here)
    return _file(path, text, here)


def source_words(text: str) -> str:
    """Return the named source for a sentence: `unit gateway`, `file ~/service.env`."""
    kind, sign, rest = text.partition(":")
    return (
        f"{SOURCE_WORDS.get(kind, kind)} {rest.strip()}"
        if sign and kind in SOURCE_READERS
        else f"file {text}"
    )


def read_small(path: Path) -> bytes:
    """Return the bytes of a regular file of limited size. Raises Refusal."""
    try:
        if os.path.isfile(path) and path.stat().st_size > LARGEST_FILE:
            raise Refusal(f"{path} is too large for an environment.", f"Name {SOURCE_FORMS}.", code=2)
        if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would never end
            raise Refusal(f"{path} is no file.", f"An environment comes from {SOURCE_FORMS}.", code=2)
        return read_regular(path, LARGEST_FILE)
    except FileNotFoundError:
        raise Refusal(
            f"There is no file {path}.", f"An environment comes from {SOURCE_FORMS}.", code=2
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in its name
        why = error_reason(error)
        raise Refusal(f"Cannot read {path}: {why}.", "Nothing was assumed.", code=2) from None


def environment_home(env: Mapping[str, str]) -> Path | None:
    """Return the home that an environment names."""
    named = env.get("HOME", "")
    return Path(named) if os.path.isabs(named) else None


def _file(path: Path, text: str, here: Machine) -> EnvironmentSource:
    written = read_environment(read_small(path))
    if not written.variables:
        then = "It wants lines NAME=value, or what `env -0` prints."
        raise Refusal(f"{path} sets no variable.", then, code=2)
    home = environment_home(written.variables) if written.whole else None
    shown = here.short(path)
    return EnvironmentSource("file", f"file {shown}", written.variables, written.whole, home, (path,))


def _unit(name: str, here: Machine) -> EnvironmentSource:
    from hookscope.app.whatif.systemd import unit_named

    return unit_named(name, here)


def _job(label: str, here: Machine) -> EnvironmentSource:

    return job_named(label, here)


def _pid(number: str, here: Machine) -> EnvironmentSource:
    from hookscope.app.whatif.processes import process_numbered

    return process_numbered(number)


def _process(name: str, here: Machine) -> EnvironmentSource:
    from hookscope.app.whatif.processes import process_named

    return process_named(name)


SOURCE_READERS: Mapping[str, SourceReader] = {
    "unit": _unit,
    "launchd": _job,
    "pid": _pid,
    "process": _process,
}
SOURCE_WORDS = {"launchd": "job", "pid": "process"}


LAUNCHD_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
USER_JOBS = "~/Library/LaunchAgents"
JOB_FOLDERS = (USER_JOBS, "/Library/LaunchAgents", "/Library/LaunchDaemons")
DAEMONS = "LaunchDaemons"


def job_named(label: str, here: Machine) -> EnvironmentSource:
    """Return the launchd job with this label. Raises Refusal with the closest match."""
    known = {
        path.stem: path for folder in reversed(JOB_FOLDERS) for path in here.absolute(folder).glob("*.plist")
    }
    if label.removesuffix(".plist") not in known:
        near = nearest_word(label, known)
        looked = ", ".join(JOB_FOLDERS)
        then = (
            f"Did you mean launchd:{near}?" if near else f"Looked in {looked}; a path to a .plist works, too."
        )
        raise Refusal(f"There is no launchd job {label!r}.", then, code=2)
    return job_at(known[label.removesuffix(".plist")], here)


def job_at(path: Path, here: Machine) -> EnvironmentSource:
    """Return the launchd job in this file. Raises Refusal."""
    try:
        job = read_launchd(read_small(path))
    except FormatError as error:
        raise Refusal(f"{path}: {error.problem}.", "Name another file.", code=2) from None
    notes = []
    daemon = path.parent.name == DAEMONS
    user = current_user(here)
    if daemon:
        user = user_named(job.user or "root") or ServiceUser(job.user or "root")
    env = {"PATH": LAUNCHD_PATH, **user.variables(), **job.variables}
    if job.folder:
        notes.append(f"It works in {job.folder}; relative paths here still count from the current folder.")
    name = job.label or path.stem
    home = environment_home(env)
    return EnvironmentSource(
        "launchd", f"job {name}", env, home=home, files=(path,), notes=tuple(notes), of_user=not daemon
    )

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


def environment_source(text: str, machine: Machine) -> EnvironmentSource:
    """Return the environment that `text` names, on the real machine. Reads files, or asks the kernel for a
    process's environment. Raises Refusal.
    """
    kind, sign, rest = text.partition(":")
    if sign and kind in SOURCE_READERS:
        if not rest.strip() or "\0" in rest:
            raise Refusal(f"{text!r} names nothing.", f"An environment comes from {SOURCE_FORMS}.", code=2)
        return SOURCE_READERS[kind](rest.strip(), machine)
    path = machine.absolute(text)
    if path.suffix == ".service" and os.path.isfile(path):
        from hookscope.app.whatif.systemd import unit_at

        return unit_at(path, machine)
    if path.suffix == ".plist" and os.path.isfile(path):
        return job_at(path, machine)
    return _file(path, text, machine)


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


def _file(path: Path, text: str, machine: Machine) -> EnvironmentSource:
    written = read_environment(read_small(path))
    if not written.variables:
        next_step = "It wants lines NAME=value, or what `env -0` prints."
        raise Refusal(f"{path} sets no variable.", next_step, code=2)
    home = environment_home(written.variables) if written.is_complete else None
    shown = machine.short(path)
    return EnvironmentSource("file", f"file {shown}", written.variables, written.is_complete, home, (path,))


def _unit(name: str, machine: Machine) -> EnvironmentSource:
    from hookscope.app.whatif.systemd import unit_named

    return unit_named(name, machine)


def _job(label: str, machine: Machine) -> EnvironmentSource:

    return job_named(label, machine)


def _pid(number: str, machine: Machine) -> EnvironmentSource:
    from hookscope.app.whatif.processes import process_numbered

    return process_numbered(number)


def _process(name: str, machine: Machine) -> EnvironmentSource:
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


def job_named(label: str, machine: Machine) -> EnvironmentSource:
    """Return the launchd job with this label. Raises Refusal with the closest match."""
    known = {
        path.stem: path
        for folder in reversed(JOB_FOLDERS)
        for path in machine.absolute(folder).glob("*.plist")
    }
    if label.removesuffix(".plist") not in known:
        closest = nearest_word(label, known)
        searched = ", ".join(JOB_FOLDERS)
        next_step = (
            f"Did you mean launchd:{closest}?"
            if closest
            else f"Looked in {searched}; a path to a .plist works, too."
        )
        raise Refusal(f"There is no launchd job {label!r}.", next_step, code=2)
    return job_at(known[label.removesuffix(".plist")], machine)


def job_at(path: Path, machine: Machine) -> EnvironmentSource:
    """Return the launchd job in this file. Raises Refusal."""
    try:
        job = read_launchd(read_small(path))
    except FormatError as error:
        raise Refusal(f"{path}: {error.problem}.", "Name another file.", code=2) from None
    notes = []
    daemon = path.parent.name == DAEMONS
    user = current_user(machine)
    if daemon:
        user = user_named(job.user or "root") or ServiceUser(job.user or "root")
    env = {"PATH": LAUNCHD_PATH, **user.variables(), **job.variables}
    if job.folder:
        notes.append(f"It works in {job.folder}; relative paths here still count from the current folder.")
    name = job.label or path.stem
    home = environment_home(env)
    return EnvironmentSource(
        "launchd", f"job {name}", env, home=home, files=(path,), notes=tuple(notes), is_user_unit=not daemon
    )

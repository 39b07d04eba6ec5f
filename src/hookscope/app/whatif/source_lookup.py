"""Reads an environment that a user names: of a file, a systemd unit, a launchd job or a process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from hookscope.formats.environment_files import read_block
from hookscope.formats.positions import FormatError
from hookscope.formats.service_units import read_launchd
from hookscope.helpers import helper_output
from hookscope.model.failure import Refusal
from hookscope.model.machine import Machine
from hookscope.model.regular_file import read_regular, reraise_file_limit
from hookscope.model.text import error_reason, nearest_word, one_line
from hookscope.values import dataclass

SourceKind = Literal["file", "unit", "launchd", "process"]


@dataclass(frozen=True, slots=True)
class EnvironmentSource:
    """An environment other than this shell's."""

    kind: SourceKind
    description: str  # in a sentence: "unit gateway.service"
    env: Mapping[str, str] = field(repr=False)  # values may be secrets
    replaces_all: bool = True  # False: it is merged into this shell's
    home: Path | None = None  # home of the user it runs as, if known
    files: tuple[Path, ...] = ()  # what it was read from, the main one first
    notes: tuple[str, ...] = ()  # unknown facts, as sentences
    is_user_unit: bool = True  # of a unit: run by the user's manager, not the system's


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """A user of this machine, as far as known."""

    name: str
    home: str = ""
    shell: str = ""
    number: int = -1

    def variables(self) -> dict[str, str]:
        """Return the variables that service managers set for the user of a service."""
        found = {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell}
        return {name: value for name, value in found.items() if value}


def user_named(name: str) -> ServiceUser | None:
    """Return the user with this name or number; None if there is none."""
    try:
        import pwd
    except ImportError:  # Windows
        return None
    try:
        found = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
    except (KeyError, OverflowError, ValueError):
        return None
    return ServiceUser(found.pw_name, found.pw_dir, found.pw_shell, found.pw_uid)


def current_user(machine: Machine) -> ServiceUser:
    """Return the current user; the home is that of the machine."""
    number = os.getuid() if hasattr(os, "getuid") else -1
    found = user_named(str(number)) if number >= 0 else None
    name = found.name if found is not None else machine.env.get("USER", "")
    return ServiceUser(name, str(machine.home), found.shell if found is not None else "", number)


PROC = Path("/proc")
PATIENCE = 5  # seconds that `ps` may take
MOST = 5  # processes of one name that are listed
INTERPRETERS = re.compile(r"(node|bun|deno|python[\d.]*|ruby|perl|sh|bash)")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def process_numbered(text: str) -> EnvironmentSource:
    """Return the environment of the process with this id. Raises Refusal if it cannot be read."""
    if not text.isascii() or not text.isdigit():
        raise Refusal(f"{text!r} is not a process number.", "Use a number, as in `pid:4711`.", code=2)
    return _process_source(int(text), f"process {text}")


def process_named(name: str) -> EnvironmentSource:
    """Return the environment of the one process with this name: its program, or an interpreter's script.

    Raises Refusal if none or several match.
    """
    names = {pid: known for pid, known in _names() if pid != os.getpid()}
    found = [pid for pid, known in names.items() if name in known]
    if len(found) > 1:
        listed = ", ".join(map(str, found[:MOST])) + (" …" if len(found) > MOST else "")
        raise Refusal(
            f"{len(found)} processes are called {name}: {listed}.", f"Name one: `pid:{found[0]}`.", code=2
        )
    if not found:
        closest = nearest_word(name, {one for known in names.values() for one in known})
        next_step = (
            f"Did you mean {one_line(closest)}?" if closest else "`pid:NUMBER` selects one by its number."
        )
        raise Refusal(f"No process is called {name}.", next_step, code=2)
    return _process_source(found[0], f"process {name} ({found[0]})")


def _process_source(pid: int, description: str) -> EnvironmentSource:
    env = _by_ps(pid) if sys.platform == "darwin" else _by_proc(pid)
    if not env:
        raise Refusal(f"Process {pid} has no readable environment.", "Name another one, or a file.", code=2)
    return EnvironmentSource("process", description, env, home=environment_home(env))


def _by_proc(pid: int) -> dict[str, str]:
    if not PROC.is_dir():
        raise Refusal("This system does not show the environment of processes.", "Name a file.", code=2)
    try:
        return read_block((PROC / str(pid) / "environ").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        raise Refusal(
            f"There is no process {pid}.", "`process:NAME` finds one by its name.", code=2
        ) from None
    except PermissionError:
        raise Refusal(
            f"Cannot read the environment of process {pid}: it belongs to another user.",
            f"Write the environment to a file as an administrator: `sudo cat {PROC}/{pid}/environ > FILE`.",
            code=2,
        ) from None
    except OSError as error:
        raise Refusal(f"Cannot read process {pid}: {error_reason(error)}.", "Name a file.", code=2) from None


def _names() -> Iterator[tuple[int, frozenset[str]]]:
    """Yield every process id with the names by which users may name it."""
    if sys.platform == "darwin":
        for line in _ps("-axo", "pid=,command=").splitlines():
            pid, _, command = line.strip().partition(" ")
            if pid.isdigit():
                yield int(pid), process_names(command.split())
        return
    try:
        numbers = sorted(int(entry) for entry in os.listdir(PROC) if entry.isdigit())
    except OSError:
        return
    for number in numbers:
        try:
            command_line = (PROC / str(number) / "cmdline").read_bytes().decode("utf-8", "replace")
            comm = (PROC / str(number) / "comm").read_text("utf-8", "replace").strip()
        except OSError:  # it has exited meanwhile
            continue
        if command_line:  # kernel threads have none
            yield number, process_names(command_line.split("\0")) | {comm}


def process_names(arguments: list[str]) -> frozenset[str]:
    """Return a process's names: its program; for an interpreter also its script, with and without suffix."""
    if not arguments or not arguments[0]:
        return frozenset()
    program = os.path.basename(arguments[0])
    names = {program}
    script = next((one for one in arguments[1:] if one and not one.startswith("-")), "")
    if script and INTERPRETERS.fullmatch(program):
        script = os.path.basename(script)
        names |= {script, os.path.splitext(script)[0]}
    return frozenset(names)


def _by_ps(pid: int) -> dict[str, str]:
    output = _ps("eww", "-o", "command=", "-p", str(pid))
    if not output.strip():
        raise Refusal(f"There is no process {pid}.", "`process:NAME` finds one by its name.", code=2)
    return variables_of_ps(output)


def variables_of_ps(output: str) -> dict[str, str]:
    """Return the environment in the output of `ps eww`: command and variables, separated by spaces.

    A value with a space continues up to the next word that looks like a variable.
    """
    found: dict[str, str] = {}
    last = ""
    for word in output.strip().split(" "):
        match = _VARIABLE.fullmatch(word)
        if match is not None:
            last = match[1]
            found[last] = match[2]
        elif last:
            found[last] += f" {word}"
    return found


def _ps(*arguments: str) -> str:
    try:
        return helper_output(["/bin/ps", *arguments], seconds=PATIENCE).text
    except OSError as error:
        reraise_file_limit(error)
        return ""


SOURCE_FORMS = "FILE, unit:NAME, launchd:LABEL, pid:NUMBER or process:NAME"
LARGEST_FILE = 2**20  # bytes of a file with an environment: systems allow no more


def read_small(path: Path) -> bytes:
    """Return the bytes of a regular file of limited size. Raises Refusal."""
    try:
        if os.path.isfile(path) and path.stat().st_size > LARGEST_FILE:
            raise Refusal(f"{path} is too large for an environment.", f"Use {SOURCE_FORMS}.", code=2)
        if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would never end
            raise Refusal(f"{path} is not a file.", f"Use {SOURCE_FORMS}.", code=2)
        return read_regular(path, LARGEST_FILE)
    except FileNotFoundError:
        raise Refusal(f"There is no file {path}.", f"Use {SOURCE_FORMS}.", code=2) from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in its name
        why = error_reason(error)
        raise Refusal(f"Cannot read {path}: {why}.", "Nothing was assumed.", code=2) from None


def environment_home(env: Mapping[str, str]) -> Path | None:
    """Return the home that an environment names."""
    named = env.get("HOME", "")
    return Path(named) if os.path.isabs(named) else None


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
            else f"Looked in {searched}. You can also name a path to a .plist."
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
        notes.append(f"It runs in {job.folder}, but relative paths here still start at the current folder.")
    name = job.label or path.stem
    home = environment_home(env)
    return EnvironmentSource(
        "launchd", f"job {name}", env, home=home, files=(path,), notes=tuple(notes), is_user_unit=not daemon
    )

"""The environment of a running process, as it was when the process started."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from hookscope.app.whatif.source import EnvironmentSource
from hookscope.formats.environment_files import read_block
from hookscope.helpers import helper_output
from hookscope.model.refusal import Refusal
from hookscope.model.regular_file import reraise_file_limit
from hookscope.model.text import error_reason, nearest_word, one_line

PROC = Path("/proc")
PATIENCE = 5  # seconds that `ps` may take
MOST = 5  # processes of one name that are listed
INTERPRETERS = re.compile(r"(node|bun|deno|python[\d.]*|ruby|perl|sh|bash)")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def process_numbered(text: str) -> EnvironmentSource:
    """Return the environment of a process id. Raises Refusal if it does not exist or is not readable."""
    if not text.isascii() or not text.isdigit():
        raise Refusal(f"{text!r} is no number of a process.", "`pid:4711` names one.", code=2)
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
            f"Did you mean {one_line(closest)}?" if closest else "`pid:NUMBER` names one by its number."
        )
        raise Refusal(f"No process is called {name}.", next_step, code=2)
    return _process_source(found[0], f"process {name} ({found[0]})")


def _process_source(pid: int, description: str) -> EnvironmentSource:
    env = _by_ps(pid) if sys.platform == "darwin" else _by_proc(pid)
    if not env:
        raise Refusal(f"Process {pid} tells no environment.", "Name another one, or a file.", code=2)
    home = Path(env["HOME"]) if os.path.isabs(env.get("HOME", "")) else None
    return EnvironmentSource("process", description, env, home=home)


def _by_proc(pid: int) -> dict[str, str]:
    if not PROC.is_dir():
        raise Refusal("Processes tell no environment on this system.", "Name a file.", code=2)
    try:
        return read_block((PROC / str(pid) / "environ").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        raise Refusal(f"There is no process {pid}.", "`process:NAME` finds one by name.", code=2) from None
    except PermissionError:
        raise Refusal(
            f"The environment of process {pid} may not be read: it belongs to another user.",
            f"Write it to a file with their rights: `sudo cat {PROC}/{pid}/environ > FILE`.",
            code=2,
        ) from None
    except OSError as error:
        raise Refusal(f"Cannot read process {pid}: {error_reason(error)}.", "Name a file.", code=2) from None


def _names() -> Iterator[tuple[int, frozenset[str]]]:
    """Yield every process id with the names people use for it."""
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
    """Return a process's names: its program; for an interpreter the script, with and without extension."""
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
        raise Refusal(f"There is no process {pid}.", "`process:NAME` finds one by name.", code=2)
    return variables_of_ps(output)


def variables_of_ps(output: str) -> dict[str, str]:
    """Return the environment in the output of `ps eww`: command and variables, separated by blanks.

    A value with a blank continues up to the next word that looks like a variable.
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

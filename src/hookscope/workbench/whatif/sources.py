"""An environment from what a user names: a file, a unit, a launchd job, a running process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from hookscope.core.regular_file import read_regular
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import why_of
from hookscope.formats.environment import read_environment
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.whatif.source import Source

FORMS = "FILE, unit:NAME, launchd:LABEL, pid:NUMBER or process:NAME"
LARGEST = 2**20  # bytes of a file with an environment: systems allow no more
Read = Callable[[str, Surroundings], Source]


def source_of(text: str, here: Surroundings) -> Source:
    """The environment that `text` names; `here` is the real machine. Reads files, or asks the kernel for a
    process's environment. Raises Refusal.
    """
    kind, sign, rest = text.partition(":")
    if sign and kind in KINDS:
        if not rest.strip() or "\0" in rest:
            raise Refusal(f"{text!r} names nothing.", f"An environment comes from {FORMS}.", code=2)
        return KINDS[kind](rest.strip(), here)
    path = here.absolute(text)
    if path.suffix == ".service" and os.path.isfile(path):
        from hookscope.workbench.whatif.units import unit_at

        return unit_at(path, here)
    if path.suffix == ".plist" and os.path.isfile(path):
        from hookscope.workbench.whatif.jobs import job_at

        return job_at(path, here)
    return _file(path, text, here)


def called(text: str) -> str:
    """What a user names, in a sentence: `unit gateway`, `file ~/service.env`."""
    kind, sign, rest = text.partition(":")
    return f"{CALLED.get(kind, kind)} {rest.strip()}" if sign and kind in KINDS else f"file {text}"


def read_small(path: Path) -> bytes:
    """A regular file of a bounded size. Raises Refusal."""
    try:
        if os.path.isfile(path) and path.stat().st_size > LARGEST:
            raise Refusal(f"{path} is too large for an environment.", f"Name {FORMS}.", code=2)
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be read for ever
            raise Refusal(f"{path} is no file.", f"An environment comes from {FORMS}.", code=2)
        return read_regular(path, LARGEST)
    except FileNotFoundError:
        raise Refusal(f"There is no file {path}.", f"An environment comes from {FORMS}.", code=2) from None
    except (OSError, ValueError) as error:  # the latter: a null byte in its name
        why = why_of(error)
        raise Refusal(f"Cannot read {path}: {why}.", "Nothing was assumed.", code=2) from None


def home_in(env: Mapping[str, str]) -> Path | None:
    """The home that an environment names."""
    named = env.get("HOME", "")
    return Path(named) if os.path.isabs(named) else None


def _file(path: Path, text: str, here: Surroundings) -> Source:
    written = read_environment(read_small(path))
    if not written.variables:
        then = "It wants lines NAME=value, or what `env -0` prints."
        raise Refusal(f"{path} sets no variable.", then, code=2)
    home = home_in(written.variables) if written.whole else None
    shown = here.short(path)
    return Source("file", f"file {shown}", written.variables, written.whole, home, (path,))


def _unit(name: str, here: Surroundings) -> Source:
    from hookscope.workbench.whatif.units import unit_named

    return unit_named(name, here)


def _job(label: str, here: Surroundings) -> Source:
    from hookscope.workbench.whatif.jobs import job_named

    return job_named(label, here)


def _pid(number: str, here: Surroundings) -> Source:
    from hookscope.workbench.whatif.processes import process_numbered

    return process_numbered(number)


def _process(name: str, here: Surroundings) -> Source:
    from hookscope.workbench.whatif.processes import process_named

    return process_named(name)


KINDS: Mapping[str, Read] = {
    "unit": _unit,
    "launchd": _job,
    "pid": _pid,
    "process": _process,
}
CALLED = {"launchd": "job", "pid": "process"}

"""The machine with its what-if options applied, and the assumptions in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.formats.environment_files import read_environment
from hookscope.host_options import CLEAN_ENV, HOST_FIELDS, MACHINE_FIELDS, PLATFORMS
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import agent_names
from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.machine import Machine, real_machine

if TYPE_CHECKING:
    from hookscope.app.options import Options
    from hookscope.app.whatif.source_lookup import EnvironmentSource


def suggestions(host: Host) -> Mapping[str, Sequence[str]]:
    """Return the values that the what-if form suggests, by field."""
    return {
        "platform": PLATFORMS,
        "environment": source_suggestions(),
        "agent": agent_names(host.dialect, host.settings),
        "host": tuple(DIALECTS),
    }


def source_suggestions() -> tuple[str, ...]:
    """Return the units and jobs that users created, and the name of the bare environment. Reads folders."""
    from hookscope.app.whatif.source_lookup import JOB_FOLDERS  # here and below: most scans have no what-if
    from hookscope.app.whatif.systemd import SERVICE, SYSTEM_UNITS, user_units

    machine = real_machine()
    units = (user_units(machine.env, machine.home)[0], SYSTEM_UNITS[0])
    found = [f"unit:{path.stem}" for folder in units for path in _names_in(Path(folder), SERVICE)]
    found += [
        f"launchd:{path.stem}"
        for folder in JOB_FOLDERS
        for path in _names_in(machine.absolute(folder), ".plist")
    ]
    return (*dict.fromkeys(found), CLEAN_ENVIRONMENT)


def _names_in(folder: Path, ending: str) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if path.suffix == ending)
    except OSError:
        return


SOURCE_WORDS = {"unit": "unit", "launchd": "job", "pid": "process", "process": "process"}


def environment_source(text: str, machine: Machine) -> EnvironmentSource:
    """Return the environment that `text` names, on the real machine. Reads files, or asks the kernel for a
    process's environment. Raises Refusal.
    """
    from hookscope.app.whatif import source_lookup, systemd

    readers: Mapping[str, Callable[[str, Machine], EnvironmentSource]] = {
        "unit": systemd.unit_named,
        "launchd": source_lookup.job_named,
        "pid": lambda number, _: source_lookup.process_numbered(number),
        "process": lambda name, _: source_lookup.process_named(name),
    }
    kind, sign, rest = text.partition(":")
    if sign and kind in readers:
        if not rest.strip() or "\0" in rest:
            next_step = f"Use {source_lookup.SOURCE_FORMS}."
            raise Refusal(f"{text!r} has no name after the colon.", next_step, code=2)
        return readers[kind](rest.strip(), machine)
    path = machine.absolute(text)
    if path.suffix == ".service" and os.path.isfile(path):
        return systemd.unit_at(path, machine)
    if path.suffix == ".plist" and os.path.isfile(path):
        return source_lookup.job_at(path, machine)
    return _file(path, text, machine)


def source_words(text: str) -> str:
    """Return the named source for a sentence: `unit gateway`, `file ~/service.env`."""
    kind, sign, rest = text.partition(":")
    return f"{SOURCE_WORDS[kind]} {rest.strip()}" if sign and kind in SOURCE_WORDS else f"file {text}"


def _file(path: Path, text: str, machine: Machine) -> EnvironmentSource:
    from hookscope.app.whatif.source_lookup import EnvironmentSource, environment_home, read_small

    variables = read_environment(read_small(path))
    if not variables:
        next_step = "It needs lines NAME=value, or the output of `env -0`."
        raise Refusal(f"{path} sets no variable.", next_step, code=2)
    is_complete = "PATH" in variables  # else they are merged into this shell's
    home = environment_home(variables) if is_complete else None
    return EnvironmentSource("file", f"file {machine.short(path)}", variables, is_complete, home, (path,))


SERVICE_PATH = "/usr/local/bin:/usr/bin:/bin"  # what a service manager usually gives a daemon
CLEAN_ENVIRONMENT = "clean"  # the name of the bare environment
OPTION_NAMES = 3  # variables that are named; the others are counted


def assumed_machine(options: Options) -> tuple[Machine, EnvironmentSource | None]:
    """Return the machine that the rules see, and the source of its environment if --env-from names one.

    The environment is that of --env-from, the bare one of --clean-env, or this shell's; --path and then
    --env override it. Raises Refusal.
    """
    machine = _at_home(options)
    env, home, source = dict(machine.env), machine.home, None
    assumed = set(machine.assumed) | options.supposed
    if options.clean_env:
        env = {"HOME": str(home), "PATH": SERVICE_PATH}
    if options.env_from is not None:
        source = environment_source(options.env_from, machine)
        env = {**({} if source.replaces_all else env), **source.env}
        if options.home is not None:
            env["HOME"] = str(home)
        elif source.home is not None:
            home = source.home
    if options.path is not None:
        env["PATH"] = assumed_path(options.path, env.get("PATH", ""), machine)
    env |= options.env
    if options.clean_env or options.env_from is not None or options.path is not None or options.env:
        assumed.add("env")
    if options.os is not None:
        assumed.add("os")
    platform = options.os or machine.platform
    return replace(machine, platform=platform, env=env, home=home, assumed=frozenset(assumed)), source


def _at_home(options: Options) -> Machine:
    """Return this machine with the home that the options name."""
    machine = real_machine(options.home)
    if options.home is None or machine.env.get("HOME") == str(machine.home):
        return machine
    # Variables of the real home would lead back to it.
    moved = {
        variable
        for dialect in DIALECTS.values()
        for variable in (
            dialect.layout.state_variable,
            dialect.layout.settings_variable,
            dialect.layout.workspace_variable,
            dialect.layout.home_variable,
            dialect.layout.profile_variable,
        )
    }
    env = {name: value for name, value in machine.env.items() if name not in moved}
    return replace(machine, env={**env, "HOME": str(machine.home)})


def assumed_path(text: str, before: str, machine: Machine) -> str:
    """Return PATH under --path: its folders replace PATH, or with a leading `+` come before it."""
    parts = text.removeprefix("+").split(os.pathsep)
    folders = [str(machine.absolute(part)) if part.startswith("~") else part for part in parts if part]
    kept = [before] if text.startswith("+") and before else []
    return os.pathsep.join([*folders, *kept])


def assumption_words(options: Options, machine: Machine) -> tuple[str, ...]:
    """Return each assumption in a few words; empty if there is none. Shows values of --path only."""
    words = [f"os {options.os}"] if options.os is not None else []
    if options.env_from is not None:
        words.append(f"environment of {source_words(options.env_from)}{_differing(machine.env)}")
    elif options.clean_env:
        words.append(f"a bare environment{_differing(machine.env)}")
    if options.path is not None:
        words.append(f"PATH {options.path}")
    if options.env:
        words.append(f"{short_list(tuple(options.env))} set")
    if options.home is not None:
        words.append(f"home {options.home}")
    words += [f"{name} {value}" for name, value in what_if_options(options).items()]
    return tuple(words)


def what_if_options(options: Options) -> Mapping[str, object]:
    """Return the values of the host options that are part of this what-if, by field name."""
    return {
        name: getattr(options, option.name)
        for name, option in HOST_FIELDS.items()
        if name in options.supposed
    }


def without_what_if(options: Options) -> Options:
    """Return the options without the what-if. `home` is kept: the user chose it at the start."""
    assumed = [*MACHINE_FIELDS.values(), CLEAN_ENV, *(HOST_FIELDS[name] for name in options.supposed)]
    real = type(options)()
    return replace(options, **{one.name: getattr(real, one.name) for one in assumed}, supposed=frozenset())


def recorded_assumptions(options: Options) -> tuple[list[str], str]:
    """Return the assumptions as a run records them, and as one sentence beginning with "What if:".

    An environment that can no longer be read, since its process has exited, is still named.
    """
    try:
        machine, _ = assumed_machine(options)
        words = assumption_words(options, machine)
    except Refusal:
        machine = real_machine(options.home)
        words = (f"environment of {options.env_from}",)
    return sorted(machine.assumed), f"What if: {', '.join(words)}."


def has_what_if(options: Options) -> bool:
    """Return whether anything is assumed that differs from this machine."""
    values = (options.os, options.env_from, options.path, options.home)
    return any(one is not None for one in values) or bool(
        options.clean_env or options.env or options.supposed
    )


def _differing(env: Mapping[str, str]) -> str:
    real = os.environ
    number = sum(env.get(name) != real.get(name) for name in {*env, *real})
    return f" ({number} variable{' differs' if number == 1 else 's differ'})"


def short_list(names: tuple[str, ...]) -> str:
    """Return a few names and the number of others."""
    more = len(names) - OPTION_NAMES
    return ", ".join(names[:OPTION_NAMES]) + (f" and {more} more" if more > 0 else "")

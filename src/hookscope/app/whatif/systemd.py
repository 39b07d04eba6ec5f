"""systemd units: the unit's file, its drop-ins, and the environment that it gives a service."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from glob import glob
from pathlib import Path

from hookscope.app.whatif.source_lookup import (
    EnvironmentSource,
    ServiceUser,
    current_user,
    environment_home,
    read_small,
    user_named,
)
from hookscope.formats.environment_files import read_block
from hookscope.formats.service_units import (
    UnitSetting,
    expand_specifiers,
    parse_assignment,
    read_environment_file,
    read_unit,
    unit_words,
)
from hookscope.model.failure import Refusal
from hookscope.model.machine import Machine
from hookscope.model.text import nearest_word
from hookscope.values import dataclass

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ROOT = ServiceUser("root", "/root", "/bin/sh", 0)
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class UnitEnvironment:
    """The environment that a unit gives its program."""

    env: Mapping[str, str] = field(repr=False)
    home: Path | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


class _UnitReader:
    """Reads one unit, once."""

    def __init__(self, unit_name: str, is_user_unit: bool, machine: Machine) -> None:
        self.is_user_unit, self.machine = is_user_unit, machine
        self.manager = current_user(machine) if is_user_unit else ROOT
        self.specifiers = _specifiers(unit_name, self.manager, is_user_unit, machine)
        self.notes: dict[str, None] = {}
        self.files: list[Path] = []

    def read(self, settings: Sequence[UnitSetting]) -> UnitEnvironment:
        env = self._manager(settings)
        env |= self._assigned_variables(settings)
        for file, optional in self._files_named(settings):
            env |= self._file_variables(file, optional)
        for word in self._words(settings, "UnsetEnvironment"):
            name, sign, value = word.partition("=")
            if name in env and (not sign or env[name] == value):
                del env[name]
        folder = self._last(settings, "WorkingDirectory").removeprefix("-")
        if folder:
            self._note(f"It runs in {folder}, but relative paths here still start at the current folder.")
        home = environment_home(env) or self._home(settings)
        return UnitEnvironment(env, home, tuple(self.files), tuple(self.notes))

    def _manager(self, settings: Sequence[UnitSetting]) -> dict[str, str]:
        """Return the environment that the manager provides by default."""
        if self.is_user_unit:
            inherited = _user_manager(self.manager)
            if inherited:
                return inherited
            self._note("The user's service manager is not running: its usual variables are used instead.")
            return {"PATH": SYSTEM_PATH, **self.manager.variables()}
        passed = self._words(settings, "PassEnvironment")
        if passed:
            self._note(f"The system manager's values are unknown: {', '.join(passed)}.")
        env = {"PATH": SYSTEM_PATH}
        name = self._last(settings, "User")
        if name:
            env |= self._user(name).variables()
        return env

    def _user(self, name: str) -> ServiceUser:
        user = user_named(name)
        if user is None:
            self._note(f"User={name}: this machine has no such user, so its home is unknown.")
        return user or ServiceUser(name)

    def _home(self, settings: Sequence[UnitSetting]) -> Path | None:
        name = self._last(settings, "User")
        user = self.manager if self.is_user_unit or not name else user_named(name)
        return Path(user.home) if user is not None and user.home else None

    def _assigned_variables(self, settings: Sequence[UnitSetting]) -> dict[str, str]:
        found = {}
        for word in self._words(settings, "Environment"):
            pair = parse_assignment(word)
            if pair is None:
                self._note("Environment= has a word that is not NAME=value. Quote all of NAME=value.")
            else:
                found[pair[0]] = pair[1]
        return found

    def _files_named(self, settings: Sequence[UnitSetting]) -> list[tuple[str, bool]]:
        named: list[tuple[str, bool]] = []
        for one in settings:
            if one.key == "EnvironmentFile" and not one.value:
                named = []
            elif one.key == "EnvironmentFile":
                value = self._expanded(one.value.strip("\"'"))
                named.append((value.removeprefix("-"), value.startswith("-")))
        return named

    def _file_variables(self, name: str, optional: bool) -> dict[str, str]:
        found: dict[str, str] = {}
        files = sorted(glob(name)) if any(sign in name for sign in "*?[") else [name]
        for file in files if os.path.isabs(name) else []:
            path = Path(file)
            try:
                exists = path.exists()
            except OSError:
                exists = True
            if exists:
                try:
                    found |= read_environment_file(read_small(path))
                    self.files.append(path)
                except Refusal as error:
                    self._note(f"EnvironmentFile={name} is skipped. {error.problem}")
            elif not optional:
                self._note(f"EnvironmentFile={name} does not exist: the service would not start.")
        if not os.path.isabs(name):
            self._note(f"EnvironmentFile={name} is not an absolute path: it is ignored.")
        return found

    def _words(self, settings: Sequence[UnitSetting], key: str) -> list[str]:
        """Return all words of a list setting; an empty value resets the list."""
        found: list[str] = []
        for one in settings:
            if one.key != key:
                continue
            words, problem = unit_words(one.value)
            if problem:
                self._note(f"{key}= in line {one.line}: {problem}, so the rest is ignored.")
            found = [*found, *map(self._expanded, words)] if one.value else []
        return found

    def _last(self, settings: Sequence[UnitSetting], key: str) -> str:
        values = [one.value for one in settings if one.key == key]
        return self._expanded(values[-1]) if values else ""

    def _expanded(self, text: str) -> str:
        done, unknown = expand_specifiers(text, self.specifiers)
        for specifier in unknown:
            self._note(f"The specifier {specifier} is unknown to Hookscope and is left as written.")
        return done

    def _note(self, text: str) -> None:
        self.notes[text] = None


def _specifiers(
    unit_name: str, manager: ServiceUser, is_user_unit: bool, machine: Machine
) -> Mapping[str, str]:
    stem = unit_name.rpartition(".")[0]
    prefix, _, instance = stem.partition("@")
    home = manager.home
    runtime = machine.env.get("XDG_RUNTIME_DIR", f"/run/user/{manager.number}") if is_user_unit else "/run"
    return {
        "n": unit_name,
        "N": stem,
        "p": prefix,
        "P": _unescaped(prefix),
        "i": instance,
        "I": _unescaped(instance),
        "j": prefix.rpartition("-")[2],
        "f": "/" + _unescaped(instance or prefix).lstrip("/"),
        "h": home,
        "u": manager.name,
        "U": str(manager.number),
        "s": manager.shell,
        "t": runtime,
        "E": machine.env.get("XDG_CONFIG_HOME", f"{home}/.config") if is_user_unit else "/etc",
        "S": machine.env.get("XDG_STATE_HOME", f"{home}/.local/state") if is_user_unit else "/var/lib",
        "C": machine.env.get("XDG_CACHE_HOME", f"{home}/.cache") if is_user_unit else "/var/cache",
        "T": "/tmp",
        "V": "/var/tmp",
    }


def _unescaped(text: str) -> str:
    """Return a name as `systemd-escape --unescape` prints it."""
    parts = text.replace("-", "/").split("\\x")
    done = parts[0]
    for part in parts[1:]:
        try:
            done += chr(int(part[:2], 16)) + part[2:]
        except ValueError:
            done += f"\\x{part}"
    return done


def _user_manager(user: ServiceUser) -> dict[str, str]:
    """Return the environment of the user's manager; empty if none runs or it is not readable."""
    try:
        numbers = [name for name in os.listdir(PROC) if name.isdigit()]
    except OSError:
        return {}
    for number in numbers:
        folder = PROC / number
        try:
            if folder.stat().st_uid != user.number:
                continue
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if os.path.basename(arguments[0]) == b"systemd" and b"--user" in arguments:
                return _without_manager_variables(read_block((folder / "environ").read_bytes()), user)
        except OSError:
            continue
    return {}


def _without_manager_variables(env: dict[str, str], user: ServiceUser) -> dict[str, str]:
    """Return the environment without the variables that concern the manager itself."""
    own = ("NOTIFY_SOCKET", "LISTEN_", "INVOCATION_ID", "JOURNAL_STREAM", "WATCHDOG_", "SYSTEMD_EXEC_PID",
           "MANAGERPID", "MEMORY_PRESSURE_")  # fmt: skip
    kept = {name: value for name, value in env.items() if not name.startswith(own)}
    return {"PATH": SYSTEM_PATH, **user.variables(), **kept}


SERVICE = ".service"
SYSTEM_UNITS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)


def user_units(env: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """Return the folders of the user's manager; the first that has a unit wins."""
    config = env.get("XDG_CONFIG_HOME") or str(home / ".config")
    data = env.get("XDG_DATA_HOME") or str(home / ".local/share")
    runtime = env.get("XDG_RUNTIME_DIR")
    return (
        f"{config}/systemd/user",
        "/etc/systemd/user",
        *((f"{runtime}/systemd/user",) if runtime else ()),
        "/run/systemd/user",
        f"{data}/systemd/user",
        "/usr/local/lib/systemd/user",
        "/usr/lib/systemd/user",
    )


def unit_named(name: str, machine: Machine) -> EnvironmentSource:
    """Return the unit with this name; a user unit wins. Raises Refusal with the closest match."""
    unit_name = name if name.endswith(SERVICE) else f"{name}{SERVICE}"
    if "/" in unit_name:
        next_step = "To use a unit file, give its path without `unit:`; it must end in .service."
        raise Refusal(f"{name!r} is not the name of a unit.", next_step, code=2)
    users, systems = user_units(machine.env, machine.home), SYSTEM_UNITS
    for folders, is_user_unit in ((users, True), (systems, False)):
        path = _unit_file(unit_name, folders)
        if path is None:
            continue
        notes = () if not is_user_unit or _unit_file(unit_name, systems) is None else (
            f"The system also has a unit {unit_name}: to use it, name its path "
            f"{_unit_file(unit_name, systems)}.",
        )  # fmt: skip
        return _read_unit(unit_name, path, folders, is_user_unit, notes, machine)
    known = {unit.removesuffix(SERVICE) for unit in _all_units((*users, *systems))}
    closest = nearest_word(unit_name.removesuffix(SERVICE), known)
    next_step = (
        f"Did you mean unit:{closest}?" if closest else f"Looked in {users[0]}, {systems[0]} and others."
    )
    raise Refusal(f"There is no unit {unit_name}.", next_step, code=2)


def unit_at(path: Path, machine: Machine) -> EnvironmentSource:
    """Return the unit in this file; the system's if it is in a system folder. Raises Refusal."""
    is_user_unit = str(path.parent) not in SYSTEM_UNITS
    folders = user_units(machine.env, machine.home) if is_user_unit else SYSTEM_UNITS
    return _read_unit(path.name, path, (str(path.parent), *folders), is_user_unit, (), machine)


def _read_unit(
    unit_name: str,
    path: Path,
    folders: Sequence[str],
    is_user_unit: bool,
    notes: tuple[str, ...],
    machine: Machine,
) -> EnvironmentSource:
    if os.path.realpath(path) == os.devnull or (os.path.isfile(path) and not path.stat().st_size):
        raise Refusal(f"The unit {unit_name} is masked: {path} is empty.", "Name another one.", code=2)
    files = [path, *drop_ins(unit_name, folders)]
    settings: list[UnitSetting] = []
    for file in files:
        settings += [one for one in read_unit(read_small(file)) if one.section == "Service"]
    found = _UnitReader(unit_name, is_user_unit, machine).read(settings)
    return EnvironmentSource(
        "unit",
        f"unit {unit_name}",
        found.env,
        home=found.home,
        files=(*files, *found.files),
        notes=(*notes, *found.notes),
        is_user_unit=is_user_unit,
    )


def drop_ins(unit_name: str, folders: Sequence[str]) -> list[Path]:
    """Return the `NAME.service.d/*.conf` files by name; for a repeated name the first folder wins."""
    found: dict[str, Path] = {}
    for owner in _drop_in_owners(unit_name):
        for folder in folders:
            try:
                files = [path for path in Path(folder, f"{owner}.d").iterdir() if path.suffix == ".conf"]
            except OSError:
                continue
            for path in files:
                found.setdefault(path.name, path)
    return [found[name] for name in sorted(found) if os.path.realpath(found[name]) != os.devnull]


def _drop_in_owners(unit_name: str) -> Iterator[str]:
    """Yield the names whose drop-ins apply: the unit, its template, name prefixes, and `service`."""
    yield unit_name
    stem = unit_name.removesuffix(SERVICE)
    if "@" in stem:
        stem = stem.partition("@")[0] + "@"
        yield f"{stem}{SERVICE}"
    parts = stem.rstrip("@").split("-")
    for length in range(len(parts) - 1, 0, -1):
        yield "-".join(parts[:length]) + f"-{SERVICE}"
    yield SERVICE.removeprefix(".")


def _unit_file(unit_name: str, folders: Sequence[str]) -> Path | None:
    names = [unit_name]
    if "@" in unit_name:
        names.append(f"{unit_name.partition('@')[0]}@{SERVICE}")
    for name in names:
        for folder in folders:
            path = Path(folder, name)
            if os.path.exists(path):  # a link to the null device too
                return path
    return None


def _all_units(folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        try:
            yield from (name for name in os.listdir(folder) if name.endswith(SERVICE))
        except OSError:
            continue

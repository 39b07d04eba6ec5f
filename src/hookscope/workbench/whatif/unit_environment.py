"""The environment that systemd gives a service."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from glob import glob
from pathlib import Path

from hookscope.core.surroundings import Surroundings
from hookscope.formats.environment import read_block
from hookscope.formats.systemd import (
    UnitSetting,
    assignment,
    expanded,
    read_environment_file,
    unit_words,
)
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.whatif.sources import home_in, read_small
from hookscope.workbench.whatif.users import User, user_here, user_named

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ROOT = User("root", "/root", "/bin/sh", 0)
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class UnitEnvironment:
    """What a unit gives its program."""

    env: Mapping[str, str] = field(repr=False)
    home: Path | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def environment_of(
    full: str, settings: Sequence[UnitSetting], own: bool, here: Surroundings
) -> UnitEnvironment:
    """What the settings of `[Service]` come to, in systemd's order: the manager's own, Environment=,
    EnvironmentFile=, less UnsetEnvironment=. `own`: the user's own manager runs it. Never raises."""
    return _Reading(full, own, here).read(settings)


class _Reading:
    """One unit, read once."""

    def __init__(self, full: str, own: bool, here: Surroundings) -> None:
        self.own, self.here = own, here
        manager = user_here(here) if own else ROOT
        self.manager = manager
        self.specifiers = _specifiers(full, manager, own, here)
        self.notes: dict[str, None] = {}
        self.files: list[Path] = []

    def read(self, settings: Sequence[UnitSetting]) -> UnitEnvironment:
        env = self._manager(settings)
        env |= self._written(settings)
        for file, optional in self._files_named(settings):
            env |= self._of_file(file, optional)
        for word in self._words(settings, "UnsetEnvironment"):
            name, sign, value = word.partition("=")
            if name in env and (not sign or env[name] == value):
                del env[name]
        folder = self._last(settings, "WorkingDirectory").removeprefix("-")
        if folder:
            self._note(f"It works in {folder}; relative paths here still count from the current folder.")
        home = home_in(env) or self._home(settings)
        return UnitEnvironment(env, home, tuple(self.files), tuple(self.notes))

    def _manager(self, settings: Sequence[UnitSetting]) -> dict[str, str]:
        """What the service has without a word of its own."""
        if self.own:
            inherited = _user_manager(self.manager)
            if inherited:
                return inherited
            self._note("The user's manager does not run here: its usual variables stand in for its own.")
            return {"PATH": SYSTEM_PATH, **self.manager.variables()}
        passed = self._words(settings, "PassEnvironment")
        if passed:
            self._note(f"What the system's manager passes on is not known: {', '.join(passed)}.")
        env = {"PATH": SYSTEM_PATH}
        name = self._last(settings, "User")
        if name:
            env |= self._user(name).variables()
        return env

    def _user(self, name: str) -> User:
        user = user_named(name)
        if user is None:
            self._note(f"User={name}: there is no such user here, so its home is not known.")
        return user or User(name)

    def _home(self, settings: Sequence[UnitSetting]) -> Path | None:
        name = self._last(settings, "User")
        user = self.manager if self.own or not name else user_named(name)
        return Path(user.home) if user is not None and user.home else None

    def _written(self, settings: Sequence[UnitSetting]) -> dict[str, str]:
        found = {}
        for word in self._words(settings, "Environment"):
            pair = assignment(word)
            if pair is None:
                self._note("Environment= has a word that sets no variable: quotes go around NAME=value.")
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

    def _of_file(self, name: str, optional: bool) -> dict[str, str]:
        found: dict[str, str] = {}
        files = sorted(glob(name)) if any(sign in name for sign in "*?[") else [name]
        for file in files if os.path.isabs(name) else []:
            path = Path(file)
            try:
                there = path.exists()
            except OSError:
                there = True
            if there:
                try:
                    found |= read_environment_file(read_small(path))
                    self.files.append(path)
                except Refusal as error:
                    self._note(f"EnvironmentFile={name} is left out. {error.what}")
            elif not optional:
                self._note(f"EnvironmentFile={name} is not there: the service would not start.")
        if not os.path.isabs(name):
            self._note(f"EnvironmentFile={name} is no absolute path: it is ignored.")
        return found

    def _words(self, settings: Sequence[UnitSetting], key: str) -> list[str]:
        """All words of a list that settings add to; an empty one begins it anew."""
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
        done, unknown = expanded(text, self.specifiers)
        for specifier in unknown:
            self._note(f"{specifier} is not known here, and stays as it is written.")
        return done

    def _note(self, text: str) -> None:
        self.notes[text] = None


def _specifiers(full: str, manager: User, own: bool, here: Surroundings) -> Mapping[str, str]:
    stem = full.rpartition(".")[0]
    prefix, _, instance = stem.partition("@")
    home = manager.home
    runtime = here.env.get("XDG_RUNTIME_DIR", f"/run/user/{manager.number}") if own else "/run"
    return {
        "n": full,
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
        "E": here.env.get("XDG_CONFIG_HOME", f"{home}/.config") if own else "/etc",
        "S": here.env.get("XDG_STATE_HOME", f"{home}/.local/state") if own else "/var/lib",
        "C": here.env.get("XDG_CACHE_HOME", f"{home}/.cache") if own else "/var/cache",
        "T": "/tmp",
        "V": "/var/tmp",
    }


def _unescaped(text: str) -> str:
    """A name as `systemd-escape --unescape` gives it."""
    parts = text.replace("-", "/").split("\\x")
    done = parts[0]
    for part in parts[1:]:
        try:
            done += chr(int(part[:2], 16)) + part[2:]
        except ValueError:
            done += f"\\x{part}"
    return done


def _user_manager(user: User) -> dict[str, str]:
    """What the user's own manager was started with. Empty where none runs, or it may not be read."""
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
                return _without_own(read_block((folder / "environ").read_bytes()), user)
        except OSError:
            continue
    return {}


def _without_own(env: dict[str, str], user: User) -> dict[str, str]:
    """The manager hands on what it got, but for what tells it about itself."""
    own = ("NOTIFY_SOCKET", "LISTEN_", "INVOCATION_ID", "JOURNAL_STREAM", "WATCHDOG_", "SYSTEMD_EXEC_PID",
           "MANAGERPID", "MEMORY_PRESSURE_")  # fmt: skip
    kept = {name: value for name, value in env.items() if not name.startswith(own)}
    return {"PATH": SYSTEM_PATH, **user.variables(), **kept}

"""`${NAME}` and `${now-2h}` in the texts of events: what stands behind a name, and the texts filled.

A variable is looked for on the command line (`--env`), in the chosen environment, in the environment of
the process and of the host, then in `.env` of the workspace. `now` is the moment of the event, `workspace`
and `cfg` are the folder and the settings in force, unless a variable has that name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from hookscope.core.dialect import Host
from hookscope.core.event import iso
from hookscope.core.regular_file import read_regular
from hookscope.core.text import nearest
from hookscope.formats import read_dotenv
from hookscope.journal.secrets import Secret, secrets_in
from hookscope.values import dataclass
from hookscope.workbench.compose import as_plain
from hookscope.workbench.environments import Environment
from hookscope.workbench.refusal import Refusal

DOTENV = ".env"
LARGEST = 1_048_576  # bytes of a .env file
HIDDEN = "••••"
# Doubled, the sign makes a text of it: `$${X}` reads as `${X}`. All else in braces is left as it stands.
REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*|now[^\w{}\n][^{}\n]*)\}", re.ASCII)
WRITTEN = re.compile(rf"(\$?){REFERENCE.pattern}", re.ASCII)
NOW = "now"
WORKSPACE, CFG = "workspace", "cfg"
SPAN = r"\d{1,9}(?:ms|[smhdw])"
TIME = re.compile(rf"now(?P<away>(?:[+-](?:{SPAN})+)*)(?::(?P<form>iso|ms|s))?", re.ASCII)
PART = re.compile(r"([+-])?(\d+)(ms|[smhdw])", re.ASCII)
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}  # seconds


@dataclass(frozen=True, slots=True)
class Variables:
    """All that are set, and where each comes from."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: Mapping[str, str] = field(default_factory=dict)
    environment: str | None = None  # the one that was chosen
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # those in force: `${cfg}`

    def secret(self, name: str) -> bool:
        """Is its value to be hidden: its name says so, or it looks like a secret."""
        return next(secrets_in({name: self.values.get(name, "")}), None) is not None


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in a value, for display."""

    written: str  # USER, now-2h
    shown: str  # what it stands for, secrets hidden; empty where it is not set
    origin: str  # --env, the environment, .env, …; empty where it is not set
    problem: str = ""  # why it cannot be filled
    secret: bool = False


def variables_of(host: Host, given: Mapping[str, str], environment: Environment | None = None) -> Variables:
    """The variables for events of this host. Reads `.env` of its workspace; `given` beats all others."""
    around = host.surroundings.env
    layers: list[tuple[str, Mapping[str, str]]] = [
        ("the workspace", {WORKSPACE: str(host.workspace)}),
        *((DOTENV, {name: value}) for name, value in dotenv_of(host.workspace).items()),
        *(
            ("the environment" if name in around else "the host's settings", {name: value})
            for name, value in host.env.items()
        ),
    ]
    if environment is not None:
        layers.append((f"environment {environment.name}", environment.variables))
    layers.append(("--env", given))
    values = {name: value for _, layer in layers for name, value in layer.items()}
    origins = {name: origin for origin, layer in layers for name in layer}
    chosen = environment.name if environment is not None else None
    return Variables(values, origins, chosen, host.settings.value)


def dotenv_of(workspace: Path) -> Mapping[str, str]:
    """The variables of the workspace's `.env`; none where it cannot be read."""
    file = workspace / DOTENV
    try:
        source = read_regular(file, LARGEST + 1)
    except OSError:
        return {}
    return read_dotenv(source) if len(source) <= LARGEST else {}


def filled(value: Any, variables: Variables, now: datetime, where: str = "The event") -> Any:
    """The plain value with every reference in its texts replaced; keys stay as they are.

    A text that is nothing but one time in `:ms` or `:s` becomes a number, one that is `${cfg}` a mapping.
    Raises Refusal for a variable that is not set and for a time that is none; `where` is the subject of its
    sentence.
    """
    match value:
        case str() if "${" in value:
            return _filled_text(value, variables, now, where)
        case list() | tuple():
            return [filled(item, variables, now, where) for item in value]
        case Mapping():
            return {key: filled(item, variables, now, where) for key, item in value.items()}
        case _:
            return value


def _filled_text(text: str, variables: Variables, now: datetime, where: str) -> str | int | Mapping[str, Any]:
    def of(found: re.Match[str]) -> str:
        doubled, name = found.groups()
        if doubled:
            return f"${{{name}}}"
        meant = _meaning(name, variables, now, where)
        return json.dumps(meant, ensure_ascii=False) if isinstance(meant, Mapping) else str(meant)

    whole = REFERENCE.fullmatch(text)
    return _meaning(whole[1], variables, now, where) if whole else WRITTEN.sub(of, text)


def _meaning(name: str, variables: Variables, now: datetime, where: str) -> str | int | Mapping[str, Any]:
    if _is_time(name):
        return _moment(name, now, where)
    if _is_settings(name, variables):
        return cast(Mapping[str, Any], as_plain(variables.settings))
    if name not in variables.values:
        near = nearest(name, variables.values)
        meant = f"Did you mean ${{{near}}}? " if near else ""
        then = f"{meant}`--env {name}=VALUE` sets it."
        raise Refusal(f"{where} asks for ${{{name}}}, which is not set.", then, code=2)
    return variables.values[name]


def _is_time(name: str) -> bool:
    return name == NOW or not (name.isidentifier() and name.isascii())


def _is_settings(name: str, variables: Variables) -> bool:
    return name == CFG and name not in variables.values


def _moment(name: str, now: datetime, where: str) -> str | int:
    time = TIME.fullmatch(name)
    if time is None:
        then = "Times are such as ${now}, ${now-1h30m}, ${now+2d:ms}; units ms s m h d w, forms iso ms s."
        raise Refusal(f"{where} asks for ${{{name}}}, which is no time.", then, code=2)
    try:
        moment = (now if now.tzinfo is not None else now.replace(tzinfo=UTC)) + timedelta(
            seconds=_seconds(time["away"])
        )
        seconds = moment.timestamp()
        match time["form"]:
            case "ms":
                return round(seconds * 1000)
            case "s":
                return int(seconds // 1)
            case _:
                return iso(moment)
    except (OverflowError, ValueError):
        what = f"{where} asks for ${{{name}}}, which is outside the calendar."
        raise Refusal(what, "Name a moment of the years 1 to 9999.", code=2) from None


def _seconds(away: str) -> float:
    """`-1h30m+2d` in seconds; a part without a sign has that of the one before it."""
    total, sign = 0.0, 1
    for part in PART.finditer(away):
        sign = {"+": 1, "-": -1}.get(part[1] or "", sign)
        total += sign * int(part[2]) * UNITS[part[3]]
    return total


def escaped(value: Any) -> Any:
    """The plain value so that `filled` gives it back."""
    match value:
        case str():
            return REFERENCE.sub(r"$\g<0>", value)
        case list() | tuple():
            return [escaped(item) for item in value]
        case Mapping():
            return {key: escaped(item) for key, item in value.items()}
        case _:
            return value


def used(value: Any, variables: Variables, now: datetime) -> tuple[Reference, ...]:
    """What a value refers to, each once, in order of its first use. Secrets are hidden. Never raises."""
    return tuple(_use(name, variables, now) for name in dict.fromkeys(_names(value)))


def _names(value: Any) -> Iterator[str]:
    match value:
        case str() if "${" in value:
            yield from (found[2] for found in WRITTEN.finditer(value) if not found[1])
        case list() | tuple():
            for item in value:
                yield from _names(item)
        case Mapping():
            for item in value.values():
                yield from _names(item)


def _use(name: str, variables: Variables, now: datetime) -> Reference:
    try:
        shown = str(_meaning(name, variables, now, "The event"))
    except Refusal as refused:
        return Reference(name, "", "", str(refused))
    if _is_time(name):
        return Reference(name, shown, "the event's time")
    if _is_settings(name, variables):  # not shown: they hold secrets
        return Reference(name, "an object", "the settings in force")
    secret = variables.secret(name)
    return Reference(name, HIDDEN if secret else shown, variables.origins[name], secret=secret)


def secrets_used(value: Any, variables: Variables) -> tuple[Secret, ...]:
    """The values that it takes from variables that are secrets, under the variables' names."""
    names = (name for name in dict.fromkeys(_names(value)) if name in variables.values)
    return tuple(Secret(name, variables.values[name]) for name in names if variables.secret(name))

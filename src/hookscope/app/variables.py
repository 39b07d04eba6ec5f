"""Variables in the texts of events (`${NAME}`, `${now-2h}`): their values, and events filled with them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hookscope.app.event_templates import as_plain
from hookscope.app.project_config import (
    ENVIRONMENTS_FOLDER,
    Environment,
    environment_files,
    read_workspace_environment,
)
from hookscope.formats.environment_files import read_dotenv
from hookscope.model.failure import Refusal
from hookscope.model.hook_event import iso
from hookscope.model.host import Host
from hookscope.model.payload import texts_in, with_texts
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Event
from hookscope.model.text import nearest_word
from hookscope.storage.journal.secrets import MASKED_SECRET, Secret, secrets_in
from hookscope.storage.state_files import DOTENV
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.storage.journal.redaction import Redaction


def with_secrets(event: Event, host: Host, variables: Callable[[], Mapping[str, str]]) -> Event:
    """Return the event with its masked secrets restored from variables, and `cfg` from the settings.

    Raises Refusal if one is missing: a handler must not get the mask in place of the secret.
    """
    context = dict(event.context)
    if _has_reference(context.get("cfg")):
        context["cfg"] = as_plain(host.settings.value)
    parts = [event.session_key, context, event.ctx, event.messages]
    if context == event.context and not _has_reference(parts):
        return event
    known = variables()
    session, context, ctx, messages = with_texts(
        parts, lambda text: MASKED_SECRET.sub(lambda found: _secret(found[1], known), text)
    )
    return replace(event, session_key=session, context=context, ctx=ctx, messages=tuple(messages))


def secrets_used_by(event: Event, variables: Mapping[str, str]) -> tuple[Secret, ...]:
    """Return the secrets that `restore_secrets` takes from the variables."""
    texts = texts_in([event.session_key, event.context, event.ctx, event.messages])
    names = dict.fromkeys(name for text in texts for name in MASKED_SECRET.findall(text))
    return tuple(Secret(name, variables[name]) for name in names if name in variables)


def _has_reference(value: Any) -> bool:
    return any(map(MASKED_SECRET.search, texts_in(value)))


def _secret(name: str, env: Mapping[str, str]) -> str:
    if name not in env:
        raise Refusal(
            f"The secret {name} of the event was not stored.",
            f"Set {name} in the environment, or put its value into the context.",
        )
    return env[name]


LARGEST_DOTENV = 1_048_576  # bytes of a .env file
HIDDEN = "••••"
# `$$` escapes: `$${X}` is the text `${X}`. Anything else in braces stays unchanged.
REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*|now[^\w{}\n][^{}\n]*)\}", re.ASCII)
WRITTEN_REFERENCE = re.compile(rf"(\$?){REFERENCE.pattern}", re.ASCII)
NOW = "now"
WORKSPACE_VARIABLE, STATE_VARIABLE, CFG = "workspace", "state", "cfg"
TIME_OFFSET = r"\d{1,9}(?:ms|[smhdw])"
TIME = re.compile(rf"now(?P<away>(?:[+-](?:{TIME_OFFSET})+)*)(?::(?P<form>iso|ms|s))?", re.ASCII)
PART = re.compile(r"([+-])?(\d+)(ms|[smhdw])", re.ASCII)
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}  # seconds


@dataclass(frozen=True, slots=True)
class Variables:
    """All variables, each with its origin."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: Mapping[str, str] = field(default_factory=dict)
    environment: str | None = None  # the name of the chosen one
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # the current settings: `${cfg}`

    def is_secret(self, name: str) -> bool:
        """Return whether a value must be hidden, by its name or its form."""
        return next(secrets_in({name: self.values.get(name, "")}), None) is not None


@dataclass(frozen=True, slots=True)
class VariableReference:
    """A variable reference in a value, for display."""

    written: str  # USER, now-2h
    shown: str  # its value, secrets hidden; empty if it is not set
    origin: str  # --env, the environment, .env, …; empty if it is not set
    problem: str = ""  # why it cannot be filled
    secret: bool = False


def variables_of(
    host: Host, option_values: Mapping[str, str], environment: Environment | None = None
) -> Variables:
    """Return the variables for events of this host. Reads the workspace's `.env`; option values win."""
    environment_of_machine = host.machine.env
    layers: list[tuple[str, Mapping[str, str]]] = [
        ("the workspace", {WORKSPACE_VARIABLE: str(host.workspace)}),
        ("the host's state folder", {STATE_VARIABLE: str(host.state)}),
        *((DOTENV, {name: value}) for name, value in dotenv_of(host.workspace).items()),
        *(
            ("the environment" if name in environment_of_machine else "the host's settings", {name: value})
            for name, value in host.env.items()
        ),
    ]
    if environment is not None:
        layers.append((f"environment {environment.name}", environment.variables))
    layers.append(("--env", option_values))
    values = {name: value for _, layer in layers for name, value in layer.items()}
    origins = {name: origin for origin, layer in layers for name in layer}
    chosen = environment.name if environment is not None else None
    return Variables(values, origins, chosen, host.settings.value)


def dotenv_of(workspace: Path) -> Mapping[str, str]:
    """Return the variables of the workspace's `.env`; none if it cannot be read."""
    file = workspace / DOTENV
    try:
        source = read_regular(file, LARGEST_DOTENV + 1)
    except OSError:
        return {}
    return read_dotenv(source) if len(source) <= LARGEST_DOTENV else {}


def filled_value(value: Any, variables: Variables, now: datetime, where: str = "The event") -> Any:
    """Return the value with every reference in its texts replaced. Keys stay unchanged.

    A text that is only a time in `:ms` or `:s` becomes a number; one that is only `${cfg}` becomes a mapping.
    Raises Refusal for a variable that is not set and for an invalid time; `where` is the subject of its
    sentence.
    """
    return with_texts(value, lambda text: _filled_text(text, variables, now, where) if "${" in text else text)


def _filled_text(text: str, variables: Variables, now: datetime, where: str) -> str | int | Mapping[str, Any]:
    def replacement(found: re.Match[str]) -> str:
        doubled, name = found.groups()
        if doubled:
            return f"${{{name}}}"
        value = _value_of(name, variables, now, where)
        return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)

    whole = REFERENCE.fullmatch(text)
    return _value_of(whole[1], variables, now, where) if whole else WRITTEN_REFERENCE.sub(replacement, text)


def _value_of(name: str, variables: Variables, now: datetime, where: str) -> str | int | Mapping[str, Any]:
    if _is_time(name):
        return _moment(name, now, where)
    if _is_settings(name, variables):
        return cast(Mapping[str, Any], as_plain(variables.settings))
    if name not in variables.values:
        closest = nearest_word(name, variables.values)
        suggestion = f"Did you mean ${{{closest}}}? " if closest else ""
        next_step = f"{suggestion}`--env {name}=VALUE` sets it."
        raise Refusal(f"{where} uses ${{{name}}}, which is not set.", next_step, code=2)
    return variables.values[name]


def _is_time(name: str) -> bool:
    return name == NOW or not (name.isidentifier() and name.isascii())


def _is_settings(name: str, variables: Variables) -> bool:
    return name == CFG and name not in variables.values


def _moment(name: str, now: datetime, where: str) -> str | int:
    time = TIME.fullmatch(name)
    if time is None:
        next_step = (
            "Write times as ${now}, ${now-1h30m} or ${now+2d:ms}; units: ms s m h d w, formats: iso ms s."
        )
        raise Refusal(f"{where} uses ${{{name}}}, which is not a time.", next_step, code=2)
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
        what = f"{where} uses ${{{name}}}, which is outside the years 1 to 9999."
        raise Refusal(what, "Choose an earlier or later time.", code=2) from None


def _seconds(offset: str) -> float:
    """Return `-1h30m+2d` in seconds. A part without a sign has the sign of the part before it."""
    total, sign = 0.0, 1
    for part in PART.finditer(offset):
        sign = {"+": 1, "-": -1}.get(part[1] or "", sign)
        total += sign * int(part[2]) * UNITS[part[3]]
    return total


def escaped_value(value: Any) -> Any:
    """Return the value with its references escaped, so that `filled_value` restores it."""
    return with_texts(value, partial(REFERENCE.sub, r"$\g<0>"))


def references_in(value: Any, variables: Variables, now: datetime) -> tuple[VariableReference, ...]:
    """Return the references of a value, each once, in order of first use. Hides secrets. Never raises."""
    return tuple(_reference(name, variables, now) for name in _reference_names(value))


def _reference_names(value: Any) -> Iterable[str]:
    found = (one for text in texts_in(value) for one in WRITTEN_REFERENCE.finditer(text))
    return dict.fromkeys(one[2] for one in found if not one[1])


def _reference(name: str, variables: Variables, now: datetime) -> VariableReference:
    try:
        shown = str(_value_of(name, variables, now, "The event"))
    except Refusal as refused:
        return VariableReference(name, "", "", str(refused))
    if _is_time(name):
        return VariableReference(name, shown, "the event's time")
    if _is_settings(name, variables):  # hidden: settings hold secrets
        return VariableReference(name, "an object", "the current settings")
    secret = variables.is_secret(name)
    return VariableReference(name, HIDDEN if secret else shown, variables.origins[name], secret=secret)


def secrets_used(value: Any, variables: Variables) -> tuple[Secret, ...]:
    """Return the secret variables that a value refers to."""
    names = (name for name in _reference_names(value) if name in variables.values)
    return tuple(Secret(name, variables.values[name]) for name in names if variables.is_secret(name))


FillEvent = Callable[[Any, Variables, datetime], Any]


@dataclass(frozen=True, slots=True)
class VariableSources:
    """Variables and where they come from. `problem`: why the chosen environment cannot be read."""

    variables: Variables = field(default_factory=Variables)
    environments: tuple[str, ...] = ()
    chosen: str | None = None  # the current environment
    problem: str = ""


class Filler:
    """Fills the events of a workbench, and collects the secrets used so that the journal masks them."""

    def __init__(
        self,
        chosen: Callable[[], str | None],
        option_values: Callable[[], Mapping[str, str]],
        redaction_of: Callable[[Host], Redaction],
        secrets: dict[Secret, None],
    ) -> None:
        """`chosen` names the current environment; `option_values` come from the command line."""
        self._chosen, self._option_values, self._redaction_of = chosen, option_values, redaction_of
        self._secrets = secrets  # ordered; shared with the workbench

    def variables_of(self, host: Host) -> Variables:
        """Return the current values of `${NAME}`; files are read again. Raises Refusal for an environment
        that does not exist or cannot be read.
        """
        chosen = self._chosen()
        environment = None if chosen is None else read_workspace_environment(host.workspace, chosen)
        return variables_of(host, self._option_values(), environment)

    def sources(self, view: Snapshot) -> VariableSources:
        """Return the variable sources for a snapshot; files are read again. Never raises."""
        return variable_sources(view.host, self._option_values(), self._chosen())

    def fill(self, value: Any, variables: Variables, now: datetime, where: str = "The event") -> Any:
        """Return a value with its variables and times filled in; `now` is the event's time.

        From now on the journal masks the secrets among them. Raises Refusal, beginning with `where`.
        """
        self._secrets |= dict.fromkeys(secrets_used(value, variables))
        return filled_value(value, variables, now, where)

    def restore_secrets(self, event: Event, view: Snapshot) -> Event:
        """Return a journal event with its secrets restored. Raises Refusal if one is missing."""

        def noted() -> Mapping[str, str]:
            known = {secret.name: secret.value for secret in self._redaction_of(view.host).secrets}
            values = {**known, **self.variables_of(view.host).values}
            self._secrets |= dict.fromkeys(secrets_used_by(event, values))
            return values

        return with_secrets(event, view.host, noted)


def variable_files(workspace: Path) -> tuple[Path, ...]:
    """Return the file and the folder that variables are read from."""
    return workspace / DOTENV, workspace / ENVIRONMENTS_FOLDER


def variable_sources(host: Host, option_values: Mapping[str, str], chosen: str | None) -> VariableSources:
    """Return the variable sources of this host. Reads `.env` and the environment's file. Never raises."""
    names = tuple(environment_files(host.workspace))
    try:
        environment = None if chosen is None else read_workspace_environment(host.workspace, chosen)
        return VariableSources(variables_of(host, option_values, environment), names, chosen)
    except Refusal as refused:
        problem = str(refused).replace(f"{host.workspace}{os.sep}", "")
        return VariableSources(variables_of(host, option_values), names, chosen, problem)


def filled_event(event: Event, sources: VariableSources, fill: FillEvent = filled_value) -> Event:
    """Return the event with its variables and times filled in; `${now}` is the event's own time.

    `fill` replaces a value; a workbench's filler also collects secrets. Raises Refusal.
    """
    if sources.problem:
        raise Refusal(sources.problem, code=2)
    parts = [event.session_key, event.context, event.ctx]
    session, context, ctx = fill(parts, sources.variables, event.timestamp)
    return replace(event, session_key=str(session), context=context, ctx=ctx)


def folders_of(host: Host) -> Mapping[str, str]:
    """Return the folders that differ between machines, by the variable that names each in a saved event."""
    return {WORKSPACE_VARIABLE: str(host.workspace), STATE_VARIABLE: str(host.state)}


def with_folder_names(value: Any, folders: Mapping[str, str]) -> Any:
    """Return the value with the paths of these folders replaced by `${workspace}` and `${state}`.

    A longer folder name that begins the same is not replaced. The value must be escaped already.
    """
    for variable, folder in sorted(folders.items(), key=lambda item: -len(item[1])):  # the inner one first
        if len(Path(folder).parts) > 1:  # the root is part of every path
            value = with_texts(value, partial(_whole_path(folder).sub, f"${{{variable}}}"))
    return value


def _whole_path(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<=://)|(?<![\w.~$/-])){re.escape(folder)}(?=[/\s\"'`<>()\[\]{{}},;:!?]|\.?$)")


def with_secret_names(value: Any, *, literal: bool = False) -> Any:
    """Return the value with `${NAME}` in place of each masked secret, as in saved events.

    `literal`: escape what looks like a variable, since the value is already filled.
    """

    def named(text: str) -> str:
        parts = MASKED_SECRET.split(text)  # text, name, text, name, …, text
        texts = escaped_value(parts[::2]) if literal else parts[::2]
        variables = [f"${{{variable_name(name)}}}" for name in parts[1::2]]
        return "".join(map("".join, zip(texts, [*variables, ""], strict=True)))

    return with_texts(value, named)


def variable_name(name: str) -> str:
    """Return the name as a valid variable name, which does not begin with a digit."""
    return f"_{name}" if name[0].isdigit() else name

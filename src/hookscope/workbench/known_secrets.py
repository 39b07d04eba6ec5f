"""The secrets that are known before anything is fired: of the environment, of files with variables, of the
settings; and the names that the user lists under `mask:`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.dialect import Host
from hookscope.journal.circumstances import secrets_of_settings
from hookscope.journal.encodings import WORTH_A_SEARCH
from hookscope.journal.secrets import (
    PLAIN_WORD,
    REFERENCE,
    Secret,
    SecretKeys,
    is_ordinary,
    is_secret_key,
    secrets_in,
)
from hookscope.journal.storable import plain
from hookscope.workbench.environments import Environment, read_environment
from hookscope.workbench.preferences.folder import config_folder, read_document
from hookscope.workbench.preferences.themes_file import CONFIG_FILE
from hookscope.workbench.project import MASK, names_in
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.variables import variables_of

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench


def keys_of(listed: Iterable[str]) -> SecretKeys:
    """Which keys are secret here: also those listed by the project, and by the user's own configuration."""
    own = read_document(config_folder() / CONFIG_FILE).value.get(MASK)
    return SecretKeys.with_names((*listed, *names_in(own)))


def secrets_of_variables(values: Mapping[str, str], keys: SecretKeys) -> Iterator[Secret]:
    """The secrets among variables: by their names, by their looks, or since they are listed."""
    plain = {value for name, value in values.items() if not keys.name(name)}
    for name, value in values.items():
        if keys.list(name):
            if len(value.strip()) >= WORTH_A_SEARCH:
                yield Secret(name, value)
        elif is_secret_key(name):
            shared = PLAIN_WORD.fullmatch(value) is not None and value in plain  # USER is not hidden for it
            if not shared and _is_worth_masking(value):
                yield Secret(name, value)
                yield from _inner(name, value)
        else:
            yield from _inner(name, value)


def _inner(name: str, value: str) -> Iterator[Secret]:
    """What looks like a secret in a value; in JSON also what is under a secret's key."""
    yield from secrets_in({name: value} if not is_secret_key(name) else [value])
    if value.lstrip().startswith(("{", "[")):
        import json  # here: few variables have any

        try:
            yield from secrets_in(json.loads(value), (name,))
        except (ValueError, RecursionError):
            return


def _is_worth_masking(value: str) -> bool:
    """False for what is no secret whatever its variable is called: a switch, a small number, a file."""
    text = value.strip()
    if len(text) < WORTH_A_SEARCH or is_ordinary(text) or REFERENCE.fullmatch(text):
        return False
    return not (text.startswith(("/", "~/", "./")) and _is_there(text))


def _is_there(text: str) -> bool:
    try:
        return os.path.exists(Path(text).expanduser())
    except (OSError, ValueError, RuntimeError):  # the latter: no such user
        return False


def known_secrets(bench: Workbench, host: Host, *, settings: bool) -> tuple[SecretKeys, tuple[Secret, ...]]:
    """Which keys are secret here; and the secrets of the variables that fill events, of the environments
    that handlers get, and of the settings. Never raises."""
    keys = keys_of(bench.setup.mask)
    try:
        variables = variables_of(host, bench.options.env, _environment(bench, host))
    except Refusal:
        variables = variables_of(host, bench.options.env)
    environments = (variables.values, host.env, host.surroundings.env, os.environ)
    found = [secret for values in environments for secret in secrets_of_variables(values, keys)]
    if settings and host.settings.exists:
        found += secrets_of_settings(plain(host.settings.value), keys)
    return keys, tuple(dict.fromkeys(found))


def _environment(bench: Workbench, host: Host) -> Environment | None:
    chosen = bench.setup.environment
    return None if chosen is None else read_environment(host.workspace, chosen)

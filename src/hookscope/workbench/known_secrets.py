"""The secrets that are known before anything is fired: of the environment, of files with variables, of the
settings; and the names that the user lists under `mask:`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookscope.core.dialect import Host
from hookscope.journal.circumstances import secrets_of_settings
from hookscope.journal.environment import secrets_of_variables
from hookscope.journal.secrets import (
    Secret,
    SecretKeys,
)
from hookscope.journal.storable import plain
from hookscope.workbench.environments import Environment, read_environment
from hookscope.workbench.masked_names import MASK, names_in
from hookscope.workbench.preferences.folder import config_folder, read_document
from hookscope.workbench.preferences.themes_file import CONFIG_FILE
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.variables import variables_of

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench


def keys_of(listed: Iterable[str]) -> SecretKeys:
    """Which keys are secret here: also those listed by the project, and by the user's own configuration."""
    own = read_document(config_folder() / CONFIG_FILE).value.get(MASK)
    return SecretKeys.with_names((*listed, *names_in(own)))


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

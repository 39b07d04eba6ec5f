"""Secrets known before an event is fired: of environments, variables and settings; and `mask:` names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookscope.app.preferences import CONFIG_FILE
from hookscope.app.variables import variables_of
from hookscope.app.yaml_sections import Environment, read_workspace_environment
from hookscope.model.host import Host
from hookscope.model.refusal import Refusal
from hookscope.storage.config_folder import (
    MASK_KEY,
    config_folder,
    masked_names_in,
    read_config_document,
)
from hookscope.storage.journal.records import plain_json
from hookscope.storage.journal.redaction import secrets_of_variables
from hookscope.storage.journal.run_environment import secrets_of_settings
from hookscope.storage.journal.secrets import Secret, SecretKeys

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench


def secret_keys_of(listed: Iterable[str]) -> SecretKeys:
    """Return the secret keys: the defaults, those listed by the project, and those of the user's config."""
    own = read_config_document(config_folder() / CONFIG_FILE).value.get(MASK_KEY)
    return SecretKeys.with_names((*listed, *masked_names_in(own)))


def known_secrets(bench: Workbench, host: Host, *, settings: bool) -> tuple[SecretKeys, tuple[Secret, ...]]:
    """Return the secret keys, and the secrets of variables, environments and settings. Never raises."""
    keys = secret_keys_of(bench.setup.mask)
    try:
        variables = variables_of(host, bench.options.env, _chosen_environment(bench, host))
    except Refusal:
        variables = variables_of(host, bench.options.env)
    environments = (variables.values, host.env, host.machine.env, os.environ)
    found = [secret for values in environments for secret in secrets_of_variables(values, keys)]
    if settings and host.settings.exists:
        found += secrets_of_settings(plain_json(host.settings.value), keys)
    return keys, tuple(dict.fromkeys(found))


def _chosen_environment(bench: Workbench, host: Host) -> Environment | None:
    chosen = bench.setup.environment
    return None if chosen is None else read_workspace_environment(host.workspace, chosen)

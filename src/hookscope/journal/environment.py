"""The secrets among the variables of an environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from hookscope.journal.encodings import WORTH_A_SEARCH
from hookscope.journal.secrets import (
    KEYS,
    PLAIN_WORD,
    REFERENCE,
    Secret,
    SecretKeys,
    is_ordinary,
    is_secret_key,
    secrets_in,
)


def secrets_of_variables(values: Mapping[str, str], keys: SecretKeys = KEYS) -> Iterator[Secret]:
    """The secrets among variables: by their names, by their looks, or since they are listed."""
    plain = {value for name, value in values.items() if not keys.name(name)}
    for name, value in values.items():
        by_name = is_secret_key(name) and not keys.list(name)
        if by_name and value in plain and PLAIN_WORD.fullmatch(value):
            continue  # USER is not hidden for it
        yield from _secrets_of(name, value, keys)


@lru_cache(maxsize=4096)  # an environment is read for every run, and seldom another
def _secrets_of(name: str, value: str, keys: SecretKeys) -> tuple[Secret, ...]:
    if keys.list(name):
        return (Secret(name, value),) if len(value.strip()) >= WORTH_A_SEARCH else ()
    if not is_secret_key(name):
        return tuple(_inner(name, value))
    return (Secret(name, value), *_inner(name, value)) if _is_worth_masking(value) else ()


def _inner(name: str, value: str) -> Iterator[Secret]:
    """What looks like a secret in a value; in JSON also what is under a secret's key."""
    if not is_secret_key(name):
        yield from secrets_in({name: value})
    elif value.lstrip().startswith(("{", "[")):
        yield from secrets_in(value, (name,))
    else:
        yield from secrets_in([value])


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

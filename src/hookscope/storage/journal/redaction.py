"""Redaction.

mask known secrets as `${SECRET:NAME}` wherever and however they are written in texts and values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from hookscope.storage.journal.encodings import (
    SHORTEST_ANYWHERE,
    SHORTEST_SEARCHED,
    SecretMatch,
    find_values,
    needles_of,
    occurring_values,
    searchable_text,
)
from hookscope.storage.journal.secrets import (
    DEFAULT_SECRET_KEYS,
    PLAIN_WORD,
    REFERENCE,
    Secret,
    SecretKeys,
    is_ordinary,
    is_secret_key,
    pair_key,
    secret_text_of,
    secrets_in,
)
from hookscope.values import dataclass

MASK_PATTERN = re.compile(r"\$\{SECRET:\w+\}")


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks the secrets it knows. `names`: value → name. `keys`: the keys whose values are secret."""

    secrets: tuple[Secret, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: SecretKeys = DEFAULT_SECRET_KEYS
    searchable: Mapping[str, str] = field(default_factory=dict, repr=False)  # of `names`, those to search for

    @staticmethod
    def for_secrets(secrets: Iterable[Secret], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> Masker:
        """A veil over these. A value keeps its first name; a name taken by another value gets a number."""
        named: dict[str, str] = {}
        taken: dict[str, int] = {}
        for secret in secrets:
            if secret.value not in named:
                named[secret.value] = _free_name(secret.name, taken)
        kept = tuple(Secret(name, value) for value, name in named.items())
        searchable = {value: name for value, name in named.items() if _is_searchable(value)}
        return Masker(kept, named, keys, searchable)

    def masked_text(self, text: str) -> str:
        """The text with every secret in it replaced by its reference."""
        parts, end = [], 0
        for one in self.find(text):
            parts += [text[end : one.start], secret_reference(one)]
            end = one.end
        return "".join([*parts, text[end:]]) if parts else text

    def find(self, text: str) -> list[SecretMatch]:
        """Where in the text secrets are, in order; what is masked already is none."""
        if not self.searchable:
            return []
        masked = [match.span() for match in MASK_PATTERN.finditer(text)]
        return [
            one
            for one in find_values(text, self.searchable)
            if not any(start <= one.start and one.end <= end for start, end in masked)
        ]

    def masked_value(self, value: Any, *, secret: bool = False) -> Any:
        """The plain value with every secret replaced, in keys too. `secret` as in `secrets_in`."""
        if not self.names:
            return value
        if isinstance(value, str):
            return self._masked_value(value, secret)
        occurring = occurring_values(searchable_text(value), self.searchable)
        return replace(self, searchable={one: self.searchable[one] for one in occurring})._masked_value(
            value, secret
        )

    def _masked_value(self, value: Any, secret: bool) -> Any:
        match value:
            case Mapping():
                under = pair_key(value, self.keys)
                return {
                    self.masked_text(str(key)): self._masked_value(
                        item, secret or key == under or self.keys.holds_secret(str(key), item)
                    )
                    for key, item in value.items()
                }
            case list() | tuple():
                items = self._masked_pieces(value)
                flags = self.keys.secret_flags(items)
                return [
                    self._masked_value(item, secret or flag) for item, flag in zip(items, flags, strict=True)
                ]
            case str() | int() | float() if (
                secret or (not isinstance(value, str) and len(str(value)) >= SHORTEST_ANYWHERE)
            ) and (text := secret_text_of(value)) in self.names:
                return f"${{SECRET:{self.names[text]}}}"
            case str():
                return self.masked_text(value)
            case _:
                return value

    def _masked_pieces(self, items: Sequence[Any]) -> Sequence[Any]:
        """The items; where a secret begins in one text and ends in another, without its pieces."""
        if not self.searchable or len(items) < 2 or not all(isinstance(item, str) for item in items):
            return items
        starts = [*accumulate(map(len, items), initial=0)]
        spans = tuple(pairwise(starts))
        made = list(items)
        for one in reversed(self.find("".join(items))):
            if any(start <= one.start and one.end <= end for start, end in spans):
                continue  # it is whole within one text
            for at, (start, end) in enumerate(spans):
                first, last = max(one.start, start) - start, min(one.end, end) - start
                if first < last:
                    made[at] = made[at][:first] + secret_reference(one) + made[at][last:]
        return made


def secret_reference(found: SecretMatch) -> str:
    """What stands for a secret: a part or a code of it has a name of its own."""
    return f"${{SECRET:{found.name}{f'_{found.form}' if found.form else ''}}}"


def secrets_occurring_in(value: object, secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Those of the secrets that stand somewhere in a plain value, and are long enough to be sought."""
    secrets = tuple(secret for secret in secrets if _is_searchable(secret.value))
    if not secrets:
        return ()
    found = set(occurring_values(searchable_text(value), (secret.value for secret in secrets)))
    return tuple(secret for secret in secrets if secret.value in found)


def _is_searchable(value: str) -> bool:
    return bool(needles_of(value)) and not is_ordinary(value)


def _free_name(name: str, taken: dict[str, int]) -> str:
    """The name, with a number where it is taken. `taken`: the last number of each name."""
    number = taken.get(name, 0) + 1
    while (free := f"{name}_{number}" if number > 1 else name) in taken:
        number += 1
    taken[name] = number
    taken.setdefault(free, 1)
    return free


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which values are secret: `secrets` are known ones, `keys` say it of their values. Looks tell others."""

    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    keys: SecretKeys = DEFAULT_SECRET_KEYS

    def masker(self, *values: Any, secrets: Iterable[Secret] = ()) -> Masker:
        """Return the mask for these plain values: known secrets that occur in them, `secrets`, and what is
        found."""
        found = (secret for value in values for secret in secrets_in(value, keys=self.keys))
        return Masker.for_secrets((*secrets_occurring_in(values, self.secrets), *secrets, *found), self.keys)

    def masked_text(self, text: str) -> str:
        """Return the text with `${SECRET:NAME}` in the place of each secret."""
        return self.masker(text).masked_text(text)

    def masked_value(self, value: Any) -> Any:
        """Return the plain value with `${SECRET:NAME}` in the place of each secret."""
        return self.masker(value).masked_value(value)


NOTHING_KNOWN = Redaction()


def secrets_of_variables(
    values: Mapping[str, str], keys: SecretKeys = DEFAULT_SECRET_KEYS
) -> Iterator[Secret]:
    """The secrets among variables: by their names, by their looks, or since they are listed."""
    plain = {value for name, value in values.items() if not keys.names_secret(name)}
    for name, value in values.items():
        by_name = is_secret_key(name) and not keys.is_listed(name)
        if by_name and value in plain and PLAIN_WORD.fullmatch(value):
            continue  # USER is not hidden for it
        yield from _secrets_of_variable(name, value, keys)


@lru_cache(maxsize=4096)  # an environment is read for every run, and seldom another
def _secrets_of_variable(name: str, value: str, keys: SecretKeys) -> tuple[Secret, ...]:
    if keys.is_listed(name):
        return (Secret(name, value),) if len(value.strip()) >= SHORTEST_SEARCHED else ()
    if not is_secret_key(name):
        return tuple(_inner_secrets(name, value))
    return (Secret(name, value), *_inner_secrets(name, value)) if _is_worth_masking(value) else ()


def _inner_secrets(name: str, value: str) -> Iterator[Secret]:
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
    if len(text) < SHORTEST_SEARCHED or is_ordinary(text) or REFERENCE.fullmatch(text):
        return False
    return not (text.startswith(("/", "~/", "./")) and _is_existing_path(text))


def _is_existing_path(text: str) -> bool:
    try:
        return os.path.exists(Path(text).expanduser())
    except (OSError, ValueError, RuntimeError):  # the latter: no such user
        return False

"""Secrets that are known, replaced by `${SECRET:NAME}` wherever they stand, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import accumulate, pairwise
from typing import Any

from hookscope.journal.encodings import (
    ANYWHERE,
    Found,
    find,
    needles_of,
    occurring,
    searchable,
)
from hookscope.journal.secrets import KEYS, Secret, SecretKeys, is_ordinary, pair_key, secret_text
from hookscope.values import dataclass

MASK = re.compile(r"\$\{SECRET:\w+\}")


@dataclass(frozen=True, slots=True)
class Veil:
    """Masks the secrets it knows. `names`: value → name. `keys`: the keys whose values are secret."""

    secrets: tuple[Secret, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: SecretKeys = KEYS
    sought: Mapping[str, str] = field(default_factory=dict, repr=False)  # of `names`, those to search for

    @staticmethod
    def over(secrets: Iterable[Secret], keys: SecretKeys = KEYS) -> Veil:
        """A veil over these. A value keeps its first name; a name taken by another value gets a number."""
        named: dict[str, str] = {}
        taken: dict[str, int] = {}
        for secret in secrets:
            if secret.value not in named:
                named[secret.value] = _free_name(secret.name, taken)
        kept = tuple(Secret(name, value) for value, name in named.items())
        sought = {value: name for value, name in named.items() if _is_sought(value)}
        return Veil(kept, named, keys, sought)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by its reference."""
        parts, end = [], 0
        for one in self.found(text):
            parts += [text[end : one.start], reference(one)]
            end = one.end
        return "".join([*parts, text[end:]]) if parts else text

    def found(self, text: str) -> list[Found]:
        """Where in the text secrets are, in order; what is masked already is none."""
        if not self.sought:
            return []
        masked = [match.span() for match in MASK.finditer(text)]
        return [
            one
            for one in find(text, self.sought)
            if not any(start <= one.start and one.end <= end for start, end in masked)
        ]

    def value(self, value: Any, *, secret: bool = False) -> Any:
        """The plain value with every secret replaced, in keys too. `secret` as in `secrets_in`."""
        if not self.names:
            return value
        if isinstance(value, str):
            return self._value(value, secret)
        here = occurring(searchable(value), self.sought)
        return replace(self, sought={one: self.sought[one] for one in here})._value(value, secret)

    def _value(self, value: Any, secret: bool) -> Any:
        match value:
            case Mapping():
                under = pair_key(value, self.keys)
                return {
                    self.text(str(key)): self._value(
                        item, secret or key == under or self.keys.hold(str(key), item)
                    )
                    for key, item in value.items()
                }
            case list() | tuple():
                items = self._pieces(value)
                flags = self.keys.in_list(items)
                return [self._value(item, secret or flag) for item, flag in zip(items, flags, strict=True)]
            case str() | int() | float() if (
                secret or (not isinstance(value, str) and len(str(value)) >= ANYWHERE)
            ) and (text := secret_text(value)) in self.names:
                return f"${{SECRET:{self.names[text]}}}"
            case str():
                return self.text(value)
            case _:
                return value

    def _pieces(self, items: Sequence[Any]) -> Sequence[Any]:
        """The items; where a secret begins in one text and ends in another, without its pieces."""
        if not self.sought or len(items) < 2 or not all(isinstance(item, str) for item in items):
            return items
        starts = [*accumulate(map(len, items), initial=0)]
        spans = tuple(pairwise(starts))
        made = list(items)
        for one in reversed(self.found("".join(items))):
            if any(start <= one.start and one.end <= end for start, end in spans):
                continue  # it is whole within one text
            for at, (start, end) in enumerate(spans):
                first, last = max(one.start, start) - start, min(one.end, end) - start
                if first < last:
                    made[at] = made[at][:first] + reference(one) + made[at][last:]
        return made


def reference(found: Found) -> str:
    """What stands for a secret: a part or a code of it has a name of its own."""
    return f"${{SECRET:{found.name}{f'_{found.form}' if found.form else ''}}}"


def standing_in(value: object, secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Those of the secrets that stand somewhere in a plain value, and are long enough to be sought."""
    secrets = tuple(secret for secret in secrets if _is_sought(secret.value))
    if not secrets:
        return ()
    found = set(occurring(searchable(value), (secret.value for secret in secrets)))
    return tuple(secret for secret in secrets if secret.value in found)


def _is_sought(value: str) -> bool:
    return bool(needles_of(value)) and not is_ordinary(value)


def _free_name(name: str, taken: dict[str, int]) -> str:
    """The name, with a number where it is taken. `taken`: the last number of each name."""
    number = taken.get(name, 0) + 1
    while (free := f"{name}_{number}" if number > 1 else name) in taken:
        number += 1
    taken[name] = number
    taken.setdefault(free, 1)
    return free

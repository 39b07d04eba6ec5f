"""Secrets that are known, replaced by `${SECRET:NAME}` wherever they stand, however they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from hookscope.journal.secrets import Secret, holds_secrets, secret_text
from hookscope.values import dataclass

ANYWHERE = 8  # characters; a shorter value is masked only where it stands as a word of its own
WORTH_A_SEARCH = 4  # characters; a shorter value is masked under its own key only


@dataclass(frozen=True, slots=True)
class Veil:
    """Masks the secrets it knows. `names` gives the name for a value, in whatever way it is written."""

    secrets: tuple[Secret, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    pattern: re.Pattern[str] | None = field(default=None, repr=False)

    @staticmethod
    def over(secrets: Iterable[Secret]) -> Veil:
        """A veil over these. A value keeps its first name; a name taken by another value gets a number."""
        named: dict[str, str] = {}
        for secret in secrets:
            if secret.value not in named:
                named[secret.value] = _free_name(secret.name, named.values())
        kept = tuple(Secret(name, value) for value, name in named.items())
        spelled = {spelling: name for value, name in named.items() for spelling in _spellings(value)}
        sought = sorted((text for text in spelled if len(text) >= WORTH_A_SEARCH), key=len, reverse=True)
        return Veil(kept, spelled, re.compile("|".join(map(_sought, sought))) if sought else None)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by its reference."""
        return text if self.pattern is None else self.pattern.sub(self._reference, text)

    def value(self, value: Any, *, secret: bool = False) -> Any:
        """The plain value with every secret replaced, in keys too. `secret` as in `secrets_in`."""
        if not self.names:
            return value
        match value:
            case Mapping():
                return {
                    self.text(key): self.value(item, secret=secret or holds_secrets(key, item))
                    for key, item in value.items()
                }
            case list() | tuple():
                return [self.value(item, secret=secret) for item in value]
            case str() | int() | float() if secret and (text := secret_text(value)) in self.names:
                return f"${{SECRET:{self.names[text]}}}"
            case str():
                return self.text(value)
            case _:
                return value

    def _reference(self, match: re.Match[str]) -> str:
        return f"${{SECRET:{self.names[match[0]]}}}"


def standing_in(value: object, secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Those of the secrets that stand somewhere in a plain value, and are long enough to be sought."""
    secrets = tuple(secret for secret in secrets if len(secret.value) >= WORTH_A_SEARCH)
    text = json.dumps(value, default=str, ensure_ascii=False) if secrets else ""
    return tuple(secret for secret in secrets if any(one in text for one in _spellings(secret.value)))


def _free_name(name: str, taken: Iterable[str]) -> str:
    used, free, number = set(taken), name, 1
    while free in used:
        number += 1
        free = f"{name}_{number}"
    return free


def _spellings(value: str) -> tuple[str, ...]:
    """As it is, and as JSON and Python print it inside quotes."""
    return value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]


def _sought(text: str) -> str:
    return re.escape(text) if len(text) >= ANYWHERE else rf"(?<!\w){re.escape(text)}(?!\w)"

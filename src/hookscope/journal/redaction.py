"""What may be written into a file: texts and values without the secrets that are known, found or listed.

Every writer of files takes its content through a Redaction. The journal has the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from hookscope.journal.secrets import KEYS, Secret, SecretKeys, secrets_in
from hookscope.journal.veil import Veil, standing_in
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which values are secret: `secrets` are known ones, `keys` say it of their values. Looks tell others."""

    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    keys: SecretKeys = KEYS

    def veil(self, *values: Any, secrets: Iterable[Secret] = ()) -> Veil:
        """Return the mask for these plain values: known secrets that occur in them, `secrets`, and what is
        found."""
        found = (secret for value in values for secret in secrets_in(value, keys=self.keys))
        return Veil.over((*standing_in(values, self.secrets), *secrets, *found), self.keys)

    def text(self, text: str) -> str:
        """Return the text with `${SECRET:NAME}` in the place of each secret."""
        return self.veil(text).text(text)

    def value(self, value: Any) -> Any:
        """Return the plain value with `${SECRET:NAME}` in the place of each secret."""
        return self.veil(value).value(value)


NOTHING_KNOWN = Redaction()

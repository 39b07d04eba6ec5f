"""Words that the texts of all languages share."""

from __future__ import annotations

PUSHED = "What is pushed is shown to the user."
PRINTED = "Nobody is shown the messages of this event: what is printed goes to the log of the host."
WORSE = ("rm -rf", "mkfs", "git push --force")  # what a guard lets no tool do


def both_of(key: str) -> tuple[str, str]:
    """Type and action of a key; no action: any."""
    family, _, action = key.partition(":")
    return family, action

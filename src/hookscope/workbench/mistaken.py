"""The names that authors write for events and that are none: the list that ships, read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hookscope.dialects.catalogues import source
from hookscope.lint.events import read_mistaken
from hookscope.lint.subject import Mistaken


@cache
def mistaken_names() -> Mapping[str, Mistaken]:
    """Names that are often written and mean something else, by name."""
    return read_mistaken(source("mistaken_names"))

"""What to do about a key that OpenClaw 2026.9 does not know in its settings.

It was one of older versions, stands in the wrong place, or is misspelt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from hookscope.core.text import nearest
from hookscope.dialects.openclaw_2026_9_schema import SCHEMA, SECTIONS
from hookscope.systems.folders.closed_settings import EACH, NAMES, OTHERS, UNKNOWN

Path: TypeAlias = tuple[str | int, ...]  # of keys and numbers, as `Issue` has it
_KEY: Final = re.compile(r'"([^"]*)"')
_KNOWN: Final[Mapping[tuple[Path, str], str]] = {
    (("hooks", "internal"), "handlers"): (
        "write each of these handlers as a folder with a HOOK.md (`hookscope new NAME`), "
        "and take the list out"
    ),
    (("agents",), "list"): "agents stand in agents.entries, by their ids",
}
_VARIABLES: Final = "variables stand in env.vars"


def advice(path: Path, text: str) -> str:
    """What to write in place of the keys that a sentence calls unknown; empty for other sentences."""
    if not text.startswith(UNKNOWN):
        return ""
    steps = (_of_key(path, key) for key in _KEY.findall(text))
    return " and ".join(dict.fromkeys(steps))


def _of_key(path: Path, key: str) -> str:
    if told := _KNOWN.get((path, key)):
        return told
    if path == ("env",) and key.isupper():
        return _VARIABLES
    near = nearest(key, _known_at(path))
    return f'write "{near}" for "{key}"' if near else f'take "{key}" out'


def _known_at(path: Path) -> Iterable[str]:
    """The keys that may stand there."""
    if not path:
        return SECTIONS
    shape: Any = SCHEMA
    for step in path:
        if isinstance(step, int):
            shape = shape[0] if isinstance(shape, list) else None
        elif isinstance(shape, Mapping):
            shape = shape.get(step, shape.get(EACH))
        else:
            shape = None
    return set(shape) - {EACH, NAMES, OTHERS} if isinstance(shape, Mapping) else ()

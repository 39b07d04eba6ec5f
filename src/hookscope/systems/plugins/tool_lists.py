"""Lists of tools that handlers allow: groups, `*`, and what two lists have in common."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

# Source: rules-openclaw section 6, "groups expanded"; the groups as the program's documents list them.
GROUPS: dict[str, tuple[str, ...]] = {
    "group:fs": ("read", "write", "edit", "apply_patch"),
    "group:runtime": ("exec", "process"),
    "group:web": ("web_search", "web_fetch"),
    "group:memory": ("memory_search", "memory_get"),
    "group:sessions": (
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "session_status",
    ),
    "group:ui": ("browser", "canvas"),
    "group:automation": ("cron", "gateway"),
    "group:messaging": ("message",),
    "group:nodes": ("nodes",),
}
EVERY = "*"


def intersection(before: list[str] | None, allowed: object) -> list[str]:
    """What both lists allow. `before` is None where nobody has restricted anything yet.

    What is no list of texts allows nothing. One list alone stands as it was written.
    """
    names = _texts(allowed)
    if before is None:
        return names
    left, right = _expanded(before), _expanded(names)
    if not left or not right:
        return []
    if EVERY in left:
        return right
    if EVERY in right:
        return left
    return [name for name in dict.fromkeys([*left, *right]) if _allows(left, name) and _allows(right, name)]


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return []
    return list(value)


def _expanded(names: Iterable[str]) -> list[str]:
    words = (name.strip().lower() for name in names)
    return list(dict.fromkeys(tool for word in words if word for tool in GROUPS.get(word, (word,))))


def _allows(names: Iterable[str], tool: str) -> bool:
    return any(fnmatchcase(tool, name) for name in names)

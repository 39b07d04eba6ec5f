"""What the gates have in common whose needs a hook's metadata declares."""

from functools import cache

from hookscope.model.hook_status import Gate

REQUIREMENT_ROW = (
    "platform, programs on `PATH`, variables, settings; `always: true` skips them, not all hosts all of them"
)


@cache
def nothing_needed(name: str) -> Gate:
    """The gate of that name for a hook that declares no such need."""
    return Gate(name, True, found="none needed")

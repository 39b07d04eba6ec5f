"""Which of those that did not run are told one by one, and which are only counted."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.core.runs import NotRun

MOST = 6  # near misses that are told; where there are more, a line each would hide the plan


def not_asked_for(only: str) -> str:
    """Why a hook does not run of an event that is fired at another."""
    return f"left out: only {only} was asked for"


def not_asked(left: Sequence[NotRun]) -> tuple[list[NotRun], list[NotRun]]:
    """Those who were not asked for, of whom there is no more to tell; and all others."""
    aside = [item for item in left if item.left_out == "unasked"]
    return aside, [item for item in left if item.left_out != "unasked"]


def told_and_counted(left: Sequence[NotRun]) -> tuple[list[NotRun], list[NotRun]]:
    """Who listens and is stopped, then the nearest misses; and all others."""
    listening = [item for item in left if item.listens]
    near = [item for item in left if item.near and not item.listens][:MOST]
    told = set(map(id, near))  # they are compared by all they hold, and may be thousands
    return listening + near, [item for item in left if not item.listens and id(item) not in told]


def why_not(item: NotRun) -> str:
    """The sentence on one that did not run: a near miss with what it would take."""
    return item.near or item.reason

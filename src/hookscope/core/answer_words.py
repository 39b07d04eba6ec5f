"""An answer that its host does not heed: which of its members was perhaps meant to be another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hookscope.core.answers import merge_steps
from hookscope.core.given import camel
from hookscope.core.runs import Event, Policy, Result

STOPS = ("block", "cancel", "handled")  # the members by which answers stop something, each of some events
CALLED = frozenset((*STOPS, "blocked", "canceled", "cancelled", "deny", "denied", "reject", "stop", "abort"))


def other_word(policy: Policy, event: Event, result: Result) -> tuple[str, str] | None:
    """A member of an answer that counts for nothing, and the name under which it would count; None where
    none is known. The policy itself is asked; nothing runs."""
    answer = result.returned
    if not isinstance(answer, dict):
        return None
    for name, value in answer.items():
        for other in _others(name, is_yes=value is True):
            tried = replace(result, returned={other: value})
            if any(step.counts or step.stopped for step in merge_steps(policy, event, [tried])):
                return name, other
    return None


def _others(name: str, *, is_yes: bool) -> Iterator[str]:
    spelt = camel(name)
    yield from dict.fromkeys(word for word in (spelt[:1].lower() + spelt[1:], name.lower()) if word != name)
    if is_yes and name.lower() in CALLED:
        yield from (word for word in STOPS if word != name)

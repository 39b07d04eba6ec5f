"""How the answers of an event's handlers add up, step by step. Pure: the policy is asked once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hookscope.core.runs import Event, Next, Policy, Result


@dataclass(frozen=True, slots=True)
class MergeStep:
    """What one result made of the answer so far."""

    result: Result
    answer: Mapping[str, Any] = field(default_factory=dict)  # merged, this one included
    changed: tuple[str, ...] = ()  # the fields of the answer that this one set or changed
    ends: Next = Next.GO  # STOP: the rest is not asked; FAIL: the event fails closed


def merge_steps(policy: Policy, event: Event, results: Sequence[Result]) -> tuple[MergeStep, ...]:
    """A step for each result, in plan order, up to the one that ended the event."""
    fold = policy.start(event)
    steps: list[MergeStep] = []
    for result in results:
        before = fold.answer
        fold, ends = policy.take(fold, result)
        changed = tuple(key for key, value in fold.answer.items() if before.get(key, _ABSENT) != value)
        steps.append(MergeStep(result, fold.answer, changed, ends))
        if ends is not Next.GO:
            break
    return tuple(steps)


_ABSENT = object()

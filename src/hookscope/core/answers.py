"""How the answers of an event's handlers added up, one after another: for who wants to see it happen."""

from collections.abc import Iterable, Mapping
from typing import Any

from hookscope.core.alike import alike
from hookscope.core.runs import Event, Next, Policy, Result
from hookscope.values import dataclass

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class MergeStep:
    """What one result made of the merged answer."""

    name: str  # whose result it is
    answered: object  # what the handler returned; None: nothing, or it failed
    changed: Mapping[str, Any]  # of the merged answer: what this result set; None for what it took away
    answer: Mapping[str, Any]  # the merged answer after it
    stopped: bool  # nobody was asked after it
    counts: bool  # the host took its answer into account


def merge_steps(policy: Policy, event: Event, results: Iterable[Result]) -> tuple[MergeStep, ...]:
    """The merging of `results`, in their order, as `policy` does it. Runs nothing and asks nobody again.

    `event` as it was fired (`Run.event`). Ends with the result that stopped the event, where one did.
    """
    fold, steps = policy.start(event), []
    for result in results:
        before, count = fold.answer, len(fold.by)
        fold, then = policy.take(fold, result)
        steps.append(
            MergeStep(
                name=result.call.name,
                answered=result.returned,
                changed=_changes(before, fold.answer),
                answer=fold.answer,
                stopped=then is not Next.GO,
                counts=len(fold.by) > count,
            )
        )
        if then is not Next.GO:
            break
    return tuple(steps)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changed = {name: value for name, value in after.items() if not alike(before.get(name, _ABSENT), value)}
    return {**changed, **dict.fromkeys(name for name in before if name not in after)}

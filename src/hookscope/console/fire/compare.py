"""What is different between two runs of one event, in a few words. Pure."""

from collections.abc import Mapping

from hookscope.console.marks import PHASES, count, word
from hookscope.core.differences import Call, calls_of
from hookscope.core.runs import Result, Run
from hookscope.core.text import duration

Calls = Mapping[Call, Result]
MOST = 3  # handlers named one by one


def compared(before: Run, after: Run) -> str:
    """Outcomes, messages and context that changed, then the time. "as before" where only time may differ."""
    old, new = calls_of(before), calls_of(after)
    parts = [*_outcomes(old, new), *_messages(before, after)]
    if before.context != after.context:
        parts.append("context differs")
    times = f"{duration(_time(before))} → {duration(_time(after))}"
    return " · ".join([*(parts or ["as before"]), times])


def _outcomes(old: Calls, new: Calls) -> list[str]:
    changes = []
    for call, result in new.items():
        past = old.get(call)
        if past is None:
            changes.append(f"{word(call[0], 30)} new {PHASES[result.status].glyph}")
        elif past.status != result.status:
            signs = f"{PHASES[past.status].glyph} → {PHASES[result.status].glyph}"
            changes.append(f"{word(call[0], 30)} {signs}")
        if result.stale is not None:
            changes.append(f"{word(call[0], 30)} is the version from before: the saved one does not load")
    changes += [f"{word(call[0], 30)} did not run" for call in old if call not in new]
    if len(changes) > MOST:
        return [*changes[:MOST], f"{len(changes) - MOST} more"]
    return changes


def _messages(before: Run, after: Run) -> list[str]:
    if before.messages == after.messages:
        return []
    more = len(after.messages) - len(before.messages)
    return [f"{'+' if more > 0 else '-'}{count(abs(more), 'message')}"] if more else ["other messages"]


def _time(run: Run) -> float:
    return sum(result.took for result in run.results)

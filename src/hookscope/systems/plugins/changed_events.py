"""What a handler changed in the event that it got: what its host keeps of that, and what it did in vain."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from hookscope.core.runs import Code, Patch, Result
from hookscope.core.text import one_line
from hookscope.systems.plugins.rules import MergeRule, Payload


def in_vain(
    hook: str, rule: MergeRule | None, payload: Payload, result: Result, *, apart: bool
) -> Iterator[str]:
    """A sentence for each member that it changed and its host reads from nowhere but its answer.

    Of what lies deeper only where the host hands out copies is that certain; a member of its own is no fault.
    """
    returned = result.returned if isinstance(result.returned, Mapping) else {}
    seen: set[str] = set()
    for name, is_deep in _changed(result.patch):
        lost = not is_deep or (rule is not None and (apart or name in rule.copied))
        if name in seen or name in returned or not lost:
            continue
        seen.add(name)
        written = f"it changed event.{one_line(name, 60)} in vain"
        if rule is not None and name in rule.answers:
            yield f"{written}: return {{ {name} }}, since its host reads what it returns"
        elif name in payload and rule is not None:
            yield f"{written}: what it returns counts, and no more"
        elif name in payload:
            yield f"{written}: {hook} only tells its handlers what happens"


def _changed(patch: Patch) -> Iterator[tuple[str, bool]]:
    """The members of the event that a patch touches, and whether below themselves."""
    for step in patch:
        _, name, *deeper = (*str(step.get("path")).split("/"), "")
        yield _plain(name), len(deeper) > 1


def with_kept(event: Mapping[str, Any], rule: MergeRule, result: Result) -> Mapping[str, Any]:
    """The event with what a handler in another process changed inside of members that the host keeps.

    One of this process had the very object.
    """
    steps = [step for step in result.patch if isinstance(result.call.target, Code) and _is_inside(step, rule)]
    if not steps:
        return event
    kept = {name: deepcopy(event[name]) for name in rule.kept if name in event}
    for step in steps:
        _lay(kept, [_plain(part) for part in str(step["path"]).split("/")[1:]], step)
    return {**event, **kept}


def _is_inside(step: Mapping[str, Any], rule: MergeRule) -> bool:
    return any(str(step.get("path")).startswith(f"/{name}/") for name in rule.kept)


def _lay(value: Any, path: list[str], step: Mapping[str, Any]) -> None:
    """One step of a patch. One that does not fit is passed over: the result shows it."""
    *above, last = path
    try:
        for part in above:
            value = value[int(part)] if isinstance(value, list) else value[part]
        if isinstance(value, list):
            place = len(value) if last == "-" else int(last)
            value[place : place + (step["op"] != "add")] = [] if step["op"] == "remove" else [step["value"]]
        elif step["op"] == "remove":
            del value[last]
        else:
            value[last] = step["value"]
    except (LookupError, TypeError, ValueError):
        return


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")

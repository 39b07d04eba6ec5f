"""What is different between two runs of one event, and nothing else. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from hookscope.core.alike import alike
from hookscope.core.copies import FileChange, Guarded
from hookscope.core.failure import ending_of
from hookscope.core.runs import Result, Run
from hookscope.values import dataclass

MARK = "replayed"  # in an event that was fired before: which run it was, and when
MOST = 200  # differences within one context

Call = tuple[str, str, int]  # hook, key, and how often that pair came before


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as before. What was not there is None."""

    kind: Literal["handler", "order", "message", "context", "result", "verdict", "file"]
    what: str  # the handler, the path in the context, …
    before: Any = None
    after: Any = None


def differences(before: Run, after: Run) -> tuple[Difference, ...]:
    """Handlers and how they ended, their order, messages, context, merged answer, verdict, and files where
    both ran on copies. Never times."""
    return (
        *_handlers(before, after),
        *_messages(before.messages, after.messages),
        *_values("context", before.context, after.context),
        *_values("result", before.ending.answer or {}, after.ending.answer or {}),
        *_verdict(before.ending.verdict, after.ending.verdict),
        *_files(before.guarded, after.guarded),
    )


def _handlers(before: Run, after: Run) -> Iterator[Difference]:
    old, new = calls_of(before), calls_of(after)
    for call, result in new.items():
        past = old.get(call)
        if past is None or _ended(past) != _ended(result):
            yield Difference("handler", call[0], past and _ended(past), _ended(result))
    yield from (Difference("handler", call[0], _ended(old[call])) for call in old if call not in new)
    both = ([call for call in old if call in new], [call for call in new if call in old])
    if both[0] != both[1]:
        was, now = ([name for name, _, _ in calls] for calls in both)
        yield Difference("order", "order of calls", was, now)


def calls_of(run: Run) -> Mapping[Call, Result]:
    """Each result by its hook, its key, and how often that pair came before it; in order."""
    seen: Counter[tuple[str, str]] = Counter()
    calls: dict[Call, Result] = {}
    for result in run.results:
        pair = (result.call.name, result.call.key)
        calls[(*pair, seen[pair])] = result
        seen[pair] += 1
    return calls


def _ended(result: Result) -> str:
    return ending_of(result.status, result.error)


def _messages(before: Sequence[str], after: Sequence[str]) -> Iterator[Difference]:
    """Messages that are gone and that came, in their order."""
    for change, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if change != "equal":
            yield from (Difference("message", "message", before=text) for text in before[start:end])
            yield from (Difference("message", "message", after=text) for text in after[first:last])


def _values(kind: Literal["context", "result"], before: Any, after: Any) -> Iterator[Difference]:
    found = _differing(before, after, "")
    for number, (path, was, now) in enumerate(found):
        if number == MOST:
            return
        if path != MARK and not path.startswith(f"{MARK}."):
            yield Difference(kind, path, was, now)


def _differing(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differing(before.get(name), after.get(name), inner)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        for place in range(max(len(before), len(after))):
            was, now = (items[place] if place < len(items) else None for items in (before, after))
            yield from _differing(was, now, f"{path}[{place}]")
    elif not alike(before, after):
        yield path, before, after


def _verdict(before: str, after: str) -> Iterator[Difference]:
    if before != after:
        yield Difference("verdict", "verdict", before or None, after or None)


def _files(before: Guarded | None, after: Guarded | None) -> Iterator[Difference]:
    if before is None or after is None:
        return
    old, new = ({str(one.path): _written(one) for one in side.changes} for side in (before, after))
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            yield Difference("file", path, old.get(path), new.get(path))


def _written(change: FileChange) -> Mapping[str, Any]:
    return {"kind": change.kind, "bytes": change.after, "diff": change.diff}

"""What a saved event expects of its run, and where a run misses it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from hookscope.core.runs import Run
from hookscope.core.text import nearest
from hookscope.workbench.refusal import Refusal

ABSENT = "nothing"


@dataclass(frozen=True, slots=True)
class Miss:
    """One expectation that a run did not meet."""

    what: str  # errors, messages, context.history[0], …
    expected: object
    got: object
    lines: tuple[str, ...] = ()  # item by item, for lists: `  same`, `- expected`, `+ got`


Check = Callable[[Any, Run], Iterator[Miss]]


def misses(expect: Mapping[str, Any], run: Run) -> tuple[Miss, ...]:
    """Where the run is not what was expected, in the order of the expectations.

    Without `errors` none is expected. Raises Refusal for an expectation that nobody knows, or of the wrong
    type: a test that checks nothing is worse than none.
    """
    told = {"errors": 0, **expect}
    for name in told:
        if name not in CHECKS:
            near = nearest(name, CHECKS)
            meant = f"did you mean {near}?" if near else f"there are {', '.join(CHECKS)}."
            raise Refusal(f"`expect:` has {name!r}; {meant}", code=2)
    return tuple(miss for name, wanted in told.items() for miss in CHECKS[name](wanted, run))


def _errors(wanted: Any, run: Run) -> Iterator[Miss]:
    count = _number("errors", wanted)
    if len(run.failed) != count:
        lines = tuple(f"+ {result.call.name}: {_said(result.error)}" for result in run.failed)
        yield Miss("errors", count, len(run.failed), lines)


def _said(error: Any) -> str:
    return f"{error.type}: {error.message}" if error is not None else "no answer"


def _messages(wanted: Any, run: Run) -> Iterator[Miss]:
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if len(run.messages) != wanted:
            yield Miss("messages", wanted, len(run.messages), tuple(f"+ {text}" for text in run.messages))
        return
    yield from _in_order("messages", _texts("messages", wanted), run.messages)


def _ran(wanted: Any, run: Run) -> Iterator[Miss]:
    yield from _in_order("ran", _texts("ran", wanted), [result.call.name for result in run.results])


def _in_order(what: str, wanted: Sequence[str], got: Sequence[str]) -> Iterator[Miss]:
    """Each text fits its pattern, and there are as many."""
    pairs = [(one, got[at] if at < len(got) else None) for at, one in enumerate(wanted)]
    fits = [text is not None and fnmatchcase(text, pattern) for pattern, text in pairs]
    if all(fits) and len(got) == len(wanted):
        return
    lines: list[str] = []
    for (pattern, text), fit in zip(pairs, fits, strict=True):
        lines += [f"  {text}"] if fit else [f"- {pattern}", *([f"+ {text}"] if text is not None else [])]
    lines += [f"+ {text}" for text in got[len(wanted) :]]
    yield Miss(what, list(wanted), list(got), tuple(lines))


def _context(wanted: Any, run: Run) -> Iterator[Miss]:
    for path, value in _mapping("context", wanted).items():
        found = _at(run.context, str(path))
        if found != value:
            yield Miss(f"context.{path}", value, found)


def _result(wanted: Any, run: Run) -> Iterator[Miss]:
    for path, value in _mapping("result", wanted).items():
        found = _at(run.ending.answer or {}, str(path))
        if found != value:
            yield Miss(f"result.{path}", value, found)


def _at(value: Any, path: str) -> Any:
    """`history[0].text` of a value; the word for nothing where it is not there."""
    for part in path.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def _max_ms(wanted: Any, run: Run) -> Iterator[Miss]:
    most = _number("max_ms", wanted)
    took = max((result.took * 1000 for result in run.results), default=0.0)
    if took > most:
        slowest = max(run.results, key=lambda result: result.took).call.name
        yield Miss("max_ms", most, round(took, 1), (f"+ {slowest} took {took:.1f} ms",))


def _blocked(wanted: Any, run: Run) -> Iterator[Miss]:
    if not isinstance(wanted, bool):
        raise Refusal(f"`blocked` in `expect:` wants true or false, and has {wanted!r}.", code=2)
    if was_blocked(run) is not wanted:
        yield Miss("blocked", wanted, was_blocked(run), (f"+ {run.ending.verdict or 'no verdict'}",))


def was_blocked(run: Run) -> bool:
    """Did a handler keep its host from going on."""
    return run.ending.verdict.startswith(("blocked", "cancelled", "turn cancelled", "failed closed"))


def _number(name: str, wanted: Any) -> float:
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        raise Refusal(f"`{name}` in `expect:` wants a number, and has {wanted!r}.", code=2)
    return wanted


def _texts(name: str, wanted: Any) -> list[str]:
    if not isinstance(wanted, list) or not all(isinstance(item, str) for item in wanted):
        raise Refusal(f"`{name}` in `expect:` wants a list of texts, and has {wanted!r}.", code=2)
    return wanted


def _mapping(name: str, wanted: Any) -> Mapping[str, Any]:
    if not isinstance(wanted, Mapping):
        raise Refusal(f"`{name}` in `expect:` wants paths with their values, and has {wanted!r}.", code=2)
    return wanted


CHECKS: Mapping[str, Check] = {
    "errors": _errors,
    "messages": _messages,
    "ran": _ran,
    "context": _context,
    "result": _result,
    "blocked": _blocked,
    "max_ms": _max_ms,
}

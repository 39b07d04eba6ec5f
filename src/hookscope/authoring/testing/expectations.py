"""Expectations of a saved event, and where a run does not meet them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from hookscope.model.failure import Refusal
from hookscope.model.payload import json_equal
from hookscope.model.run import Code, FileChange, Result, Run, TouchedFile
from hookscope.model.text import nearest_word
from hookscope.values import dataclass


class Placeholder(str):
    """A text in place of a missing value. Its type tells it apart from a value with the same text."""

    __slots__ = ()


ABSENT = Placeholder("nothing")
UNKNOWN = Placeholder("unknown: the run was not sandboxed")
PATTERNS = ("messages", "output", "ran", "files")  # lists of patterns with * ? [
WILD = re.compile(r"[*?[]")
ANY = "*"  # in place of a value: matches any
FILES = "files"  # expected files: such events are fired in a sandbox


@dataclass(frozen=True, slots=True)
class UnmetExpectation:
    """One expectation that a run did not meet."""

    what: str  # errors, messages, context.history[0], …
    expected: object
    got: object
    lines: tuple[str, ...] = ()  # item by item, for lists: `  same`, `- expected`, `+ got`


ExpectationCheck = Callable[[Any, Run], Iterator[UnmetExpectation]]


def unmet_expectations(
    expect: Mapping[str, Any], run: Run, files: Sequence[str] | None = None
) -> tuple[UnmetExpectation, ...]:
    """Return the unmet expectations of a run, in their order.

    Without `errors`, no errors are expected. `files`: see `changed_files`. Raises Refusal for an unknown
    expectation or one of the wrong type, so that no test silently checks nothing.
    """
    expected = {"errors": 0, **expect}
    checks: Mapping[str, ExpectationCheck] = {**CHECKS, FILES: partial(_files, files)}
    for name in expected:
        if name not in checks:
            closest = nearest_word(name, checks)
            suggestion = f"did you mean {closest}?" if closest else f"use one of {', '.join(checks)}."
            raise Refusal(f"`expect:` has the unknown key {name!r}; {suggestion}", code=2)
    return tuple(miss for name, value in expected.items() for miss in checks[name](value, run))


def changed_files(run: Run, workspace: Path, home: Path) -> tuple[str, ...] | None:
    """Return the sorted names of the files that a sandboxed run wrote, changed or deleted.

    Names are relative to the workspace, else to `~`. None for a run outside a sandbox, where nothing was
    checked. Without isolation, originals in the workspace that changed during the run count too, so that a
    handler that wrote past its copy does not pass.
    """
    if run.guarded is None:
        return None
    found = run.guarded.originals
    originals = () if found is None or run.guarded.read_only_disk else found.changed
    changed: list[FileChange | TouchedFile] = [*run.guarded.changes]
    changed += [one for one in originals if one.path.is_relative_to(workspace)]
    return tuple(sorted({_file_name(one, workspace, home) for one in changed}))


def literal_pattern(text: str) -> str:
    """Return the pattern that matches only this text."""
    return WILD.sub(r"[\g<0>]", text)


def _file_name(change: FileChange | TouchedFile, workspace: Path, home: Path) -> str:
    path = change.path
    if path.is_relative_to(workspace):
        name = path.relative_to(workspace).as_posix()
    elif path.is_relative_to(home):
        name = f"~/{path.relative_to(home).as_posix()}"
    else:
        name = str(path)
    return f"{name} (deleted)" if change.kind == "deleted" else name


def _errors(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    count = _number("errors", expected)
    if len(run.failed) != count:
        lines = tuple(
            f"+ {result.call.name}: {_error_message(result.error)}{_error_line(result)}"
            for result in run.failed
        )
        yield UnmetExpectation("errors", count, len(run.failed), lines)


def _error_line(result: Result) -> str:
    """Return the innermost line of the hook's own code in the error's stack trace."""
    code = result.call.target
    if result.error is None or not isinstance(code, Code):
        return ""
    own = [frame for frame in result.error.frames if Path(frame.file).is_relative_to(code.root)]
    return f" ({Path(own[-1].file).name}:{own[-1].line})" if own else ""


def _error_message(error: Any) -> str:
    return f"{error.type}: {error.message}" if error is not None else "no answer"


def _messages(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    if isinstance(expected, Mapping):
        for name, expected_of_hook in expected.items():
            got = [text for result in _results_of(str(name), run) for text in result.messages]
            if isinstance(expected_of_hook, int) and not isinstance(expected_of_hook, bool):
                if len(got) != expected_of_hook:
                    yield UnmetExpectation(
                        f"messages.{name}", expected_of_hook, len(got), tuple(f"+ {text}" for text in got)
                    )
            else:
                yield from _in_order(f"messages.{name}", _texts("messages", expected_of_hook), got)
        return
    if isinstance(expected, int) and not isinstance(expected, bool):
        if len(run.messages) != expected:
            yield UnmetExpectation(
                "messages", expected, len(run.messages), tuple(f"+ {text}" for text in run.messages)
            )
        return
    yield from _in_order("messages", _texts("messages", expected), run.messages)


def _output(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    """Yield patterns that match no line printed by the hook."""
    for name, patterns in _mapping("output", expected).items():
        texts = _texts("output", patterns)
        got = [line for one in _results_of(str(name), run) for line in (one.stdout + one.stderr).splitlines()]
        lost = [pattern for pattern in texts if not any(fnmatchcase(line, pattern) for line in got)]
        if lost:
            lines = (*(f"- {pattern}" for pattern in lost), *(f"+ {line}" for line in got))
            yield UnmetExpectation(f"output.{name}", texts, got, lines)


def _results_of(hook: str, run: Run) -> list[Result]:
    return [result for result in run.results if result.call.name == hook]


def _ran(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    yield from _in_order("ran", _texts("ran", expected), [result.call.name for result in run.results])


def _in_order(what: str, expected: Sequence[str], got: Sequence[str]) -> Iterator[UnmetExpectation]:
    """Yield a difference unless each text matches its pattern and the counts are equal."""
    pairs = [(one, got[at] if at < len(got) else None) for at, one in enumerate(expected)]
    fits = [text is not None and fnmatchcase(text, pattern) for pattern, text in pairs]
    if all(fits) and len(got) == len(expected):
        return
    lines: list[str] = []
    for (pattern_text, text), fit in zip(pairs, fits, strict=True):
        lines += [f"  {text}"] if fit else [f"- {pattern_text}", *([f"+ {text}"] if text is not None else [])]
    lines += [f"+ {text}" for text in got[len(expected) :]]
    yield UnmetExpectation(what, list(expected), list(got), tuple(lines))


def _files(files: Sequence[str] | None, expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    """Yield a difference unless every pattern matches a file and every file a pattern, in any order."""
    counted = isinstance(expected, int) and not isinstance(expected, bool)
    patterns = [] if counted else _texts("files", expected)
    if files is None:
        yield UnmetExpectation("files", expected, UNKNOWN)
    elif counted:
        if len(files) != expected:
            yield UnmetExpectation("files", expected, len(files), tuple(f"+ {name}" for name in files))
    else:
        lost = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in files)]
        strange = [name for name in files if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        if lost or strange:
            lines = (*(f"- {pattern}" for pattern in lost), *(f"+ {name}" for name in strange))
            yield UnmetExpectation("files", list(patterns), list(files), lines)


def _context(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    for path, value in _mapping("context", expected).items():
        found = _value_at(run.context, str(path))
        if found is ABSENT or not _fits(found, value):
            yield UnmetExpectation(f"context.{path}", value, found)


def _result(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    for path, value in _mapping("result", expected).items():
        found = _value_at(run.ending.answer or {}, str(path))
        if found is ABSENT or not _fits(found, value):
            yield UnmetExpectation(f"result.{path}", value, found)


def _fits(found: Any, expected: Any) -> bool:
    """Return whether a value is as expected; `*` in place of a value matches any."""
    if json_equal(found, expected):
        return True
    match expected:
        case str():
            return expected == ANY
        case Mapping():
            if not isinstance(found, Mapping) or found.keys() != expected.keys():
                return False
            return all(_fits(found[name], item) for name, item in expected.items())
        case list():
            if not isinstance(found, list | tuple) or len(found) != len(expected):
                return False
            return all(_fits(one, item) for one, item in zip(found, expected, strict=True))
        case _:
            return False


def _value_at(value: Any, path: str) -> Any:
    """Return `history[0].text` of a value; ABSENT if it does not exist."""
    for part in path.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def _max_ms(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    most = _number("max_ms", expected)
    took = max((result.took * 1000 for result in run.results), default=0.0)
    if took > most:
        slowest = max(run.results, key=lambda result: result.took).call.name
        yield UnmetExpectation("max_ms", most, round(took, 1), (f"+ {slowest} took {took:.1f} ms",))


def _blocked(expected: Any, run: Run) -> Iterator[UnmetExpectation]:
    if not isinstance(expected, bool):
        raise Refusal(f"`blocked` in `expect:` must be true or false, not {expected!r}.", code=2)
    if was_blocked(run) is not expected:
        yield UnmetExpectation(
            "blocked", expected, was_blocked(run), (f"+ {run.ending.verdict or 'no verdict'}",)
        )


def was_blocked(run: Run) -> bool:
    """Return whether a handler blocked the host's action."""
    return run.ending.verdict.startswith(("blocked", "cancelled", "turn cancelled", "failed closed"))


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # NaN
        raise Refusal(f"`{name}` in `expect:` must be a number, not {value!r}.", code=2)
    return value


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Refusal(f"`{name}` in `expect:` must be a list of strings, not {value!r}.", code=2)
    return value


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Refusal(f"`{name}` in `expect:` must be a mapping of paths to values, not {value!r}.", code=2)
    return value


CHECKS: Mapping[str, ExpectationCheck] = {
    "errors": _errors,
    "messages": _messages,
    "output": _output,
    "ran": _ran,
    "context": _context,
    "result": _result,
    "blocked": _blocked,
    "max_ms": _max_ms,
}

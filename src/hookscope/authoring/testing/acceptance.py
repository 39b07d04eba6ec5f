"""Accepts what a run did as the new expectations of its saved event."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.variables import STATE_VARIABLE, WORKSPACE_VARIABLE, escaped_value, with_folder_names
from hookscope.authoring.testing.expectations import (
    ABSENT,
    ANY,
    FILES,
    PATTERNS,
    UNKNOWN,
    UnmetExpectation,
    literal_pattern,
    was_blocked,
)
from hookscope.authoring.testing.saved_events import reads_as, yaml_value
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.formats.positions import FormatError, KeyPath, text_of
from hookscope.formats.yaml12 import locate_yaml, read_yaml
from hookscope.model.failure import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.run import Run
from hookscope.model.text import error_reason
from hookscope.storage.edits.change import Change, WriteChange, write_user_file
from hookscope.storage.journal.records import run_document, run_of
from hookscope.storage.journal.redaction import NOTHING_KNOWN, Masker, Redaction, mask_run, masker_of_runs
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench


@dataclass(frozen=True, slots=True)
class ExpectationMasking:
    """Masks secrets in expectations. `variables` fill the expectations when they are read."""

    redaction: Redaction = NOTHING_KNOWN
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def masker_for(self, runs: Iterable[Run]) -> ExpectationMasker:
        """Return the masker for the values of these runs."""
        return ExpectationMasker(
            masker_of_runs(runs, self.redaction.secrets, self.redaction.keys), self.variables
        )


NO_EXPECTATION_MASKING = ExpectationMasking()


@dataclass(frozen=True, slots=True)
class ExpectationMasker:
    """Writes texts and values of runs as expectations."""

    masker: Masker
    variables: Mapping[str, str] = field(repr=False)

    def pattern(self, text: str) -> str:
        """Return the pattern that matches this text, with `${NAME}` or `*` in place of its secrets."""
        parts, end = [], 0
        for one in self.masker.find(text):
            before, secret = text[end : one.start], text[one.start : one.end]
            name = self._name(one.name, secret) if one.exact else ""
            parts.append(escaped_value(literal_pattern(before)))
            parts.append(f"${{{name}}}" if name and not before.endswith("$") else ANY)
            end = one.end
        return str(self._portable("".join([*parts, escaped_value(literal_pattern(text[end:]))])))

    def value(self, value: Any, *, secret: bool = False) -> Any:
        """Return the value with `${NAME}` for its secrets. A value with an unnamed secret becomes `*`.

        `secret`: a key above the value marks the value as secret.
        """
        return self._portable(self._value(value, self.masker.masked_value(value, secret=secret)))

    def _portable(self, value: Any) -> Any:
        places = (WORKSPACE_VARIABLE, STATE_VARIABLE)
        return with_folder_names(
            value, {name: self.variables[name] for name in places if name in self.variables}
        )

    def _value(self, value: Any, masked: Any) -> Any:
        match value:
            case str() if value != masked:
                return self._text(value)
            case str():
                return escaped_value(value)
            case Mapping():
                if value.keys() != masked.keys():  # a key holds a secret
                    return ANY
                return {name: self._value(item, masked[name]) for name, item in value.items()}
            case list() | tuple():
                return [self._value(item, hidden) for item, hidden in zip(value, masked, strict=True)]
            case _:
                return value if value == masked else ANY

    def _text(self, text: str) -> str:
        if name := self._name("", text):
            return f"${{{name}}}"
        found = self.masker.find(text)
        names = [self._name(one.name, text[one.start : one.end]) if one.exact else "" for one in found]
        if not found or not all(names):
            return ANY
        parts, end = [], 0
        for one, name in zip(found, names, strict=True):
            before = text[end : one.start]
            if before.endswith("$"):
                return ANY
            parts += [escaped_value(before), f"${{{name}}}"]
            end = one.end
        return "".join([*parts, escaped_value(text[end:])])

    def _name(self, name: str, secret: str) -> str:
        """Return the variable with this value, preferably of this name; empty if there is none."""
        if self.variables.get(name) == secret:
            return name
        return next((one for one, value in self.variables.items() if value == secret), "")


def expectation_masking_of(bench: Workbench) -> ExpectationMasking:
    """Return the masking for this workbench's secrets. Reads settings and variables. Raises Refusal."""
    host = bench.open()
    return ExpectationMasking(bench.redaction_of(host), bench.filler.variables_of(host).values)


def without_secrets(item: SavedEventResult, redaction: Redaction) -> SavedEventResult:
    """Return a test's result with secrets masked, for a report."""
    runs = [one.run for one in (item, *item.steps) if one.run is not None]
    texts = [item.problem, *item.could_not_run, *item.notes]
    return _without_secrets(item, masker_of_runs(runs, redaction.secrets, redaction.keys, texts))


def _without_secrets(item: SavedEventResult, masker: Masker) -> SavedEventResult:
    run = item.run and run_of(json.loads(json.dumps(mask_run(run_document(item.run, ""), masker))))
    misses = (
        replace(
            miss,
            expected=masker.masked_value(miss.expected),
            got=masker.masked_value(miss.got),
            lines=tuple(masker.masked_value(miss.lines)),
        )
        for miss in item.misses
    )
    return replace(
        item,
        run=run,
        misses=tuple(misses),
        could_not_run=tuple(map(masker.masked_text, item.could_not_run)),
        problem=masker.masked_text(item.problem),
        steps=tuple(_without_secrets(step, masker) for step in item.steps),
    )


EXACT_KEYS = ("context", "result")  # expectations that take values unchanged
BY_HAND = "Edit the file by hand, or put `expect:` on a line of its own."


@dataclass(frozen=True, slots=True)
class _AcceptedEvent:
    """The new expectations of one event in a file."""

    path: KeyPath  # of the event: empty, or the step of a sequence
    misses: tuple[UnmetExpectation, ...]  # unmet expectations to replace; none: a first draft
    expected: Mapping[str, Any]
    has_expect: bool  # the event has an `expect` key


def draft_expectations(run: Run, files: Sequence[str] | None, masker: ExpectationMasker) -> Mapping[str, Any]:
    """Return first expectations for an event without any: errors, messages, called hooks, the verdict of
    plugin events, and the files if known.
    """
    expected: dict[str, Any] = {
        "errors": len(run.failed),
        "messages": _patterns(run.messages, masker),
        "ran": _patterns([result.call.name for result in run.results], masker),
    }
    if run.event.kind == "plugin":
        expected["blocked"] = was_blocked(run)
    return expected if files is None else {**expected, FILES: _patterns(files, masker)}


def acceptance_change(
    item: SavedEventResult, masking: ExpectationMasking, *, as_is: bool = False
) -> Change | None:
    """Return the edit that turns the run into the event's expectations; None if nothing changes.

    Only unmet expectations are replaced; a file without expectations gets a draft. `masking` keeps secrets
    out of it. `as_is`: also if a hook could not run. Raises Refusal if the event did not run completely, or
    the file cannot be edited safely.
    """
    masker = masking.masker_for(one.run for one in (item, *item.steps) if one.run is not None)
    if item.steps and item.passed:
        return None
    if not item.steps:
        _check_whole(replace(item, could_not_run=()) if as_is else item, item.file.name)
    source, text, document = _read_test_file(item.file)
    accepted = (
        _step_acceptances(item, document, masker) if item.steps else _event_acceptance(item, document, masker)
    )
    if not accepted:
        return None
    edits = [edit for one in accepted for edit in _edits(source, text, one)]
    for start, end, now in sorted(edits, reverse=True):
        text = text[:start] + now + text[end:]
    new, expected = text.encode("utf-8", "replace"), document
    for one in accepted:
        expected = _replaced_at(expected, (*one.path, "expect"), one.expected)
    if not reads_as(new, expected):
        raise Refusal(f"{item.file} cannot be edited safely.", BY_HAND)
    return Change(item.file, f"accept the results of the run in {item.file.name}", source, new)


def _check_whole(item: SavedEventResult, what: str) -> None:
    if item.run is None or item.could_not_run or item.run.cancelled:
        why = (
            f"it did not run completely: {item.could_not_run[0]}"
            if item.could_not_run
            else "it did not run completely."
        )
        raise Refusal(f"{what} is not accepted: {why}", "Fix that first.")


def _read_test_file(file: Path) -> tuple[bytes, str, Mapping[str, Any]]:
    """Return the file's bytes, text and document. Raises Refusal."""
    try:
        source = read_regular(file)
        document = read_yaml(source)
        text = text_of(source)
    except OSError as error:
        raise Refusal(f"Cannot read {file}: {error_reason(error)}.", "Fire it again.") from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", "Correct it, and fire it again.") from None
    if not isinstance(document, dict):
        raise Refusal(f"{file} is no longer a saved event.", "Fire it again.")
    return source, text, document


def _event_acceptance(
    item: SavedEventResult, document: Mapping[str, Any], masker: ExpectationMasker, path: KeyPath = ()
) -> list[_AcceptedEvent]:
    before = document.get("expect")
    if before and not item.misses:
        return []
    assert item.run is not None
    known = before if isinstance(before, dict) and before else None
    if known is not None:
        expected = _with_new_values(known, item.misses, masker)
    else:
        expected = draft_expectations(item.run, item.files, masker)
    return [_AcceptedEvent(path, item.misses if before else (), expected, has_expect="expect" in document)]


def _step_acceptances(
    item: SavedEventResult, document: Mapping[str, Any], masker: ExpectationMasker
) -> list[_AcceptedEvent]:
    """Return the new expectations of unmet steps. Raises Refusal for one that cannot be accepted."""
    written = document.get("steps")
    if not isinstance(written, list) or len(written) < len(item.steps):
        raise Refusal(f"{item.file} is no longer the sequence that was fired.", "Fire it again.")
    accepted: list[_AcceptedEvent] = []
    for number, (done, step) in enumerate(zip(item.steps, written, strict=False), start=1):
        if done.passed:
            continue
        place = f"{item.file}, step {number}"
        _check_whole(done, place)
        if not isinstance(step, dict) or ("file" in step and "expect" not in step):
            raise Refusal(
                f"{place} uses the expectations in {done.file.name}, which is also a separate test.",
                f"Accept the results of {done.file.name}, or add `expect:` to the step.",
            )
        accepted += _event_acceptance(done, step, masker, ("steps", number - 1))
    return accepted


def _replaced_at(value: Any, path: KeyPath, new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_replaced_at(one, rest, new) if at == step else one for at, one in enumerate(value)]
    return {**value, step: _replaced_at(value.get(step), rest, new)}


def accept(
    item: SavedEventResult,
    write: WriteChange = write_user_file,
    masking: ExpectationMasking = NO_EXPECTATION_MASKING,
) -> bool:
    """Write the new expectations; return False if nothing changes. Raises Refusal if nothing was written."""
    change = acceptance_change(item, masking)
    if change is not None:
        write(change)
    return change is not None


def _with_new_values(
    before: Mapping[str, Any], misses: tuple[UnmetExpectation, ...], masker: ExpectationMasker
) -> Mapping[str, Any]:
    expected = dict(before)
    for miss in misses:
        name, _, path = miss.what.partition(".")
        now = _value(miss, masker)
        expected[name] = {**expected[name], path: now} if path else now
    return expected


def _value(miss: UnmetExpectation, masker: ExpectationMasker) -> Any:
    """Return the new expected value. Raises Refusal if it cannot be expected."""
    if miss.got is ABSENT:
        raise Refusal(f"{miss.what} no longer exists.", "Remove its line from `expect:`.")
    if miss.got is UNKNOWN:
        raise Refusal("Only a sandboxed run records changed files.", "Fire the event with --sandbox.")
    part = miss.what.partition(".")[0]
    if part in PATTERNS and isinstance(miss.expected, list) and isinstance(miss.got, list):
        return _patterns(miss.got, masker)
    if isinstance(miss.got, float) and miss.what == "max_ms":
        return math.ceil(miss.got)
    secret = any(map(masker.masker.keys.names_secret, miss.what.split("."))) if part in EXACT_KEYS else False
    return masker.value(miss.got, secret=secret) if part in EXACT_KEYS else miss.got


def _patterns(texts: Any, masker: ExpectationMasker) -> list[str]:
    return [masker.pattern(text) for text in texts]


def _edits(source: bytes, text: str, accepted: _AcceptedEvent) -> Iterator[tuple[int, int, str]]:
    """Yield the text edits: each unmet value is replaced in its place."""
    expected, path = accepted.expected, (*accepted.path, "expect")
    place = locate_yaml(source, path)
    if place is None or not accepted.has_expect:
        yield _added(source, text, accepted)
        return
    if not accepted.misses:  # `expect:` without a value
        gap = len(text[: place.start]) - len(text[: place.start].rstrip(" "))
        yield place.start - gap, place.end, f" {yaml_value(expected)}"
        return
    for miss in accepted.misses:
        name, _, inner = miss.what.partition(".")
        span = locate_yaml(source, (*path, name, inner) if inner else (*path, name))
        now = yaml_value(expected[name][inner] if inner else expected[name])
        if span is not None:
            level = span.line > place.line and span.column == place.column  # a list at its key's indentation
            yield span.start, span.end, f"  {now}" if level else now
        elif text[place.start] == "{":
            yield place.start + 1, place.start + 1, f"{name}: {now}, "
        else:
            yield place.start, place.start, f"{name}: {now}\n{' ' * (place.column - 1)}"


def _added(source: bytes, text: str, accepted: _AcceptedEvent) -> tuple[int, int, str]:
    """Return a new `expect:`: at the end of the file, or after the event of a step."""
    lines = "".join(f"  {key}: {yaml_value(item)}\n" for key, item in accepted.expected.items())
    if not accepted.path:
        return len(text), len(text), f"{'' if text.endswith(chr(10)) else chr(10)}expect:\n{lines}"
    whole, fired = locate_yaml(source, accepted.path), locate_yaml(source, (*accepted.path, "event"))
    if whole is None or fired is None:
        return len(text), len(text), ""  # the result will not match, and is not written
    if text[whole.start] == "{":
        return fired.end, fired.end, f", expect: {yaml_value(accepted.expected)}"
    end = text.find("\n", fired.end)
    at = len(text) if end < 0 else end
    return at, at, f"\n{' ' * (whole.column - 1)}expect: {yaml_value(accepted.expected)}"

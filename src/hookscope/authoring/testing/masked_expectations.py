"""Expectations of a run without secrets: `${NAME}` for a variable, else `*`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from hookscope.app.variables import STATE_VARIABLE, WORKSPACE_VARIABLE, escaped_value, with_folder_names
from hookscope.authoring.testing.expectations import ANY, literal_pattern
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.model.run import Run
from hookscope.storage.journal.records import run_document, run_of
from hookscope.storage.journal.redaction import NOTHING_KNOWN, Masker, Redaction, mask_run, masker_of_runs
from hookscope.values import dataclass

__all__ = ["NOTHING_KNOWN", "ExpectationMasking", "Redaction", "expectation_masking_of", "without_secrets"]

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
        """Return the value with `${NAME}` for its secrets; `*` for a value with an unnamed secret.

        `secret`: a key above it marks it as secret.
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


def without_secrets(item: SavedEventResult, redaction: Redaction = NOTHING_KNOWN) -> SavedEventResult:
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

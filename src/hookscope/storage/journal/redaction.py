"""Redaction: mask known secrets as `${SECRET:NAME}` in any spelling, in texts and values."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from hookscope.model.run import Run
from hookscope.storage.journal.encodings import (
    SHORTEST_ANYWHERE,
    SHORTEST_SEARCHED,
    SecretMatch,
    find_values,
    needles_of,
    occurring_values,
    searchable_text,
)
from hookscope.storage.journal.records import Document, run_document, run_of
from hookscope.storage.journal.secrets import (
    DEFAULT_SECRET_KEYS,
    MASKED_SECRET,
    PLAIN_WORD,
    REFERENCE,
    Secret,
    SecretKeys,
    is_ordinary,
    is_secret_key,
    pair_key,
    pointer_keys,
    secret_text_of,
    secrets_in,
)
from hookscope.values import dataclass

EVENT_TEXTS = ("sessionKey", "messages")
EVENT_VALUES = ("context", "meta", "ctx")
RUN_TEXTS = ("messages", "failure", "verdict", "log", "notes", "not_run", "guarded")
RUN_VALUES = ("context", "result")
RESULT_TEXTS = ("messages", "stdout", "stderr", "error", "notes", "stale", "asked")


def secrets_of_event(event: Mapping[str, Any], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> Iterator[Secret]:
    """Yield the secrets of an event's document, named after their place in its context."""
    for name in EVENT_VALUES:
        yield from secrets_in(event[name], keys=keys)
    yield from secrets_in([event[name] for name in EVENT_TEXTS], keys=keys)


def secrets_of_run(run: Mapping[str, Any], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> Iterator[Secret]:
    """Yield the secrets of a run's document, those of its event first."""
    yield from secrets_of_event(run["event"], keys)
    for name in RUN_VALUES:
        yield from secrets_in(run[name], keys=keys)
    yield from secrets_in([run[name] for name in RUN_TEXTS], keys=keys)
    for result in run["results"]:
        yield from secrets_in(result["returned"], keys=keys)
        yield from secrets_in([result[name] for name in RESULT_TEXTS], keys=keys)
        for change in result["patch"]:
            path = _patch_path(change)
            secret = any(map(keys.names_secret, path))
            yield from secrets_in(change.get("value"), path, secret=secret, keys=keys)
    for event in run["follow_ups"]:
        yield from secrets_of_event(event, keys)
    for caused in run["caused"]:
        yield from secrets_of_run(caused, keys)


def as_recorded(
    run: Run, dialect: str, secrets: Iterable[Secret] = (), keys: SecretKeys = DEFAULT_SECRET_KEYS
) -> Run:
    """Return the run as the journal would return it, to compare it with a recorded one.

    `secrets` are known from elsewhere, as in `Journal.mask_also`.
    """
    document = run_document(run, dialect)
    masker = Masker.for_secrets(
        (*secrets_occurring_in(document, secrets), *secrets_of_run(document, keys)), keys
    )
    return run_of(json.loads(json.dumps(mask_run(document, masker))))


def masker_of_runs(
    runs: Iterable[Run],
    secrets: Iterable[Secret] = (),
    keys: SecretKeys = DEFAULT_SECRET_KEYS,
    texts: Sequence[str] = (),
) -> Masker:
    """Return a masker for everything in these runs, and in `texts` about them.

    `secrets` are known from elsewhere; all of them are masked, also in texts made from the runs later.
    """
    documents = [run_document(run, "") for run in runs]
    found = [secret for document in documents for secret in secrets_of_run(document, keys)]
    return Masker.for_secrets((*secrets, *found, *secrets_in(list(texts), keys=keys)), keys)


def mask_event(event: Document, masker: Masker) -> Document:
    """Return the event's document with masked secrets."""
    return {**event, **_masked_values(event, (*EVENT_TEXTS, *EVENT_VALUES), masker)}


def mask_run(run: Document, masker: Masker) -> Document:
    """Return the run's document with masked secrets; its `masked` lists their names."""
    return {
        **run,
        **_masked_values(run, (*RUN_TEXTS, *RUN_VALUES), masker),
        "event": mask_event(run["event"], masker),
        "results": [_mask_result(result, masker) for result in run["results"]],
        "follow_ups": [mask_event(event, masker) for event in run["follow_ups"]],
        "caused": [mask_run(caused, masker) for caused in run["caused"]],
        "masked": [secret.name for secret in masker.secrets],
    }


def _mask_result(result: Document, masker: Masker) -> Document:
    return {
        **result,
        **_masked_values(result, (*RESULT_TEXTS, "returned"), masker),
        "patch": [_mask_change(change, masker) for change in result["patch"]],
    }


def _mask_change(change: Document, masker: Masker) -> Document:
    """Mask one operation of a patch: the key of its value is in its path."""
    secret = any(map(masker.keys.names_secret, _patch_path(change)))
    return {
        name: masker.masked_value(item, secret=secret and name == "value") for name, item in change.items()
    }


def _patch_path(change: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys below the event's context: `/context/cfg/token` is `cfg`, `token`."""
    keys = pointer_keys(str(change.get("path", "")))
    return tuple(keys[1:] if keys[:1] == ["context"] else keys)


def _masked_values(document: Document, names: Sequence[str], masker: Masker) -> Document:
    return {name: masker.masked_value(document[name]) for name in names}


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks the secrets it knows. `names`: value → name. `keys`: the keys whose values are secret."""

    secrets: tuple[Secret, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: SecretKeys = DEFAULT_SECRET_KEYS
    searchable: Mapping[str, str] = field(default_factory=dict, repr=False)  # of `names`, those to search for

    @staticmethod
    def for_secrets(secrets: Iterable[Secret], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> Masker:
        """Return a masker for these secrets. A value keeps its first name; a name in use gets a number."""
        named: dict[str, str] = {}
        taken: dict[str, int] = {}
        for secret in secrets:
            if secret.value not in named:
                named[secret.value] = _free_name(secret.name, taken)
        kept = tuple(Secret(name, value) for value, name in named.items())
        searchable = {value: name for value, name in named.items() if _is_searchable(value)}
        return Masker(kept, named, keys, searchable)

    def masked_text(self, text: str) -> str:
        """Return the text with every secret replaced by its reference."""
        parts, end = [], 0
        for one in self.find(text):
            parts += [text[end : one.start], secret_reference(one)]
            end = one.end
        return "".join([*parts, text[end:]]) if parts else text

    def find(self, text: str) -> list[SecretMatch]:
        """Return the positions of secrets in the text, in order, without those that are already masked."""
        if not self.searchable:
            return []
        masked = [match.span() for match in MASKED_SECRET.finditer(text)]
        return [
            one
            for one in find_values(text, self.searchable)
            if not any(start <= one.start and one.end <= end for start, end in masked)
        ]

    def masked_value(self, value: Any, *, secret: bool = False) -> Any:
        """Return the plain value with every secret replaced, also in keys. `secret` as in `secrets_in`."""
        if not self.names:
            return value
        if isinstance(value, str):
            return self._masked_value(value, secret)
        occurring = occurring_values(searchable_text(value), self.searchable)
        return replace(self, searchable={one: self.searchable[one] for one in occurring})._masked_value(
            value, secret
        )

    def _masked_value(self, value: Any, secret: bool) -> Any:
        match value:
            case Mapping():
                under = pair_key(value, self.keys)
                return {
                    self.masked_text(str(key)): self._masked_value(
                        item, secret or key == under or self.keys.holds_secret(str(key), item)
                    )
                    for key, item in value.items()
                }
            case list() | tuple():
                items = self._masked_pieces(value)
                flags = self.keys.secret_flags(items)
                return [
                    self._masked_value(item, secret or flag) for item, flag in zip(items, flags, strict=True)
                ]
            case str() | int() | float() if (
                secret or (not isinstance(value, str) and len(str(value)) >= SHORTEST_ANYWHERE)
            ) and (text := secret_text_of(value)) in self.names:
                return f"${{SECRET:{self.names[text]}}}"
            case str():
                return self.masked_text(value)
            case _:
                return value

    def _masked_pieces(self, items: Sequence[Any]) -> Sequence[Any]:
        """Return the items, with secrets masked that span several of them."""
        if not self.searchable or len(items) < 2 or not all(isinstance(item, str) for item in items):
            return items
        starts = [*accumulate(map(len, items), initial=0)]
        spans = tuple(pairwise(starts))
        made = list(items)
        for one in reversed(self.find("".join(items))):
            if any(start <= one.start and one.end <= end for start, end in spans):
                continue  # it is whole within one text
            for at, (start, end) in enumerate(spans):
                first, last = max(one.start, start) - start, min(one.end, end) - start
                if first < last:
                    made[at] = made[at][:first] + secret_reference(one) + made[at][last:]
        return made


def secret_reference(found: SecretMatch) -> str:
    """Return the reference for a secret: for a part or an encoding its name has a suffix."""
    return f"${{SECRET:{found.name}{f'_{found.form}' if found.form else ''}}}"


def secrets_occurring_in(value: object, secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Return the secrets that occur in a plain value and are long enough to search for."""
    secrets = tuple(secret for secret in secrets if _is_searchable(secret.value))
    if not secrets:
        return ()
    found = set(occurring_values(searchable_text(value), (secret.value for secret in secrets)))
    return tuple(secret for secret in secrets if secret.value in found)


def _is_searchable(value: str) -> bool:
    return bool(needles_of(value)) and not is_ordinary(value)


def _free_name(name: str, taken: dict[str, int]) -> str:
    """Return the name, with a number if it is in use. `taken`: the last number of each name."""
    number = taken.get(name, 0) + 1
    while (free := f"{name}_{number}" if number > 1 else name) in taken:
        number += 1
    taken[name] = number
    taken.setdefault(free, 1)
    return free


@dataclass(frozen=True, slots=True)
class Redaction:
    """The rules for secrets: known `secrets`, and `keys` of secret values. Others are found by form."""

    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    keys: SecretKeys = DEFAULT_SECRET_KEYS

    def masker(self, *values: Any, secrets: Iterable[Secret] = ()) -> Masker:
        """Return a masker for these values: the known secrets in them, `secrets`, and those found by form."""
        found = (secret for value in values for secret in secrets_in(value, keys=self.keys))
        return Masker.for_secrets((*secrets_occurring_in(values, self.secrets), *secrets, *found), self.keys)

    def masked_text(self, text: str) -> str:
        """Return the text with `${SECRET:NAME}` for each secret."""
        return self.masker(text).masked_text(text)

    def masked_value(self, value: Any) -> Any:
        """Return the plain value with `${SECRET:NAME}` for each secret."""
        return self.masker(value).masked_value(value)


NOTHING_KNOWN = Redaction()


def secrets_of_variables(
    values: Mapping[str, str], keys: SecretKeys = DEFAULT_SECRET_KEYS
) -> Iterator[Secret]:
    """Yield the secrets among variables: by name, by form, or because they are listed."""
    plain = {value for name, value in values.items() if not keys.names_secret(name)}
    for name, value in values.items():
        by_name = is_secret_key(name) and not keys.is_listed(name)
        if by_name and value in plain and PLAIN_WORD.fullmatch(value):
            continue  # else it would mask an ordinary value, such as USER
        yield from _secrets_of_variable(name, value, keys)


@lru_cache(maxsize=4096)  # every run reads the environment, which rarely changes
def _secrets_of_variable(name: str, value: str, keys: SecretKeys) -> tuple[Secret, ...]:
    if keys.is_listed(name):
        return (Secret(name, value),) if len(value.strip()) >= SHORTEST_SEARCHED else ()
    if not is_secret_key(name):
        return tuple(_inner_secrets(name, value))
    return (Secret(name, value), *_inner_secrets(name, value)) if _is_worth_masking(value) else ()


def _inner_secrets(name: str, value: str) -> Iterator[Secret]:
    """Yield secrets inside a value by form; in JSON also values under a secret's key."""
    if not is_secret_key(name):
        yield from secrets_in({name: value})
    elif value.lstrip().startswith(("{", "[")):
        yield from secrets_in(value, (name,))
    else:
        yield from secrets_in([value])


def _is_worth_masking(value: str) -> bool:
    """Return False for values that are never secret: a switch, a small number, a file."""
    text = value.strip()
    if len(text) < SHORTEST_SEARCHED or is_ordinary(text) or REFERENCE.fullmatch(text):
        return False
    return not (text.startswith(("/", "~/", "./")) and _is_existing_path(text))


def _is_existing_path(text: str) -> bool:
    try:
        return os.path.exists(Path(text).expanduser())
    except (OSError, ValueError, RuntimeError):  # the latter: no such user
        return False

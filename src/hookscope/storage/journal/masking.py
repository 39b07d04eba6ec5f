"""Which parts of events and runs hold foreign content, and masking them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hookscope.model.run import Run
from hookscope.storage.journal.records import Document, run_document, run_of
from hookscope.storage.journal.redaction import Masker, secrets_occurring_in
from hookscope.storage.journal.secrets import (
    DEFAULT_SECRET_KEYS,
    Secret,
    SecretKeys,
    pointer_keys,
    secrets_in,
)

EVENT_TEXTS = ("sessionKey", "messages")
EVENT_VALUES = ("context", "meta", "ctx")
RUN_TEXTS = ("messages", "failure", "verdict", "log", "notes", "not_run", "guarded")
RUN_VALUES = ("context", "result")
RESULT_TEXTS = ("messages", "stdout", "stderr", "error", "notes", "stale", "asked")


def secrets_of_event(event: Mapping[str, Any], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> Iterator[Secret]:
    """The secrets of an event's document, named after where they stand in its context."""
    for name in EVENT_VALUES:
        yield from secrets_in(event[name], keys=keys)
    yield from secrets_in([event[name] for name in EVENT_TEXTS], keys=keys)


def secrets_of_run(run: Mapping[str, Any], keys: SecretKeys = DEFAULT_SECRET_KEYS) -> Iterator[Secret]:
    """The secrets of a run's document, of its event first."""
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
    """The run as it would be read from the journal: for comparing it with one that was.

    `secrets` are known from elsewhere, as `Journal.hide` has them.
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
    """Return the mask over all that these runs hold, and `texts` about them.

    `secrets` are known from elsewhere; all of them are masked, for texts that are made of the runs later.
    """
    documents = [run_document(run, "") for run in runs]
    found = [secret for document in documents for secret in secrets_of_run(document, keys)]
    return Masker.for_secrets((*secrets, *found, *secrets_in(list(texts), keys=keys)), keys)


def mask_event(event: Document, masker: Masker) -> Document:
    """The event's document as it may be stored."""
    return {**event, **_masked_values(event, (*EVENT_TEXTS, *EVENT_VALUES), masker)}


def mask_run(run: Document, masker: Masker) -> Document:
    """The run's document as it may be stored; `masked` has the names of what was found."""
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
    """A change of a patch: the key of its value stands in its path."""
    secret = any(map(masker.keys.names_secret, _patch_path(change)))
    return {
        name: masker.masked_value(item, secret=secret and name == "value") for name, item in change.items()
    }


def _patch_path(change: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys below the event's context: `/context/cfg/token` is `cfg`, `token`."""
    keys = pointer_keys(str(change.get("path", "")))
    return tuple(keys[1:] if keys[:1] == ["context"] else keys)


def _masked_values(document: Document, names: Sequence[str], masker: Masker) -> Document:
    return {name: masker.masked_value(document[name]) for name in names}

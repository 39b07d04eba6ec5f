"""Handlers that plugins register after their `register`: what their workers have told of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookscope.core.runs import Code, Declared
from hookscope.runtime.declared import module_of, targets_of
from hookscope.runtime.peer import Added, Peer

NOT_ONE = (AttributeError, KeyError, OverflowError, TypeError, ValueError)


def count(workers: Iterable[Peer | None]) -> int:
    """How many there are in all of these."""
    return sum(len(worker.added) for worker in workers if worker is not None)


def declared(worker: Peer | None, code: Code, name: str) -> tuple[Declared, ...]:
    """Those of the content of that name, in order. What is no declaration is left out."""
    told = worker.added if worker is not None else ()
    return tuple(one for added in told if added.name == name for one in _read(added, code))


def _read(added: Added, code: Code) -> Iterator[Declared]:
    try:
        yield from module_of({"declares": [added.row], "log": []}, targets_of(code)).declares
    except NOT_ONE:  # a plugin may have broken what its worker tells with
        return

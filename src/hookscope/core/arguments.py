"""What a handler of two arguments gets: stream and plugin hooks are called with `(event, ctx)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

EVENT, CTX, METHODS, SYNC, NULLS, ASKED = "event", "ctx", "methods", "sync", "nulls", "asked"
FROZEN = "frozen"
REPLACED = "replaced"  # of the event's objects: those that a handler put others in the place of
CANCEL = "cancel"
PROMISE = "promise"  # in `asked`: a handler that must answer at once gave a promise, which is ignored
NULL = "null"  # in `asked`: it answered null in so many words, which some events tell from no answer


class Arguments(dict[str, Any]):
    """The two arguments as one view, which lanes carry as JSON.

    `event` is what handlers may change; `ctx` the plain members of the second argument; `methods` the
    names of those that are functions (`cancel`, `getSandbox`, `getSkill`); `sync` says that a promise is
    no answer; `nulls` that null is one, where a language tells it from nothing; `asked` collects what
    handlers asked their host for, in order. `frozen` is there where whoever changes the event throws, in
    languages that know such a thing.
    """


def arguments(
    event: Any,
    ctx: Mapping[str, Any],
    *,
    methods: Iterable[str] = (),
    sync: bool = False,
    nulls: bool = False,
    frozen: bool = False,
) -> Arguments:
    """A fresh view. `event` is not copied."""
    view = Arguments(event=event, ctx=dict(ctx), methods=list(methods), sync=sync, nulls=nulls, asked=[])
    if frozen:
        view[FROZEN] = True
    return view


def asked_in(view: object) -> tuple[str, ...]:
    """What handlers have asked so far; nothing where the view is none of two arguments."""
    asked = view.get(ASKED) if isinstance(view, Arguments) else None
    return tuple(map(str, asked)) if asked and isinstance(asked, list) else ()

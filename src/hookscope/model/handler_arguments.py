"""What handlers of streams and plugins get: an event whose members are attributes, and a context to ask by.

This file stands alone, as model/hook_event.py does: the Python worker loads it by its path, perhaps under an
older interpreter. So it imports the standard library only and keeps to the syntax of Python 3.9.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Mapping  # noqa: UP035  (3.9)

Handler = Callable[..., Any]
Late = Callable[[str, str], None]

CANCEL, PROMISE = "cancel", "promise"  # in `asked`, see model/payload.py
LATE_CANCEL = "ctx.cancel() ignored: the event's hooks already returned"


def camel(name: str) -> str:
    """The hosts' spelling of a name: turn_id → turnId."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def type_with_article(value: Any) -> str:
    """What it is, by its type and with the article: a dict, an int."""
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"


class Record(dict[str, Any]):
    """A dict whose keys are attributes too, in snake_case as well: `event.data.turn_id` reads `turnId`.

    The dicts in it become Records, those in lists too. What a dict itself can do comes first: a key `items`
    is read as `event["items"]`.
    """

    __slots__ = ()
    _optional: tuple[str, ...] = ()  # keys that are None where they are not there

    def __init__(self, *members: Any, **more: Any) -> None:
        super().__init__(*members, **more)
        for key, value in self.items():  # other values under the same keys: that disturbs no walk
            if type(value) is dict or type(value) is list:
                self[key] = record(value)

    def _key(self, name: str) -> str | None:
        if name[:2] == "__":  # the interpreter asks for these; a key of that name answers for nothing
            return None
        return next((key for key in (name, camel(name)) if key in self), None)

    def __getattr__(self, name: str) -> Any:
        key = self._key(name)
        if key is None:
            if name in self._optional or camel(name) in self._optional:
                return None
            raise AttributeError(f"there is no {name!r} here, only {', '.join(map(repr, self)) or 'nothing'}")
        value = self[key]
        if type(value) is dict:  # put there by a handler: it stays the handler's own until now
            value = self[key] = Record(value)
        elif type(value) is list:
            _convert_items(value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self[self._key(name) or name] = value

    def __delattr__(self, name: str) -> None:
        key = self._key(name)
        if key is None:
            raise AttributeError(f"there is no {name!r} here to delete")
        del self[key]

    def copy(self) -> Record:
        """One level deep, as with any dict."""
        return copy.copy(self)


class Frozen(Record):
    """A Record that nobody can change, with all that is in it: an event that its host freezes.

    What it says then is what Node does, whose handlers most of its readers write.
    """

    __slots__ = ()

    def __init__(self, *members: Any, **more: Any) -> None:
        dict.__init__(self, {key: frozen(value) for key, value in dict(*members, **more).items()})

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self:
            raise TypeError(f"Cannot assign to read only property '{key}' of object '#<Object>'")
        raise TypeError(f"Cannot add property {key}, object is not extensible")

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"Cannot delete property '{key}' of #<Object>")

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Cannot change this object: it is frozen")

    update = pop = popitem = clear = setdefault = __ior__ = _refuse

    def __copy__(self) -> Record:
        return Record(self)

    def __deepcopy__(self, _: Any) -> Frozen:
        return self


class FrozenList(list[Any]):
    """A list that nobody can change."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Cannot change this list: it is frozen")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __deepcopy__(self, _: Any) -> FrozenList:
        return self


def frozen(value: Any) -> Any:
    """The value, which nothing can change any more."""
    if isinstance(value, dict):
        return value if isinstance(value, Frozen) else Frozen(value)
    if isinstance(value, list):
        return value if isinstance(value, FrozenList) else FrozenList(map(frozen, value))
    return value


def record(value: Any) -> Any:
    """The value with a Record for every dict in it. Records stay the ones they are."""
    if type(value) is dict:
        return Record(value)
    if type(value) is list:
        return [record(item) for item in value]
    return value


def _convert_items(values: list[Any]) -> None:
    """The same list, with Records in it."""
    for index, value in enumerate(values):
        if type(value) is list:
            _convert_items(value)
        elif type(value) is dict:
            values[index] = Record(value)


class HostRequests(list[str]):
    """What the handlers of an event ask their host for. Once their batch is over it hears nothing more."""

    who = ""  # the hook whose handler runs
    late: Late | None = None  # hears what is asked afterwards; None while the handlers run

    def ask(self, word: str, who: str) -> None:
        """Note what a handler of `who` asked for, or tell that it came too late."""
        if self.late is None:
            self.append(word)
        else:
            self.late(who, LATE_CANCEL)


def opened(view: dict[str, Any]) -> HostRequests:
    """Let the handlers of this view ask their host for things. What they asked before stays."""
    asked = view.get("asked")
    if not isinstance(asked, HostRequests):
        asked = view["asked"] = HostRequests(asked if isinstance(asked, list) else ())
    asked.late = None
    return asked


def closed(view: dict[str, Any], late: Late) -> None:
    """The event's handlers have returned: `late` hears whose asking came afterwards, and what of it."""
    opened(view).late = late


class _AgentRecord(Record):
    __slots__ = ()
    _optional = ("nodeId",)  # a subagent has one


class _ChannelRecord(Record):
    __slots__ = ()
    _optional = ("kind", "continuationToken")


class HookContext(Record):
    """The second argument: of a stream `agent`, `channel` and `session`; of a plugin what its event brings.

    `cancel()`, `get_sandbox()` and `get_skill()` are there where the host's own context has them.
    """

    __slots__ = ("_functions",)

    def __init__(self, members: Any, functions: Mapping[str, Handler]) -> None:
        super().__init__(members)
        for name, of in (("agent", _AgentRecord), ("channel", _ChannelRecord)):
            if type(self.get(name)) is Record:
                self[name] = of(self[name])
        object.__setattr__(self, "_functions", functions)

    def __getattr__(self, name: str) -> Any:
        if name[:1] != "_":
            functions = self._functions
            for known in (name, camel(name)):
                if known in functions:
                    return functions[known]
        return super().__getattr__(name)

    def __reduce__(self) -> Any:
        return Record, (dict(self),)  # a copy, or what travels, is of its plain members


def context_of(view: dict[str, Any]) -> HookContext:
    """The context that the handlers of a view get: each its own, so that no handler changes another's."""
    methods = view.get("methods")
    if not methods:
        return HookContext(view["ctx"], {})
    asked = view["asked"] if isinstance(view.get("asked"), HostRequests) else opened(view)
    who = asked.who
    known: dict[str, Handler] = {
        "cancel": lambda: asked.ask(CANCEL, who),
        "getSandbox": _no_sandbox,
        "getSkill": _no_skill,
    }
    return HookContext(view["ctx"], {name: known[name] for name in methods if name in known})


def _no_sandbox(*_: Any) -> Any:
    raise RuntimeError("Hookscope has no sandbox: ctx.get_sandbox() works in the agent itself only")


def _no_skill(*_: Any) -> Any:
    raise RuntimeError("Hookscope has no sandbox, and so no skills: ctx.get_skill() works in the agent only")


def adapted(handler: Handler) -> Handler:
    """A function of the view that calls `handler(event, ctx)`, or with fewer arguments where it takes fewer.

    The event becomes a Record in its place in the view, so that handlers after this one see what it
    changed. Where the view says `sync`, an awaitable is no answer. An event of hook folders is its own view,
    and has no context beside it.
    """
    count = _argument_count(handler)

    def call(view: Any) -> Any:
        if not isinstance(view, dict):
            return handler(*(view, None)[:count])
        event = view["event"] = (frozen if view.get("frozen") else record)(view["event"])
        context = context_of(view)
        returned = handler(*(event, context)[:count])
        if view.get("sync") and hasattr(type(returned), "__await__"):
            _close_awaitable(returned)
            view["asked"].append(PROMISE)
            return None
        return returned

    call.adapts = handler  # type: ignore[attr-defined]  # where an error has no line of its own: its first
    return call


def _close_awaitable(awaitable: Any) -> None:
    """A coroutine that nobody awaits is closed, so that Python does not complain of it."""
    close = getattr(awaitable, "close", None)
    if callable(close):
        close()


def _argument_count(handler: Handler) -> int:
    """How many of the two arguments it takes; both where that cannot be known."""
    import inspect  # here: folder hooks do without

    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 2
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if len(places) < 2:
        return len(places)
    second = places[1]
    # `lambda event, name=name:` binds a name of its own; nobody means the context by it.
    own = second.default is not second.empty and second.name.strip("_") not in ("", "ctx", "context")
    return 1 if own else 2

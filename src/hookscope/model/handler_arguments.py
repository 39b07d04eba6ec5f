"""Arguments of stream and plugin handlers: an event with attribute access, and a context.

As with model/hook_event.py, the Python worker loads this file by its path, possibly under an older
interpreter. So it imports only the standard library and uses only the syntax of Python 3.9.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Mapping  # noqa: UP035  (3.9)

Handler = Callable[..., Any]
Late = Callable[[str, str], None]

CANCEL, PROMISE = "cancel", "promise"  # in `asked`, see model/payload.py
LATE_CANCEL = "ctx.cancel() ignored: the event's hooks already returned"


def camel(name: str) -> str:
    """Return the hosts' spelling of a name: turn_id → turnId."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def type_with_article(value: Any) -> str:
    """Return the value's type with its article: a dict, an int."""
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"


class Record(dict[str, Any]):
    """A dict with attribute access, also in snake_case: `event.data.turn_id` reads `turnId`.

    Nested dicts become Records, also in lists. Methods of dict take precedence: read a key `items`
    as `event["items"]`.
    """

    __slots__ = ()
    _optional: tuple[str, ...] = ()  # keys that read as None if missing

    def __init__(self, *members: Any, **more: Any) -> None:
        super().__init__(*members, **more)
        for key, value in self.items():  # safe while iterating: keys stay
            if type(value) is dict or type(value) is list:
                self[key] = record(value)

    def _key(self, name: str) -> str | None:
        if name[:2] == "__":  # the interpreter's names are never keys
            return None
        return next((key for key in (name, camel(name)) if key in self), None)

    def __getattr__(self, name: str) -> Any:
        key = self._key(name)
        if key is None:
            if name in self._optional or camel(name) in self._optional:
                return None
            raise AttributeError(f"there is no {name!r} here, only {', '.join(map(repr, self)) or 'nothing'}")
        value = self[key]
        if type(value) is dict:  # added by a handler as a plain dict
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
        """Return a shallow copy."""
        return copy.copy(self)


class Frozen(Record):
    """A Record that is deeply immutable, for events that the host freezes.

    Its errors have Node's text, since most handlers for such events are written for Node.
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
    """An immutable list."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Cannot change this list: it is frozen")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __deepcopy__(self, _: Any) -> FrozenList:
        return self


def frozen(value: Any) -> Any:
    """Return a deeply immutable version of the value."""
    if isinstance(value, dict):
        return value if isinstance(value, Frozen) else Frozen(value)
    if isinstance(value, list):
        return value if isinstance(value, FrozenList) else FrozenList(map(frozen, value))
    return value


def record(value: Any) -> Any:
    """Return the value with every dict as a Record. Existing Records are kept."""
    if type(value) is dict:
        return Record(value)
    if type(value) is list:
        return [record(item) for item in value]
    return value


def _convert_items(values: list[Any]) -> None:
    for index, value in enumerate(values):
        if type(value) is list:
            _convert_items(value)
        elif type(value) is dict:
            values[index] = Record(value)


class HostRequests(list[str]):
    """The handlers' requests to their host. Requests after the end of the batch are ignored."""

    who = ""  # the hook whose handler runs
    late: Late | None = None  # receives late requests; None while handlers run

    def ask(self, word: str, who: str) -> None:
        """Add a request of the hook `who`, or report that it came too late."""
        if self.late is None:
            self.append(word)
        else:
            self.late(who, LATE_CANCEL)


def opened(view: dict[str, Any]) -> HostRequests:
    """Allow handlers to add requests to this payload. Return the list, which keeps the earlier requests."""
    asked = view.get("asked")
    if not isinstance(asked, HostRequests):
        asked = view["asked"] = HostRequests(asked if isinstance(asked, list) else ())
    asked.late = None
    return asked


def closed(view: dict[str, Any], late: Late) -> None:
    """Allow no more requests in this payload: its handlers have returned. `late` receives later ones."""
    opened(view).late = late


class _AgentRecord(Record):
    __slots__ = ()
    _optional = ("nodeId",)  # only subagents have one


class _ChannelRecord(Record):
    __slots__ = ()
    _optional = ("kind", "continuationToken")


class HookContext(Record):
    """The second argument: `agent`, `channel`, `session` of a stream; a plugin event's members.

    `cancel()`, `get_sandbox()` and `get_skill()` exist if the host's own context has them.
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
        return Record, (dict(self),)  # copies and pickles have the plain members only


def context_of(view: dict[str, Any]) -> HookContext:
    """Return a new context for one handler, so that no handler changes another's."""
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
    """Return a function of the payload that calls `handler` with as many arguments as it takes.

    The event becomes a Record inside the payload, so later handlers see its changes. If the payload
    has `sync`, an awaitable is not an answer. An event of hook folders is its own payload, without a
    context.
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

    # An error without a line of its own is reported at the first line of this function.
    call.adapts = handler  # type: ignore[attr-defined]  # mypy knows no attributes of functions
    return call


def _close_awaitable(awaitable: Any) -> None:
    """Close a coroutine that is not awaited, so that Python does not warn about it."""
    close = getattr(awaitable, "close", None)
    if callable(close):
        close()


def _argument_count(handler: Handler) -> int:
    """Return how many of the two arguments the handler takes; both if that is unknown."""
    import inspect  # imported late: folder hooks do not need it

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
    # `lambda event, name=name:` binds a variable; that parameter is not the context.
    own = second.default is not second.empty and second.name.strip("_") not in ("", "ctx", "context")
    return 1 if own else 2

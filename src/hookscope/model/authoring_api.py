"""The functions that authors of stream hooks and plugins call.

The Python worker loads this file by its path, after model/handler_arguments.py, possibly under an
older interpreter. So it imports only that file and the standard library, and uses only the syntax
of Python 3.9.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable, Mapping, NamedTuple, TypeVar, overload  # noqa: UP035  (3.9)

from hookscope.model.handler_arguments import Handler, Record, camel, type_with_article

H = TypeVar("H", bound=Handler)
MOST_LATE = 100  # late registrations accepted per plugin


# Stream hooks


class Definition(dict[str, Any]):
    """What a module of an agent defines, with its members as written. Compared by identity.

    Source: seed 002; a definition is identified by its object (rules note 3.9).
    """

    __slots__ = ("kind",)
    __hash__ = object.__hash__  # type: ignore[assignment]  # dict sets it to None

    def __init__(self, kind: str, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return f"<{self.kind} of {', '.join(self) or 'nothing'}>"

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"this {object.__getattribute__(self, 'kind')} has no {name!r}")


def _definition(kind: str, given: tuple[Any, ...], members: Mapping[str, Any]) -> Definition:
    if len(given) > 1 or (given and not isinstance(given[0], Mapping)):
        raise TypeError(f"define_{kind}() takes keyword arguments, or one mapping")
    return Definition(kind, {**(given[0] if given else {}), **members})


def define_hook(*given: Mapping[str, Any], **members: Any) -> Definition:
    """Return a stream hook: `define_hook(events={"session.started": handler, "*": handler})`.

    The events are checked when the module is loaded. Like all `define_…` functions it raises
    TypeError for an argument that is not a mapping. Source: seed 002 ("Define a hook").
    """
    return _definition("hook", given, members)


def define_tool(*given: Mapping[str, Any], **members: Any) -> Definition:
    """Return a tool: `define_tool(description=…, execute=function)`.

    The file name is the tool's name. A simulated session calls `execute`. Raises TypeError as
    `define_hook`. Source: seed 002 ("Narrowing tool results").
    """
    return _definition("tool", given, members)


def define_connection(*given: Mapping[str, Any], **members: Any) -> Definition:
    """Return a connection, for `tool_result_from`. Raises TypeError as `define_hook`.

    The file name is its name; nothing connects. Source: seed 002 ("Narrowing tool results").
    """
    return _definition("connection", given, members)


def define_channel(*given: Mapping[str, Any], **members: Any) -> Definition:
    """Return a channel; its `events` are handlers that run before the event is recorded.

    Raises TypeError as `define_hook`. Source: rules note 3.4.
    """
    return _definition("channel", given, members)


def define_dynamic(*given: Mapping[str, Any], **members: Any) -> Definition:
    """Return a dynamic resolver; its `events` are handlers that run after all hooks.

    Their answers for the model are not used here. Raises TypeError as `define_hook`. Source: rules
    note 3.4.
    """
    return _definition("dynamic", given, members)


def define_agent(*given: Mapping[str, Any], **members: Any) -> Definition:
    """Return an agent: `define_agent(name=…, model=mock_model(…))`.

    A simulated session calls only models that `mock_model` made. Raises TypeError as `define_hook`.
    """
    return _definition("agent", given, members)


def mock_model(reply: str | list[Any] | Handler) -> Definition:
    """Return a scripted model: one text, a list of replies, or a function that returns one.

    The number of tool results so far is the index of the reply in a list; after its end, the last reply is
    returned. Raises TypeError for anything else.
    """
    if not (isinstance(reply, (str, list)) or callable(reply)):
        raise TypeError(
            f"mock_model() takes a string, a list of replies or a function, not {type(reply).__name__}"
        )
    return Definition("model", {"reply": reply})


class _NamedDefinition(NamedTuple):
    definition: object
    kind: str
    name: str
    world: str


_NAMED_DEFINITIONS: list[_NamedDefinition] = []


def name_definition(definition: object, kind: str, name: str, world: str) -> None:
    """Register this object as the tool or connection of that name, for the set of modules `world`."""
    _NAMED_DEFINITIONS.append(_NamedDefinition(definition, kind, name, world))


def forget_names(world: str) -> None:
    """Forget the definitions of a world whose modules were unloaded."""
    _NAMED_DEFINITIONS[:] = [named for named in _NAMED_DEFINITIONS if named.world != world]


def tool_result_from(result: Any, definition: object) -> Record | None:
    """Return the result of this tool or connection, or None if the result is another's.

    A tool's result has `callId`, `output` and `toolName`. A connection matches every tool whose
    name begins with `<connection>__`, and adds the rest of the name as `connectionToolName`.
    Nothing matches if the result is an error, or if the object was not loaded from a file of its
    own. Source: rules note 3.9, eve 16.
    """
    if not isinstance(result, Mapping) or result.get("kind") != "tool-result" or result.get("isError"):
        return None
    names = {(named.kind, named.name) for named in _NAMED_DEFINITIONS if named.definition is definition}
    if len(names) > 1:
        known = ", ".join(sorted(name for _, name in names))
        warnings.warn(f"{known} share one definition object, so it matches no tool result", stacklevel=2)
    if len(names) != 1:
        return None
    ((kind, name),) = names
    tool = str(result.get("toolName"))
    found = Record(callId=result.get("callId"), output=result.get("output"), toolName=tool)
    if kind == "tool":
        return found if tool == name else None
    if not tool.startswith(f"{name}__"):
        return None
    found["connectionToolName"] = tool[len(name) + 2 :]
    return found


# Plugins


class Declaration(NamedTuple):
    """One handler that a plugin registered. `limit` is in seconds; None: not specified."""

    key: str
    handler: Handler
    priority: float
    limit: float | None
    options: dict[str, Any]


class RecordingPluginApi:
    """The argument of a plugin's `register(api)`. It records registrations and calls nothing.

    `register_hook({"event": …, "handler": …, "priority": …})` is the form of seed 003, `on` that of seed 004;
    without a handler both return a decorator. The host's other functions do nothing here.

    Args:
        told: called with every registration as it is made; for hosts that accept handlers at any time.
    """

    def __init__(
        self,
        id: str = "",  # noqa: A002  (the host's name)
        config: Mapping[str, Any] | None = None,
        *,
        told: Callable[[Declaration], None] | None = None,
    ) -> None:
        self.id = self.name = id
        self.config = self.plugin_config = self.pluginConfig = Record(config or {})
        self.declared: list[Declaration] = []
        self._told = told
        self._late: list[Declaration] = []  # registrations after `close`
        self._closed = False

    def close(self, late: Callable[[Declaration], None] | None = None) -> None:
        """Note that `register` has returned. `late` receives later registrations."""
        self._closed, self._told = True, late

    def register_hook(self, registration: Any = None, handler: Handler | None = None, **options: Any) -> Any:
        """Register a handler: a mapping with `event`, `handler` and options, or keyword arguments.

        Raises TypeError or ValueError if it is invalid.
        """
        if isinstance(registration, Mapping):
            options = {**registration, **options}
        elif registration is not None:  # the shipped program's form: a folder event
            options = {"event": registration, **options, "internal": True}
        handler = options.pop("handler", None) if handler is None else handler
        event = options.pop("event", None)
        return self._register("register_hook", event, handler, options)

    @overload
    def on(self, name: str, handler: None = None, **options: Any) -> Callable[[H], H]: ...

    @overload
    def on(self, name: str, handler: H, **options: Any) -> H: ...

    def on(self, name: str, handler: Handler | None = None, **options: Any) -> Any:
        """Register a handler of the event `name`: `api.on("before_tool_call", handler, priority=10)`.

        Raises TypeError or ValueError if it is invalid.
        """
        return self._register("on", name, handler, options)

    registerHook = register_hook  # noqa: N815  (the host's name)

    def _register(self, door: str, key: Any, handler: Any, options: Mapping[str, Any]) -> Any:
        if not isinstance(key, str) or not key.strip():
            raise TypeError(f"api.{door}() needs the name of an event, such as before_tool_call")
        if self._closed and (self._told is None or len(self._late) >= MOST_LATE):
            text = f"a handler of {key} is registered after `register` has returned: it is not called"
            warnings.warn(text, stacklevel=3)
            return handler if handler is not None else lambda decorated: decorated
        if handler is None:
            return lambda decorated: self._register(door, key, decorated, options)
        if not callable(handler) or isinstance(handler, type):
            raise TypeError(f"the handler of {key} is {type_with_article(handler)}, not a function")
        rest = {camel(name): value for name, value in options.items()}
        priority = rest.pop("priority", None)
        number = isinstance(priority, (int, float)) and not isinstance(priority, bool)
        if priority is not None and not (number and abs(priority) < float("inf")):
            raise TypeError(f"the priority of {key} is {priority!r}, not a number")
        declaration = Declaration(key.strip(), handler, priority or 0, _limit_seconds(key, rest), rest)
        (self._late if self._closed else self.declared).append(declaration)
        if self._told is not None:
            self._told(declaration)
        return handler

    @property
    def logger(self) -> Any:
        """The standard library's logger, under the plugin's name."""
        import logging  # imported late: few plugins log

        return logging.getLogger(f"plugin.{self.id}" if self.id else "plugin")

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(f"api has no {name!r}")
        return _NullApi()


class _NullApi:
    """Replaces the host's other plugin functions. Calls and attribute access do nothing."""

    def __call__(self, *_: Any, **__: Any) -> _NullApi:
        return self

    def __getattr__(self, name: str) -> _NullApi:
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __bool__(self) -> bool:
        return False


def _limit_seconds(key: str, options: dict[str, Any]) -> float | None:
    """Remove `timeoutMs` from the options and return it in seconds."""
    limit = options.pop("timeoutMs", None)
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 <= limit < float("inf"):
        raise ValueError(f"the timeout_ms of {key} is {limit!r}, not a number of milliseconds")
    return limit / 1000

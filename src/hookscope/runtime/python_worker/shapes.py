"""What of a module can be called, by its shape: handlers by event, registrations, a tool, a model.

Used by the worker and by the lane of the embedding process; each brings its own modules.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Generator, Mapping, NamedTuple, Optional  # noqa: UP035  (3.9)

Target = Callable[[Any], Any]
# Where a file has no `default`, which Python files need not have: what it may be called instead.
STREAMS = ("hook", "channel", "dynamic")
DOORS = ("register", "plugin", "default")
ROW_KEYS = ("key", "member", "priority", "limit", "options")
MOST = 500  # handlers of one module that are told, and lines of its log
ROW, LOG = 4096, 64 * 1024  # bytes of JSON for one of them, and for the log


class Malformed(Exception):
    """The file loads, and is not what its place in the agent or the plugin asks for."""


class Made(NamedTuple):
    """A module that is loaded: functions of the view by member, and what it declares, if it does."""

    targets: Dict[str, Target]  # noqa: UP006
    module: Optional[Dict[str, Any]] = None  # noqa: UP006, UP045  as the protocol's `module`


Making = Generator[Any, Any, Made]
Late = Callable[[Dict[str, Any]], None]  # noqa: UP006


def make(
    code: Mapping[str, Any],
    modules: Any,
    authoring: Any,
    given: Any,
    late: Optional[Late] = None,  # noqa: UP045
) -> Making:
    """Load the file of a `code` document. Yields what is to be awaited, if that is awaitable; gets its value.

    `late` hears of what a plugin declares after that, each as one of `declares`; it counts from then on.
    Raises NoHandler or Malformed where the file holds something else, and whatever it raises itself.
    """
    return _Maker(code, modules, authoring, given).make(None if code.get("plain") else late)


def member_of(made: Any, member: str, no_handler: Any) -> Target:
    """The function of a Made that a call names. Raises `no_handler` where the module has none of that name.

    A plugin's handler is named by the number of its registration; by its event as well, before a load.
    """
    found: Target | None = made.targets.get(member)
    if found is None and made.module is not None:
        numbers = (one["member"] for one in made.module["declares"] if _same_event(one["key"], member))
        found = made.targets.get(next(numbers, ""))
    if found is None:
        what = f"no handler {member!r} any more" if member else "several handlers, and the call names none"
        raise no_handler(f"the module has {what}; load it again")
    return found


def document_of(module: Any, plain: Callable[..., Any]) -> dict[str, Any]:
    """What a Made declares, small enough for one message; what is left out is counted in its log."""
    rows = [plain(row, "", ROW)[0] for row in module["declares"][:MOST]]
    fitting = [row for row in rows if len(row) == len(ROW_KEYS)]
    log, _ = plain(module["log"][:MOST], "", LOG)
    if len(fitting) < len(module["declares"]):
        text = f"it declares {len(module['declares']):,} handlers, of which {len(fitting):,} are taken"
        log.append({"level": "warn", "text": text})
    return {"declares": fitting, "log": log}


def _same_event(one: str, other: str) -> bool:
    return one.replace("-", "_") == other.replace("-", "_")


class _Maker:
    def __init__(self, code: Mapping[str, Any], modules: Any, authoring: Any, given: Any) -> None:
        self._code = code
        self._modules = modules
        self._authoring = authoring
        self._given = given
        self._file = os.path.relpath(code["path"], code["root"]).replace(os.sep, "/")
        self._log: list[dict[str, str]] = []

    def make(self, late: Optional[Late] = None) -> Making:  # noqa: UP045
        shape = self._code["shape"]
        if shape in ("hook", "arguments"):
            handler = self._handler()
            return Made({"": handler if shape == "hook" else self._given.adapted(handler)})
        self._name_definitions()
        module = self._module(self._code["path"])
        if shape == "stream":
            return self._stream((yield from self._definition(module, STREAMS)))
        if shape == "plugin":
            name = os.path.basename(self._code["root"])
            api = self._authoring.PluginApi(name, self._code.get("config"))
            api.config = self._authoring.Record(self._code.get("settings") or {})
            yield self._door(module)(api)
            made = self._plugin(api.declared)
            api.close(None if late is None else self._adding(made, late))
            return made
        if shape == "tool":
            return self._tool((yield from self._definition(module, ("tool",))))
        return self._model((yield from self._definition(module, ("agent",))))

    def _handler(self) -> Any:
        code = self._code
        return self._modules.import_handler(code["path"], code["export"], code["root"], code["name"])

    def _module(self, path: str) -> Any:
        return self._modules.import_file(path, self._code["root"], self._code["name"])

    def _name_definitions(self) -> None:
        """Load what stands beside the module, so that its handlers may ask about it by the very object."""
        for beside in self._code.get("beside", ()):
            try:
                found = _exported(self._module(beside["path"]), "default", (beside["kind"],))
            except BaseException as error:  # a file may do anything while it is imported
                text = f"the {beside['kind']} {beside['name']} did not load, so no result matches it: "
                self._log.append({"level": "warn", "text": f"{text}{type(error).__name__}: {error}"})
                continue
            if found is not None:
                kind, name, world = beside["kind"], beside["name"], self._code["name"]
                self._authoring.name_definition(found, kind, name, world)

    def _definition(self, module: Any, names: tuple[str, ...]) -> Generator[Any, Any, Any]:
        """What the module exports; of a function, what it returns."""
        found = _exported(module, self._code["export"], names)
        if callable(found) and not isinstance(found, type):
            found = yield found()
        return found

    def _stream(self, definition: Any) -> Made:
        """Source: rules note 3.3, eve 08, eve 09, eve 10."""
        expected = f'Expected the hook export "{self._code["export"]}" from "{self._file}" to'
        if not isinstance(definition, Mapping):
            raise Malformed(f"{expected} return an object.")
        events = definition.get("events")
        if not isinstance(events, (Mapping, type(None))):
            raise Malformed(f"{expected} expose events as an object.")
        handlers = {str(key): handler for key, handler in (events or {}).items() if handler is not None}
        for key, handler in handlers.items():
            if not callable(handler):
                raise Malformed(f"{expected} provide a function for events.{key}.")
        targets = {key: self._given.adapted(handler) for key, handler in handlers.items()}
        return Made(targets, self._declaring(_declared(key, key) for key in targets))

    def _door(self, module: Any) -> Any:
        """The function that registers a plugin's handlers."""
        export = self._code["export"]
        for name in DOORS if export == "default" else (export,):
            found = getattr(module, name, None)
            inside = found.get("register") if isinstance(found, Mapping) else getattr(found, "register", None)
            for door in (inside, found):
                if callable(door) and not isinstance(door, type):
                    return door
        raise self._modules.NoHandler(f"{self._file} has no function `register` to register its hooks with")

    def _plugin(self, declared: Any) -> Made:
        declared = list(declared)
        targets = {str(number): self._given.adapted(one.handler) for number, one in enumerate(declared)}
        rows = (
            _declared(one.key, str(number), one.priority, one.limit, one.options)
            for number, one in enumerate(declared)
        )
        return Made(targets, self._declaring(rows))

    def _adding(self, made: Made, late: Late) -> Callable[[Any], None]:
        def add(one: Any) -> None:
            assert made.module is not None
            member = str(len(made.targets))
            made.targets[member] = self._given.adapted(one.handler)
            row = _declared(one.key, member, one.priority, one.limit, one.options)
            made.module["declares"].append(row)
            late(row)

        return add

    def _declaring(self, rows: Any) -> dict[str, Any]:
        return {"declares": list(rows), "log": self._log}

    def _tool(self, definition: Any) -> Made:
        execute = definition.get("execute") if isinstance(definition, Mapping) else None
        if not callable(execute):
            raise self._modules.NoHandler(f"{self._file} defines no tool with a function `execute`")
        return Made({"": self._given.adapted(execute)})

    def _model(self, definition: Any) -> Made:
        model = definition.get("model") if isinstance(definition, Mapping) else None
        script = model.get("reply") if isinstance(model, Mapping) else model
        if script is None or (script is model and isinstance(script, str)):
            text = f"names the model {model!r}, which Hookscope cannot ask" if model else "has no model"
            raise self._modules.NoHandler(f"{self._file} {text}: give it `mock_model(…)`")
        return Made({"": _scripted(script, self._given)})


def _exported(module: Any, export: str, names: tuple[str, ...]) -> Any:
    """None where there is nothing of these names."""
    wanted = ("default", *names) if export == "default" else (export,)
    return next(
        (found for found in (getattr(module, name, None) for name in wanted) if found is not None), None
    )


def _declared(
    key: str,
    member: str,
    priority: float = 0,
    limit: Optional[float] = None,  # noqa: UP045
    options: Any = None,
) -> dict[str, Any]:
    return dict(zip(ROW_KEYS, (key, member, priority, limit, options or {})))  # noqa: B905  (3.9)


def _scripted(script: Any, given: Any) -> Target:
    """A model that answers from its script: a function, one reply, or one for each number of tool results."""
    if callable(script):
        return given.adapted(script)  # type: ignore[no-any-return]  # loaded by name: no types
    replies = list(script) if isinstance(script, (list, tuple)) else [script]

    def reply(view: Any) -> Any:
        asked = view["event"]
        results = asked.get("toolResults") if isinstance(asked, Mapping) else None
        return replies[min(len(results or ()), len(replies) - 1)] if replies else None

    return reply

"""Finding the functions to call in a handler's module, by its shape; and the cache of loaded handlers.

`load_module` is used by the worker and by the executor of the embedding process, `HandlerCache` by the
worker.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, NamedTuple

from .handler_modules import (
    AUTHORING_API,
    AuthoringModules,
    NoHandler,
    check_location,
    forget,
    import_file,
    import_handler,
)
from .safe_values import describe_exception, not_found_notes, to_plain

Target = Callable[[Any], Any]
# Names that are used in Python files without a `default`.
STREAM_NAMES = ("hook", "channel", "dynamic")
REGISTER_NAMES = ("register", "plugin", "default")
REGISTRATION_KEYS = ("key", "member", "priority", "limit", "options")
MAX_REGISTRATIONS = 500  # reported registrations of one module; also lines of its log
REGISTRATION_SIZE, LOG_SIZE = 4096, 64 * 1024  # bytes of JSON of one registration, and of the log
Environment = dict[str, str]
ContentKey = tuple[str, str, str, str]  # content name, path, export, shape plus the plugin's config

_now = time.perf_counter  # bound before any handler runs


class Malformed(Exception):
    """A file that loads, but does not export what a file at its path in the agent or plugin must export."""


class HandlerModule(NamedTuple):
    """A loaded module."""

    targets: dict[str, Target]  # functions of the payload view, by member
    module: dict[str, Any] | None = None  # what it declares, as the protocol's `module`


LoadSteps = Generator[Any, Any, HandlerModule]
OnLateHandler = Callable[[dict[str, Any]], None]


def load_module(
    code: Mapping[str, Any], authoring: Any, handler_arguments: Any, on_late: OnLateHandler | None = None
) -> LoadSteps:
    """Load the file of a `code` document.

    Yields values, to be awaited if they are awaitable, and receives the results. Raises NoHandler or
    Malformed if the file exports something else, and everything that the file raises.

    Args:
        code: the protocol's `code`, and the host's "settings".
        authoring: the module model/authoring_api.py.
        handler_arguments: the module model/handler_arguments.py.
        on_late: receives each handler that a plugin registers later, as one of `declares`.
    """
    return _ModuleLoader(code, authoring, handler_arguments).load(None if code.get("plain") else on_late)


def member_of(made: Any, member: str) -> Target:
    """Return the function of the module that is named `member`. Raises NoHandler if there is none.

    A plugin's handler is named by the number of its registration, or by its event if the plugin was not
    loaded when the call was planned.
    """
    found: Target | None = made.targets.get(member)
    if found is None and made.module is not None:
        numbers = (row["member"] for row in made.module["declares"] if _is_same_event(row["key"], member))
        found = made.targets.get(next(numbers, ""))
    if found is None:
        what = f"no handler {member!r} any more" if member else "several handlers, but the call names none"
        raise NoHandler(f"the module has {what}; load it again")
    return found


def module_document(module: Any) -> dict[str, Any]:
    """Return a module's declarations, small enough for one message. Its log notes what is omitted."""
    rows = [to_plain(row, "", REGISTRATION_SIZE)[0] for row in module["declares"][:MAX_REGISTRATIONS]]
    fitting = [row for row in rows if len(row) == len(REGISTRATION_KEYS)]
    log, _ = to_plain(module["log"][:MAX_REGISTRATIONS], "", LOG_SIZE)
    if len(fitting) < len(module["declares"]):
        text = f"it declares {len(module['declares']):,} handlers, of which {len(fitting):,} are used"
        log.append({"level": "warn", "text": text})
    return {"declares": fitting, "log": log}


def _is_same_event(one: str, other: str) -> bool:
    return one.replace("-", "_") == other.replace("-", "_")


class _ModuleLoader:
    """Loads one module by its shape, and collects its log."""

    def __init__(self, code: Mapping[str, Any], authoring: Any, handler_arguments: Any) -> None:
        self._code = code
        self._authoring = authoring
        self._adapted = handler_arguments.adapted
        self._file = os.path.relpath(code["path"], code["root"]).replace(os.sep, "/")
        self._log: list[dict[str, str]] = []

    def load(self, on_late: OnLateHandler | None = None) -> LoadSteps:
        code, shape = self._code, self._code["shape"]
        if shape in ("hook", "arguments"):
            handler = import_handler(code["path"], code["export"], code["root"], code["name"])
            return HandlerModule({"": handler if shape == "hook" else self._adapted(handler)})
        self._name_definitions()
        module = self._import(code["path"])
        if shape == "stream":
            return self._stream((yield from self._definition(module, STREAM_NAMES)))
        if shape == "plugin":
            api = self._authoring.RecordingPluginApi(os.path.basename(code["root"]), code.get("config"))
            api.config = self._authoring.Record(code.get("settings") or {})
            yield self._register_function(module)(api)
            made = self._plugin(api.declared)
            api.close(None if on_late is None else self._late_registration(made, on_late))
            return made
        if shape == "tool":
            return self._tool((yield from self._definition(module, ("tool",))))
        return self._model((yield from self._definition(module, ("agent",))))

    def _import(self, path: str) -> Any:
        return import_file(path, self._code["root"], self._code["name"])

    def _name_definitions(self) -> None:
        """Load and name the definitions beside the module, which `toolResultFrom` compares by identity."""
        for beside in self._code.get("beside", ()):
            try:
                found = _exported(self._import(beside["path"]), "default", (beside["kind"],))
            except BaseException as error:  # a file may do anything while it is imported
                text = f"the {beside['kind']} {beside['name']} did not load, so no result matches it: "
                self._log.append({"level": "warn", "text": f"{text}{type(error).__name__}: {error}"})
                continue
            if found is not None:
                self._authoring.name_definition(found, beside["kind"], beside["name"], self._code["name"])

    def _definition(self, module: Any, names: tuple[str, ...]) -> Generator[Any, Any, Any]:
        """Return what the module exports; if that is a function, its return value."""
        found = _exported(module, self._code["export"], names)
        if callable(found) and not isinstance(found, type):
            found = yield found()
        return found

    def _stream(self, definition: Any) -> HandlerModule:
        """Return the handlers of a stream module. Source: tests/conformance/cases/eve, 08 to 10."""
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
        targets = {key: self._adapted(handler) for key, handler in handlers.items()}
        return HandlerModule(targets, self._declare([_registration(key, key) for key in targets]))

    def _register_function(self, module: Any) -> Any:
        export = self._code["export"]
        for name in REGISTER_NAMES if export == "default" else (export,):
            found = getattr(module, name, None)
            inside = found.get("register") if isinstance(found, Mapping) else getattr(found, "register", None)
            for function in (inside, found):
                if callable(function) and not isinstance(function, type):
                    return function
        raise NoHandler(f"{self._file} has no function `register` that registers its hooks")

    def _plugin(self, declared: Any) -> HandlerModule:
        made = HandlerModule({}, self._declare([]))
        for declaration in declared:
            self._add_registration(made, declaration)
        return made

    def _add_registration(self, made: HandlerModule, declared: Any) -> dict[str, Any]:
        assert made.module is not None
        member = str(len(made.targets))
        made.targets[member] = self._adapted(declared.handler)
        row = _registration(declared.key, member, declared.priority, declared.limit, declared.options)
        made.module["declares"].append(row)
        return row

    def _late_registration(self, made: HandlerModule, on_late: OnLateHandler) -> Callable[[Any], None]:
        return lambda declared: on_late(self._add_registration(made, declared))

    def _declare(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {"declares": rows, "log": self._log}

    def _tool(self, definition: Any) -> HandlerModule:
        execute = definition.get("execute") if isinstance(definition, Mapping) else None
        if not callable(execute):
            raise NoHandler(f"{self._file} defines no tool with a function `execute`")
        return HandlerModule({"": self._adapted(execute)})

    def _model(self, definition: Any) -> HandlerModule:
        model = definition.get("model") if isinstance(definition, Mapping) else None
        script = model.get("reply") if isinstance(model, Mapping) else model
        if script is None or (script is model and isinstance(script, str)):
            text = f"names the model {model!r}, which Hookscope cannot call" if model else "has no model"
            raise NoHandler(f"{self._file} {text}: give it `mock_model(…)`")
        return HandlerModule({"": self._adapted(script) if callable(script) else _scripted_model(script)})


def _exported(module: Any, export: str, names: tuple[str, ...]) -> Any:
    """Return the first of these exports that is not None, or None."""
    exports = ("default", *names) if export == "default" else (export,)
    values = (getattr(module, name, None) for name in exports)
    return next((found for found in values if found is not None), None)


def _registration(
    key: str, member: str, priority: float = 0, limit: float | None = None, options: Any = None
) -> dict[str, Any]:
    return dict(zip(REGISTRATION_KEYS, (key, member, priority, limit, options or {})))  # noqa: B905  (3.9)


def _scripted_model(script: Any) -> Target:
    """Return a model that always gives the same reply, or picks one by the number of tool results so far."""
    replies = list(script) if isinstance(script, (list, tuple)) else [script]

    def reply(view: Any) -> Any:
        request = view["event"]
        results = request.get("toolResults") if isinstance(request, Mapping) else None
        return replies[min(len(results or ()), len(replies) - 1)] if replies else None

    return reply


# The worker's cache


class LoadedModule(NamedTuple):
    """A HandlerModule, with the variables that its import set and the folders that it added to sys.path."""

    targets: dict[str, Target]
    module: dict[str, Any] | None
    env: Environment
    folders: tuple[list[str], list[str]]


class HandlerCache:
    """Loads each content once for a worker. Of each handler, the last version that loaded is kept."""

    def __init__(self, worker: Any, authoring: AuthoringModules) -> None:
        self._worker, self._authoring = worker, authoring
        self._loaded: dict[ContentKey, LoadedModule] = {}
        self._last_loaded: dict[tuple[str, str, str], LoadedModule] = {}  # by path, export, shape
        self._names: dict[str, str] = {}  # root folder → the name of its current content
        self.failure_notes: tuple[str, ...] = ()  # of the last failed load: see not_found_notes

    def clear(self) -> None:
        """Drop all entries."""
        self._loaded.clear()
        self._last_loaded.clear()
        self._names.clear()

    def is_loaded(self, code: Any) -> bool:
        """Return True if exactly this content is loaded."""
        return _key_of(code) in self._loaded

    def last_loaded(self, code: Any) -> LoadedModule | None:
        """Return the version to run if the current content does not load."""
        return self._last_loaded.get(_key_of(code)[1:])

    def load(self, code: Any, env: Environment) -> tuple[LoadedModule | None, Any, float, bool]:
        """Load a file. Return (module or None, error or None, seconds, whether the process is restored)."""
        key = _key_of(code)
        if key in self._loaded:
            return self._loaded[key], None, 0.0, True
        worker, baseline, error = self._worker, self._worker.baseline, None
        began = _now()
        try:
            worker.notes.rejected_variables = baseline.set_environment(env)
            environment, path = baseline.environment(), list(sys.path)
            made = self._import(code)
            loaded = LoadedModule(*made, baseline.environment_changes(environment), _added_folders(path))
            self._loaded[key] = self._last_loaded[key[1:]] = loaded
            self._forget_older(code["root"], code["name"])
        except BaseException as raised:  # a file may do anything while it is imported
            error, self.failure_notes = describe_exception(raised), not_found_notes(raised)
        took = _now() - began
        return self._loaded.get(key), error, took, baseline.restore(is_load=True)

    def _import(self, code: Any) -> HandlerModule:
        if "within" in code:
            check_location(code["path"], code["within"])
        if code.get("shape", "hook") == "hook":  # the most frequent shape does not need the authoring API
            handler = import_handler(code["path"], code["export"], code["root"], code["name"])
            return HandlerModule({"": handler})
        worker, authoring = self._worker, self._authoring
        steps = load_module(
            {**code, "settings": worker.settings},
            authoring.authoring_api(),
            authoring.handler_arguments(),
            partial(worker.report_late_handler, code),
        )
        value = None
        while True:
            try:
                value = steps.send(value)
            except StopIteration as made:
                return made.value  # type: ignore[no-any-return]  # StopIteration.value is Any
            if hasattr(type(value), "__await__"):
                value = worker.event_loop.run_awaitable(value)[0]

    def _forget_older(self, root: str, name: str) -> None:
        """Drop the folder's previous content, now that its current content is loaded."""
        older = self._names.get(root)
        if older is not None and older != name:
            forget([older])
            if AUTHORING_API in sys.modules:
                self._authoring.authoring_api().forget_names(older)
            self._loaded = {key: loaded for key, loaded in self._loaded.items() if key[0] != older}
            self._worker.forget_targets()
        self._names[root] = name


def _key_of(code: Any) -> ContentKey:
    """Return the cache key. A plugin with another config is another entry, because it registers again."""
    config = json.dumps(code["config"], sort_keys=True, default=str) if code.get("config") else ""
    return code["name"], code["path"], code["export"], code.get("shape", "hook") + config


def _added_folders(before: list[str]) -> tuple[list[str], list[str]]:
    """Return the folders that an import added to the front and the end of sys.path."""
    at = next((at for at, entry in enumerate(sys.path) if entry in before), 0)
    return sys.path[:at], [entry for entry in sys.path[at:] if entry not in before]

"""What a worker has loaded: handlers by their content's name, and the last of each that did load."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple  # noqa: UP035  (3.9)

Key = Tuple[str, str, str, str]  # noqa: UP006  (content's name, path, export, shape; an alias: 3.9)
Environment = Dict[str, str]  # noqa: UP006
Folders = Tuple[List[str], List[str]]  # noqa: UP006

_now = time.perf_counter  # bound before any handler runs


def key_of(code: Any) -> Key:
    """The content's name, and what of it; a plugin that is told something else registers anew."""
    config = json.dumps(code["config"], sort_keys=True, default=str) if code.get("config") else ""
    return code["name"], code["path"], code["export"], code.get("shape", "hook") + config


class Loaded:
    """A module that is loaded, and what its import set in the environment and added to sys.path."""

    def __init__(self, made: Any, env: Environment, folders: Folders) -> None:
        self.targets: dict[str, Callable[[Any], Any]]
        self.module: Any  # what it declares
        self.targets, self.module = made
        self.env = env
        self.folders = folders


class Loads:
    """Loads handlers, each content once, for a worker. `part` gives the worker's other files."""

    def __init__(self, worker: Any, part: Callable[[str], Any], authors: Any) -> None:
        self._worker = worker
        self._part = part
        self._authors = authors
        self._loaded: dict[Key, Loaded] = {}
        self._good: dict[tuple[str, str, str], Loaded] = {}  # path, export, shape → the last that did load
        self.unfound: tuple[str, ...] = ()  # of the load that failed last: see faults.not_found
        self._names: dict[str, str] = {}  # root folder → the name its present content is loaded under

    def clear(self) -> None:
        """Nothing is loaded any more."""
        self._loaded.clear()
        self._good.clear()
        self._names.clear()

    def has(self, code: Any) -> bool:
        """Is this very content loaded."""
        return key_of(code) in self._loaded

    def last_good(self, code: Any) -> Optional[Loaded]:  # noqa: UP045
        """What runs where this content does not load."""
        return self._good.get(key_of(code)[1:])

    def load(self, code: Any, env: Environment) -> tuple[Optional[Loaded], Any, float, bool]:  # noqa: UP045
        """(module, error, seconds, is the process as before). One of the first two is None."""
        key = key_of(code)
        if key in self._loaded:
            return self._loaded[key], None, 0.0, True
        worker, restore = self._worker, self._part("restore")
        began = _now()
        try:
            worker.remarks.left_out = restore.lay_over(env)
            base, path = restore.environ_now(), list(sys.path)
            made = self._make(code)
            loaded = Loaded(made, restore.changes_of_environ(base), restore.folders_added_to(path))
            self._loaded[key] = self._good[key[1:]] = loaded
            self._forget_older(code["root"], code["name"])
            error = None
        except BaseException as raised:  # a file may do anything while it is imported
            faults = self._part("faults")
            error, self.unfound = faults.describe(raised), faults.not_found(raised)
        took = _now() - began
        return self._loaded.get(key), error, took, worker.baseline.restore(is_load=True)

    def target_of(self, code: Any, loaded: Loaded) -> Any:
        """What to call. Raises modules.NoHandler."""
        member = code.get("member", "")
        target = loaded.targets.get(member)
        if target is None:
            target = self._part("shapes").member_of(loaded, member, self._part("modules").NoHandler)
        return target

    def _make(self, code: Any) -> Any:
        modules = self._part("modules")
        if "within" in code:
            modules.check_place(code["path"], code["within"])
        if code.get("shape", "hook") == "hook":  # most are, and do without the rest
            handler = modules.import_handler(code["path"], code["export"], code["root"], code["name"])
            return {"": handler}, None
        told = {**code, "settings": self._worker.settings}
        late = partial(self._worker.tell_added, code)
        making = self._part("shapes").make(
            told, modules, self._authors.authoring(), self._authors.given(), late
        )
        value = None
        while True:
            try:
                wanted = making.send(value)
            except StopIteration as made:
                return made.value
            value = wanted
            if hasattr(type(wanted), "__await__"):
                value = self._worker.awaits.finish(wanted)[0]

    def _forget_older(self, root: str, name: str) -> None:
        """Drop what the folder held before it changed: not before what it holds now is loaded."""
        older = self._names.get(root)
        if older not in (None, name):
            self._part("modules").forget(older)
            if self._part("authors").AUTHORING in sys.modules:
                self._authors.authoring().forget_names(older)
            self._loaded = {key: loaded for key, loaded in self._loaded.items() if key[0] != older}
            self._worker.forget_targets()
        self._names[root] = name

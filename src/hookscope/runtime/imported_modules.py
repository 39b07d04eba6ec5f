"""Handler modules imported into this process; kept while they are registered or their code runs."""

from __future__ import annotations

import asyncio
import gc
import sys
from asyncio import CancelledError
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field
from inspect import isawaitable
from pathlib import Path
from types import FrameType
from typing import Any

from hookscope.model import authoring_api, handler_arguments
from hookscope.model.run import Code, Declared, Handler, Module
from hookscope.runtime.failures import LoadFailed, failure_of
from hookscope.runtime.handler_code import code_document, content_name, module_from
from hookscope.runtime.python_worker.handler_modules import PREFIX, NoHandler, forget
from hookscope.runtime.python_worker.loaded_handlers import HandlerModule, load_module, member_of
from hookscope.values import dataclass

COLLECT_EVERY = 16  # sweeps per garbage collection; only that frees modules: they refer to themselves


@dataclass(slots=True)
class ReplacedModules:
    """Modules that no registration uses now, by the name of their content.

    Firings that were running when a module was replaced may still call it, and its tasks and threads may
    still run. Not thread-safe: for one event loop.
    """

    forget: Callable[[Collection[str]], object]
    _waiting: dict[str, tuple[asyncio.Task[Any], ...]] = field(default_factory=dict)
    _sweep_count: int = 0

    def add(self, names: Iterable[str], firings: Iterable[asyncio.Task[Any]]) -> None:
        """Forget these modules once the firings have ended and nothing else runs in them."""
        under_way = tuple(firings)
        self._waiting |= dict.fromkeys(names, under_way)
        self._sweep_after(under_way)
        self.sweep()

    def remove(self, names: Iterable[str]) -> None:
        """Keep these modules, which are in use again because a file was changed back."""
        for name in names:
            self._waiting.pop(name, None)

    def sweep(self, _: object = None) -> None:
        """Forget modules in which nothing runs now."""
        free = [name for name, tasks in self._waiting.items() if all(task.done() for task in tasks)]
        if not free:
            return
        busy = _packages_in_threads()
        for task in _all_tasks():
            if found := set(_packages_of(_frames_of_task(task))):
                busy |= found
                self._sweep_after((task,))
        free = [name for name in free if name not in busy]
        for name in free:
            del self._waiting[name]
        self.forget(free)
        self._sweep_count += bool(free)
        if free and self._sweep_count % COLLECT_EVERY == 0:
            gc.collect()

    def _sweep_after(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Sweep when these tasks end. Tasks of another loop are checked at the next sweep."""
        loop = asyncio.get_running_loop()
        for task in tasks:
            if task.get_loop() is loop:
                task.add_done_callback(self.sweep)


def _all_tasks() -> set[asyncio.Task[Any]]:
    try:
        return asyncio.all_tasks()
    except RuntimeError:  # no loop runs any more
        return set()


def _packages_in_threads() -> set[str]:
    """Return the names of modules with running code in any thread."""
    found = set[str]()
    for frame in sys._current_frames().values():
        found.update(_packages_of(_outer_frames(frame)))
    return found


def _outer_frames(frame: FrameType) -> Iterator[FrameType]:
    caller: FrameType | None = frame
    while caller is not None:
        yield caller
        caller = caller.f_back


def _frames_of_task(task: asyncio.Task[Any]) -> Iterator[FrameType]:
    awaited: Any = task.get_coro()
    while awaited is not None:
        for name in ("cr", "gi", "ag"):
            frame = getattr(awaited, f"{name}_frame", None)
            if isinstance(frame, FrameType):
                yield frame
                awaited = getattr(awaited, f"{name}_await", None) or getattr(awaited, "gi_yieldfrom", None)
                break
        else:
            return


def _packages_of(frames: Iterable[FrameType]) -> Iterator[str]:
    for frame in frames:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name.startswith(PREFIX):
            yield name.partition(".")[0].removeprefix(PREFIX)


class ImportedModules:
    """Imports Codes, once for each content of their folders.

    An older version is kept until `keep_only` is called, and while its code still runs.
    """

    def __init__(self) -> None:
        self._replaced = ReplacedModules(self._forget)
        self._names: set[str] = set()
        self._kept_names: set[str] = set()
        self._failed: set[str] = set()  # forgotten at the next `keep_only`
        self._known: dict[tuple[str, Path, str, str], HandlerModule] = {}
        self._late_declarations: dict[
            Path, tuple[HandlerModule, list[Any]]
        ] = {}  # of each plugin: its current module, and late declarations

    async def target_of(self, code: Code) -> Handler:
        """Return the handler to call. If the Code cannot be loaded, calling the handler raises the error."""
        try:
            return member_of(await self._loaded_module(code), code.member)
        except LoadFailed as failed:
            return _failing_handler(failed)
        except NoHandler as missing:
            return _failing_handler(LoadFailed(failure_of(missing, "load")))

    async def load(self, code: Code) -> Handler | Module:
        """Import the code: return a handler, or the module with its declarations. Raises LoadFailed."""
        made = await self._loaded_module(code)
        if made.module is None:
            return made.targets[""]
        return module_from(made.module, made.targets.__getitem__)

    async def _loaded_module(self, code: Code) -> HandlerModule:
        """Return the module of the Code, importing it if necessary. Raises LoadFailed."""
        name = content_name(code)
        key = (name, code.path, code.export, code.shape)
        if key not in self._known:
            self._names.add(name)
            self._replaced.remove((name,))
            if code.digest:  # the host keeps this version
                self._kept_names.add(name)
            late: list[Any] = []
            try:
                self._known[key] = made = await _load_module(code, name, late)
            except BaseException as error:  # a file may do anything while it is imported
                if type(error) is CancelledError and _is_task_cancelled():
                    raise
                self._failed.add(name)
                raise LoadFailed(failure_of(error, "load")) from None
            if code.shape == "plugin":
                self._late_declarations[code.path] = made, late
        return self._known[key]

    def keep_only(self, targets: Sequence[Handler | Code], firings: Iterable[asyncio.Task[Any]]) -> None:
        """Forget modules that no target uses, once these firings have ended and nothing runs in them.

        Call it in a running event loop.
        """
        called = {id(target) for target in targets if not isinstance(target, Code)}
        paths = {target.path for target in targets if isinstance(target, Code)}
        stale = [
            key
            for key, made in self._known.items()
            if key[1] not in paths
            and not self._is_latest_plugin(key[1], made)
            and not any(id(target) in called for target in made.targets.values())
        ]
        for key in stale:
            del self._known[key]
        gone, self._failed = {key[0] for key in stale} | self._failed, set()
        names = gone - {key[0] for key in self._known} - self._kept_names
        self._replaced.add(names, firings)

    def _is_latest_plugin(self, path: Path, made: HandlerModule) -> bool:
        """Return True if `made` is the current version of a plugin, which may still register handlers."""
        return path in self._late_declarations and self._late_declarations[path][0] is made

    def _forget(self, names: Collection[str]) -> None:
        forget(names)
        for name in names:
            authoring_api.forget_names(name)

    @property
    def late_count(self) -> int:
        """How many handlers plugins have registered since they were loaded."""
        return sum(len(late) for _, late in self._late_declarations.values())

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        """Return the handlers that the current version of this plugin has registered since it was loaded."""
        if code.path not in self._late_declarations:
            return ()
        made, late = self._late_declarations[code.path]
        return module_from({"declares": late, "log": []}, made.targets.__getitem__).declares

    def close(self) -> None:
        """Forget all imported modules and their names."""
        self._forget(self._names)
        self._replaced = ReplacedModules(self._forget)
        self._kept_names.clear()
        self._known.clear()
        self._late_declarations.clear()


def _is_task_cancelled() -> bool:
    """Return True if the current task is being cancelled; False if a handler just raised CancelledError."""
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


async def _load_module(code: Code, name: str, late: list[Any]) -> HandlerModule:
    document = {**code_document(code, name), "settings": code.settings}
    steps, value = load_module(document, authoring_api, handler_arguments, late.append), None
    while True:
        try:
            wanted = steps.send(value)
        except StopIteration as made:
            finished: HandlerModule = made.value
            return finished
        value = await wanted if isawaitable(wanted) else wanted


def _failing_handler(failed: LoadFailed) -> Handler:
    def handler(_: Any) -> object:
        raise failed

    return handler

"""Handlers whose files are imported into this very process."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections.abc import Collection, Iterable, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any

from hookscope.core import authoring, given
from hookscope.core.runs import Code, Declared, Handler, Module
from hookscope.runtime.declared import code_document, module_of
from hookscope.runtime.digest import module_name
from hookscope.runtime.failures import LoadFailed, raised
from hookscope.runtime.old_versions import OldVersions
from hookscope.runtime.python_worker import modules, shapes


class Modules:
    """The handlers that were imported for Codes, by the content of their folders.

    What was loaded before an edit stays until `keep_only`, and then for as long as something runs in it.
    """

    def __init__(self) -> None:
        self._old = OldVersions(self._forget)
        self._names: set[str] = set()
        self._lasting: set[str] = set()
        self._failed: set[str] = set()  # what is left of them goes with the next `keep_only`
        self._known: dict[tuple[str, Path, str, str], shapes.Made] = {}
        self._late: dict[Path, tuple[shapes.Made, list[Any]]] = {}  # as loaded last, and declared since

    async def target_of(self, code: Code) -> Handler:
        """What to call. A Code that cannot be loaded becomes a handler that says so."""
        try:
            return shapes.member_of(await self._made(code), code.member, modules.NoHandler)
        except LoadFailed as failed:
            return _raising(failed)
        except modules.NoHandler as missing:
            return _raising(LoadFailed(raised(missing, "load")))

    async def load(self, code: Code) -> Handler | Module:
        """Import the code: a handler, or the module with all that it declares. Raises LoadFailed."""
        made = await self._made(code)
        if made.module is None:
            return made.targets[""]
        return module_of(made.module, made.targets.__getitem__)

    async def _made(self, code: Code) -> shapes.Made:
        """Raises LoadFailed."""
        name = module_name(code)
        key = (name, code.path, code.export, code.shape)
        if key not in self._known:
            self._names.add(name)
            self._old.drop((name,))
            if code.digest:  # its host imports it once, and comes back to it
                self._lasting.add(name)
            late: list[Any] = []
            try:
                self._known[key] = made = await _made(code, name, late)
            except BaseException as error:  # a file may do anything while it is imported
                if type(error) is CancelledError and _is_cancelled():
                    raise
                self._failed.add(name)
                raise LoadFailed(raised(error, "load")) from None
            if code.shape == "plugin":
                self._late[code.path] = made, late
        return self._known[key]

    def keep_only(self, targets: Sequence[Handler | Code], firings: Iterable[asyncio.Task[Any]]) -> None:
        """Forget the modules that none of these targets is from, once these firings have ended and nothing
        runs in them any more. Call it in a running event loop."""
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
        names = gone - {key[0] for key in self._known} - self._lasting
        self._old.add(names, firings)

    def _is_latest_plugin(self, path: Path, made: shapes.Made) -> bool:
        """A plugin may register handlers later, whatever it has registered so far."""
        return path in self._late and self._late[path][0] is made

    def _forget(self, names: Collection[str]) -> None:
        modules.forget_all(names)
        for name in names:
            authoring.forget_names(name)

    @property
    def late_count(self) -> int:
        """How many handlers plugins have registered since they were loaded."""
        return sum(len(late) for _, late in self._late.values())

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        """Those of this plugin, as it was loaded last."""
        if code.path not in self._late:
            return ()
        made, late = self._late[code.path]
        return module_of({"declares": late, "log": []}, made.targets.__getitem__).declares

    def close(self) -> None:
        """Forget all modules that were imported here, and what their files are called."""
        self._forget(self._names)
        self._old = OldVersions(self._forget)
        self._lasting.clear()
        self._known.clear()
        self._late.clear()


def _is_cancelled() -> bool:
    """Is it our own task, and not only a handler that raises what a cancel raises."""
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


async def _made(code: Code, name: str, late: list[Any]) -> shapes.Made:
    making, value = (
        shapes.make(
            {**code_document(code, name), "settings": code.settings}, modules, authoring, given, late.append
        ),
        None,
    )
    while True:
        try:
            wanted = making.send(value)
        except StopIteration as made:
            finished: shapes.Made = made.value
            return finished
        value = await wanted if isawaitable(wanted) else wanted


def _raising(failed: LoadFailed) -> Handler:
    def handler(_: Any) -> object:
        raise failed

    return handler

"""An executor whose handlers run on the copies of a sandbox.

While the rest of the program sees the originals.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.payload import EVENT, REQUESTS, Arguments
from hookscope.model.run import (
    Code,
    Module,
    OnStep,
    Paused,
    Registration,
    Result,
    Skipped,
    Slow,
    Started,
    Step,
)
from hookscope.runtime.process_executor import ProcessExecutor, code_of
from hookscope.runtime.python_worker.handler_modules import lies_within
from hookscope.runtime.sandbox import Sandbox


def _leads_outside(code: Code) -> bool:
    """True if a link on the way to the original was changed after the original was checked."""
    within = code.within
    return within is not None and not lies_within(os.path.realpath(code.path), os.fspath(within))


class SandboxedExecutor:
    """A lane in front of another: calls go in with the copies' paths, and come out with the originals'.

    `unprotected` gets a sentence before a handler runs that has no copy and can write beside itself.
    """

    def __init__(
        self, lane: ProcessExecutor, sandbox: Sandbox, unprotected: Callable[[str], None] | None = None
    ) -> None:
        self._lane = lane
        self._sandbox = sandbox
        self._unprotected = unprotected

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        inside = {self._inside(call): call for call in batch}

        def told(news: Step) -> None:
            step(self._outside(news, inside[news.call]))

        moved = self._moved_in(view)
        try:
            await self._lane.run(tuple(inside), moved, told)
        finally:
            self._move_out(moved, view)

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn."""
        for view, call in zip(views, calls, strict=False):  # the views end early, or one step behind
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together."""
        inside = [(self._inside(call), self._moved_in(view)) for call, view in calls]
        outside = {moved: call for (moved, _), (call, _) in zip(inside, calls, strict=True)}

        def told(news: Step) -> None:
            step(self._outside(news, outside[news.call]))

        try:
            await self._lane.run_together(inside, told)
        finally:
            for (_, moved), (_, view) in zip(inside, calls, strict=True):
                self._move_out(moved, view)

    async def load(self, code: Code) -> Code | Module | Failure:
        """See Lane.load."""
        loaded = await self._lane.load(self._code(code))
        if isinstance(loaded, Failure):
            return self._failure(loaded)
        return self._module(loaded, code) if isinstance(loaded, Module) else code

    async def close(self) -> None:
        """See Lane.close. The copies are the sandbox's."""
        await self._lane.close()

    def _module(self, module: Module, code: Code) -> Module:
        """The module with the original's handlers."""
        declares = (
            replace(one, target=replace(code, member=one.target.member))
            for one in module.declares
            if isinstance(one.target, Code)
        )
        log = (replace(line, text=self._original(line.text)) for line in module.log)
        return Module(tuple(declares), tuple(log), module.asked)

    # In

    def _inside(self, call: Registration) -> Registration:
        return replace(call, target=self._code(code_of(call)))

    def _code(self, code: Code) -> Code:
        """The copy of the handler, where there is one."""
        path, root = self._sandbox.copy_of(code.path), self._sandbox.copy_of(code.root)
        if _leads_outside(code):  # the worker refuses the original
            return code
        if not os.path.exists(path):
            if self._unprotected is not None and not self._sandbox.walls.disk:
                self._unprotected(
                    f"{code.path} was not copied: its handler runs beside the original files, unprotected."
                )
            return code
        within = code.within if path == code.path else None
        beside = tuple(replace(one, path=self._sandbox.copy_of(one.path)) for one in code.beside)
        env = self._copied(code.env)
        return replace(code, path=path, root=root, digest="", env=env, beside=beside, within=within)

    def _moved_in(self, view: Any) -> Any:
        if isinstance(view, Arguments):
            return Arguments(self._copied(view))
        if not isinstance(view, HookEvent):
            return self._copied(view)
        return HookEvent(
            view.type,
            view.action,
            view.session_key,
            self._copied(view.context),
            view.timestamp,
            list(view.messages),
        )

    def _copied(self, value: Any) -> Any:
        """A value with every text that is a path into a copied folder leading to its copy."""
        match value:
            case str() if value.startswith("/") and "\0" not in value:
                return str(self._sandbox.copy_of(Path(value)))
            case Mapping():
                return {key: self._copied(item) for key, item in value.items()}
            case list() | tuple():
                return [self._copied(item) for item in value]
            case _:
                return value

    # Out

    def _move_out(self, moved: Any, view: Any) -> None:
        if isinstance(view, HookEvent):
            view.type, view.action, view.session_key = moved.type, moved.action, moved.session_key
            view.timestamp = moved.timestamp
            view.context = self._original(moved.context)
            view.messages[:] = self._original(moved.messages)
        elif isinstance(view, Arguments):
            view[EVENT], view[REQUESTS] = self._original(moved[EVENT]), list(moved[REQUESTS])

    def _original(self, value: Any) -> Any:
        match value:
            case str():
                return self._sandbox.original_of(value)
            case Mapping():
                return {key: self._original(item) for key, item in value.items()}
            case list() | tuple():
                return [self._original(item) for item in value]
            case _:
                return value

    def _outside(self, news: Step, call: Registration) -> Step:
        match news:
            case Started() | Slow() | Paused() | Skipped():
                return replace(news, call=call)
            case Result():
                return replace(
                    news,
                    call=call,
                    messages=tuple(self._original(news.messages)),
                    returned=self._original(news.returned),
                    stdout=self._original(news.stdout),
                    stderr=self._original(news.stderr),
                    error=self._failure(news.error) if news.error is not None else None,
                    stale=self._failure(news.stale) if news.stale is not None else None,
                    patch=tuple(self._original(news.patch)),
                    notes=tuple(self._original(news.notes)),
                )

    def _failure(self, failure: Failure) -> Failure:
        frames = tuple(replace(frame, file=self._original(frame.file)) for frame in failure.frames)
        return replace(failure, message=self._original(failure.message), frames=frames)

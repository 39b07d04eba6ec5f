"""An executor that runs handlers on a sandbox's copies and reports results with the original paths."""

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
    """Return True if the path no longer leads into the trusted folder, because a link was changed."""
    within = code.trusted_root
    return within is not None and not lies_within(os.path.realpath(code.path), os.fspath(within))


class SandboxedExecutor:
    """Wraps another executor: calls get the paths of the copies, and results the paths of the originals.

    `on_unprotected` receives a sentence before a handler runs whose folder was not copied and is writable.
    """

    def __init__(
        self, executor: ProcessExecutor, sandbox: Sandbox, on_unprotected: Callable[[str], None] | None = None
    ) -> None:
        self._executor = executor
        self._sandbox = sandbox
        self._on_unprotected = on_unprotected

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        originals = {self._call_inside(call): call for call in batch}

        def on_step(news: Step) -> None:
            step(self._step_outside(news, originals[news.call]))

        moved = self._payload_inside(view)
        try:
            await self._executor.run(tuple(originals), moved, on_step)
        finally:
            self._write_back(moved, view)

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        for view, call in zip(views, calls, strict=False):  # an ended event has fewer views
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        sandboxed = [(self._call_inside(call), self._payload_inside(view)) for call, view in calls]
        originals = {moved: call for (moved, _), (call, _) in zip(sandboxed, calls, strict=True)}

        def on_step(news: Step) -> None:
            step(self._step_outside(news, originals[news.call]))

        try:
            await self._executor.run_together(sandboxed, on_step)
        finally:
            for (_, moved), (_, view) in zip(sandboxed, calls, strict=True):
                self._write_back(moved, view)

    async def load(self, code: Code) -> Code | Module | Failure:
        loaded = await self._executor.load(self._code_inside(code))
        if isinstance(loaded, Failure):
            return self._failure_outside(loaded)
        return self._module_outside(loaded, code) if isinstance(loaded, Module) else code

    async def close(self) -> None:
        """See Executor.close. The sandbox removes its copies."""
        await self._executor.close()

    def _module_outside(self, module: Module, code: Code) -> Module:
        """Return the module with the original paths in its handlers and log."""
        declares = (
            replace(one, target=replace(code, member=one.target.member))
            for one in module.declares
            if isinstance(one.target, Code)
        )
        log = (replace(line, text=self._with_original_paths(line.text)) for line in module.log)
        return Module(tuple(declares), tuple(log), module.findings)

    # From originals to copies

    def _call_inside(self, call: Registration) -> Registration:
        return replace(call, target=self._code_inside(code_of(call)))

    def _code_inside(self, code: Code) -> Code:
        """Return the Code of the handler's copy; the Code itself if there is no copy."""
        path, root = self._sandbox.copy_of(code.path), self._sandbox.copy_of(code.root)
        if _leads_outside(code):  # the worker refuses the original
            return code
        if not os.path.exists(path):
            if self._on_unprotected is not None and self._sandbox.isolation.level == "copies":
                self._on_unprotected(
                    f"{code.path} was not copied, so its handler can change the original files beside it."
                )
            return code
        within = code.trusted_root if path == code.path else None
        beside = tuple(replace(one, path=self._sandbox.copy_of(one.path)) for one in code.siblings)
        env = self._with_copy_paths(code.env)
        return replace(code, path=path, root=root, digest="", env=env, siblings=beside, trusted_root=within)

    def _payload_inside(self, view: Any) -> Any:
        if isinstance(view, Arguments):
            return Arguments(self._with_copy_paths(view))
        if not isinstance(view, HookEvent):
            return self._with_copy_paths(view)
        return HookEvent(
            view.type,
            view.action,
            view.session_key,
            self._with_copy_paths(view.context),
            view.timestamp,
            list(view.messages),
        )

    def _with_copy_paths(self, value: Any) -> Any:
        """Return the value with each path into a copied folder replaced by the path of its copy."""
        match value:
            case str() if value.startswith("/") and "\0" not in value:
                return str(self._sandbox.copy_of(Path(value)))
            case Mapping():
                return {key: self._with_copy_paths(item) for key, item in value.items()}
            case list() | tuple():
                return [self._with_copy_paths(item) for item in value]
            case _:
                return value

    # From copies to originals

    def _write_back(self, moved: Any, view: Any) -> None:
        if isinstance(view, HookEvent):
            view.type, view.action, view.session_key = moved.type, moved.action, moved.session_key
            view.timestamp = moved.timestamp
            view.context = self._with_original_paths(moved.context)
            view.messages[:] = self._with_original_paths(moved.messages)
        elif isinstance(view, Arguments):
            view[EVENT], view[REQUESTS] = self._with_original_paths(moved[EVENT]), list(moved[REQUESTS])

    def _with_original_paths(self, value: Any) -> Any:
        match value:
            case str():
                return self._sandbox.original_of(value)
            case Mapping():
                return {key: self._with_original_paths(item) for key, item in value.items()}
            case list() | tuple():
                return [self._with_original_paths(item) for item in value]
            case _:
                return value

    def _step_outside(self, step: Step, call: Registration) -> Step:
        match step:
            case Started() | Slow() | Paused() | Skipped():
                return replace(step, call=call)
            case Result():
                return replace(
                    step,
                    call=call,
                    messages=tuple(self._with_original_paths(step.messages)),
                    returned=self._with_original_paths(step.returned),
                    stdout=self._with_original_paths(step.stdout),
                    stderr=self._with_original_paths(step.stderr),
                    error=self._failure_outside(step.error) if step.error is not None else None,
                    stale=self._failure_outside(step.stale) if step.stale is not None else None,
                    patch=tuple(self._with_original_paths(step.patch)),
                    notes=tuple(self._with_original_paths(step.notes)),
                )

    def _failure_outside(self, failure: Failure) -> Failure:
        frames = tuple(replace(frame, file=self._with_original_paths(frame.file)) for frame in failure.frames)
        return replace(failure, message=self._with_original_paths(failure.message), frames=frames)

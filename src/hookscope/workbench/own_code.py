"""A project's own tools and scripted models: loaded once, called in the worker of their language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookscope.core.arguments import arguments
from hookscope.core.failure import Failure
from hookscope.core.lanes import Lane
from hookscope.core.runs import Module, Registration, Result, Shape, Step
from hookscope.engine import HookEngine
from hookscope.workbench.cast import Member

NOT_TRUSTED = "NotTrusted"  # the failure of a tool or model whose folder is not


class OwnCode:
    """Calls the files of a project that are no hooks. Serves one play: what is loaded stays."""

    def __init__(self, engine: HookEngine) -> None:
        self._engine = engine
        self._targets: dict[tuple[Path, Shape], Any] = {}

    async def run(self, member: Member, shape: Shape, asked: Sequence[tuple[Path, Any]]) -> list[Result]:
        """What each file answers to its own input, in this order; those of one lane at once."""
        calls = [(await self._call(member, path, shape), arguments(given, {})) for path, given in asked]
        results: dict[Registration, Result] = {}

        def step(news: Step) -> None:
            if isinstance(news, Result):
                results[news.call] = news

        lanes: dict[int, tuple[Lane, list[tuple[Registration, Any]]]] = {}
        for call, view in calls:
            if isinstance(call, Result):
                results[call.call] = call
            else:
                lane = self._engine.lanes.of(call)
                lanes.setdefault(id(lane), (lane, []))[1].append((call, view))
        for lane, together in lanes.values():
            await lane.run_together(together, step)
        return [results[call.call if isinstance(call, Result) else call] for call, _ in calls]

    async def _call(self, member: Member, path: Path, shape: Shape) -> Registration | Result:
        """What is to be called, loaded once; a result where it cannot be."""
        if (path, shape) not in self._targets:
            self._targets[path, shape] = await self._target(member, path, shape)
        target = self._targets[path, shape]
        if isinstance(target, Failure):
            return Result(Registration(shape, path.stem, print), "error", error=target)
        return Registration(shape, path.stem, target)

    async def _target(self, member: Member, path: Path, shape: Shape) -> Any:
        code = member.code(path, shape, self._engine.host.env)
        if not member.trusted:
            text = f"{path.name} did not run: {member.root} is not trusted"
            return Failure(NOT_TRUSTED, text, phase="load")
        lane = self._engine.lanes.code.get(code.language)
        if lane is None:
            return Failure("NoLane", f"{path.name} did not run: nothing here runs {code.language}")
        target = await lane.load(code)
        return Failure("NoTool", f"{path.name} is no {shape}") if isinstance(target, Module) else target

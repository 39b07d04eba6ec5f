"""Talks with one Node worker over its own protocol, as a host would."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

from hookscope.runtime.batch import LateEvent, WorkerProgram
from hookscope.runtime.executors import Node, find_node
from hookscope.runtime.process_executor import NODE_FLAGS
from hookscope.runtime.worker_process import WorkerProcess

Message = dict[str, Any]
# The values that a result omits, see protocol.py.
DEFAULTS: Message = {
    "status": "ok",
    "phase": "run",
    "returned": None,
    "error": None,
    "stale": None,
    "notes": [],
    "dirty": False,
    "left": "",
    "shared": False,
    "next": False,
}
WORKER = Path(__file__).parents[3] / "src/hookscope/runtime/node_worker/worker.mjs"


def two(event: object, ctx: Message | None = None, **more: Any) -> Message:
    """A document of two arguments."""
    return {"event": event, "ctx": ctx or {}, "methods": [], "sync": False, "asked": [], **more}


class Talk:
    """One worker, and modules written below a root folder."""

    def __init__(self, root: Path) -> None:
        found = find_node(shutil.which("node"))
        assert isinstance(found, Node) and found.runs_typescript, found.missing_reason  # noqa: PT018  (one sentence for both)
        argv = (found.path, *NODE_FLAGS, str(WORKER), "")
        self.root = root
        self.told: list[LateEvent] = []  # what came late
        self.worker = WorkerProcess(WorkerProgram(argv, dict(os.environ), root, control=True))
        self._contents = 0
        self._runs = 0

    def code(self, file: str, text: str | None = None, **more: Any) -> Message:
        """A code document; writes the file where a text is given. By default each is a stream hook."""
        path = self.root / file
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            self._contents += 1
        document: Message = {
            "path": str(path),
            "export": "default",
            "root": str(self.root),
            "name": f"content{self._contents}",
            "shared": "",
            "plain": False,
            "shape": "stream",
            "member": "",
            "beside": [],
        }
        return {**document, **more}

    async def load(self, code: Message) -> Message:
        """The answer to a load."""
        (answer,) = await self._ask({"do": "load", "code": {**code, "env": {}}}, 1, "loaded")
        return answer

    async def run(self, *codes: Message, view: Any, late: int = 0, **more: Any) -> list[Message]:
        """The answers to one run of these, one after the other. Waits for so many late news too."""
        calls = [{"who": f"hook{number}", "code": code, "env": {}} for number, code in enumerate(codes)]
        known: Message = {"know": list(enumerate(calls)), "calls": list(range(len(calls)))}
        message = {"do": "run", "hook": False, "arguments": True, "view": view, **known, **more}
        answers = await self._ask(message, len(codes), "result")
        await self._hear_late(late)
        return answers

    async def together(self, *pairs: tuple[Message, Any]) -> list[Message]:
        """All messages of one run of these at once, as they come."""
        calls = [{"who": f"hook{number}", "code": code, "env": {}} for number, (code, _) in enumerate(pairs)]
        views = [view for _, view in pairs]
        message = {
            "do": "run",
            "hook": False,
            "arguments": True,
            "together": True,
            "views": views,
            "calls": calls,
        }
        return await self._ask(message, len(pairs), "result", all_kinds=True)

    async def _ask(
        self, message: Message, count: int, kind: str, *, all_kinds: bool = False
    ) -> list[Message]:
        self._runs += 1
        run = f"run{self._runs}"
        heard: list[Message] = []
        with self.worker.listening():
            await self.worker.send_message({**message, "id": run, "fence": self.worker.fence})
            while sum(kind in answer for answer in heard) < count:
                answer = await self.worker.receive()
                assert answer["id"] == run
                heard.append({**DEFAULTS, **answer} if "result" in answer else answer)
        return [answer for answer in heard if all_kinds or kind in answer]

    async def _hear_late(self, count: int) -> None:
        news = asyncio.Event()
        self.worker.keep_reading(news.set)
        self.told += self.worker.take_late_events()
        while len(self.told) < count:
            await news.wait()
            news.clear()
            self.told += self.worker.take_late_events()

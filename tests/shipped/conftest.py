"""Milady and Eliza as shipped: hooks written as their programs read them, run by Node."""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hookscope import HookEngine, embedded_host
from hookscope.engine.registry import LoadReport
from hookscope.model.host import Host
from hookscope.model.machine import Machine
from hookscope.runtime.executors import Executors, NoNode, find_node
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.process_executor import ProcessExecutor, node_executor

SAYS = "export default (event) => { event.messages.push(`NAME`); };\n"
NAMES = {"milady": "milady@2.0.0-alpha.76", "eliza": "eliza@2.0.0-beta.2"}
Write = Callable[..., Path]


@pytest.fixture(params=["milady", "eliza"])
def product(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def managed(home: Path, product: str) -> Path:
    folder = home / f".{product}" / "hooks"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def write(managed: Path, product: str) -> Write:
    """write(name, metadata, handler, file=, folder=, header=) → the hook's folder."""

    def written(
        name: str,
        metadata: Mapping[str, Any] | None = None,
        handler: str = SAYS,
        *,
        file: str = "handler.ts",
        folder: Path | None = None,
        header: str | None = None,
    ) -> Path:
        place = (folder or managed) / name
        place.mkdir(parents=True)
        known = {"events": ["command:new"], **(metadata or {})}
        text = f"---\nname: {name}\nmetadata: {json.dumps({product: known})}\n---\n"
        (place / "HOOK.md").write_text(text if header is None else header, newline="")
        (place / file).write_text(handler.replace("NAME", name))
        return place

    return written


class Program:
    """The program with its home, as it would load and fire."""

    def __init__(self, dialect: str, home: Path, lane: ProcessExecutor) -> None:
        self.dialect, self.home = dialect, home
        self.env: dict[str, str] = {"HOME": str(home)}
        self.platform = "linux"
        self.cwd = home
        lanes = Executors(InProcessExecutor(), {"typescript": lane, "javascript": lane})
        self.engine = HookEngine(self.host({}), lanes)

    def host(self, config: Mapping[str, Any], **given: Any) -> Host:
        here = Machine(self.platform, self.env, self.cwd, self.home)
        return embedded_host(host_config=config, dialect=self.dialect, surroundings=here, **given)

    async def load(self, config: Mapping[str, Any] | None = None, **given: Any) -> LoadReport:
        return await self.engine.load(self.host(config or {}, **given))


@pytest.fixture(scope="session")
def node() -> str:
    found = find_node(shutil.which("node"))
    if isinstance(found, NoNode):
        pytest.skip(found.missing_reason)
    return found.path


@pytest.fixture
async def program(product: str, home: Path, node: str) -> AsyncIterator[Program]:
    lane = node_executor(env={"HOME": str(home)}, cwd=home, node=node)
    made = Program(NAMES[product], home, lane)
    yield made
    await made.engine.close()

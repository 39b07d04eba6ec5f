"""`hookscope serve` as a user starts it, and the processes that it starts."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from tests.forking import Forks

PROC = Path("/proc")
PATIENCE = 60.0


@dataclass
class Served:
    """A running server."""

    process: asyncio.subprocess.Process
    url: str
    origin: str

    def below(self) -> set[int]:
        """Return the server and all its descendants."""
        parents = _parents()
        found, fresh = set[int](), {self.process.pid}
        while fresh:
            fresh = {child for child, parent in parents.items() if parent in fresh} - found
            found |= fresh
        return found

    def consoles(self) -> set[int]:
        """Return the console processes. Only children of the server: a fork of a console has its name too."""
        children = {child for child, parent in _parents().items() if parent == self.process.pid}
        return {pid for pid in children if b"hookscope.console.browser_process" in _words(pid)}

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)


def _parents() -> dict[int, int]:
    """Return the parent of each process of this machine."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        try:
            stat = Path("/proc", entry, "stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        if stat:
            parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    return parents


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def alive(pids: set[int]) -> set[int]:
    """Return the processes that have not ended. A zombie counts as ended."""
    return {pid for pid in pids if _words(pid)}


async def until(true: Callable[[], bool]) -> None:
    """Wait until this is true."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  (nothing signals the end of other processes)
            await asyncio.sleep(0.02)


@pytest.fixture
def greeting(workspace: Path, forks: Forks) -> Path:
    """A workspace with one hook. A shell would need quotes around the folder's name."""
    if not PROC.is_dir():
        pytest.skip("descendants of a process are read from /proc")
    folder = workspace.parent / "my 'agent'; $(touch pwned) `touch pwned`"
    workspace.rename(folder)
    done = forks.run(["--workspace", str(folder), "new", "greet"], cwd=folder.parent, env=os.environ)
    assert done.code == 0, done.err
    return folder


@pytest_asyncio.fixture
async def served(greeting: Path) -> AsyncIterator[Callable[..., "asyncio.Future[Served]"]]:
    """`await served("--sessions", "1")` starts a server that ends after the test."""
    async with AsyncExitStack() as stack:

        async def start(*arguments: str) -> Served:
            return await stack.enter_async_context(_serving(greeting, *arguments))

        yield lambda *arguments: asyncio.ensure_future(start(*arguments))


@asynccontextmanager
async def _serving(workspace: Path, *arguments: str) -> AsyncIterator[Served]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hookscope",
        "--workspace",
        str(workspace),
        "serve",
        "--port",
        "0",
        "--json",
        *arguments,
        cwd=workspace.parent,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        said = json.loads(await asyncio.wait_for(process.stdout.readuntil(b"}\n"), PATIENCE))
        yield Served(process, said["url"], said["origin"])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

"""What several groups are made of: hooks in folders, peers that may be absent, processes that are timed."""

import asyncio
import os
import resource
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shutil import which
from subprocess import PIPE
from time import perf_counter
from typing import Any

from tests.benchmarks.measuring import Variant

from hookscope.runtime.executors import Node, find_node

HEADER = """---
name: {name}
description: "Save session context to memory when /new command is issued"
homepage: https://docs.example.org/automation/hooks#{name}
metadata:
  openclaw:
    emoji: "💾"
    events: ["command:new"]
    export: "default"
    homepage: "https://docs.example.org"
    requires:
      bins: ["git"]
      anyBins: ["npm", "yarn"]
      env: ["MY_API_KEY"]
      config: ["workspace.dir"]
    os: ["linux", "darwin"]
    always: false
    install:
      - id: "bundled"
        kind: "bundled"
        label: "Bundled with the host"
---

# Session memory

Saves what was said.
"""
PLAIN = "---\nname: {name}\ndescription: A hook.\nmetadata: {{openclaw: {{events: [command:new]}}}}\n---\n"
TYPESCRIPT = "const handler = async (event) => { event.messages.push('saved'); };\nexport default handler;\n"
HANDLER = "def handler(event):\n    event.messages.append('saved')\n"
NOT_INSTALLED = "not installed"


def write_hooks(
    hooks: Path, count: int, *, header: str = PLAIN, handler: str = HANDLER, file: str = "handler.py"
) -> Path:
    """That many hooks in this hooks folder, which is given back."""
    for number in range(count):
        name = f"hook-{number:04}"
        (hooks / name).mkdir(parents=True)
        (hooks / name / "HOOK.md").write_text(header.format(name=name))
        (hooks / name / file).write_text(handler)
    return hooks


def seconds(work: Callable[[], object]) -> float:
    """What one call takes."""
    began = perf_counter()
    work()
    return perf_counter() - began


async def seconds_async(work: Callable[[], Awaitable[object]]) -> float:
    """What one awaited call takes."""
    began = perf_counter()
    await work()
    return perf_counter() - began


def started(*argv: str) -> Callable[[], float]:
    """The seconds that a process takes from its start to its end."""

    def sample() -> float:
        return seconds(lambda: subprocess.run(argv, check=True, stdout=subprocess.DEVNULL))

    return sample


def cpu_seconds(*argv: str) -> Callable[[], float]:
    """The CPU seconds of a process and of those that it has waited for. Other load changes them little."""

    def sample() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return sample


def peer(name: str, package: str, make: Callable[[Any], Callable[[], float]], module: str = "") -> Variant:
    """A variant of somebody else's package; one that is not installed is told so."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return Variant(name, None, missing=NOT_INSTALLED)
    return Variant(name, make(import_module(module or package)))


def node() -> str | None:
    """The Node to measure with: of PATH, else the one from PyPI."""
    found = find_node(which("node"))
    return found.path if isinstance(found, Node) else None


def with_node(name: str, make: Callable[[str], Callable[[], float]]) -> Variant:
    """A variant that needs Node."""
    path = node()
    return Variant(name, make(path)) if path else Variant(name, None, missing="no Node")


@contextmanager
def answering(*argv: str, env: Mapping[str, str] | None = None) -> Iterator[Callable[[], float]]:
    """A process that measures by itself: for each line that it gets, it answers with seconds."""
    with subprocess.Popen(argv, stdin=PIPE, stdout=PIPE, text=True, env=env) as process:
        source, target = process.stdin, process.stdout
        assert source is not None
        assert target is not None

        def sample() -> float:
            source.write("\n")
            source.flush()
            return float(target.readline())

        try:
            yield sample
        finally:
            source.close()  # ends it


@contextmanager
def loop() -> Iterator[Callable[[Callable[[], Awaitable[float]]], Callable[[], float]]]:
    """Makes samples of coroutines, all in one event loop."""
    with asyncio.Runner() as runner:

        def sampled(work: Callable[[], Awaitable[float]]) -> Callable[[], float]:
            async def run() -> float:
                return await work()

            return lambda: runner.run(run())

        yield sampled


def environment(names: Sequence[str] = ("PATH", "HOME", "LANG", "LC_ALL")) -> dict[str, str]:
    return {name: os.environ[name] for name in names if name in os.environ}

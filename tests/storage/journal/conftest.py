"""A journal of one's own for every test, and runs to put into it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from hookscope.model.run import Ending, Event, Registration, Result, Run
from hookscope.storage.journal.journal import Journal

StartChild = Callable[[str], "Popen[str]"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal(path, "/agents/agent", "a-dialect") as made:
        yield made


def nothing(_: object) -> None:
    """A handler."""


@pytest.fixture
def run_of_id() -> Callable[..., Run]:
    """A run of one hook. More of its result by keyword; `event` replaces the event."""

    def make(run_id: int, hook: str = "greet", status: str = "ok", event: Event | None = None) -> Run:
        event = event or Event("command", "new")
        result = Result(Registration(event.key, hook, nothing), status, took=0.25)  # type: ignore[arg-type]
        return Run(run_id, event, (result,), (), Ending(), took=0.5)

    return make


@pytest.fixture
def start_child(path: Path) -> Iterator[StartChild]:
    """Start Python with `journal` open and a body of `async def main`. Killed and reaped in the end."""
    children: list[Popen[str]] = []

    def start(body: str) -> "Popen[str]":
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        program = (
            "import asyncio, sys\n"
            "from hookscope.model.run import Ending, Event, Run\n"
            "from hookscope.storage.journal.journal import Journal\n"
            "async def main():\n"
            f"    with Journal(__import__('pathlib').Path({str(path)!r}), '/agents/agent', 'd') as journal:\n"
            f"{lines}\n"
            "asyncio.run(main())\n"
        )
        child = Popen([sys.executable, "-c", program], stdin=PIPE, stdout=PIPE, text=True)
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()

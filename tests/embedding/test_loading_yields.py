"""`load_hooks` leaves other tasks of the loop their turns."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope import load_hooks, register_hook, registered_keys, trigger_hook
from hookscope.embedding.library import create_hook_event, process_engine
from hookscope.runtime.python_worker.handler_modules import PREFIX

MakeHook = Callable[..., Path]
NEW = "{openclaw: {events: ['command:new']}}"
SLOW = """
from time import perf_counter
END = perf_counter() + 0.006
while perf_counter() < END:
    pass
def handler(event): return 1
"""


@pytest.fixture
def hooks(workspace: Path, make_hook: MakeHook) -> Path:
    """Ten handlers whose import takes a while."""
    for number in range(10):
        make_hook(workspace / "hooks", f"slow-{number}", NEW, SLOW)
    return workspace


def change(hooks: Path) -> None:
    for file in hooks.glob("hooks/*/handler.py"):
        file.write_text(f"{SLOW}\n# changed\n")


def loaded() -> set[str]:
    return {name for name in sys.modules if name.startswith(PREFIX) and "." not in name}


class Ticks:
    """How often a task that always wants its turn has had it since a load began."""

    def __init__(self) -> None:
        self.modules: list[int] = []  # that were loaded at each of them, beside those of earlier tests
        self._before = loaded()

    async def count(self, load: asyncio.Task[object]) -> None:
        while not load.done():
            self.modules.append(len(loaded() - self._before))
            await asyncio.sleep(0)


async def test_load_yields_between_imports(hooks: Path) -> None:
    ticks = Ticks()
    load: asyncio.Task[object] = asyncio.ensure_future(load_hooks(hooks))
    await ticks.count(load)
    await load
    assert set(range(10)) <= set(ticks.modules)


async def test_load_yields_while_reading_files(hooks: Path) -> None:
    ticks = Ticks()
    load: asyncio.Task[object] = asyncio.ensure_future(load_hooks(hooks))
    await ticks.count(load)
    assert ticks.modules.count(0) > 1


@pytest.mark.parametrize("strict", [False, True])
async def test_concurrent_loads_run_in_sequence(
    hooks: Path, tmp_path: Path, make_hook: MakeHook, strict: bool
) -> None:
    make_hook(tmp_path / "other/hooks", "other", "{openclaw: {events: ['command:reset']}}")
    first, second = await asyncio.gather(load_hooks(hooks, strict=strict), load_hooks(tmp_path / "other"))
    assert (first.registered, second.registered) == (10, 1)
    assert registered_keys() == ("command:reset",)
    assert process_engine().host.workspace == tmp_path / "other"


async def test_events_during_a_load_use_the_old_registrations(hooks: Path) -> None:
    """They meet what was registered before it."""
    await load_hooks(hooks)
    register_hook("command:new", lambda event: event.messages.append("by code"))
    change(hooks)
    load = asyncio.ensure_future(load_hooks(hooks))
    runs = [await trigger_hook(create_hook_event("command", "new")) for _ in range(3)]
    assert [len(run.results) for run in runs] == [11, 11, 11]
    assert (await load).registered == 10
    assert len((await trigger_hook(create_hook_event("command", "new"))).results) == 10


async def test_cancelled_load_does_not_block_the_next_load(hooks: Path) -> None:
    load = asyncio.ensure_future(load_hooks(hooks))
    await asyncio.sleep(0)
    load.cancel()
    with pytest.raises(asyncio.CancelledError):
        await load
    assert (await load_hooks(hooks)).registered == 10

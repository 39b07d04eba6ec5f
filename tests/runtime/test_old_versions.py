"""Hot reload in an embedding program: the version before goes, once nothing runs in it."""

import asyncio
import gc
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from hookscope import create_hook_event, load_hooks, trigger_hook
from hookscope.model.run import Run
from hookscope.runtime.python_worker.handler_modules import PREFIX

MakeHook = Callable[..., Path]
NEW = "{openclaw: {events: ['command:new']}}"
GUARD = 60


def loaded() -> list[str]:
    return sorted(name for name in sys.modules if name.startswith(PREFIX))


def versions() -> int:
    """How many versions of hooks are loaded."""
    return sum("." not in name for name in loaded())


def the_module(ending: str = ".handler") -> ModuleType:
    (name,) = (name for name in loaded() if name.endswith(ending))
    return sys.modules[name]


async def reload(workspace: Path) -> None:
    report = await load_hooks(workspace)
    assert (report.registered, report.failed) == (1, ())


async def turns() -> None:
    """A few turns of the loop, in which what was called back is called."""
    for _ in range(5):
        await asyncio.sleep(0)


async def fired() -> Run:
    return await trigger_hook(create_hook_event("command", "new", "s", {}))


def write(
    workspace: Path, make_hook: MakeHook, number: int, text: str = "def handler(e): return N\n"
) -> None:
    make_hook(workspace / "hooks", "one", NEW, f"N = {number}\n{text}")
    (workspace / "hooks/one/util.py").write_text(f"N = {number}\n")


@pytest.mark.parametrize(
    "text",
    [
        "def handler(e): return N\n",
        "import util\ndef handler(e): return util.N\n",
        "async def handler(e):\n    import util\n    return util.N\n",
        "class It:\n    def __call__(self, e): return N\nhandler = It()\n",
        "def fails(e): raise ValueError\nhandler = fails\n",
    ],
)
async def test_a_replaced_version_is_freed(workspace: Path, make_hook: MakeHook, text: str) -> None:
    seen: list[weakref.ref[ModuleType]] = []
    for number in range(20):
        write(workspace, make_hook, number + 100, text)
        await reload(workspace)
        await fired()
        seen.append(weakref.ref(the_module()))
        assert versions() == 1
    gc.collect()
    assert [one() is not None for one in seen] == [False] * 19 + [True]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "class handler: pass\n",
        "handler = 5\n",
        "import util\nraise ValueError\n",
        "raise SystemExit\n",
        "def handler(e: pass\n",
    ],
)
async def test_a_version_that_does_not_load_is_freed_too(
    workspace: Path, make_hook: MakeHook, text: str
) -> None:
    for number in range(5):
        write(workspace, make_hook, number + 100, text)
        report = await load_hooks(workspace)
        assert len(report.failed) == 1
        assert loaded() == []
    write(workspace, make_hook, 110)
    await reload(workspace)
    assert [result.returned for result in (await fired()).results] == [110]


async def test_memory_does_not_grow_with_reloads(workspace: Path, make_hook: MakeHook) -> None:
    """A megabyte each: what is there is counted, since what a process holds says little in a test."""
    for number in range(40):
        write(workspace, make_hook, number + 100, "DATA = bytearray(1_000_000)\ndef handler(e): pass\n")
        await reload(workspace)
        await fired()
    held = [one for one in gc.get_objects() if isinstance(one, dict) and "DATA" in one and "handler" in one]
    assert len(held) <= 20


async def test_what_runs_keeps_its_version_until_it_ends(workspace: Path, make_hook: MakeHook) -> None:
    text = (
        "async def handler(e):\n"
        "    e.context['begun'].set()\n"
        "    await e.context['go'].wait()\n"
        "    import util\n"
        "    return util.N\n"
    )
    write(workspace, make_hook, 101, text)
    await reload(workspace)
    go, begun = asyncio.Event(), asyncio.Event()
    event = create_hook_event("command", "new", "s", {"go": go, "begun": begun})
    running = asyncio.ensure_future(trigger_hook(event))
    async with asyncio.timeout(GUARD):
        await begun.wait()
    old = weakref.ref(the_module())
    write(workspace, make_hook, 102, "def handler(e): return N\n")
    await reload(workspace)
    assert versions() == 2
    go.set()
    async with asyncio.timeout(GUARD):
        run = await running
    assert [result.returned for result in run.results] == [102]  # the helper, as it is when it is imported
    del run, running
    await turns()
    assert versions() == 1
    gc.collect()
    assert old() is None


async def test_a_task_and_a_thread_that_stay_keep_their_version(workspace: Path, make_hook: MakeHook) -> None:
    text = (
        "import asyncio, threading, util\nGO = threading.Event()\nTASKS = []\n"
        "async def stays(go):\n    await go.wait()\n"
        "def handler(e):\n"
        "    TASKS.append(asyncio.get_running_loop().create_task(stays(e.context['go'])))\n"
        "    TASKS.append(threading.Thread(target=lambda: GO.wait(), daemon=True))\n"
        "    TASKS[-1].start()\n"
    )
    write(workspace, make_hook, 101, text)
    await reload(workspace)
    go = asyncio.Event()
    await trigger_hook(create_hook_event("command", "new", "s", {"go": go}))
    module = the_module()
    thread: threading.Thread = module.TASKS[-1]
    await asyncio.sleep(0)
    write(workspace, make_hook, 102)
    await reload(workspace)
    assert versions() == 2
    module.GO.set()
    thread.join(GUARD)
    go.set()
    async with asyncio.timeout(GUARD):
        await module.TASKS[0]
    await turns()
    assert versions() == 1


async def test_forgotten_code_that_is_called_again_finds_its_helpers(
    workspace: Path, make_hook: MakeHook
) -> None:
    text = "import util\ndef later():\n    import util as again\n    return again is util and util.N\n"
    write(workspace, make_hook, 101, text + "def handler(e): pass\n")
    await reload(workspace)
    later = the_module().later
    write(workspace, make_hook, 102)
    await reload(workspace)
    assert versions() == 1
    assert later() == 101


async def test_what_did_not_change_is_not_loaded_again(workspace: Path, make_hook: MakeHook) -> None:
    write(workspace, make_hook, 101)
    await reload(workspace)
    before = the_module()
    for _ in range(3):
        await reload(workspace)
        assert the_module() is before
    (workspace / "hooks/one/HOOK.md").unlink()
    await load_hooks(workspace)
    assert versions() == 0
    write(workspace, make_hook, 101)
    await reload(workspace)
    assert [result.returned for result in (await fired()).results] == [101]


async def test_a_file_that_is_changed_back_is_loaded_again(workspace: Path, make_hook: MakeHook) -> None:
    for number in (101, 202, 101):
        write(workspace, make_hook, number)
        await reload(workspace)
        assert [result.returned for result in (await fired()).results] == [number]
        assert versions() == 1

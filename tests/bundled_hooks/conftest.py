"""The bundled hooks as their users meet them: fired by the real program, or by a program that embeds them."""

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.forking import Forks

from hookscope import create_hook_event, load_hooks, trigger_hook
from hookscope.model.run import Result

BUNDLED = Path(__file__).parent.parent.parent / "bundled_hooks"

Fire = Callable[..., dict[str, Any]]
FireHere = Callable[..., Awaitable[Result]]


@pytest.fixture
def workspace(home: Path) -> Path:
    """Where OpenClaw has it, so that settings need not name it."""
    folder = home / ".openclaw" / "workspace"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def fire(home: Path, forks: Forks) -> Fire:
    """fire("boot-md", "gateway:startup", {...}) → the run as JSON, its one result under `result`.

    Without a context the event has the current settings.
    """

    def fire(
        hook: str, key: str, context: Any = None, *, dialect: str = "openclaw", code: int = 0, **env: str
    ) -> dict[str, Any]:
        given = [] if context is None else ["--context", json.dumps(context)]
        program = ["--dialect", dialect, "fire", key, "--only", hook, "--session", "s1", "--json", *given]
        done = forks.run(program, cwd=home, env={**os.environ, **env})
        assert done.code == code, done.out + done.err
        run: dict[str, Any] = json.loads(done.out)
        (run["result"],) = run["results"]
        return run

    return fire


@pytest.fixture
def fire_here() -> FireHere:
    """The same in this process, for the many cases that need no worker: what the hook came to.

    What it changed in the context is seen in the context that was given.
    """

    async def fire_here(hook: str, key: str, context: dict[str, Any]) -> Result:
        await load_hooks(bundled_dir=BUNDLED, internal_config={})
        kind, _, action = key.partition(":")
        run = await trigger_hook(create_hook_event(kind, action, "s1", context))
        (result,) = [result for result in run.results if result.call.name == hook]
        return result

    return fire_here


def settings(hook: str, **entry: Any) -> dict[str, Any]:
    """The host's settings with this entry for the hook."""
    return {"hooks": {"internal": {"entries": {hook: entry}}}}

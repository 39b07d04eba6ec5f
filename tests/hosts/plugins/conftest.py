"""A home with a workspace, and plugin hooks fired by handlers of this process."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hookscope import Event, HookEngine
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Host, Overrides, Trust
from hookscope.model.machine import Machine
from hookscope.model.payload import Arguments
from hookscope.model.run import Registration, Run

GUIDE, SHIPPED = "openclaw", "openclaw@2026.9"


@dataclass(frozen=True)
class Home:
    """Where a host lives in a test."""

    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / ".openclaw"

    @property
    def workspace(self) -> Path:
        return self.state / "workspace"

    def write(self, path: str, text: str) -> Path:
        """A file below the state folder."""
        file = self.state / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def settings(self, **value: Any) -> Path:
        return self.write("openclaw.json", json.dumps(value, indent=2))

    def plugin(self, place: str, name: str, /, *, entry: str = "plugin.py", **manifest: Any) -> Path:
        """A plugin in `<state>/<place>/<name>`; with members of a manifest, one that has it."""
        file = self.write(f"{place}/{name}/{entry}", "def register(api):\n    pass\n")
        if manifest:
            (file.parent / "openclaw.plugin.json").write_text(json.dumps(manifest))
        return file.parent

    def host(self, dialect: str = GUIDE, *mapped: Mapping[str, Any], trusted: bool = True) -> Host:
        here = Machine("linux", {"HOME": str(self.folder)}, cwd=self.folder, home=self.folder)
        choices = Overrides(plugin_hooks=mapped)
        return open_host(DIALECTS[dialect], here, choices, trust=Trust(everything=trusted))


@dataclass(frozen=True)
class Plugin:
    """A handler by code: what it is called, and what it does or answers."""

    name: str
    does: Callable[[Arguments], Any] | Mapping[str, Any] | None = None
    priority: int = 0
    limit: float | None = None
    options: Mapping[str, Any] | None = None

    def under(self, hook: str) -> Registration:
        does = self.does if callable(self.does) else lambda view: self.does
        return Registration(
            hook, self.name, does, priority=self.priority, limit=self.limit, options=self.options or {}
        )


async def fired(
    host: Host,
    hook: str,
    plugins: Sequence[Plugin],
    context: Mapping[str, Any] | None = None,
    ctx: Mapping[str, Any] | None = None,
) -> Run:
    """The hook as the host runs it with these handlers."""
    engine = HookEngine(host)
    name = host.dialect.catalogue().canonical(hook)
    engine.registry = engine.registry.with_registrations([plugin.under(name) for plugin in plugins])
    try:
        return await engine.fire(Event(hook, context=context or {}, ctx=ctx or {}, kind="plugin"))
    finally:
        await engine.close()


@pytest.fixture
def place(home: Path) -> Home:
    found = Home(home)
    found.workspace.mkdir(parents=True)
    return found

"""A project of agents, written file by file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Host, Overrides, Trust
from hookscope.model.machine import Machine

Project = Callable[..., Path]
OpenProject = Callable[..., Host]

DIALECTS_OF_STREAMS = ("eve", "eve@0.18", "eve@0.80")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """project("agent/hooks/a.ts", {"agent/x.py": "text"}) → the folder, with these files in it.

    Every subagent says what it is in an `agent.ts`, and the root agent has instructions, as their host asks;
    `bare=True` leaves the former out.
    """

    def make(*files: str | dict[str, str], bare: bool = False) -> Path:
        root = tmp_path / "app"
        root.mkdir(exist_ok=True)
        for told in files:
            for name, text in (told if isinstance(told, dict) else {told: ""}).items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        if (root / "agent").is_dir():
            (root / "agent/instructions.md").touch()
        for subagent in () if bare else root.rglob("subagents/*/"):
            if not any(subagent.glob("agent.*")):
                (subagent / "agent.ts").touch()
        return root

    return make


@pytest.fixture
def opened(tmp_path: Path) -> OpenProject:
    """opened("eve@0.80") → the project as that dialect finds it."""

    def make(dialect: str = "eve@0.80", *, trusted: bool = True) -> Host:
        root = tmp_path / "app"
        root.mkdir(exist_ok=True)
        here = Machine("linux", {}, root, tmp_path)
        return open_host(DIALECTS[dialect], here, Overrides(workspace=root), trust=Trust(everything=trusted))

    return make

"""Hooks that several hosts may read, and what they make of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope.analysis.host_comparison import ComparedHook, HostComparison
from hookscope.analysis.several_hosts import compare_hosts
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.hosts.dialects import dialect_named

GUIDES = ("openclaw", "milady", "eliza")
PROGRAMS = ("openclaw@2026.9", "milady@2.0.0-alpha.76", "eliza@2.0.0-beta.2")
Compare = Callable[..., HostComparison]


@pytest.fixture
def compare(workspace: Path, tmp_path: Path) -> Compare:
    """compare("openclaw", "milady"): the workspace under these dialects; the three guides without any."""

    def run(*names: str) -> HostComparison:
        bench = Workbench(Options(workspace=workspace, dialect="openclaw", bundled=tmp_path / "none"))
        return compare_hosts(bench, [dialect_named(name) for name in names or GUIDES])

    return run


def line_of(comparison: HostComparison, name: str) -> ComparedHook:
    (found,) = (line for line in comparison.lines if line.name == name)
    return found


def differs(line: ComparedHook) -> dict[str, str]:
    """Each thing that differs, with its last sentence."""
    return {one.facet: one.text for one in line.differs}


def for_all(events: str) -> str:
    """Metadata that every guide reads."""
    return "{" + ", ".join(f'"{name}": {{"events": [{events}]}}' for name in GUIDES) + "}"

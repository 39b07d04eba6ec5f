"""A workspace of the test's own, in which new things are made through the workbench."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.scaffold.request import ScaffoldRequest
from hookscope.authoring.scaffold.scaffold_writer import ScaffoldResult, plan_new, write_scaffold
from hookscope.authoring.testing.saved_events import read_saved
from hookscope.authoring.testing.test_runs import SavedEventResult, run_saved_event

Bench = Callable[..., Workbench]


@pytest.fixture
def bench(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """bench("openclaw") → a workbench at the workspace, which is the current folder too."""
    (tmp_path / "bundled").mkdir()
    monkeypatch.chdir(workspace)
    benches: list[Workbench] = []

    def made(dialect: str = "openclaw", *, trust_all: bool = False, **more: object) -> Workbench:
        given = {"workspace": workspace, "bundled": tmp_path / "bundled", **more}
        benches.append(Workbench(Options(dialect=dialect, **given), trust_all=trust_all))  # type: ignore[arg-type]
        return benches[-1]

    yield made
    for one in benches:
        one.close_now()


def new(bench: Workbench, name: str, trust: bool | None = None, **wish: object) -> ScaffoldResult:
    """What `hookscope new NAME` does."""
    asked = ScaffoldRequest(name, **wish)  # type: ignore[arg-type]
    return write_scaffold(bench, plan_new(bench, bench.scan(), asked), trust=trust)


def missed(bench: Workbench, *made: ScaffoldResult) -> list[SavedEventResult]:
    """Fires the saved event of each; those whose run is not what it says."""

    async def fired() -> list[SavedEventResult]:
        try:
            saved = [read_saved(one.plan.saved_event) for one in made if one.plan.saved_event is not None]
            assert len(saved) == len(made)
            return [(await run_saved_event(bench, one))[0] for one in saved]
        finally:
            await bench.close()

    return [checked for checked in asyncio.run(fired()) if not checked.passed]


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every folder and file below it, with its bytes."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}

"""A machine of the test's own, looked at through the workbench."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.model.hook_status import Gate

Bench = Callable[..., Workbench]


@pytest.fixture
def bench(workspace: Path, tmp_path: Path) -> Iterator[Bench]:
    """bench(dialect, NAME="value") → a workbench whose environment holds PATH, HOME and these."""
    bundled = tmp_path / "bundled"
    bundled.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()

    benches: list[Workbench] = []

    def made(dialect: str = "openclaw", **env: str) -> Workbench:
        given = {"PATH": str(tools), **env}
        options = Options(
            workspace=workspace, bundled=bundled, dialect=dialect, os="linux", clean_env=True, env=given
        )
        benches.append(Workbench(options))
        return benches[-1]

    yield made
    for one in benches:
        one.close_now()


def gate_of(view: Snapshot, name: str, gate: str) -> Gate:
    row = view.inventory.find(name)
    assert row is not None
    return next(one for one in row.verdict.gates if one.name == gate)

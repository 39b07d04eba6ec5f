"""Every recorded case of the real programs: the same folders, the same answers.

`pytest tests/conformance --cases DIR` runs the cases below DIR; without it, those beside this file.
"""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance import eve, milady_eliza, openclaw
from tests.conformance.layouts import Case, cases_below

from hookscope.runtime.executors import NoNode, find_node

# What belongs to later issues: the beginning of a case's name, and why it cannot pass yet.
EXPECTED_FAILURES: dict[str, str] = {}
HERE = Path(__file__).parent / "cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    root: Path = metafunc.config.getoption("cases", None) or HERE
    metafunc.parametrize("case", [_parameter(case, root) for case in cases_below(root.resolve())])


def _parameter(case: Case, root: Path) -> object:
    later = [why for name, why in EXPECTED_FAILURES.items() if case.name.startswith(name)]
    marks = [pytest.mark.xfail(reason=why, strict=True, raises=AssertionError) for why in later]
    return pytest.param(case, id=str(case.folder.relative_to(root.resolve())), marks=marks)


@pytest.fixture(scope="session")
def node() -> str:
    found = find_node(shutil.which("node"))
    if isinstance(found, NoNode):
        pytest.skip(found.missing_reason)
    return found.path


def test_a_recorded_case_gives_the_recorded_answers(
    case: Case,
    node: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("host", case.host)
    if case.dialect is None:
        pytest.skip(f"no runner for {case.program or 'a program without a name'}")
    folder = tmp_path / "case"
    folder.mkdir()
    if case.host == "openclaw":
        found = openclaw.differences_of(case, folder, node, monkeypatch)
    elif case.host == "eve":
        found = asyncio.run(eve.differences_of(case, folder, node))
    else:
        found = asyncio.run(milady_eliza.differences_of(case, folder, node))
    assert not found, "\n".join([f"{case.name}: {case.given.get('title', '')}", *found])

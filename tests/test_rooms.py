"""`pytest --room NAME` runs the tests that a change of one room can break."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.rooms import MAY_IMPORT, TESTED_ROOMS, TESTS, TOP, can_break, room_and_dependents

MODULES = sorted(TESTS.rglob("test_*.py"))
FLAT = {"test_architecture.py", "test_figures.py", "test_rooms.py"}


def collect(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `pytest --collect-only` with these arguments."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    return subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)


def folders_collected(*arguments: str) -> set[str]:
    lines = [line for line in collect(*arguments).stdout.splitlines() if "::" in line]
    return {Path(line.partition("::")[0]).parts[1] for line in lines}


def test_every_test_folder_has_a_room() -> None:
    folders = {path.relative_to(TESTS).parts[0] for path in MODULES} - FLAT
    rooms = {folder: TESTED_ROOMS.get(folder, (folder,)) for folder in folders}
    assert {folder: tested for folder, tested in rooms.items() if not set(tested) <= set(MAY_IMPORT)} == {}
    assert set(TESTED_ROOMS) <= folders


def test_every_room_has_a_test_outside_of_the_architecture() -> None:
    modules = [path for path in MODULES if path.name not in FLAT]
    assert [room for room in MAY_IMPORT if not any(can_break([room], path) for path in modules)] == []


def test_top_rooms_reach_every_room_that_another_room_imports() -> None:
    below = {room for rooms in MAY_IMPORT.values() for room in rooms}
    assert [room for room in below if room_and_dependents(room).isdisjoint(TOP)] == []


def test_room_integrations_collects_the_integrations_and_the_architecture() -> None:
    assert folders_collected("--room", "integrations") == {"integrations", *FLAT}


def test_rooms_add_up() -> None:
    assert folders_collected("--room", "integrations", "--room", "manual") >= {
        "integrations",
        "manual",
        "cli",
    }


def test_room_model_collects_nearly_every_folder() -> None:
    folders = {path.relative_to(TESTS).parts[0] for path in MODULES}
    collected = {path.relative_to(TESTS).parts[0] for path in MODULES if can_break(["model"], path)}
    assert folders - collected == {"formats", "manual"}


@pytest.mark.parametrize(
    ("room", "test", "runs"),
    [
        ("app", "app/whatif/test_sources.py", True),
        ("cli", "app/whatif/test_sources.py", True),  # its conftest runs the command line
        ("cli", "storage/edits/test_undo.py", False),
        ("app", "storage/edits/test_undo.py", False),
        ("authoring", "hosts/plugins/test_recorded_merges.py", False),
        ("console", "console/test_rows.py", True),
        ("integrations", "cli/test_help.py", False),
        ("values", "formats/test_json5.py", True),
    ],
)
def test_a_test_runs_for_its_room_and_for_the_rooms_that_it_imports(room: str, test: str, runs: bool) -> None:
    assert can_break([room], TESTS / test) is runs


def test_an_unknown_room_is_a_usage_error_that_lists_the_rooms() -> None:
    done = collect("--room", "attic")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "src/hookscope has no room 'attic'. The rooms are: values, " in done.stderr

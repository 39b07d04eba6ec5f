"""What scripts depend on stays as recorded: JSON, exit codes, options, saved events, public names.

A deliberate change is recorded with `python -m tests.contracts --accept`, which prints it as a diff.
"""

import pytest
from tests.contracts.golden import NAMES, contracts, difference, recorded
from tests.contracts.recorded import COMMANDS
from tests.forking import Forks

from hookscope.cli.main import COMMANDS as ALL_COMMANDS

# Commands whose answer is a session, a stream of frames or a text for people; other tests hold them.
WITHOUT_A_RECORD = {"dap", "serve", "help", "completion", "fuzz", "play", "sequence"}


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> dict[str, str]:
    return contracts(tmp_path_factory.mktemp("contracts") / "sample", forks)


@pytest.mark.parametrize("name", [*NAMES, *COMMANDS, "saved-events"])
def test_a_contract_is_as_recorded(name: str, now: dict[str, str]) -> None:
    changed = difference(name, recorded().get(name, ""), now[name])
    assert not changed, f"{changed}\n`python -m tests.contracts --accept` records a deliberate change."


def test_no_record_is_left_of_a_contract_that_is_gone(now: dict[str, str]) -> None:
    assert recorded().keys() == now.keys()


def test_every_command_has_a_recorded_answer() -> None:
    answered = {next(word for word in words if word in ALL_COMMANDS) for words in COMMANDS.values()}
    assert answered | WITHOUT_A_RECORD == ALL_COMMANDS.keys()
    assert not answered & WITHOUT_A_RECORD

"""What scripts depend on stays as recorded: JSON, exit codes, options, saved events, public names.

A deliberate change is recorded with `python -m tests.contracts --accept`, which prints it as a diff.
"""

from pathlib import Path

from tests.contracts.golden import contracts, difference, recorded
from tests.contracts.recorded import COMMANDS
from tests.forking import Forks

from hookscope.cli.command_index import COMMANDS as ALL_COMMANDS

# Commands whose answer is a session, a stream of frames or a text for people; other tests hold them.
WITHOUT_A_RECORD = {"dap", "serve", "help", "completion", "demo", "fuzz", "play", "sequence"}


def test_contracts_are_as_recorded(tmp_path: Path, forks: Forks) -> None:
    before, now = recorded(), contracts(tmp_path / "sample", forks)
    changed = [difference(name, before.get(name, ""), now.get(name, "")) for name in {**before, **now}]
    found = "\n".join(filter(None, changed))
    assert not found, f"{found}\n`python -m tests.contracts --accept` records a deliberate change."


def test_every_command_has_a_recorded_answer() -> None:
    answered = {next(word for word in words if word in ALL_COMMANDS) for words in COMMANDS.values()}
    assert answered | WITHOUT_A_RECORD == ALL_COMMANDS.keys()
    assert not answered & WITHOUT_A_RECORD

"""`hookscope demo` where it cannot be shown."""

from pathlib import Path

from tests.cli.conftest import Program


def test_the_demo_needs_a_terminal_and_writes_nothing_without(hookscope: Program, tmp_path: Path) -> None:
    refused = hookscope("demo", str(tmp_path / "made"))
    assert refused.code == 1
    assert "The demo needs a terminal." in refused.err
    assert not (tmp_path / "made").exists()

"""What a plugin registers is known after a load, in every later command, until its files change."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Program

UNDER = ("--dialect", "openclaw@2026.9")
UNREADABLE = """\
def register(api):
    for words in (("before", "tool", "call"), ("agent", "end")):
        api.on("_".join(words), lambda event, ctx: None)
"""


@pytest.fixture
def plugin(home: Path, hookscope: Program) -> Path:
    """A trusted plugin whose events no reader of its source can tell."""
    folder = home / ".openclaw" / "extensions" / "cast"
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text(
        json.dumps({"id": "cast", "configSchema": {"type": "object"}})
    )
    (folder / "plugin.py").write_text(UNREADABLE)
    assert hookscope("trust", str(folder)).code == 0
    return folder


def knows(hookscope: Program) -> str:
    """What a plan says, and what the list does."""
    plan = hookscope("plan", "before_tool_call", *UNDER).out.splitlines()[0]
    (row,) = (line for line in hookscope("list", *UNDER).out.splitlines() if " cast " in line)
    return f"{plan} | {row}"


@pytest.mark.parametrize("tried", [("load",), ("load", "cast"), ("fire", "before_tool_call")], ids=str)
def test_later_commands_know_what_a_load_registered_until_a_file_changes(
    hookscope: Program, plugin: Path, tried: tuple[str, ...]
) -> None:
    assert "nothing would run" in knows(hookscope)
    assert "known after a load" in knows(hookscope)
    assert hookscope(*tried, *UNDER).code == 0
    assert "1 handler would run" in knows(hookscope)
    assert "before_tool_call, agent_end" in knows(hookscope)
    (plugin / "helper.py").write_text("")
    assert "nothing would run" in knows(hookscope)
    assert "known after a load" in knows(hookscope)


def test_after_a_load_the_settings_that_block_an_event_are_named(hookscope: Program, plugin: Path) -> None:
    assert hookscope("load", *UNDER).code == 0
    assert "1 event denied: not agent_end" in knows(hookscope)


def test_a_failed_load_forgets_earlier_registrations(hookscope: Program, plugin: Path) -> None:
    assert hookscope("load", *UNDER).code == 0
    (plugin / "plugin.py").write_text(UNREADABLE + "raise RuntimeError('no')\n")
    assert hookscope("load", *UNDER).code == 1
    assert "nothing would run" in knows(hookscope)
    assert "✗ broken" in knows(hookscope)


@pytest.mark.parametrize("damage", ["[]", '{"of": 1}', '{"registered": [{"key": 1}]}', "null", '"x"'])
def test_a_damaged_load_record_is_ignored(
    hookscope: Program, plugin: Path, tmp_path: Path, damage: str
) -> None:
    assert hookscope("load", *UNDER).code == 0
    file = next(tmp_path.rglob("failed-loads.json"))
    document = json.loads(file.read_text())
    (path,) = document["modules"]
    entry = json.loads(damage)
    document["modules"][path] = {**document["modules"][path], **entry} if isinstance(entry, dict) else entry
    file.write_text(json.dumps(document))
    assert "known after a load" in knows(hookscope)

"""A gate is one record: one that only this test has appears wherever gates do."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import MakeHook

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.fix.repair import RECIPES
from hookscope.cli.main import exit_code
from hookscope.console.panes.hook_sheets import WhyOptions, why_sheet
from hookscope.console.state.hook_rows import hook_rows_of
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.folders import folder_system_of
from hookscope.hosts.gates.rules import rules_of
from hookscope.hosts.streams import stream_discovery  # noqa: F401  (registers its gates)
from hookscope.manual import chapter_of
from hookscope.model.hook import Edit, Hook
from hookscope.model.hook_status import GATE_KINDS, Evidence, FixKind, Gate, GateKind, State
from hookscope.model.host import Host

LICENCE_PATH = ("licence", "accepted")


def licence_gate(hook: Hook, host: Host) -> Gate:
    """Has the user accepted the licence: `licence.accepted` of the settings."""
    if host.settings.get(LICENCE_PATH) is True:
        return Gate("licence", True, found="accepted")
    fix = Edit(host.settings.file, LICENCE_PATH, True, "licence.accepted: true")
    return Gate(
        "licence", False, ("accepted",), ("accepted",), "not accepted", "licence not accepted", fix=fix
    )


def licence_evidence(gate: Gate, hook: Hook, host: Host) -> Evidence:
    return ("the drawer",), ("licences.accepted is set; licence.accepted is needed",)


LICENCE = GateKind(
    "licence",
    state=State.OFF,
    check=licence_gate,
    evidence=licence_evidence,
    fix=FixKind.EDIT,
    why_no_fix="only a lawyer can",
    next_step="{hooks.fix} accepts it",
)


@pytest.fixture(autouse=True)
def licence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dialect `openclaw` checks this gate too, after all others."""
    dialect = DIALECTS["openclaw"]
    system = folder_system_of(dialect)
    checked = replace(system, rules={**system.rules, **rules_of(LICENCE)})
    systems = tuple(checked if one is system else one for one in dialect.systems)
    monkeypatch.setitem(GATE_KINDS, LICENCE.name, LICENCE)
    monkeypatch.setitem(DIALECTS, "openclaw", replace(dialect, systems=systems))


@pytest.fixture
def call(workspace: Path, make_hook: MakeHook, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """call("list") → the output on a workspace with one hook that fails at this gate alone."""
    make_hook(workspace / "hooks", "h", '{"openclaw": {"events": ["command:new"]}}')
    Workbench(Options(workspace=workspace)).trust(workspace / "hooks")

    def called(*words: str) -> str:
        assert exit_code(["--dialect", "openclaw", "--workspace", str(workspace), *words]) == 0
        return capsys.readouterr().out

    return called


def test_list_shows_a_new_gate(call: Callable[..., str]) -> None:
    assert "off" in call("list")
    assert "licence not accepted" in call("list")
    row = next(row for row in json.loads(call("list", "--json"))["hooks"] if row["name"] == "h")
    assert (row["state"], row["enabled"], row["gates"][-1]["gate"]) == ("off", False, "licence")


def test_info_shows_the_evidence_of_a_new_gate(call: Callable[..., str]) -> None:
    text = call("info", "h")
    assert "✗ licence" in text
    assert "near: licences.accepted is set" in text


def test_fix_mends_a_new_gate(call: Callable[..., str], home: Path) -> None:
    assert "licence.accepted: true" in call("fix", "h")
    call("fix", "h", "--apply")
    assert "✗" not in call("info", "h")


def test_the_console_shows_a_new_gate(call: Callable[..., str], workspace: Path) -> None:
    view = Workbench(Options(workspace=workspace, dialect="openclaw")).scan()
    row = next(row for row in hook_rows_of(view) if row.name == "h")
    text = why_sheet(row, view, None, WhyOptions(100, unfolded=True)).plain
    assert "✗ licence" in text
    assert "the drawer" in text
    assert "to write licence.accepted: true" in text


def test_every_kind_of_fix_has_its_function() -> None:
    assert set(RECIPES) == set(FixKind)


def test_the_manual_has_a_row_for_each_gate() -> None:
    chapter = chapter_of("gates")
    assert chapter is not None
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in chapter.text.splitlines()
        if line.startswith("| `")
    ]
    states = {name.strip(" `"): state for names, _, state in cells for name in names.split(",")}
    kinds = {name: kind for name, kind in GATE_KINDS.items() if name not in ("osOfLoader", LICENCE.name)}
    assert states.keys() == kinds.keys()
    assert {name: str(kind.state) for name, kind in kinds.items() if states[name] in set(State)} == {
        name: state for name, state in states.items() if state in set(State)
    }

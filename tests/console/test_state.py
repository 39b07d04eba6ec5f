"""One state, one function: what each change makes of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hookscope.console.state import state_changes as s
from hookscope.console.state.console_state import ConsoleState, SourceText
from hookscope.console.state.state_changes import reduce
from hookscope.engine.registry import Registry
from hookscope.model.hook_status import Inventory, RejectedHook
from hookscope.model.host import Settings, Trust


def view_of(*names: str, settings: bool = True) -> Any:
    rejected = tuple(
        RejectedHook(Path("/w/hooks") / name, "workspace", "no handler", name=name) for name in names
    )
    host = SimpleNamespace(settings=Settings(Path("/s.json"), exists=settings), trust=Trust())
    return SimpleNamespace(
        inventory=Inventory(rejected=rejected), host=host, registry=Registry(), quarantined=frozenset()
    )


def looked(generation: int, *names: str) -> s.ScanFinished:
    return s.ScanFinished(generation, view_of(*names), 0.01)


def test_an_older_scan_is_dropped() -> None:
    state = reduce(ConsoleState(), looked(2, "a"))
    assert reduce(state, looked(1, "b")) is state
    assert [row.name for row in state.rows] == ["a"]


def test_the_selection_stays_while_its_row_exists() -> None:
    state = reduce(ConsoleState(), looked(1, "a", "b"))
    chosen = reduce(state, s.RowSelected(state.rows[1].id))
    assert chosen.row is not None
    assert chosen.row.name == "b"
    again = reduce(chosen, looked(2, "b", "c"))
    assert again.row is not None
    assert again.row.name == "b"
    assert reduce(again, looked(3, "c")).row is None


def test_row_ids_are_unique_for_equal_paths() -> None:
    state = reduce(ConsoleState(), looked(1, "a", "a", "a"))
    assert len({row.id for row in state.rows}) == 3


def test_source_text_is_kept_for_the_selected_row_only() -> None:
    state = reduce(ConsoleState(selected="x"), s.SourceRead(SourceText("y", Path("/f"))))
    assert state.source is None
    state = reduce(state, s.SourceRead(SourceText("x", Path("/f"), "text")))
    assert state.source is not None
    assert reduce(state, s.RowSelected("z")).source is None


def test_escape_closes_the_innermost_view() -> None:
    state = ConsoleState(
        view=view_of(settings=False), mode="fire", zoom="fire", filter="x", reading=True, side="keys"
    )
    steps = []
    while (after := reduce(state, s.SteppedBack())) is not state:
        steps.append((after.zoom, after.mode, after.filter, after.side, after.reading, after.start))
        state = after
    assert steps == [
        (None, "fire", "x", "keys", True, True),
        (None, "hooks", "x", "keys", True, True),
        (None, "hooks", "", "keys", True, True),
        (None, "hooks", "", "why", False, True),
        (None, "hooks", "", "why", False, False),
    ]


def test_jumping_to_a_row_differs_from_selecting_it() -> None:
    pointed = reduce(ConsoleState(), s.RowSelected("a"))
    jumped = reduce(pointed, s.RowJumpedTo("b"))
    assert (pointed.jumps, jumped.jumps) == (0, 1)
    assert jumped.selected == "b"


def test_grouping_cycles() -> None:
    state = ConsoleState()
    seen = []
    for _ in range(3):
        state = reduce(state, s.GroupingChanged())
        seen.append(state.grouping)
    assert seen == ["state", "event", "source"]


def test_a_mode_ends_the_zoom_of_another() -> None:
    assert reduce(ConsoleState(zoom="why"), s.ModeChosen("fire")).zoom is None
    assert reduce(ConsoleState(zoom="why"), s.ModeChosen("hooks")).zoom == "why"


def test_focusing_a_pane_switches_to_its_mode() -> None:
    state = reduce(ConsoleState(), s.PaneFocused("fire"))
    assert state.mode == "fire"
    assert reduce(state, s.PaneFocused("why")).reading
    assert not reduce(ConsoleState(reading=True), s.PaneFocused("list")).reading


def test_a_deleted_hook_of_the_last_view_returns_to_the_list() -> None:
    here = reduce(ConsoleState(), looked(1, "a", "b")).rows[1].id
    left = ConsoleState(selected=here, reading=True, zoom="why")
    kept = reduce(left, looked(1, "a", "b"))
    assert (kept.selected, kept.reading, kept.zoom) == (here, True, "why")
    gone = reduce(left, looked(1, "a"))
    assert (gone.selected, gone.reading, gone.zoom) == ("", False, None)


def test_start_here_is_shown_without_settings_until_a_job_runs() -> None:
    fresh = reduce(ConsoleState(), s.ScanFinished(1, view_of(settings=False), 0.0))
    assert fresh.start
    assert not reduce(fresh, s.StartHereShown(False)).start
    assert not reduce(fresh, s.JobChanged("The run")).start
    assert reduce(fresh, s.JobChanged("")).start
    assert not reduce(ConsoleState(), looked(1)).start


def test_a_failed_scan_keeps_the_last_result() -> None:
    state = reduce(reduce(ConsoleState(), looked(1, "a")), s.ScanStarted())
    assert state.is_scanning
    state = reduce(state, s.ScanFailed("no"))
    assert not state.is_scanning
    assert len(state.rows) == 1

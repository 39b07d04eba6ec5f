"""Who did harm, how often and when: a clock that is handed in tells the time."""

from pathlib import Path

import pytest

from hookscope.model.run import Code
from hookscope.runtime.failures import FAULT_WINDOW, QUARANTINE_FAULTS, FaultCounter

HERE = Code(Path("/hooks/a/handler.py"), "default", Path("/hooks/a"), "python")
OTHER = Code(Path("/hooks/b/handler.py"), "default", Path("/hooks/b"), "python")


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fault_counter(clock: Clock) -> FaultCounter:
    return FaultCounter(clock)


def faults(fault_counter: FaultCounter, count: int, content: str = "one") -> list[bool]:
    return [fault_counter.add_fault(HERE, content) for _ in range(count)]


def test_the_third_fault_puts_a_hook_into_quarantine_and_says_so_once(fault_counter: FaultCounter) -> None:
    assert faults(fault_counter, QUARANTINE_FAULTS + 1) == [False, False, True, False]
    assert fault_counter.is_quarantined(HERE.path)
    assert fault_counter.quarantined_paths() == {HERE.path}
    assert not fault_counter.is_quarantined(OTHER.path)


def test_faults_of_more_than_five_minutes_ago_count_no_more(
    fault_counter: FaultCounter, clock: Clock
) -> None:
    faults(fault_counter, QUARANTINE_FAULTS - 1)
    clock.now = FAULT_WINDOW - 1
    assert faults(fault_counter, 1) == [True]
    clock.now = FAULT_WINDOW
    assert not fault_counter.is_quarantined(HERE.path)
    assert faults(fault_counter, 2) == [False, True]


def test_a_hook_that_was_edited_begins_anew(fault_counter: FaultCounter) -> None:
    faults(fault_counter, QUARANTINE_FAULTS)
    assert fault_counter.needs_own_worker(HERE, "one")
    assert not fault_counter.needs_own_worker(HERE, "two")
    assert faults(fault_counter, QUARANTINE_FAULTS, "two") == [False, False, True]


def test_what_is_lifted_may_run_until_it_does_harm_again(fault_counter: FaultCounter) -> None:
    faults(fault_counter, QUARANTINE_FAULTS - 1)
    assert not fault_counter.lift_quarantine(HERE.path)
    assert faults(fault_counter, QUARANTINE_FAULTS) == [False, False, True]
    assert fault_counter.lift_quarantine(HERE.path)
    assert not fault_counter.is_quarantined(HERE.path)
    assert faults(fault_counter, 1) == [False]


def test_who_leaves_something_running_stands_apart_and_has_no_fault(fault_counter: FaultCounter) -> None:
    assert fault_counter.is_empty
    fault_counter.note_left_running(HERE, "one")
    assert not fault_counter.is_empty
    assert fault_counter.needs_own_worker(HERE, "one")
    assert not fault_counter.needs_own_worker(HERE, "two")
    assert not fault_counter.needs_own_worker(OTHER, "one")
    assert faults(fault_counter, QUARANTINE_FAULTS) == [False, False, True]

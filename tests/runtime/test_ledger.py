"""Who did harm, how often and when: a clock that is handed in tells the time."""

from pathlib import Path

import pytest

from hookscope.model.run import Code
from hookscope.runtime.fault_counter import FAULT_WINDOW, QUARANTINE_FAULTS, FaultCounter

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
def ledger(clock: Clock) -> FaultCounter:
    return FaultCounter(clock)


def faults(ledger: FaultCounter, count: int, content: str = "one") -> list[bool]:
    return [ledger.fault(HERE, content) for _ in range(count)]


def test_the_third_fault_puts_a_hook_into_quarantine_and_says_so_once(ledger: FaultCounter) -> None:
    assert faults(ledger, QUARANTINE_FAULTS + 1) == [False, False, True, False]
    assert ledger.quarantined(HERE.path)
    assert ledger.all_quarantined() == {HERE.path}
    assert not ledger.quarantined(OTHER.path)


def test_faults_of_more_than_five_minutes_ago_count_no_more(ledger: FaultCounter, clock: Clock) -> None:
    faults(ledger, QUARANTINE_FAULTS - 1)
    clock.now = FAULT_WINDOW - 1
    assert faults(ledger, 1) == [True]
    clock.now = FAULT_WINDOW
    assert not ledger.quarantined(HERE.path)
    assert faults(ledger, 2) == [False, True]


def test_a_hook_that_was_edited_begins_anew(ledger: FaultCounter) -> None:
    faults(ledger, QUARANTINE_FAULTS)
    assert ledger.apart(HERE, "one")
    assert not ledger.apart(HERE, "two")
    assert faults(ledger, QUARANTINE_FAULTS, "two") == [False, False, True]


def test_what_is_lifted_may_run_until_it_does_harm_again(ledger: FaultCounter) -> None:
    faults(ledger, QUARANTINE_FAULTS - 1)
    assert not ledger.lift(HERE.path)
    assert faults(ledger, QUARANTINE_FAULTS) == [False, False, True]
    assert ledger.lift(HERE.path)
    assert not ledger.quarantined(HERE.path)
    assert faults(ledger, 1) == [False]


def test_who_leaves_something_running_stands_apart_and_has_no_fault(ledger: FaultCounter) -> None:
    assert ledger.is_blank
    ledger.leaves_running(HERE, "one")
    assert not ledger.is_blank
    assert ledger.apart(HERE, "one")
    assert not ledger.apart(HERE, "two")
    assert not ledger.apart(OTHER, "one")
    assert faults(ledger, QUARANTINE_FAULTS) == [False, False, True]

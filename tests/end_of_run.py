"""Checks at the end of a run: skipped tests are named, an unexpected skip or too few tests fail the run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from _pytest.terminal import TerminalReporter

# Reason → why a test may be skipped for it. A program that CI installs is never such a reason.
EXPECTED = {
    r"root (reads|writes) every(thing|where)": "the test needs a user whom permissions stop",
    r"only root may give a file away": "the test needs root",
    r"no Python 3\.\d+ here": "CI has one Python; a developer may have more",
    r"no path is that long here": "the file system decides",
    r"the oldest have no wheels for it": "a Python newer than the oldest packages",
    r"reads /proc|.*is read in /proc|only on Linux.*": "macOS",
}
OUTCOMES = ("passed", "failed", "skipped", "xfailed", "error")


def faults(reporter: TerminalReporter, at_least: int) -> Iterator[str]:
    """Yield a sentence for each reason why this run does not count, beside failed tests."""
    for reason in reasons_of(reporter):
        if not any(re.fullmatch(known, reason) for known in EXPECTED):
            yield f"A test was skipped for a reason that tests/end_of_run.py does not expect: {reason}"
    ran = sum(len(reporter.stats.get(outcome, ())) for outcome in OUTCOMES)
    if ran < at_least:
        yield f"Only {ran:,} tests ran; at least {at_least:,} must."


def reasons_of(reporter: TerminalReporter) -> Counter[str]:
    """Return how often each reason was given for a skip in this run."""
    reports = reporter.stats.get("skipped", ())
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.exitstatus == 0 and any(_faults(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    reasons = reasons_of(terminalreporter)
    if reasons:
        terminalreporter.section("skipped tests")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:>5}  {reason}")
    for fault in _faults(terminalreporter):
        terminalreporter.line(fault, red=True)


def _faults(reporter: TerminalReporter) -> list[str]:
    return list(faults(reporter, reporter.config.getoption("at_least")))

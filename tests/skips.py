"""Skipped tests are named at the end of a run, and a skip that nobody expected fails it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from _pytest.terminal import TerminalReporter

# Reason → why a test may be skipped for it. A program that CI installs is never such a reason.
EXPECTED = {
    r"root (reads everything|writes everywhere)": "the test needs a user whom permissions stop",
    r"only root may give a file away": "the test needs root",
    r"no Python 3\.\d+ here": "CI has one Python; a developer may have more",
    r"no path is that long here": "the file system decides",
    r"the oldest have no wheels for it": "a Python newer than the oldest packages",
    r"reads /proc|.*is read in /proc|only on Linux.*": "macOS",
}


def unexpected(reasons: Counter[str]) -> list[str]:
    """Return the reasons that no entry of EXPECTED allows."""
    return [reason for reason in reasons if not any(re.fullmatch(known, reason) for known in EXPECTED)]


def reasons_of(reporter: TerminalReporter) -> Counter[str]:
    """Return how often each reason was given for a skip in this run."""
    reports = reporter.stats.get("skipped", ())
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.exitstatus == 0 and unexpected(reasons_of(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    reasons = reasons_of(terminalreporter)
    refused = unexpected(reasons)
    if reasons:
        terminalreporter.section("skipped tests")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:>5}  {reason}{'  ← NOT EXPECTED' if reason in refused else ''}")
    if refused:
        terminalreporter.line("A skip that tests/skips.py does not expect fails the run.", red=True)

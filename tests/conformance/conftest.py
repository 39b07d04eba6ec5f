"""The option that names other cases, and the table at the end."""

from collections import Counter
from pathlib import Path

import pytest

COLUMNS = ("passed", "failed", "xfailed", "skipped")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=Path, metavar="DIR", help="run the recorded cases below DIR")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each host: cases, passed, failed, expected failures."""
    counts: dict[str, Counter[str]] = {}
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            host = dict(getattr(report, "user_properties", ())).get("host")
            if isinstance(host, str) and (report.when == "call" or outcome == "error"):
                known = outcome if outcome in COLUMNS else "failed"
                counts.setdefault(host, Counter())[known] += 1
    if not counts:
        return
    terminalreporter.section("recorded cases")
    terminalreporter.line(
        f"{'host':<10} {'cases':>6} {'passed':>7} {'failed':>7} {'expected':>9} {'not run':>8}"
    )
    for host, count in sorted(counts.items()):
        numbers = f"{count['passed']:>7} {count['failed']:>7} {count['xfailed']:>9} {count['skipped']:>8}"
        terminalreporter.line(f"{host:<10} {count.total():>6} {numbers}")

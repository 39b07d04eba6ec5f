"""An unquoted colon in a header is reported with the line that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.authoring.lint.conftest import Lint, WriteHook

METADATA = 'metadata: {"openclaw": {"events": ["command:new"]}}'


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("description: Note: this greets", 'description: "Note: this greets"'),
        ('description: Says: "hello"\r', 'description: "Says: \\"hello\\""'),
        ("description: 'Note': this greets", ""),
    ],
)
def test_the_line_that_reads_is_named(
    lint_under: Lint, write_hook: WriteHook, written: str, line: str
) -> None:
    def header(description: str) -> dict[str, str | bytes]:
        return {
            "HOOK.md": f"---\nname: tidy\n{description}\n{METADATA}\n---\n",
            "handler.py": "def handler(event): ...\n",
        }

    (finding,) = lint_under(write_hook(header(written))).report.findings
    assert finding.rule == "header-broken"
    assert ("quote the value" in finding.text) is ("mapping values" in finding.text)
    assert finding.next_step == (
        f"Write it as `{line}`." if line else "The host skips the hook until the header is valid."
    )
    if line:
        assert not lint_under(write_hook(header(line))).report.findings

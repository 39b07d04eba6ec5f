"""A report that is written into a file, beside what is printed: `--junit`, `--sarif`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from hookscope.core.text import why_of
from hookscope.workbench import Refusal

STANDARD_OUTPUT = "-"


class ReportFile(click.Path):
    """The path of a report. Standard output has the answer, so that it is no place for one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == STANDARD_OUTPUT:
            self.fail("standard output has the answer already; name a file, or `./-`.", param, ctx)
        return super().convert(value, param, ctx)


def check_writable(file: Path) -> None:
    """Raises Refusal where it cannot be written: for what takes long, before it begins."""
    is_new = not os.path.lexists(file)
    if os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file):
        return  # a pipe or a device: whoever reads there would take this for the report
    try:
        with open(file, "ab"):  # what is there stays until the report is
            pass
        if is_new:
            file.unlink()
    except OSError as error:
        raise _refused(file, error) from None


def write_report(file: Path, text: str) -> None:
    """Raises Refusal where it cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _refused(file, error) from None


def _refused(file: Path, error: OSError) -> Refusal:
    return Refusal(f"Cannot write {file}: {why_of(error)}.", "Name another file.", code=2)

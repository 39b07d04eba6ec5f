"""Numbers on the command line, whose mistakes are told in words that people use."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"


SEEDS = Whole(0, 2**32 - 1)


class Seconds(click.FloatRange):
    """A time of more than 0 seconds, which ends; with `zero` 0 too."""

    name = "number of seconds"

    def __init__(self, *, zero: bool = False) -> None:
        super().__init__(min=0, min_open=not zero)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return found

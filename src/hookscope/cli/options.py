"""Option types, and the options that every command has: which machine, which host."""

from __future__ import annotations

from copy import copy
from math import isfinite
from pathlib import Path
from typing import Any

import click

from hookscope.host_options import HOST_OPTIONS, HostOption


class EnvironmentVariable(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.4
    """`NAME=VALUE`."""

    name = "K=V"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, separator, text = str(value).partition("=")
        if not separator or not name or "\0" in value:
            self.fail(f"{value!r} is not NAME=VALUE.", param, ctx)
        return name, text


def _machine_option(option: HostOption) -> click.Option:
    names = [option.flag, option.name]
    if option.kind == "flag":
        return click.Option(names, is_flag=True, help=option.help)
    kind: Any = {"path": click.Path(path_type=Path), "pairs": EnvironmentVariable()}.get(option.kind)
    kind = click.Choice(option.choices) if option.choices else kind
    multiple = option.kind == "pairs"
    return click.Option(names, type=kind, multiple=multiple, metavar=option.metavar, help=option.help)


_MACHINE_OPTIONS = tuple(map(_machine_option, HOST_OPTIONS))  # making one takes longer than copying it


def machine_options() -> list[click.Parameter]:
    """Return new machine options: click marks each with its command, so they cannot be shared."""
    return [copy(option) for option in _MACHINE_OPTIONS]


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"


SEED_NUMBER = WholeNumber(0, 2**32 - 1)


class Seconds(click.FloatRange):
    """A finite time of more than 0 seconds; with `zero` also 0."""

    name = "number of seconds"

    def __init__(self, *, zero: bool = False) -> None:
        super().__init__(min=0, min_open=not zero)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not isfinite(seconds):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return seconds

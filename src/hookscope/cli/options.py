"""Option types, and the options that every command has: which machine, which host."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import click

PLATFORMS = ("linux", "darwin", "win32")


class EnvironmentVariable(click.ParamType):  # type: ignore[type-arg]  # generic since 8.4 alone
    """`NAME=VALUE`."""

    name = "K=V"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, sign, text = str(value).partition("=")
        if not sign or not name or "\0" in value:
            self.fail(f"{value!r} is not NAME=VALUE.", param, ctx)
        return name, text


def machine_options() -> list[click.Parameter]:
    """The options, made anew: click marks them with the command that they stand on."""
    path = click.Path(path_type=Path)
    return [
        click.Option(["--dialect"], metavar="D", help="Whose rules apply. Found out where not given."),
        click.Option(["--workspace"], type=path, metavar="DIR", help="The agent's workspace."),
        click.Option(["--home"], type=path, metavar="DIR", help="The home folder to look in."),
        click.Option(["--bundled"], type=path, metavar="DIR", help="The folder of bundled hooks."),
        click.Option(["--config"], type=path, metavar="FILE", help="The host's settings file."),
        click.Option(["--agent"], metavar="ID", help="In this agent's workspace, of those in the settings."),
        click.Option(["--os"], type=click.Choice(PLATFORMS), metavar="NAME", help="What if: this platform."),
        click.Option(
            ["--env"],
            type=EnvironmentVariable(),
            multiple=True,
            metavar="K=V",
            help="What if: this variable.",
        ),
        click.Option(
            ["--env-from"],
            metavar="SOURCE",
            help="What if: the environment of a FILE, unit:NAME, launchd:LABEL, pid:N or process:NAME.",
        ),
        click.Option(
            ["--path", "path"],
            metavar="DIRS",
            help="What if: this PATH; with a + in front: these folders before it.",
        ),
        click.Option(
            ["--environment"], metavar="NAME", help="Whose variables fill events: .hookscope/environments."
        ),
        click.Option(
            ["--clean-env"], is_flag=True, help="What if: a service's environment, not this shell's."
        ),
    ]


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"


SEED_NUMBER = WholeNumber(0, 2**32 - 1)


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

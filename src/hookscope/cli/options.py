"""The options that say which machine and which host: on the program and on every command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

PLATFORMS = ("linux", "darwin", "win32")


class Variable(click.ParamType):  # type: ignore[type-arg]  # generic since 8.4 alone
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


def MACHINE_OPTIONS() -> list[click.Parameter]:  # noqa: N802  (a constant that click wants fresh)
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
            ["--env"], type=Variable(), multiple=True, metavar="K=V", help="What if: this variable."
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

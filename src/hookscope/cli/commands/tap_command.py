"""`hookscope tap …`."""

from __future__ import annotations

from importlib import import_module

import click

# Name → the line in `--help`. A command's module in `cli/tap` has its name.
COMMANDS = {
    "install": "Put the tap into the host's own folder of hooks.",
    "status": "Whether it stands, what else the host wants, what was recorded.",
    "events": "The real events that were recorded, newest last.",
    "fire": "Fire a real event again, and see what each handler does.",
    "save": "Keep a real event as a saved event.",
    "lists": "Who listens to what never came; what came that nobody listens to.",
    "remove": "Take it away again, to the last byte.",
}


class Commands(click.Group):
    """A group that knows its commands by name and imports them when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"hookscope.cli.tap.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from hookscope.core.text import one_line

            known = ", ".join(COMMANDS)
            raise click.UsageError(f"`hookscope tap` has no {one_line(args[0])!r}; it has {known}.", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group("tap", cls=Commands, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Keep the real events of a running agent, and work with them here.

    The tap is a small hook of the host's own kind. It appends every event that the host sends to a file, and
    changes nothing.
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError(f"`hookscope tap` wants one of {', '.join(COMMANDS)}.", ctx)

"""Groups of commands that are imported when they are called: `--help` costs no more than click."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import click

from hookscope.cli.exampled import write_examples

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group that knows its commands by name, and each one's module by that."""

    commands_by_name: ClassVar[Mapping[str, str]] = {}  # name → its line of help
    module: ClassVar[str] = ""  # its `command` is the command; the name stands in for the braces

    def stranger(self, name: str) -> str:
        """The sentence for a name that is no command's."""
        return f"There is no command {name!r}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands_by_name:
            return None
        command = import_module(self.module.format(cmd_name)).command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands with their lines of help, none of them loaded for that; options."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        from click.shell_completion import CompletionItem  # here: `--help` does without

        known = self.commands_by_name.items()
        return [CompletionItem(name, help=about) for name, about in known if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        asked = not ctx.resilient_parsing  # else a shell completes, and nobody reads why not
        if asked and args and args[0] not in self.commands_by_name and not args[0].startswith("-"):
            raise click.UsageError(self.stranger(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.commands_by_name.items()))

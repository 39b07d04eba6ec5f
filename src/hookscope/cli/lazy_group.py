"""Command groups that import a command when it is called, and help that ends with examples."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import click

from hookscope.cli.command_index import EXAMPLES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class ExampledCommand(click.Command):
    """A command whose help ends with examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples of a command: a shell line each, and its purpose."""
    examples = EXAMPLES.get(ctx.command_path.partition(" ")[2], ())
    if examples:
        with formatter.section("Examples"):
            widest = max(len(line) for line, _ in examples)
            for line, purpose in examples:
                formatter.write(f"{'':>{formatter.current_indent}}{line:<{widest}}  # {purpose}\n")


class LazyGroup(click.Group):
    """A group that knows its commands by name, and imports a command's module on use."""

    commands_by_name: ClassVar[Mapping[str, str]] = {}  # name → its line of help
    headings: ClassVar[Mapping[str, str]] = {}  # the first command of a part → the part's heading

    def module_of(self, name: str) -> str:
        """Return the module with the command `name`, which is NAME_command there."""
        raise NotImplementedError

    def unknown_command_message(self, name: str) -> str:
        """Return the error message for an unknown command."""
        return f"There is no command {name!r}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands_by_name:
            return None
        command = getattr(import_module(self.module_of(cmd_name)), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        if not gc.isenabled():  # as at the program's start
            gc.freeze()
            gc.enable()
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands with their line of help, without importing them; or options."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        from click.shell_completion import CompletionItem  # `--help` does not need it

        commands = self.commands_by_name.items()
        return [
            CompletionItem(name, help=description)
            for name, description in commands
            if name.startswith(incomplete)
        ]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_real_call = not ctx.resilient_parsing  # during completion nobody reads the error
        if is_real_call and args and args[0] not in self.commands_by_name and not args[0].startswith("-"):
            raise click.UsageError(self.unknown_command_message(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts, heading = dict[str, list[tuple[str, str]]](), "Commands"
        widest = max(map(len, self.commands_by_name))
        for name, description in self.commands_by_name.items():
            heading = self.headings.get(name, heading)
            parts.setdefault(heading, []).append((f"{name:<{widest}}", description))
        for heading, rows in parts.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

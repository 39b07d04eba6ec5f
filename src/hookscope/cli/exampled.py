"""Commands whose `--help` ends with examples. Knows click and nothing else."""

from __future__ import annotations

import click

from hookscope.cli.examples import EXAMPLES


class ExampledCommand(click.Command):
    """A command with the examples of its name."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The block at the end: a line of the shell each, and what it is for."""
    found = EXAMPLES.get(ctx.command_path.partition(" ")[2], ())
    if found:
        with formatter.section("Examples"):
            widest = max(len(line) for line, _ in found)
            for line, what in found:
                formatter.write(f"{'':>{formatter.current_indent}}{line:<{widest}}  # {what}\n")

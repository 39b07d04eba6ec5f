"""`hookscope tap …`."""

from __future__ import annotations

import click

from hookscope.cli.lazy_group import LazyGroup

# Name → the line in `--help`.
TAP_COMMANDS = {
    "install": "Install the tap in the host's own folder of hooks.",
    "status": "Show the tap's state, what else the host needs, and the recorded events.",
    "events": "List the recorded real events, newest last.",
    "fire": "Fire a real event again, and see what each handler does.",
    "save": "Save a real event for `fire` and `test`.",
    "lists": "List subscriptions without events, and events without subscribed hooks.",
    "remove": "Remove the tap completely.",
}


class TapGroup(LazyGroup):
    """The subcommands of `tap`, imported on use."""

    commands_by_name = TAP_COMMANDS
    module = "hookscope.cli.commands.tap_subcommands"
    attribute = "tap_{}"

    def unknown_command_message(self, name: str) -> str:
        from hookscope.model.text import nearest_word, one_line

        closest = nearest_word(name, TAP_COMMANDS)
        next_step = (
            f"did you mean `hookscope tap {closest}`?" if closest else f"it has {', '.join(TAP_COMMANDS)}."
        )
        return f"`hookscope tap` has no command {one_line(name)!r}; {next_step}"


@click.group("tap", cls=TapGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Record the real events of a running agent, and work with them here.

    The tap is a small hook of the host's own kind. It appends every event that the host sends to a file, and
    changes nothing.
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError(f"`hookscope tap` needs one of {', '.join(TAP_COMMANDS)}.", ctx)

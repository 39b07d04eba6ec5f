"""Every action has a key and a command; test_reachable_actions.py covers mouse and palette."""

from pathlib import Path

import click

from hookscope.app.preferences import KeysFile
from hookscope.cli.main import root_command
from hookscope.console.keymap.active_keys import PRESETS, all_actions, resolve_keymap
from hookscope.console.keymap.key_listing import COMMANDS_OF_ACTIONS, command_of, reason_of


def test_every_action_has_a_description_and_a_key_in_each_preset() -> None:
    for preset in PRESETS:
        force = resolve_keymap(KeysFile(Path("keys.yaml"), preset))
        assert not force.problems
        for action in all_actions().values():
            assert force.keys.get(action.id, action.keys), (preset, action.id)
            assert action.meaning, action.id


def test_every_action_has_a_command_or_a_reason_for_none() -> None:
    assert set(COMMANDS_OF_ACTIONS) == set(all_actions())
    context = click.Context(root_command)
    for name in COMMANDS_OF_ACTIONS:
        assert bool(command_of(name)) != bool(reason_of(name)), name
        if command_of(name):
            spoken(context, command_of(name).split()[1:])


def spoken(context: click.Context, words: list[str]) -> None:
    """Go through the words of a command as the program does: all names and options are known."""
    group: click.Command = root_command
    options = [*root_command.params]
    takes = False
    for word in words:
        if word.startswith("--"):
            known = {opt: param for param in options for opt in (*param.opts, *param.secondary_opts)}
            assert word in known or word == "--help", f"{' '.join(words)}: no option {word}"
            takes = word != "--help" and not getattr(known[word], "is_flag", False)
        elif takes:
            takes = False
        elif isinstance(group, click.Group):
            inner = group.get_command(context, word)
            assert inner is not None, f"{' '.join(words)}: no command {word}"
            group, options = inner, [*options, *inner.params]
        else:
            assert any(isinstance(param, click.Argument) for param in group.params), f"{words}: {word}"
    if isinstance(group, click.Group) and words[-1] != "--help":
        assert group.invoke_without_command, f"{' '.join(words)} names no command"

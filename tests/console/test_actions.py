"""Every action of the console is reached by key, by mouse, in the palette and from the command line."""

import ast
from pathlib import Path

import click

import hookscope.console
from hookscope.cli.main import cli
from hookscope.console.keymap.actions import ROOMS, Action, actions, binding_of
from hookscope.console.keymap.commands import COMMANDS, Reason, command_of, reason_of
from hookscope.console.keymap.presets import PRESETS
from hookscope.console.keymap.resolve import resolve
from hookscope.workbench.preferences import KeysFile

ROOT = Path(hookscope.console.__path__[0])
# Rooms that are a screen of their own: there the palette waits until it is answered.
OPENED = {room.name for room in ROOMS if room.within == ("app",)} - {"app", "console"} | {"choice"}
# Over such a screen: what is clicked, where its frame does not say it.
CLICKED = {
    "trust.trust": "its button",
    "trust.without": "its button",
    "choice.next": "the word itself",
    "choice.before": "the word itself",
    "otherwise.fire": "the line that is chosen",
    "jump.leave": "anything",
}


def hinted() -> set[str]:
    """The actions that frames name: each is a key press for who clicks it."""
    found = set()
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Tuple(elts=[ast.Constant(value=str(name)), *_]) if name in COMMANDS:
                    found.add(name)
    return found


def over(action: Action) -> bool:
    """Does it act on a screen that lies over the panes."""
    return set(action.rooms) <= OPENED


def test_every_action_has_a_key_in_each_preset_and_a_sentence() -> None:
    for preset in PRESETS:
        force = resolve(KeysFile(Path("keys.yaml"), preset))
        assert not force.problems
        for action in actions().values():
            assert force.keys.get(action.id, action.keys), (preset, action.id)
            assert action.meaning, action.id


def test_every_action_is_reached_by_mouse() -> None:
    """In the panes the line of keys and the palette are clicked – a click on the program's name opens it
    (test_every_action.py) –, over them frames and buttons."""
    named = hinted()
    for action in actions().values():
        scrolled = COMMANDS[action.id] is Reason.MOVES  # by the wheel, or by a click on the line itself
        assert scrolled or not over(action) or action.id in named or action.id in CLICKED, action.id
    assert binding_of("console.palette").show, "the palette is in the line of keys"


def test_every_action_has_a_command_or_says_why_none() -> None:
    assert set(COMMANDS) == set(actions())
    context = click.Context(cli)
    for name in COMMANDS:
        assert bool(command_of(name)) != bool(reason_of(name)), name
        if command_of(name):
            spoken(context, command_of(name).split()[1:])


def spoken(context: click.Context, words: list[str]) -> None:
    """Go through the words of a command as the program does: all names and options are known."""
    group: click.Command = cli
    options = [*cli.params]
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

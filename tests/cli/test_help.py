"""`hookscope help`: the manual in the terminal."""

import re

import click
from tests.cli.conftest import Program

from hookscope.cli.command_index import COMMANDS
from hookscope.cli.main import root_command
from hookscope.manual import TOPICS, chapters, readme


def test_topics_are_listed_and_told(hookscope: Program) -> None:
    listed = hookscope("help")
    assert listed.code == 0
    assert all(topic in listed.out for topic in TOPICS)
    gates = hookscope("help", "gates")
    assert gates.out.startswith("# The checks\n")
    assert "| `anyBins`" in gates.out or "`anyBins`" in gates.out
    log = hookscope("help", "log", "--json")
    assert log.json["title"] == "What was fired"
    assert "`hookscope log --help` has the options." in hookscope("help", "log").out


def test_a_command_is_a_topic_and_a_stranger_is_not(hookscope: Program) -> None:
    assert "Usage: hookscope plan" in hookscope("help", "plan").out
    wrong = hookscope("help", "gate")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean `gates`?" in wrong.err


def test_the_options_that_the_manual_names_are_there() -> None:
    told = chapters(readme())[TOPICS["commands"]].text.split("Every command takes these")[0]
    named: dict[str, set[str]] = {}
    name = ""
    for line in told.splitlines():
        begins = re.match(r"    hookscope ([a-z]+)", line)
        name = begins[1] if begins else name
        if name and line.startswith("    "):
            named.setdefault(name, set()).update(re.findall(r"--[a-z-]+", line))
    assert set(named) == set(COMMANDS)
    context = click.Context(root_command)
    for name, options in named.items():
        command = root_command.get_command(context, name)
        assert command is not None
        has = {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
        assert options <= has, name

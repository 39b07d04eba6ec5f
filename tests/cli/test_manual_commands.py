"""Every command that the README and the manual show exists, and those that end are run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Program

from hookscope.cli.main import root_command

PROJECT = Path(__file__).parents[2]
MANUAL = PROJECT / "src" / "hookscope" / "manual"
PAGES = [
    PROJECT / "README.md",
    *(
        file for file in sorted(MANUAL.glob("*.md")) if file.stem != "r1-commands"
    ),  # its lines are not examples
]
WAITING = {"", "demo", "serve", "dap"}  # they show something until somebody ends them
WAITING_OPTIONS = {"--watch", "--follow", "--debug", "--step"}
ABSENT = (  # what a test has not: packages of a registry, services, real events, runs with that number
    *(
        "unit:gateway",
        "acme",
        "3f1c",
        "12",
        "runs.jsonl",
        "deploy.env",
        "~/agent",
        "--sarif",
        "openclaw@2026.9",
    ),
    *("hookscope verify", "--failed"),
)
MakeHook = Callable[..., Path]


def commands_of(page: Path) -> list[str]:
    """Return the lines of its shell blocks that call hookscope, without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if re.match(r"hookscope( |$)", line)]
    return [re.sub(r"\s+# .*", "", line) for line in lines]


EXAMPLES = sorted({line for page in PAGES for line in commands_of(page)})


def ends(line: str) -> bool:
    words = shlex.split(line)
    is_waiting = " ".join(words[1:2]) in WAITING or WAITING_OPTIONS & {*words}
    return not is_waiting and not any(one in line for one in ABSENT)


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_shown_command_and_its_options_exist(line: str) -> None:
    command: click.Command = root_command
    context, words = click.Context(command, info_name="hookscope"), shlex.split(line)[1:]
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command, context = found, click.Context(found, parent=context)
    assert command.make_parser(context).parse_args(words)


@pytest.mark.parametrize(
    "page", [page for page in PAGES[1:] if any(map(ends, commands_of(page)))], ids=lambda page: page.stem
)
def test_shown_commands_run(
    page: Path, hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    if "hookscope new greet" not in page.read_text():
        make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['command:new']}}")
        hookscope("trust", "hooks")
        hookscope("fire", "command:new", "--save", "greet")
    shown = re.findall(r"(?ms)`(plugins/\S+\.py)`:\n\n```python\n(.*?)^```", page.read_text())
    for file, source in shown:
        (workspace / file).parent.mkdir(parents=True)
        (workspace / file).write_text(source)
    for line in filter(ends, commands_of(page)):
        answer = hookscope(*shlex.split(line)[1:])
        assert answer.code in (0, 1), f"{line}\n{answer.err}"
        assert "Traceback" not in answer.err, line
        assert answer.out, f"{line}\n{answer.err}"


def test_the_tour_of_the_readme_leads_from_blocked_to_fired(hookscope: Program, workspace: Path) -> None:
    lines = [line for line in commands_of(PAGES[0]) if ends(line)]
    (changed,) = re.findall(r"^metadata: .*requires.*$", PAGES[0].read_text(), re.MULTILINE)
    outputs = []
    for line in lines:
        answer = hookscope(*shlex.split(line)[1:])
        assert answer.code == 0, f"{line}\n{answer.err}"
        outputs.append(answer.out)
        if line.startswith("hookscope new "):
            header = workspace / "hooks" / "greet" / "HOOK.md"
            header.write_text(re.sub(r"^metadata: .*$", changed, header.read_text(), flags=re.MULTILINE))
    listed, explained, fixed, fired, tested, undone = outputs[1:]
    assert "▲ blocked    greet" in listed
    assert "▲ blocked  greet  – Env missing: GREETING" in explained
    assert "● ready" in fixed
    assert "greet: command:new (dev)" in fired
    assert "greet" in tested
    assert "openclaw.json" in undone

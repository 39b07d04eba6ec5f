"""`hookscope help`: the manual in the terminal."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Program
from tests.cli.test_line_wrapping import environment, terminal

from hookscope.cli.command_index import COMMANDS
from hookscope.cli.main import root_command
from hookscope.manual import chapters

MACROS = ("TH", "SH", "SS", "PP", "IP", "TP", "RS", "RE", "nf", "fi", "B")


def test_help_lists_and_shows_topics(hookscope: Program) -> None:
    listed = hookscope("help")
    assert listed.code == 0
    assert all(f"  {topic}" in listed.out for topic in chapters())
    gates = hookscope("help", "gates")
    assert gates.out.startswith("# Reference: checks (gates)\n")
    assert "`anyBins`" in gates.out
    log = hookscope("help", "log", "--json")
    assert log.json["title"] == "Look at earlier runs"
    assert "`hookscope log --help` shows the options." in hookscope("help", "log").out


def test_commands_are_listed_by_task_each_once(hookscope: Program) -> None:
    told = hookscope("--help").out
    parts = dict(re.findall(r"(?ms)^(\S.*?):\n((?:  .*?\n)+)", told[told.index("Why a hook") :]))
    parts.pop("Examples")
    listed = {part: re.findall(r"(?m)^  (\w+) ", lines) for part, lines in parts.items()}
    assert listed["Write and fix"] == ["new", "fix", "enable", "disable", "undo"]
    assert listed["Other people's hooks"] == ["install", "update", "uninstall", "packs"]
    assert [name for names in listed.values() for name in names] == list(COMMANDS)


def test_the_manual_is_a_man_page(hookscope: Program, tmp_path: Path) -> None:
    page = hookscope("help", "--man").out
    assert re.findall(r"(?m)^\.SH (.*)", page)[2:] == [
        chapter.title.upper().replace("-", r"\-") for chapter in chapters().values()
    ]
    assert set(re.findall(r"(?m)^[.'](\w+)", page)) <= set(MACROS)
    texts = [chapter.text for chapter in chapters().values()]
    headings = re.findall(r"(?m)^## (.*)", "\n".join(texts))
    assert len(re.findall(r"(?m)^\.SS ", page)) == len(headings)
    shown = {line.replace(r"\-", "-").replace(r"\&", "").replace(r"\e", "\\") for line in page.splitlines()}
    blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```", "\n".join(texts))
    assert len(blocks) > 50
    assert {line for block in blocks for line in block.splitlines()} <= shown
    file = tmp_path / "hookscope.1"
    file.write_text(page)
    for check in (["man", "--warnings", "-l"], ["mandoc", "-T", "lint", "-W", "error"]):
        if shutil.which(check[0]):
            done = subprocess.run([*check, file], capture_output=True, text=True, check=True)
            assert (done.stderr, "greet" in done.stdout or check[0] == "mandoc") == ("", True)
    assert hookscope("help", "--man", "ci").code == 2


def test_help_accepts_commands_and_titles_as_topics(hookscope: Program) -> None:
    assert "Usage: hookscope plan" in hookscope("help", "plan").out
    assert hookscope("help", "checks").out == hookscope("help", "gates").out
    titled = hookscope("help", "why", "doesn't", "my", "hook", "run?").out
    assert hookscope("help", "why").out.startswith(titled.rstrip())


def test_help_finds_sections_by_words(hookscope: Program) -> None:
    found = hookscope("help", "my hook is ready and never fires")
    assert found.out.startswith("# Why doesn't my hook run? — Ready, but it never fires\n")
    assert "`hookscope help why`" in found.out
    sections = hookscope("help", "sandbxo", "--json").json["sections"]
    assert (sections[0]["topic"], sections[0]["title"]) == ("safety", "Sandbox")
    wrong = hookscope("help", "zzzz")
    assert (wrong.code, wrong.out) == (2, "")
    assert "`hookscope help` lists them" in wrong.err


def test_options_named_in_the_manual_exist() -> None:
    text = chapters()["commands"].text.split("## Options of every command")[0]
    named: dict[str, set[str]] = {}
    name = ""
    for line in text.splitlines():
        begins = re.match(r"hookscope ([a-z]+)", line)
        name = begins[1] if begins else name
        if name and line.startswith(("hookscope ", "    ")):
            named.setdefault(name, set()).update(re.findall(r"--[a-z-]+", line))
    assert set(named) == set(COMMANDS)
    context = click.Context(root_command)
    for name, options in named.items():
        command = root_command.get_command(context, name)
        assert command is not None
        has = {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
        assert options <= has, name


@pytest.mark.parametrize(
    ("pager", "topic", "is_paged"), [("sed s/^/PAGED/", "why", True), ("./pager", "why", False)]
)
def test_a_long_chapter_goes_through_the_pager_of_the_user(
    workspace: Path, pager: str, topic: str, is_paged: bool
) -> None:
    (workspace / "pager").write_text("#!/bin/sh\necho PAGED by the workspace\n")
    (workspace / "pager").chmod(0o755)
    command = [sys.executable, "-m", "hookscope", "help", topic]
    with terminal(100) as (theirs, heard):
        subprocess.run(
            command, cwd=workspace, stdout=theirs, env={**environment(), "PAGER": pager}, check=True
        )
    text = b"".join(heard).decode()
    assert ("PAGED" in text) is is_paged
    assert "hookscope" in text


def test_the_hosts_own_spelling_of_a_command_is_understood(hookscope: Program) -> None:
    done = hookscope("hooks", "list")
    assert done.code == 2
    assert "leave the word out, as in `hookscope list`" in done.err

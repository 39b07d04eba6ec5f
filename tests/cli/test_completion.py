"""What a shell completes, through the command line as a shell asks it; and the examples of every command."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

from hookscope.cli.command_index import EXAMPLES
from hookscope.cli.main import root_command

READY = "{openclaw: {events: [command:new]}}"


def completed(hookscope: Program, line: str, **env: str) -> list[str]:
    """What bash would offer at the end of this line; None of it may say anything else."""
    words = line.split()
    count = len(words) if line.endswith(" ") else len(words) - 1
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(count), "_HOOKSCOPE_COMPLETE": "bash_complete", **env}
    done = hookscope(env=asked)
    assert (done.code, done.err) == (0, "")
    return [row.partition(",")[2] for row in done.out.splitlines() if row.startswith("plain,")]


def test_completion_offers_hooks_and_events_of_the_workspace(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path, tmp_path: Path
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    make_hook(workspace / "hooks", "grieve", READY, "raise SystemExit('never imported')\n")
    make_hook(workspace / "hooks", "gr$(touch x)", READY)
    at = f"hookscope --bundled {bundled} --workspace {workspace}"
    assert completed(hookscope, "hookscope unin") == ["uninstall"]
    assert completed(hookscope, f"{at} info gr") == ["greet", "grieve"], (
        "a name that a shell would run is not"
    )
    assert completed(hookscope, f"{at} fire command:new --only gre") == ["greet"]
    assert completed(hookscope, f"{at} plan command:n") == ["command:new"]
    versions = [f"openclaw@2026.{month}" for month in (9, 7, 6, 3)]
    assert completed(hookscope, "hookscope list --dialect openclaw@") == versions
    assert completed(hookscope, "hookscope --dialect mila") == ["milady", "milady@2.0.0-alpha.76"]
    assert completed(hookscope, "hookscope new x --event command:new,command:re") == [
        "command:new,command:reset"
    ]
    assert completed(hookscope, "hookscope sequence ne")[:1] == ["new"]
    hookscope("fire", "command:new", "--save", "morning", "--trust")
    assert completed(hookscope, "hookscope fire .hook") == [".hookscope/events/morning.yaml"]
    assert completed(hookscope, "hookscope test .hook") == [".hookscope/events/morning.yaml"]
    assert completed(hookscope, "hookscope help ga") == ["gates"]
    assert completed(hookscope, "hookscope lint --explain env-") == ["env-undeclared"]
    assert completed(hookscope, "hookscope replay ") == ["1"]
    pack = make_hook(tmp_path, "packed", "{openclaw: {events: [command]}}")
    assert hookscope("install", str(pack), "--yes").code == 0
    assert completed(hookscope, "hookscope uninstall pa") == ["packed"]
    assert not (workspace / "x").exists()


def test_failed_completion_prints_nothing(hookscope: Program, tmp_path: Path) -> None:
    assert completed(hookscope, "hookscope --dialect nobody info ") == []
    assert completed(hookscope, "hookscope --workspace /dev/null/x info ") == []
    (tmp_path / "state").write_text("no folder")
    assert completed(hookscope, "hookscope uninstall ") == []
    assert completed(hookscope, "hookscope replay ") == []
    completed(hookscope, "hookscope nothing ")  # no command, and no word about it


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(hookscope: Program, shell: str) -> None:
    script = hookscope("completion", shell).out
    assert f"{shell}_complete" in script
    assert hookscope("completion", env={"SHELL": f"/usr/bin/{shell}"}).out == script
    assert json.loads(hookscope("completion", shell, "--json").out)["script"].rstrip() == script.rstrip()
    assert hookscope("completion", env={"SHELL": ""}).code == 2


def offered(hookscope: Program, shell: str, line: str, **env: str) -> list[list[str]]:
    """What the shell's own script reads at the end of this line: word and what is said of it."""
    asked = {"COMP_WORDS": line, "COMP_CWORD": "-1", "_HOOKSCOPE_COMPLETE": f"{shell}_complete", **env}
    done = hookscope(env=asked)
    assert (done.code, done.err) == (0, "")
    return [row.split("\t")[1:] for row in done.out.splitlines() if row.startswith("plain\t")]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_shells_that_quote_completions_get_whole_words(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path, shell: str
) -> None:
    """What stood behind a comma was lost, and an option with `=` in front of a name."""
    make_hook(workspace / "hooks", "greet", READY)
    make_hook(workspace / "hooks", "two words", READY)
    make_hook(workspace / "hooks", "öl", READY)
    at = f"hookscope --bundled '{bundled}' --workspace '{workspace}'"
    assert offered(hookscope, shell, f"{at} info tw") == [["two words", "untrusted, workspace"]]
    for begun in ('"two w', "'two w", "two\\ w"):
        assert offered(hookscope, shell, f"{at} info {begun}")[0][0] == "two words"
    assert offered(hookscope, shell, f"{at} info ö")[0][0] == "öl"
    (both,) = offered(hookscope, shell, f"{at} new x --event command:new,command:re")
    assert both[0] == "command:new,command:reset"
    assert offered(hookscope, shell, f"{at} fire command:new --only=gre")[0][0] == "--only=greet"
    ((name, about),) = offered(hookscope, shell, "hookscope unin")
    assert (name, about) == ("uninstall", "Remove a pack: revert exactly what its install did.")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_gets_completions_that_it_reads_as_one_word(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path, tmp_path: Path
) -> None:
    """Behind a folder in quotes nothing was completed, and no name with a blank in it anywhere."""
    spaced = tmp_path / "my folder"
    make_hook(spaced / "hooks", "greet", READY)
    make_hook(spaced / "hooks", "two words", READY)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "hookscope"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hookscope "$@"\n')
    program.chmod(0o755)
    at = f'hookscope --bundled "{bundled}" --workspace "{spaced}"'
    script = hookscope("completion", "bash").out

    def replies(line: str) -> list[str]:
        asked = (
            f"{script}\nCOMP_LINE=$1; COMP_POINT=${{#1}}; _hookscope_completion hookscope; "
            "printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        env = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", asked, "-", line], cwd=workspace, env=env, capture_output=True, text=True
        )
        assert done.stderr == ""
        return done.stdout.splitlines()

    assert replies(f"{at} info gre") == ["greet"]
    assert replies(f"{at} info tw") == ["two\\ words"]
    assert replies(f'{at} info "tw') == ["two words"]
    assert replies(f"{at} plan command:n") == ["new"], "bash takes the colon for the end of a word"
    assert replies(f'{at} plan "command:n') == ["command:new"]


def groups() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = [("", root_command)]
    for path, group in found:
        if isinstance(group, click.Group):
            with click.Context(group) as ctx:
                names = group.list_commands(ctx)
                found += [(f"{path} {name}".strip(), group.get_command(ctx, name)) for name in names]  # type: ignore[misc]
    return found


@pytest.mark.parametrize(
    ("path", "command"), groups(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_help_text_ends_with_valid_examples(path: str, command: click.Command) -> None:
    with click.Context(command, info_name=path.rpartition(" ")[2] or "hookscope") as ctx:
        ctx.info_name = f"hookscope {path}".strip()
        shown = command.get_help(ctx)
    examples = EXAMPLES[path]
    assert shown.rstrip().splitlines()[-len(examples) - 1].strip() == "Examples:"
    for line, what in examples:
        assert f"  # {what}" in shown
        words = shlex.split(line.replace('eval "$(', "").replace(')"', "").partition(" |")[0])
        assert words[: 1 + len(path.split())] == ["hookscope", *path.split()]
        if path:
            command.make_context(path, words[1 + len(path.split()) :])  # raises where it does not take them


def test_list_eligible_shows_what_the_other_hooks_lack(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    make_hook(workspace / "hooks", "lacks", "{openclaw: {events: [command], requires: {env: [NO_SUCH]}}}")
    (workspace / "hooks" / "no-hook").mkdir()
    (workspace / "hooks" / "no-hook" / "HOOK.md").write_text("")
    base = ("--bundled", str(bundled))
    every = hookscope("list", "--json", *base).json
    eligible = hookscope("list", "--eligible", "--json", *base).json
    assert [hook["name"] for hook in every["hooks"] if hook["eligible"]] == ["greet"]
    assert [hook["name"] for hook in eligible["hooks"]] == ["greet"]
    assert eligible["rejected"] == []
    shown = hookscope("list", "--eligible", *base).out
    assert "greet" in shown
    assert "lacks" not in shown
    for words in (("list", "-v"), ("check", "--verbose")):
        told = hookscope(*words, *base).out
        assert "✗ env       NO_SUCH" in told, told
    assert "✗ env       NO_SUCH" not in hookscope("list", *base).out

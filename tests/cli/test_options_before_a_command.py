"""Options of the program stand before a command's name too, and each is looked at wherever it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import MakeHook

from hookscope.cli.main import exit_code
from hookscope.runtime.limits import DEFAULT_RUN_SECONDS

HEADER = "{openclaw: {events: [command], requires: {env: [MY_TOKEN]}}}"


class Cli:
    """The command line in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        code = exit_code([*words])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def missing(self, *words: str) -> list[str]:
        """The variables that the hook in the workspace lacks."""
        _, out, _ = self(*words)
        hook = next(hook for hook in json.loads(out)["hooks"] if hook["name"] == "needy")
        (gate,) = (gate for gate in hook["gates"] if gate["gate"] == "env")
        return list(gate["missing"])


@pytest.fixture
def cli(
    workspace: Path, tmp_path: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:  # fmt: skip
    make_hook(workspace / "hooks", "needy", HEADER)
    monkeypatch.setenv("OPENCLAW_BUNDLED_HOOKS_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("MY_TOKEN", "x")
    monkeypatch.chdir(workspace)
    return Cli(capsys)


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("list --json", []),
        ("--clean-env list --json", ["MY_TOKEN"]),
        ("list --json --clean-env", ["MY_TOKEN"]),
        ("--clean-env list --json --clean-env", ["MY_TOKEN"]),
        ("--env MY_TOKEN= list --json", ["MY_TOKEN"]),
        ("--env MY_TOKEN= list --json --env MY_TOKEN=y", []),
        ("--clean-env --env MY_TOKEN=y list --json", []),
        ("--env MY_TOKEN=y list --json --clean-env", []),
        ("--env MY_TOKEN= list --json --env OTHER=y", ["MY_TOKEN"]),
    ],
)
def test_what_if_options_work_before_and_after_the_command(words: str, missing: list[str], cli: Cli) -> None:
    assert cli.missing(*words.split()) == missing


def test_an_option_after_the_command_overrides_one_before_it(cli: Cli) -> None:
    both = cli("--dialect", "milady", "list", "--json", "--dialect", "openclaw")
    assert json.loads(both[1])["dialect"] == "openclaw"
    assert json.loads(cli("--dialect", "milady", "list", "--json")[1])["dialect"] == "milady"


@pytest.mark.parametrize("variable", ["=x", "=", "x", "", "A\0=b"])
@pytest.mark.parametrize("before", [True, False])
def test_env_refuses_a_variable_without_name_or_equals_sign(variable: str, before: bool, cli: Cli) -> None:
    option = ("--env", variable)
    code, out, err = cli(*option, "list") if before else cli("list", *option)
    assert (code, out) == (2, "")
    assert "is not NAME=VALUE" in err


@pytest.mark.parametrize("value", ["true", "many", "-1", ".inf", ".nan", "[1]"])
@pytest.mark.parametrize(("name", "wants"), [("run", "seconds"), ("load", "seconds"), ("memory", "MiB")])
def test_a_project_limit_must_be_a_number(
    name: str, wants: str, value: str, cli: Cli, workspace: Path
) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text(f"limits: {{{name}: {value}}}\n")
    code, out, err = cli("list")
    assert (code, out) == (2, "")
    assert f"`limits: {{{name}: …}}` in .hookscope/config.yaml needs {wants}, 0 for no limit." in err


def test_the_help_of_timeout_names_the_default_limit(cli: Cli) -> None:
    assert f"default: {DEFAULT_RUN_SECONDS:g}." in " ".join(cli("fire", "--help")[1].split())

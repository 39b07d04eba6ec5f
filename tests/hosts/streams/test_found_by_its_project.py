"""A project of agents is known by its hooks folder, and its version by the package that it depends on."""

import json
from pathlib import Path

import pytest
from tests.hosts.streams.conftest import OpenProject, Project

from hookscope.app.options import Options, set_up
from hookscope.app.watching import watched_paths
from hookscope.hosts.dialects.eve import DOTENV


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = project("agent/hooks/a.ts")
    monkeypatch.chdir(root)
    return root


def test_a_project_is_found_by_its_hooks_folder(here: Path) -> None:
    setup = set_up(Options())
    assert (setup.dialect.name, setup.dialect_reason) == ("eve", "found ./agent/hooks")
    assert setup.overrides.workspace == here


def test_a_workspace_that_is_named_is_looked_at_instead(here: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert set_up(Options(workspace=tmp_path / "elsewhere")).dialect.name == "openclaw"


@pytest.mark.parametrize(
    ("version", "dialect", "rules"),
    [
        ("0.18.1", "eve@0.18", ""),
        ("0.67.9", "eve@0.18", "0.18.1"),
        ("0.68.0", "eve@0.80", ""),
        ("0.80.1", "eve@0.80", ""),
        ("1.2.0", "eve@0.80", "0.80.1"),
    ],
)
def test_the_package_in_the_project_tells_its_version(
    here: Path, version: str, dialect: str, rules: str
) -> None:
    manifest = here / "node_modules/eve/package.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"name": "eve", "version": version}))
    setup = set_up(Options())
    assert setup.dialect.name == dialect
    warning = f"Eve {version} found; these are the rules of {rules}, which may differ"
    found = f"found Eve {version} in ./node_modules/eve/package.json"
    assert setup.dialect_reason == (warning if rules else found)


@pytest.mark.parametrize(
    ("asked", "dialect"),
    [
        ("0.18.2", "eve@0.18"),
        ("^0.67.0", "eve@0.18"),
        ("~0.68", "eve@0.80"),
        ("0.80.x", "eve@0.80"),
        ("latest", "eve@0.80"),
        ("0", "eve@0.80"),
        ("^0", "eve@0.80"),
        ("0.x", "eve@0.80"),
        ("~0.x.x", "eve@0.80"),
        ("^1.0.0-beta.1", "eve@0.80"),
    ],
)
@pytest.mark.parametrize("kind", ["dependencies", "devDependencies"])
def test_what_a_project_asks_for_tells_its_version_before_it_is_installed(
    here: Path, asked: str, dialect: str, kind: str
) -> None:
    (here / "package.json").write_text(json.dumps({kind: {"eve": asked}}))
    setup = set_up(Options())
    rules = {"^0.67.0": "0.18.1", "^1.0.0-beta.1": "0.80.1"}.get(asked)
    reason = f"./package.json requires Eve {asked}"
    if rules is not None:
        reason = f"Eve {asked} requested; these are the rules of {rules}, which may differ"
    assert (setup.dialect.name, setup.dialect_reason) == (dialect, reason)


@pytest.mark.parametrize(
    "asked", ["workspace:*", "catalog:", "github:someone/eve", ">=0.20 <1 || 2", 7, None]
)
def test_a_range_that_names_no_version_leaves_the_guide(here: Path, asked: object) -> None:
    (here / "package.json").write_text(json.dumps({"dependencies": {"eve": asked}}))
    assert set_up(Options()).dialect.name == "eve"


def test_a_project_that_asks_for_it_is_found_before_it_has_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package.json").write_text('{"dependencies": {"eve": "^0.80.0"}}')
    monkeypatch.chdir(tmp_path)
    assert set_up(Options()).dialect_reason == "./package.json requires Eve ^0.80.0"
    (tmp_path / "hooks/greet").mkdir(parents=True)
    (tmp_path / "hooks/greet/HOOK.md").touch()
    assert set_up(Options()).dialect.name == "openclaw", "what is there says more than what is asked for"


def test_a_package_of_many_in_one_repository_may_be_installed_above(here: Path) -> None:
    manifest = here.parent / "node_modules/eve/package.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "eve", "version": "0.18.1"}')
    (here / "package.json").write_text('{"dependencies": {"eve": "^0.80.0"}}')
    assert set_up(Options()).dialect.name == "eve@0.18"


def test_a_host_with_settings_goes_before_a_project_and_a_mere_folder_in_home_does_not(
    here: Path, home: Path
) -> None:
    (home / ".openclaw/logs").mkdir(parents=True)  # as one fire of a bundled hook leaves it
    setup = set_up(Options())
    assert (setup.dialect.name, setup.dialect_reason) == ("eve", "found ./agent/hooks")
    assert setup.notice == "", "nobody is told at every command of what a fire has left"
    (home / ".openclaw/openclaw.json").write_text("{}")
    setup = set_up(Options())
    assert setup.dialect.name == "openclaw"
    assert setup.notice == "Found OpenClaw and Eve: using openclaw; --dialect picks another."


def test_a_host_without_settings_has_its_project_for_everything(here: Path, opened: OpenProject) -> None:
    host = opened()
    assert (host.state, host.workspace, host.settings.exists) == (here, here, False)
    assert host.problems == host.settings.problems == ()
    assert watched_paths(host).folders == (here / "agent/hooks",)
    assert watched_paths(host).names_by_folder == {here: frozenset(DOTENV)}

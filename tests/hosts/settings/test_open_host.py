"""A host as it is opened: where its settings, its workspace and its folders are found."""

import json
from pathlib import Path

import pytest

from hookscope.hosts.dialects import DIALECTS, GUIDES
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.hook import FilePosition
from hookscope.model.host import Host, Overrides
from hookscope.model.machine import Machine


def opened(home: Path, dialect: str = "openclaw", **env: str) -> Host:
    here = Machine("linux", {"HOME": str(home), **env}, cwd=home, home=home)
    return open_host(DIALECTS[dialect], here, Overrides())


def write_settings(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def sources(host: Host) -> dict[str, Path]:
    return {folder.source: folder.path for folder in host.folders_of("folder")}


@pytest.mark.parametrize("dialect", [guide.name for guide in GUIDES if "folder" in guide.kinds])
def test_host_without_settings_uses_default_folders(dialect: str, home: Path) -> None:
    host = opened(home, dialect)
    name = dialect.partition("@")[0]
    assert host.settings.file == home / f".{name}" / f"{name}.json"
    assert not host.settings.exists
    assert sources(host) == {
        "managed": home / f".{name}/hooks",
        "workspace": home / f".{name}/workspace/hooks",
    }
    assert host.problems == ()


def test_every_value_has_its_file_and_line(home: Path) -> None:
    file = home / ".openclaw/openclaw.json"
    write_settings(file, "// mine\n{\n  hooks: {\n    internal: { enabled: true,\n  entries: {a: {}} } } }\n")
    settings = opened(home).settings
    assert settings.get(("hooks", "internal", "enabled")) is True
    assert settings.locate(("hooks", "internal", "enabled")) == FilePosition(file, 4, 26)
    assert settings.locate(("hooks", "internal", "entries", "a")) == FilePosition(file, 5, 16)
    assert settings.locate(("hooks", "nothing")) is None


def test_workspace_setting_overrides_the_environment_variable(home: Path) -> None:
    assert opened(home, OPENCLAW_WORKSPACE_DIR="~/from-variable").workspace == home / "from-variable"
    write_settings(home / ".openclaw/openclaw.json", '{agents: {defaults: {workspace: "~/from-settings"}}}')
    assert opened(home, OPENCLAW_WORKSPACE_DIR="~/from-variable").workspace == home / "from-settings"


def test_variables_move_the_state_folder_and_the_settings(home: Path) -> None:
    moved = opened(home, OPENCLAW_STATE_DIR=str(home / "elsewhere"))
    assert moved.settings.file == home / "elsewhere/openclaw.json"
    assert sources(moved)["managed"] == home / "elsewhere/hooks"
    assert opened(home, OPENCLAW_CONFIG_PATH="~/my.json").settings.file == home / "my.json"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "openclaw.json, line 1, column 1: unclosed object"),
        ("[]", "must contain an object"),
        ('{"a": "\x01', "openclaw.json, line 1"),
    ],
)
def test_unreadable_settings_count_as_empty_and_report_the_place(text: str, says: str, home: Path) -> None:
    write_settings(home / ".openclaw/openclaw.json", text)
    host = opened(home)
    assert host.settings.value == {}
    (problem,) = host.settings.problems
    assert says in problem.text
    assert problem.place is not None


@pytest.mark.parametrize(
    ("extra", "folders", "problems"),
    [
        (["./own", "~/more", " ", "/abs"], ["own", "more", "/abs"], 0),
        ("./own", [], 1),
        ([5, "./own"], ["own"], 1),
        ({}, [], 1),
    ],
)
def test_extra_folders_are_used_or_reported(
    extra: object, folders: list[str], problems: int, home: Path
) -> None:
    settings = {"hooks": {"internal": {"load": {"extraDirs": extra}}}}
    write_settings(home / ".openclaw/openclaw.json", json.dumps(settings))
    host = opened(home)
    found = [folder.path.name for folder in host.folders if folder.source == "extra"]
    assert found == [Path(name).name for name in folders]
    assert len(host.problems) == problems
    assert all("extraDirs needs a list of strings" in problem.text for problem in host.problems)


WRONG = {
    "{internal: []}": "hooks.internal is ignored: it must be a mapping, not a list",
    "{internal: {entries: 5}}": "hooks.internal.entries is ignored: it must be a mapping, not the num",
    "{internal: {handlers: {}}}": "hooks.internal.handlers is ignored: it must be a list, not a mapping",
    "{internal: {enabled: 'false'}}": "must be true or false, not the string 'false'",
    "5": "hooks is ignored: it must be a mapping, not the number 5",
    "{internal: {entries: {a: {env: {TOKEN: 5}}}}}": "entries.a.env.TOKEN is ignored: it must be a string",
    "{internal: {entries: {a: true}}}": "entries.a is ignored: it must be a mapping, not true",
    "{internal: {entries: {a: {enabled: 'no'}}}}": "entries.a.enabled is ignored",
}


@pytest.mark.parametrize(("wrong", "says"), WRONG.items())
def test_hooks_settings_of_the_wrong_type_are_ignored_and_reported(wrong: str, says: str, home: Path) -> None:
    write_settings(home / ".openclaw/openclaw.json", f"{{hooks:\n{wrong}}}")
    host = opened(home)
    assert [folder.source for folder in host.folders_of("folder")] == ["workspace", "managed"]
    (problem,) = host.problems
    assert says in problem.text
    assert problem.place is not None
    assert problem.place.line == 2


def test_advice_on_many_unknown_keys_is_about_the_first_ones(home: Path) -> None:
    keys = ", ".join(f'"kez{number}": 1' for number in range(500))
    write_settings(home / ".openclaw/openclaw.json", f"{{{keys}}}")
    (problem,) = opened(home, "openclaw@2026.9").settings.problems
    assert 'take "kez0" out' in problem.text
    assert problem.text.count("take ") == 20

"""Where Hookscope keeps its settings and its state."""

import sys
from pathlib import Path

import pytest

from hookscope.storage.state_files import config_folder, state_folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("HOOKSCOPE_CONFIG_DIR", "HOOKSCOPE_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("xdg", ["", "relative/folder"])
def test_without_a_usable_variable_they_are_where_the_system_keeps_them(
    home: Path, monkeypatch: pytest.MonkeyPatch, xdg: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", xdg)
    monkeypatch.setenv("XDG_STATE_HOME", xdg)
    mac = home / "Library/Application Support/hookscope"
    assert config_folder() == (mac if sys.platform == "darwin" else home / ".config/hookscope")
    assert state_folder() == (mac if sys.platform == "darwin" else home / ".local/state/hookscope")


def test_the_xdg_variables_move_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "conf"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    assert (config_folder(), state_folder()) == (home / "conf/hookscope", home / "state/hookscope")


def test_hookscope_s_own_variables_win(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "conf"))
    monkeypatch.setenv("HOOKSCOPE_CONFIG_DIR", "~/mine")
    monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(home / "ours"))
    assert (config_folder(), state_folder()) == (home / "mine", home / "ours")

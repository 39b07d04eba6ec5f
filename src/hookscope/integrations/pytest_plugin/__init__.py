"""For tests of hooks: the fixtures `hook_host` and `fire`, and saved events collected as tests.

pytest loads this module wherever Hookscope is installed, so at module level it imports nothing
slow except pytest. Each test has its own HOME, state folder and workers; the workspace is the
project's.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hookscope.app.options import Options
    from hookscope.integrations.pytest_plugin.hook_host import HookHost
    from hookscope.model.run import Run

PROJECT_FOLDER, TEST_FOLDERS = ".hookscope", {"events": "saved event", "sequences": "sequence"}
EVENTS_SETTING = "hookscope_events"
TEST_SUFFIXES = (".yaml", ".yml")
STATE_VARIABLE = "HOOKSCOPE_STATE_DIR"
PYTEST_SETTINGS = {
    "hookscope_dialect": "The host whose rules apply to the hooks under test; detected by default.",
    "hookscope_workspace": "The agent's workspace, relative to the root folder, which is the default.",
    "hookscope_home": "A folder to copy as the HOME of each test; by default HOME is empty.",
    "hookscope_environment": "The environment whose variables fill saved events.",
    "hookscope_bundled": "The folder of bundled hooks; by default those that come with Hookscope.",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the settings of the project's pytest configuration. Folders are relative to its root."""
    for name, meaning in PYTEST_SETTINGS.items():
        parser.addini(name, meaning, default="")
    default = [f"{PROJECT_FOLDER}/{name}" for name in TEST_FOLDERS]
    meaning = "Folders of saved events to collect in addition to `testpaths`; empty: none."
    parser.addini(EVENTS_SETTING, meaning, type="linelist", default=default)


def _event_folders(config: pytest.Config) -> list[str]:
    """Return the configured folders that exist, relative to the root folder."""
    return [name for name in config.getini(EVENTS_SETTING) if (config.rootpath / name).is_dir()]


def pytest_configure(config: pytest.Config) -> None:
    """Also collect saved events if pytest takes its folders from `testpaths`."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args += [str(config.rootpath / name) for name in _event_folders(config)]


def pytest_report_header(config: pytest.Config) -> str | None:
    """Report where saved events are collected, unless the command line names other tests."""
    folders = _event_folders(config)
    if not folders or config.args_source is pytest.Config.ArgsSource.ARGS:
        return None
    return f"hookscope: saved events of {', '.join(folders)}"


@pytest.fixture
def hook_options(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Options:
    """The options of the host under test. Override this fixture for another workspace."""
    return _project_options(request.config, tmp_path_factory.mktemp("hookscope") / "home")


@pytest.fixture
def hook_host(
    hook_options: Options, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HookHost]:
    """The host of this test: `look()`, `hook(name)`, `fire(what)`."""
    from hookscope.integrations.pytest_plugin.hook_host import HookHost

    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path_factory.mktemp("hookscope-state")))
    host = HookHost(hook_options)
    try:
        yield host
    finally:
        host.close()


@pytest.fixture
def fire(hook_host: HookHost) -> Callable[..., Run]:
    """`fire("command:new", {"senderId": "me"})` returns the run. Same as `hook_host.fire`."""
    return hook_host.fire


def _project_options(config: pytest.Config, home: Path) -> Options:
    """Return the project's settings as options; creates `home`, as a copy if they name a folder."""
    from hookscope.app.options import Options

    def folder(name: str) -> Path | None:
        given = config.getini(name)
        return config.rootpath / given if given else None

    origin = folder("hookscope_home")
    if origin is None:
        home.mkdir()
    else:
        shutil.copytree(origin, home, symlinks=True)
    return Options(
        dialect=config.getini("hookscope_dialect") or None,
        workspace=folder("hookscope_workspace") or config.rootpath,
        home=home,
        bundled=folder("hookscope_bundled"),
        environment=config.getini("hookscope_environment") or None,
    )


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the project folder with saved events, unless the command line ignores it.

    By default pytest ignores folders with a leading dot.
    """
    has_tests = collection_path.name == PROJECT_FOLDER and any(
        (collection_path / name).is_dir() for name in TEST_FOLDERS
    )
    ignored = [config.invocation_params.dir / path for path in config.getoption("ignore") or ()]
    return False if has_tests and collection_path not in ignored else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect saved events and sequences in `.hookscope` and in the folders of `hookscope_events`."""
    own = [parent.config.rootpath / name for name in parent.config.getini(EVENTS_SETTING)]
    is_test = file_path.suffix in TEST_SUFFIXES and any(file_path.is_relative_to(folder) for folder in own)
    return SavedEventFile.from_parent(parent, path=file_path) if is_test or _test_kind(file_path) else None


def _test_kind(file: Path) -> str:
    """Return the kind of test that a file in the project folder holds; empty if it is not a test."""
    folders = set(pairwise(file.parts[:-1])) if file.suffix in TEST_SUFFIXES else set()
    return next((kind for name, kind in TEST_FOLDERS.items() if (PROJECT_FOLDER, name) in folders), "")


class SavedEventFile(pytest.File):
    """A file with one saved event or one sequence."""

    def collect(self) -> Iterable[pytest.Item]:
        yield SavedEventItem.from_parent(self, name=self.path.stem)


class UnexpectedRun(Exception):
    """The run of a saved event is not what its file expects; one difference a line."""


class SavedEventItem(pytest.Item):
    """A test that fires one saved event."""

    def runtest(self) -> None:
        """Fire the event. Raises UnexpectedRun if the run is not as expected."""
        with _separate_host(self.config) as host:
            result = host.mask(host.test(self.path))
        if not result.passed:
            raise UnexpectedRun("\n".join(result.failure_lines) or "cancelled")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Return only the differences: the traceback does not help."""
        if isinstance(excinfo.value, UnexpectedRun):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{_test_kind(self.path) or 'saved event'} {self.name}"


@contextmanager
def _separate_host(config: pytest.Config) -> Iterator[HookHost]:
    from hookscope.integrations.pytest_plugin.hook_host import HookHost

    with TemporaryDirectory(prefix="hookscope-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv(STATE_VARIABLE, str(Path(folder) / "state"))
        host = HookHost(_project_options(config, Path(folder) / "home"))
        try:
            yield host
        finally:
            host.close()

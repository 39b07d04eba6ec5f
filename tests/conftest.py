"""A home of one's own for every test, and hooks written as folders."""

import asyncio
import gc
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, settings
from tests import end_of_run, rooms, tiers
from tests.drawing import read_styles_once
from tests.forking import Forks

from hookscope.embedding import library
from hookscope.hosts.dialects import SHIPPED
from hookscope.model.host import Dialect

MakeHook = Callable[..., Path]


def newest_shipped(product: str) -> Dialect:
    """The dialect of a host's newest shipped version, whichever that is."""
    return next(dialect for dialect in SHIPPED if dialect.product == product)


# How long an example takes depends on the machine: a property states what holds, not how fast. The gate
# draws the same examples each time, so that it never fails by chance; the thorough run draws new ones.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", PATIENT, max_examples=30, derandomize=True, database=None)
settings.register_profile("thorough", PATIENT, max_examples=100)

# A shell starts what goes on in the background deaf to Ctrl-C, and so would be all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="also run the tests that the gate leaves out")
    parser.addoption(
        "--room",
        action="append",
        default=[],
        metavar="NAME",
        help="run only the tests that a change of this folder or module of src/hookscope can break: its own, "
        "those of every room that imports it, and the architecture tests; may be repeated, and combined with "
        "--thorough, which adds the slow tests of these rooms",
    )
    parser.addoption("--at-least", type=int, default=0, metavar="N", help="fail where fewer tests ran")


def pytest_configure(config: pytest.Config) -> None:
    for name in config.getoption("room"):
        if name not in rooms.MAY_IMPORT:
            known = ", ".join(rooms.MAY_IMPORT)
            raise pytest.UsageError(f"--room: src/hookscope has no room {name!r}. The rooms are: {known}")
    settings.load_profile("thorough" if config.getoption("thorough") else "gate")
    config.addinivalue_line("markers", "thorough: left out of the gate; `pytest --thorough` runs it too")
    config.addinivalue_line("markers", "environment: its answer depends on how the environment was made")
    config.pluginmanager.register(end_of_run)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the test modules that no change of the requested rooms can break, before they are imported."""
    names = config.getoption("room")
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if names and is_test and not rooms.can_break(names, collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the tests into the gate and the rest, and leave the rest out of the gate."""
    rest = {*tiers.thorough(items)}
    for item in rest:
        item.add_marker("thorough")
    named = config.getoption("-m") or any("::" in name for name in config.args)
    if not config.getoption("thorough") and not named:
        config.hook.pytest_deselected(items=[item for item in items if item in rest])
        items[:] = [item for item in items if item not in rest]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for garbage only in what tests make: six thousand of them take half a second each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)  # a console makes and drops more than the usual 700 with every key


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home that no test shares, with Hookscope's own state inside it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOOKSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("OPENCLAW", "MILADY", "ELIZA"):
        for what in ("STATE_DIR", "CONFIG_PATH", "WORKSPACE_DIR"):
            monkeypatch.delenv(f"{name}_{what}", raising=False)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def styles() -> Iterator[None]:
    """What stands in a stylesheet is read once for all consoles."""
    with pytest.MonkeyPatch.context() as patch:
        read_styles_once(patch)
        yield


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Calls of the command line that do not pay for starting Python."""
    calls = Forks()
    yield calls
    calls.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "hooks").mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def process_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The engine that a process has one of: a new one for every test, whose workers end with it."""
    monkeypatch.setattr(library._ProcessEngine, "engine", None)
    yield
    if library._ProcessEngine.engine is not None:
        asyncio.run(library.close_hooks())


@pytest.fixture
def make_hook() -> MakeHook:
    """make_hook(hooks_folder, name, header, handler, file="handler.py") → the hook's folder.

    `header` is the YAML under `metadata:`; `handler` the source of its handler.
    """

    def make(
        hooks: Path,
        name: str,
        metadata: str,
        handler: str = "def handler(event): pass\n",
        *,
        file: str = "handler.py",
        description: str = "A hook of the tests.",
    ) -> Path:
        folder = hooks / name
        folder.mkdir(parents=True, exist_ok=True)
        header = f"---\nname: {name}\ndescription: {description}\nmetadata: {dedent(metadata).strip()}\n---\n"
        (folder / "HOOK.md").write_text(header)
        (folder / file).write_text(dedent(handler))
        return folder

    return make

"""Importing handlers: each folder is its own world, and a change in it is seen."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookscope.runtime.python_worker.handler_modules import PREFIX, NoHandler, forget, import_handler

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a hook's folder: file by file, `__` in a name stands for a folder."""

    def make(name: str, **files: str) -> Path:
        for stem, text in files.items():
            file = tmp_path / name / f"{stem.replace('__', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path / name

    return make


@pytest.fixture(autouse=True)
def _nothing_stays_loaded() -> Iterator[None]:
    path, names = list(sys.path), set(sys.modules)
    yield
    assert sys.path == path
    for name in [name for name in sys.modules if name.startswith(PREFIX)]:
        forget([name.removeprefix(PREFIX).partition(".")[0]])
    assert not {name for name in set(sys.modules) - names if "util" in name}


def load(root: Path, export: str = "default", name: str = "") -> Any:
    return import_handler(str(root / "handler.py"), export, str(root), name or root.name)


def test_two_hooks_may_both_have_a_util(write: Write) -> None:
    text = "import util\ndef handler(event): return util.NAME"
    one = load(write("one", handler=text, util="NAME = 'one'"))
    two = load(write("two", handler=text, util="NAME = 'two'"))
    assert (one(None), two(None)) == ("one", "two")


def test_an_import_inside_a_function_finds_its_own_folder_too(write: Write) -> None:
    text = "def handler(event):\n    from util import NAME\n    return NAME"
    one = load(write("one", handler=text, util="NAME = 'one'"))
    two = load(write("two", handler=text, util="NAME = 'two'"))
    assert (one(None), two(None)) == ("one", "two")


@pytest.mark.parametrize(
    "statement",
    [
        "import lib.deep as deep",
        "from lib import deep",
        "from lib.deep import X; deep = __import__('types').SimpleNamespace(X=X)",
        "import lib.deep; deep = lib.deep",
        "from . import lib; from .lib import deep",
        "from lib.deep import *; deep = __import__('types').SimpleNamespace(X=X)",
    ],
)
@pytest.mark.parametrize("package", [True, False])
def test_every_form_of_import_works(write: Write, statement: str, package: bool) -> None:
    files = {"lib____init__": ""} if package else {}
    root = write("one", handler=f"{statement}\ndef handler(event): return deep.X", lib__deep="X = 5", **files)
    assert load(root)(None) == 5


def test_helpers_import_helpers(write: Write) -> None:
    root = write("one", handler="import a\ndef handler(event): return a.b.X", a="import b", b="X = 5")
    assert load(root)(None) == 5


def test_the_folder_comes_before_the_standard_library_for_its_own_modules_only(write: Write) -> None:
    root = write("one", handler="import json\ndef handler(event): return json.X", json="X = 5")
    assert load(root)(None) == 5
    import json

    assert json.loads("[1]") == [1]


def test_a_folder_without_init_does_not_hide_an_installed_module(write: Write) -> None:
    root = write("one", handler="import json\ndef handler(event): return json.loads('5')", json__notes="")
    assert load(root)(None) == 5


def test_another_name_loads_everything_anew(write: Write) -> None:
    text = "import util\ndef handler(event): return util.X"
    root = write("one", handler=text, util="X = 1")
    assert load(root, name="first")(None) == 1
    write("one", util="X = 2")
    assert load(root, name="first")(None) == 1
    forget(["first"])
    assert load(root, name="second")(None) == 2


def test_no_cache_is_written_beside_the_handler(write: Write) -> None:
    root = write("one", handler="import util\ndef handler(event): ...", util="")
    load(root)
    assert sorted(path.name for path in root.iterdir()) == ["handler.py", "util.py"]


def test_a_dataclass_in_a_handler_works(write: Write) -> None:
    text = """
from __future__ import annotations
from dataclasses import dataclass, KW_ONLY
@dataclass
class A:
    _: KW_ONLY
    x: int
def handler(event): return A(x=5).x
"""
    assert load(write("one", handler=text))(None) == 5


@pytest.mark.parametrize(
    ("text", "export", "found"),
    [
        ("def handler(e): return 1\ndef default(e): return 2", "default", 2),
        ("def handler(e): return 1", "default", 1),
        ("def handler(e): return 1\ndef other(e): return 2", "other", 2),
        ("from functools import partial\nhandler = partial(lambda x, e: x, 3)", "handler", 3),
    ],
)
def test_the_export_is_found(write: Write, text: str, export: str, found: int) -> None:
    assert load(write("one", handler=text), export)(None) == found


@pytest.mark.parametrize(
    ("text", "export", "reason"),
    [
        ("def on_new(e): ...", "default", "handler.py has no `handler`; it defines `on_new`"),
        ("X = 1", "default", "handler.py has no `handler`; it defines no functions"),
        ("def handler(e): ...", "on_new", "handler.py has no `on_new`; it defines `handler`"),
        ("class handler: ...", "default", "`handler` in handler.py is a class; a handler is a function"),
        ("handler = 'x'", "default", "`handler` in handler.py is a str, not a function"),
        ("handler = 5", "default", "`handler` in handler.py is an int, not a function"),
    ],
)
def test_what_is_no_handler_is_refused_with_the_names_there_are(
    write: Write, text: str, export: str, reason: str
) -> None:
    with pytest.raises(NoHandler, match=f"^{reason}"):
        load(write("one", handler=text), export)


def test_a_failed_import_leaves_nothing_loaded_and_is_tried_again(write: Write) -> None:
    root = write("one", handler="import util\nraise KeyError(1)", util="")
    with pytest.raises(KeyError):
        load(root)
    assert [name for name in sys.modules if name.startswith(f"{PREFIX}one.")] == []
    write("one", handler="def handler(event): return 5")
    assert load(root)(None) == 5

"""Folders in one another far deeper than Python's own calls may go, and files far larger than any handler."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.project_config import files_below
from hookscope.app.runs.breakpoints import breakpoint_files
from hookscope.app.trust_requests import trust_request
from hookscope.app.workbench import Workbench
from hookscope.engine.examination import handler_digest
from hookscope.model.machine import RealFiles
from hookscope.model.run import CallGroup, Code, Event, Plan, Registration
from hookscope.model.trust import TrustTarget
from hookscope.packs.file_tree import entries_below, remove_tree
from hookscope.packs.index import digests_below
from hookscope.runtime.handler_code import digest_of
from hookscope.storage.journal.run_environment import FileDigests

DEPTH = sys.getrecursionlimit() + 200


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder with a module at its top and one at its bottom."""
    root = tmp_path / "pack"
    try:
        os.makedirs(root / "a")
        bottom = root.joinpath(*["d"] * DEPTH)
        here = root
        for _ in range(DEPTH):
            here /= "d"
            here.mkdir()
        for folder in (root, bottom):
            (folder / "m.py").write_text("first")
    except OSError:
        remove_tree(root)
        pytest.skip("no path is that long here")
    yield root
    remove_tree(root)
    assert not root.exists()


def test_folders_may_be_deeper_than_the_recursion_limit(deep: Path) -> None:
    last = "/".join(["d"] * DEPTH) + "/m.py"
    handler = Registration("command", "h", Code(deep / "m.py", "handler", deep, "python"))
    known = FileDigests()
    before = digests_below(deep), digest_of(deep), known.of_calls([handler])
    assert dict(before[0]).keys() == {"m.py", last}
    assert sum(is_folder for _, is_folder in entries_below(deep)) == DEPTH + 1
    (deep / last).write_text("and then another")
    assert digest_of(deep) != before[1]
    assert [one.what for one in known.changed(before[2])] == ["beside"]


def test_searches_go_deeper_than_the_recursion_limit(deep: Path) -> None:
    """The files for breakpoints, the handlers that trust would allow, and saved events."""
    bottom = deep.joinpath(*["d"] * DEPTH)
    (bottom / "HOOK.md").write_text("---\nname: h\n---\n")
    for name in ("handler.py", "event.yaml"):
        (bottom / name).write_text("")
    call = Registration("command", "h", Code(deep / "m.py", "handler", deep, "python"))
    system = Workbench(Options(workspace=deep)).dialect.system_of("folder")
    plan = Plan(Event("command"), 0, (CallGroup((call,)),), (), system.policy(Event("command")))
    view = Workbench(Options(workspace=deep)).scan()
    assert bottom / "handler.py" in breakpoint_files(plan)[0]
    assert trust_request(view, TrustTarget(deep)).handlers == 1
    assert list(files_below(deep)) == [bottom / "event.yaml"]


def test_digest_reads_no_pipe_and_no_huge_file(tmp_path: Path) -> None:
    large, pipe, small = tmp_path / "large.py", tmp_path / "pipe.py", tmp_path / "small.py"
    small.write_text("x")
    large.touch()
    os.truncate(large, 1 << 40)
    os.mkfifo(pipe)
    found = [handler_digest(path, RealFiles()) for path in (large, pipe, tmp_path / "none.py", small)]
    assert found[:3] == [None, None, None]
    assert found[3] is not None

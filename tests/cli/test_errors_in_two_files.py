"""An error through two files of a hook is told from the inside out, and placed at the inner line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.analysis.fuzzing import failure_mark
from hookscope.cli.render.run_output import error_lines
from hookscope.console.panes.fire.run_source import own_frames
from hookscope.model.failure import Failure, Frame
from hookscope.model.machine import real_machine
from hookscope.model.run import Code, Registration, Result

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

NEW = '{openclaw: {events: ["command:new"]}}'
FAILS = "def fails(value):\n    return 1 / value\n"
CALLS = "from util_of_it import fails\n\n\ndef handler(event):\n    fails(0)\n"
EVENT = "event: command:new\ncontext: {}\nexpect: {errors: 0}\n"


@pytest.fixture
def two(workspace: Path, make_hook: MakeHook, hookscope: Program) -> Path:
    """A trusted hook whose handler calls a function of a file beside it."""
    folder = make_hook(workspace / "hooks", "two", NEW, CALLS)
    (folder / "util_of_it.py").write_text(FAILS)
    assert hookscope("trust", "hooks").code == 0
    return folder


def test_a_run_shows_both_lines_innermost_first(hookscope: Program, two: Path) -> None:
    fired = hookscope("fire", "command:new", "--only", "two", "--json")
    (result,) = fired.json["results"]
    places = [(Path(frame["file"]).name, frame["line"]) for frame in result["error"]["frames"]]
    assert places == [("handler.py", 5), ("util_of_it.py", 2)]
    shown = hookscope("fire", "command:new", "--only", "two").out
    assert 0 < shown.index("util_of_it.py:2") < shown.index("return 1 / value") < shown.index("handler.py:5")
    page = two / "run.html"
    assert hookscope("export", "1", "--html", str(page)).code == 0
    text = page.read_text()
    assert text.index("util_of_it.py:2") < text.index("handler.py:5")


def test_a_test_names_the_innermost_line_of_the_hook(hookscope: Program, two: Path, workspace: Path) -> None:
    (workspace / ".hookscope/events").mkdir(parents=True)
    (workspace / ".hookscope/events/new.yaml").write_text(EVENT)
    done = hookscope("test")
    assert done.code == 1
    assert "+ two: ZeroDivisionError: division by zero (util_of_it.py:2)" in done.out


def test_a_failed_load_is_placed_at_the_innermost_line_of_the_hook(hookscope: Program, two: Path) -> None:
    (two / "util_of_it.py").write_text(f"{FAILS}\n\nfails(0)\n")
    assert hookscope("load", "two").code == 1
    assert "ZeroDivisionError: division by zero (util_of_it.py:2)" in hookscope("list").out


OUTER, INNER = (
    Frame("/w/hooks/two/handler.py", 5, "handler", ""),
    Frame("/w/hooks/two/util.py", 2, "fails", ""),
)
ELSEWHERE = Frame("/lib/json.py", 9, "loads", "")
CALL = Registration("command:new", "two", Code(Path(OUTER.file), "default", Path("/w/hooks/two"), "python"))


def test_the_console_opens_the_innermost_line_of_the_hook() -> None:
    assert own_frames((OUTER, INNER, ELSEWHERE), CALL) == ((INNER, OUTER), (ELSEWHERE,))
    assert own_frames((ELSEWHERE, OUTER), CALL) == ((OUTER,), (ELSEWHERE,))


def test_fuzz_distinguishes_failures_by_the_innermost_line() -> None:
    def failed(*frames: Frame) -> Result:
        return Result(CALL, "error", error=Failure("ValueError", "bad", frames, phase="run"))

    assert failure_mark(failed(OUTER, INNER)) == ("two", "ValueError", (INNER.file, 2))
    assert failure_mark(failed(OUTER, INNER)) != failure_mark(failed(OUTER))
    assert failure_mark(failed(OUTER, ELSEWHERE)) != failure_mark(failed(OUTER, INNER))
    assert failure_mark(failed()) == ("two", "ValueError", None)


def test_a_long_stack_shows_its_innermost_four_lines() -> None:
    frames = tuple(Frame(f"/w/f{number}.py", number, "f", "") for number in range(1, 7))
    lines = error_lines(Failure("ValueError", "bad", frames, phase="run"), real_machine())
    assert [line.partition(":")[0].rpartition("/")[2] for line in lines[1:]] == [
        "f6.py", "f5.py", "f4.py", "f3.py",
    ]  # fmt: skip

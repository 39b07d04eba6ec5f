"""Whoever is killed, and however many write at once: the file is whole and no edit is lost."""

import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from hookscope.formats.json5 import read_json5
from hookscope.storage.edits.atomic_files import STEPS
from hookscope.storage.edits.change import Applied, Change, apply_change

OLD, NEW = b'{"a": 1} // ' + b"x" * 100_000, b'{"a": 2} // ' + b"y" * 150_000

KILLED = """
import os, signal, sys
from pathlib import Path
from hookscope.storage.edits.change import Change, apply_change

def step(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

file = Path(sys.argv[1])
old, new = (Path(name).read_bytes() if name else None for name in sys.argv[3:5])
apply_change(Change(file, "", old, new), step=step)
"""

TOGGLES = """
import sys
from pathlib import Path
from hookscope.storage.edits.atomic_files import Stale
from hookscope.storage.edits.change import apply_change, change_of
from hookscope.model.hook import Edit

file = Path(sys.argv[1])
for number in range(60):
    edit = Edit(file, ("entries", sys.argv[2], f"e{number}"), number % 2 == 0, "")
    while True:
        try:
            apply_change(change_of(file, [edit]), timeout=60)
            break
        except Stale:
            pass
"""


def python(program: str, *arguments: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)])


def test_the_tested_steps_are_all_steps_of_a_write(tmp_path: Path) -> None:
    seen: list[str] = []
    apply_change(Change(tmp_path / "file", "", None, NEW), step=seen.append)
    assert tuple(seen) == STEPS


KILLS: list[tuple[str, bytes | None, bytes | None, str]] = [
    *(("set", OLD, NEW, step) for step in STEPS),
    *(("new", None, NEW, step) for step in STEPS),
    *(("gone", OLD, None, step) for step in STEPS[STEPS.index("replace") :]),
]


@pytest.mark.parametrize(
    ("before", "after", "step"), [kill[1:] for kill in KILLS], ids=[f"{kill[0]}-{kill[3]}" for kill in KILLS]
)
def test_a_kill_at_any_step_leaves_the_old_or_the_new_file(
    tmp_path: Path, before: bytes | None, after: bytes | None, step: str
) -> None:
    file = tmp_path / "settings.json"
    sides = [written(tmp_path / "old", before), written(tmp_path / "new", after)]
    written(file, before)
    assert python(KILLED, file, step, *sides).wait(60) == -signal.SIGKILL
    now = file.read_bytes() if file.exists() else None
    assert now == (after if step in ("sync folder", "done") else before)
    assert apply_change(Change(file, "", now, b"{}")) == Applied(), "the dead hold no lock"


def written(file: Path, content: bytes | None) -> str:
    """The name of a file with this content; empty for none."""
    if content is None:
        return ""
    file.write_bytes(content)
    return str(file)


def test_four_concurrent_processes_lose_no_edit(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(b"{\r\n  // all of them\r\n  entries: {},\r\n}")
    children = [python(TOGGLES, file, f"p{number}") for number in range(4)]
    assert [child.wait(120) for child in children] == [0] * 4
    edits = {f"e{number}": number % 2 == 0 for number in range(60)}
    assert read_json5(file.read_bytes()) == {"entries": {f"p{number}": edits for number in range(4)}}
    assert file.read_bytes().startswith(b"{\r\n  // all of them\r\n  entries: {\r\n    p")


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(OLD)
    seen: list[bool] = []
    writer = Thread(target=write_to_and_fro, args=(file,))
    writer.start()
    while writer.is_alive():
        seen.append(file.read_bytes() in (OLD, NEW))
    writer.join()
    assert seen
    assert all(seen)


def write_to_and_fro(file: Path) -> None:
    change = Change(file, "", OLD, NEW)
    for _ in range(50):
        apply_change(change)
        apply_change(change.undo())

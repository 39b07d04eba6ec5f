"""Guarded firing: what is copied, what is said of the rest, what was done to it, and that it is gone then."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.runtime.bounded_copy import CopyBounds
from hookscope.runtime.file_changes import MAX_LISTED
from hookscope.runtime.sandbox import Sandbox, find_bwrap

BWRAP = find_bwrap(os.environ.get("PATH", ""))
walled = pytest.mark.skipif(BWRAP is None, reason="no bubblewrap that works here")
runs = settings(
    max_examples=int(os.environ.get("HOOKSCOPE_PROPERTY_RUNS", "150")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def unwalled(*folders: Path, bounds: CopyBounds | None = None) -> Sandbox:
    return Sandbox(folders, bwrap=None, bounds=bounds or CopyBounds())


def held(folder: Path) -> dict[str, bytes]:
    """All files and links below, and what they hold."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink():
                found[str(path.relative_to(folder))] = b"-> " + os.fsencode(os.readlink(path))
            elif path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def states(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Mode, size and time of everything below, and of the folder."""
    paths = [folder, *folder.rglob("*")]
    return {
        str(path): (status.st_mode, status.st_size, status.st_mtime_ns)
        for path in paths
        for status in [path.lstat()]
    }


def written(path: Path, content: str = "one\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


# Any tree, any edits

NAMES = ("a", "b", "ü\n", "-x", ".hidden")
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
contents = st.one_of(st.binary(max_size=8), st.sampled_from([b"one\ntwo\n", b"one\nthree\n", b"\0" * 9]))
targets = st.one_of(paths, st.sampled_from(["../a", ".", "nowhere", "/etc", "../../../x"]))
writes = st.tuples(st.just("write"), paths, contents)
links = st.tuples(st.just("link"), paths, targets.map(os.fsencode))
others = st.tuples(st.sampled_from(["remove", "lock", "again", "pipe"]), paths, st.just(b""))


def make(folder: Path, kind: str, path: str, content: bytes) -> None:
    """One edit, as far as it is possible."""
    file = folder / path
    with suppress(OSError):
        if kind == "write":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        elif kind == "link":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.symlink_to(os.fsdecode(content))
        elif kind == "remove" and file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        elif kind == "remove":
            file.unlink()
        elif kind == "again":
            file.write_bytes(file.read_bytes())
        elif kind == "lock":
            file.chmod(0o500)


@runs
@given(
    tree=st.lists(st.one_of(writes, links), max_size=12),
    edits=st.lists(st.one_of(writes, links, others), max_size=12),
    inner=st.sampled_from([None, "a", "a/b"]),
)
def test_changes_are_the_differences_and_the_originals_stay(
    tree: list[tuple[str, str, bytes]], edits: list[tuple[str, str, bytes]], inner: str | None
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name), "home")
        folder.mkdir()
        for kind, path, content in tree:
            if "/" not in os.fsdecode(content) or kind != "link":
                make(folder, kind, path, content)
        originals = states(Path(name)), held(folder)
        with unwalled(*([folder / inner] if inner else []), folder) as sandbox:
            copy = sandbox.copy_of(folder)
            before = held(copy.parent)  # a link may lead one up
            assert before.keys() == held(folder.parent).keys()
            assert not sandbox.changes().listed
            for kind, path, content in edits:
                if content not in (b"/etc", b"../../../x"):  # never to write through
                    make(copy, kind, path, content)
            after = held(copy.parent)
            expected = {
                folder.parent / path: "written"
                if path not in before
                else "changed"
                if path in after
                else "deleted"
                for path in before.keys() | after.keys()
                if before.get(path) != after.get(path)
            }
            changes = sandbox.changes()
            assert {change.path: change.kind for change in changes.listed} == expected
            assert [change.path for change in changes.listed] == sorted(expected)
            assert (changes.more, changes.unreadable, sandbox.check_originals().changed) == (0, 0, ())
        assert (states(Path(name)), held(folder)) == originals
        assert not sandbox.temporary.parent.exists()


# What is copied


def test_folders_inside_of_each_other_are_copied_once(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", tmp_path / "home" / "work" / "agent"
    written(workspace / "notes.md")
    written(home / ".host" / "state.json")
    with unwalled(workspace, home / ".host", home) as sandbox:
        copy = sandbox.copy_of(home)
        assert sandbox.copy_of(workspace / "notes.md") == copy / "work" / "agent" / "notes.md"
        assert held(copy) == held(home)
        assert sandbox.isolation.copied_folders == (workspace, home / ".host", home)
        assert sandbox.isolation.skipped_notes == ()


def test_a_path_outside_and_one_that_begins_alike_stay(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with unwalled(tmp_path / "work") as sandbox:
        assert sandbox.copy_of(tmp_path / "workshop" / "a") == tmp_path / "workshop" / "a"
        assert sandbox.copy_of(tmp_path) == tmp_path
        assert sandbox.copy_of(tmp_path / "work" / "new" / "file") != tmp_path / "work" / "new" / "file"


def test_the_paths_of_the_copies_are_put_back_in_any_text(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abcdefghijkl"]
    with unwalled(*folders) as sandbox:
        for folder in folders:
            copy = sandbox.copy_of(folder / "x.py")
            assert sandbox.original_of(f'File "{copy}", {copy.parent}.') == f'File "{folder}/x.py", {folder}.'


def test_a_folder_named_through_a_link_is_found_by_both_names(tmp_path: Path) -> None:
    written(tmp_path / "real" / "a")
    (tmp_path / "named").symlink_to("real")
    with unwalled(tmp_path / "named") as sandbox:
        copy = sandbox.copy_of(tmp_path / "named" / "a")
        assert copy == sandbox.copy_of(tmp_path / "real" / "a")
        copy.write_text("two\n")
        assert [change.path for change in sandbox.changes().listed] == [tmp_path / "named" / "a"]


def test_modes_and_times_are_kept_and_set_user_bits_are_not(tmp_path: Path) -> None:
    script = written(tmp_path / "w" / "bin" / "run")
    os.utime(script, ns=(5_000_000_000, 7_000_000_001))
    script.chmod(0o4755)
    script.parent.chmod(0o555)
    with unwalled(tmp_path / "w") as sandbox:
        status = sandbox.copy_of(script).stat()
        assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o755, 7_000_000_001)
        assert stat.S_IMODE(sandbox.copy_of(script.parent).stat().st_mode) == 0o555
        assert stat.S_IMODE(sandbox.temporary.parent.stat().st_mode) == 0o700
    script.parent.chmod(0o755)


@pytest.mark.parametrize("bwrap", [None, pytest.param(BWRAP, marks=walled)])
def test_links_lead_into_the_copies_or_behind_walls_where_they_led(tmp_path: Path, bwrap: str | None) -> None:
    work, state = tmp_path / "work", tmp_path / "state"
    written(work / "a")
    written(state / "s")
    written(tmp_path / "outside")
    for name, target in {
        "near": "a",
        "far": str(work / "a"),
        "other": "../state/s",
        "out": "../outside",
        "loop": "loop",
        "lost": "gone",
        "round": "../work/a",
    }.items():
        (work / name).symlink_to(target)
    with Sandbox([work, state], bwrap=bwrap) as sandbox:
        copy = sandbox.copy_of(work)
        led = {path.name: os.path.realpath(path) for path in copy.iterdir() if path.is_symlink()}
        assert led["near"] == led["far"] == led["round"] == str(copy / "a")
        assert led["other"] == str(sandbox.copy_of(state / "s"))
        outside = tmp_path / "outside"
        assert led["out"] == str(sandbox.start_folder_of(outside))
        assert (led["out"] == str(outside)) is (bwrap is not None)
        assert Path(led["out"]).read_text() == "one\n"
        assert (os.readlink(copy / "loop"), led["lost"]) == ("loop", str(copy / "gone"))


def test_what_is_no_file_is_left_out_and_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with unwalled(tmp_path) as sandbox:
            assert held(sandbox.copy_of(tmp_path)) == {}
            assert sandbox.isolation.skipped_notes == (
                f"Not copied from {tmp_path}: pipe, s (devices, sockets and pipes).",
            )


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_left_out_and_said(tmp_path: Path) -> None:
    written(tmp_path / "secret").chmod(0)
    (tmp_path / "locked").mkdir(mode=0)
    with unwalled(tmp_path) as sandbox:
        (said,) = sandbox.isolation.skipped_notes
        assert "secret" in said
        assert "what locked holds" in said
        assert "permission denied" in said
    (tmp_path / "locked").chmod(0o700)


def test_caches_are_left_out_and_summed_up(tmp_path: Path) -> None:
    for name in (".cache", ".npm", "p/__pycache__", "q/__pycache__", "r/__pycache__", ".venv"):
        written(tmp_path / name / "x")
    with unwalled(tmp_path) as sandbox:
        assert held(sandbox.copy_of(tmp_path)) == {}
        assert sandbox.isolation.skipped_notes == (
            f"Not copied from {tmp_path}: .cache, .npm, p/__pycache__ and 2 more (caches).",
            f"Not copied from {tmp_path}: .venv (installed packages).",
        )


@walled
def test_behind_walls_node_modules_is_the_original_through_a_link(tmp_path: Path) -> None:
    written(tmp_path / "node_modules" / "left-pad" / "index.js")
    with Sandbox([tmp_path], bwrap=BWRAP) as sandbox:
        assert sandbox.copy_of(tmp_path / "node_modules").readlink() == tmp_path / "node_modules"
        assert sandbox.changes().listed == ()
        assert "linked to the original" in sandbox.isolation.skipped_notes[0]


def test_a_workspace_below_node_modules_is_copied_and_never_the_original(tmp_path: Path) -> None:
    workspace = written(tmp_path / "node_modules" / "agent" / "a").parent
    with unwalled(tmp_path, workspace) as sandbox:
        sandbox.copy_of(workspace / "a").write_text("two\n")
        assert [change.path for change in sandbox.changes().listed] == [workspace / "a"]
        assert (workspace / "a").read_text() == "one\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_git_reads_the_original_and_writes_the_copy(tmp_path: Path) -> None:
    def git(folder: Path, *words: str) -> str:
        names = ("-c", "user.name=a", "-c", "user.email=a@b")
        argv = ("git", *names, *words)
        return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout

    written(tmp_path / "a")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    before = states(tmp_path)
    with unwalled(tmp_path) as sandbox:
        copy = sandbox.copy_of(tmp_path)
        written(copy / "b", "new")
        git(copy, "add", "b")
        git(copy, "commit", "--quiet", "--message", "second")
        assert git(copy, "log", "--format=%s").split() == ["second", "first"]
    assert states(tmp_path) == before


def test_a_path_through_a_link_from_outside_leads_into_the_copies_too(tmp_path: Path) -> None:
    work = written(tmp_path / "real" / "work" / "sub" / "f").parents[1]
    (tmp_path / "alias").symlink_to("real")
    (tmp_path / "deep").symlink_to("real/work/sub")
    with Sandbox([work], bwrap=None, start_folders=[tmp_path / "deep"]) as sandbox:
        copy = sandbox.copy_of(work)
        assert sandbox.copy_of(tmp_path / "alias" / "work" / "sub" / "new") == copy / "sub" / "new"
        assert sandbox.copy_of(tmp_path / "deep" / "f") == copy / "sub" / "f"
        assert sandbox.start_folder_of(tmp_path / "deep") == copy / "sub"
        assert sandbox.environment({"PWD": str(tmp_path / "deep")})["PWD"] == str(copy / "sub")
        assert sandbox.copy_of(tmp_path / "alias") == tmp_path / "alias"


# Bounds


def test_large_files_are_left_out_and_said(tmp_path: Path) -> None:
    written(tmp_path / "small")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with unwalled(tmp_path) as sandbox:
        assert held(sandbox.copy_of(tmp_path)).keys() == {"small"}
        assert sandbox.isolation.skipped_notes == (
            f"Not copied from {tmp_path}: sparse (larger than 4 MiB).",
        )


def test_bounds_cut_the_last_folder_first_and_what_lies_deep(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "home" / "z" / "work"
    for number in range(10):
        written(work / f"w{number}")
        written(home / f"h{number}")
        written(home / "deep" / "deeper" / f"d{number}")
    with unwalled(work, home, bounds=CopyBounds(files=25)) as sandbox:
        copied = held(sandbox.copy_of(home))
        assert {name for name in copied if name.startswith("z/work/")} == {f"z/work/w{n}" for n in range(10)}
        assert {f"h{number}" for number in range(10)} <= copied.keys()
        (said,) = sandbox.isolation.skipped_notes
        assert said.endswith("(over the limit of 25 files and folders).")


def test_a_large_folder_leaves_something_to_those_behind_it(tmp_path: Path) -> None:
    for number in range(50):
        written(tmp_path / "work" / str(number))
    written(tmp_path / "state" / "s")
    with unwalled(tmp_path / "work", tmp_path / "state", bounds=CopyBounds(files=8)) as sandbox:
        assert len(held(sandbox.copy_of(tmp_path / "work"))) == 6
        assert held(sandbox.copy_of(tmp_path / "state")) == {"s": b"one\n"}


def test_bytes_have_bounds_too(tmp_path: Path) -> None:
    for name in "abc":
        written(tmp_path / name, "x" * 40)
    with unwalled(tmp_path, bounds=CopyBounds(total=100)) as sandbox:
        assert held(sandbox.copy_of(tmp_path)).keys() == {"a", "b"}
        assert sandbox.isolation.skipped_notes == (
            f"Not copied from {tmp_path}: c (over the limit of 100 bytes in total).",
        )


def test_copies_are_not_copied_into_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with unwalled(tmp_path) as sandbox:
        assert sandbox.temporary.is_relative_to(tmp_path)
        assert held(sandbox.copy_of(tmp_path)) == {"a": b"one\n"}


# What was done


def test_a_change_is_told_as_a_diff_of_the_original(tmp_path: Path) -> None:
    written(tmp_path / "log", "one\ntwo\n")
    written(tmp_path / "gone", "end")
    with unwalled(tmp_path) as sandbox:
        copy = sandbox.copy_of(tmp_path)
        (copy / "log").write_text(f"one\nin {copy}\n")
        (copy / "gone").unlink()
        (copy / "new").write_bytes(b"\xff")
        gone, log, new = sandbox.changes().listed
    assert (log.kind, log.before, log.path) == ("changed", 8, tmp_path / "log")
    assert log.diff == f"--- a/log\n+++ b/log\n@@ -1,2 +1,2 @@\n one\n-two\n+in {tmp_path}\n"
    assert (gone.kind, gone.before, gone.after) == ("deleted", 3, None)
    assert gone.diff == "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-end\n\\ No newline at end of file\n"
    assert (new.kind, new.before, new.after, new.diff) == ("written", None, 1, "")


def test_a_write_beside_a_folder_is_seen(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with unwalled(tmp_path / "work") as sandbox:
        written(sandbox.copy_of(tmp_path / "work") / ".." / "beside")
        assert [change.path for change in sandbox.changes().listed] == [tmp_path / "beside"]


def test_what_is_made_of_a_folder_that_was_not_there_is_seen(tmp_path: Path) -> None:
    with unwalled(tmp_path / "state") as sandbox:
        written(sandbox.copy_of(tmp_path / "state" / "s"))
        assert [change.path for change in sandbox.changes().listed] == [tmp_path / "state" / "s"]
        assert sandbox.isolation.copied_folders == ()


def test_very_many_changes_are_counted(tmp_path: Path) -> None:
    with unwalled(tmp_path) as sandbox:
        for number in range(MAX_LISTED + 5):
            (sandbox.copy_of(tmp_path) / str(number)).touch()
        changes = sandbox.changes()
        assert (len(changes.listed), changes.more) == (MAX_LISTED, 5)


def test_a_write_past_the_copies_is_told(tmp_path: Path) -> None:
    file = written(tmp_path / "a")
    with unwalled(tmp_path) as sandbox:
        file.write_text("past the copies")
        assert [(one.path, one.kind) for one in sandbox.check_originals().changed] == [(file, "changed")]
        sandbox.copy_of(file).write_text("in the copies")
        (change,) = sandbox.changes().listed
        assert (change.kind, change.diff) == ("changed", "")  # the text before is gone with the original


# What is left


def very_deep(copy: Path) -> None:
    folder = os.open(copy, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("deep", dir_fd=folder)
        below = os.open("deep", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)


def very_many(copy: Path) -> None:
    for number in range(2_000):
        (copy / str(number)).touch()


def locked_up(copy: Path) -> None:
    written(copy / "a" / "b" / "c").chmod(0)
    (copy / "a" / "b").chmod(0)
    (copy / "a").chmod(0)
    copy.chmod(0)


def looping(copy: Path) -> None:
    (copy / "a").symlink_to("b")
    (copy / "b").symlink_to("a")
    (copy / "up").symlink_to("..")
    os.mkfifo(copy / "pipe")


@pytest.mark.parametrize("mess", [very_deep, very_many, locked_up, looping])
def test_nothing_is_left_whatever_was_done(tmp_path: Path, mess: Callable[[Path], None]) -> None:
    written(tmp_path / "work" / "kept")
    written(tmp_path / "work" / "out" / "kept")
    before = states(tmp_path)
    sandbox = unwalled(tmp_path / "work")
    (sandbox.copy_of(tmp_path / "work") / "!link").symlink_to(tmp_path / "work" / "out")
    mess(sandbox.copy_of(tmp_path / "work"))
    changes = sandbox.changes()
    assert tmp_path / "work" / "!link" in [change.path for change in changes.listed]
    assert bool(changes.unreadable) is (mess is very_deep)
    assert sandbox.close()
    assert sandbox.close()
    assert not sandbox.temporary.parent.exists()
    assert states(tmp_path) == before


# Walls


def test_without_bwrap_the_command_stays_and_the_result_says_so(tmp_path: Path) -> None:
    with unwalled(tmp_path) as sandbox:
        assert sandbox.argv(["python", "-c", ""]) == ("python", "-c", "")
        assert sandbox.isolation.level == "copies"
        assert "Nothing else restricted them" in sandbox.isolation.text


def test_variables_that_are_paths_lead_to_the_copies(tmp_path: Path) -> None:
    home = written(tmp_path / "home" / "bin" / "x").parents[1]
    env = {"HOME": str(home), "PATH": f"{home}/bin:/bin", "WORD": "home", "ELSE": "/etc"}
    with unwalled(home) as sandbox:
        mapped = sandbox.environment(env)
        assert mapped == env | {
            "HOME": str(sandbox.copy_of(home)),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(sandbox.temporary)),
        }


@pytest.mark.parametrize("script", ["exit 1", "exit 0"])
def test_a_bwrap_counts_if_it_works(tmp_path: Path, script: str) -> None:
    program = written(tmp_path / "bwrap", f"#!/bin/sh\n{script}\n")
    assert find_bwrap([str(tmp_path)]) is None  # nobody may execute it
    program.chmod(0o755)
    assert find_bwrap(str(tmp_path)) == (str(program) if script == "exit 0" else None)
    assert find_bwrap(["", ".", "relative"]) is None


TRIES = """
import os, socket, sys
from pathlib import Path

def tried(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return "done"

home, original, pid, port, descriptor = sys.argv[1:]
print(tried(lambda: Path(home, "seen").write_text(home)))
print(tried(lambda: Path("here").write_text("")))
print(tried(lambda: Path("/tmp/hookscope-of-a-test").write_text("")))
print(tried(lambda: os.write(int(descriptor), b"through")))
print(tried(lambda: Path(original, "past").write_text("")))
print(tried(lambda: os.kill(int(pid), 0)))
print(tried(lambda: socket.create_connection(("127.0.0.1", int(port)), 1)))
"""


@walled
def test_behind_walls_there_are_the_copies_and_nothing_else(tmp_path: Path) -> None:
    home = written(tmp_path / "home" / "tries.py", TRIES).parent
    into, out = os.pipe()
    with Sandbox([home], bwrap=BWRAP) as sandbox, socket.create_server(("127.0.0.1", 0)) as server:
        copy, port = sandbox.copy_of(home), server.getsockname()[1]
        words = map(str, (copy / "tries.py", copy, home, os.getpid(), port, out))
        argv = sandbox.argv([sys.executable, *words])
        done = subprocess.run(argv, cwd=copy, pass_fds=[out], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["done"] * 4 + [
            "OSError",
            "ProcessLookupError",
            "ConnectionRefusedError",
        ]
        assert done.stderr == ""
        assert os.read(into, 100) == b"through"
        assert [change.path for change in sandbox.changes().listed] == [home / "here", home / "seen"]
        assert sandbox.changes().listed[1].diff.splitlines()[-2:] == [
            f"+{home}",
            "\\ No newline at end of file",
        ]
        assert sandbox.isolation.level.startswith("bubblewrap")
        assert "no network" in sandbox.isolation.text
    os.close(into)
    os.close(out)
    assert not Path("/tmp/hookscope-of-a-test").exists()


@walled
@pytest.mark.parametrize(
    ("lacks", "sockets"), [("--seccomp", False), ("--unshare-user-try", True), ("nothing", True)]
)
def test_a_bwrap_that_lacks_something_puts_up_the_walls_it_can(
    tmp_path: Path, lacks: str, sockets: bool
) -> None:
    script = f'#!/bin/sh\nfor word; do [ "$word" = {lacks} ] && exit 1; done\nexec {BWRAP} "$@"\n'
    program = written(tmp_path / "bin" / "bwrap", script)
    program.chmod(0o755)
    (tmp_path / "box").mkdir()
    with Sandbox([tmp_path / "box"], bwrap=str(program)) as sandbox:
        walls, done = sandbox.isolation, sandbox.argv(["touch", str(tmp_path / "elsewhere")])
        assert walls.level == ("bubblewrap with socket filter" if sockets else "bubblewrap")
        assert bool(walls.warning) is not sockets
        assert ("services that listen on a Unix socket" in walls.text) is not sockets
        assert lacks not in done
        assert subprocess.run(done, check=False, capture_output=True).returncode == 1
    assert not (tmp_path / "elsewhere").exists()


STRAY = """
import os, time
ready, written = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os.read(ready, 1)
        os._exit(0)
    os.write({descriptor}, b"stray")
    os.write(written, b".")
    time.sleep(600)
    os._exit(0)
{then}
"""


@walled
@pytest.mark.parametrize("then", ["time.sleep(600)", "os.wait()"], ids=["killed", "over"])
def test_behind_walls_nothing_outlives_its_command(tmp_path: Path, then: str) -> None:
    into, out = os.pipe()
    with Sandbox([tmp_path], bwrap=BWRAP) as sandbox:
        argv = sandbox.argv([sys.executable, "-c", STRAY.format(descriptor=out, then=then)])
        with subprocess.Popen(argv, pass_fds=[out], start_new_session=True) as process:
            os.close(out)
            assert os.read(into, 100) == b"stray"
            if then != "os.wait()":
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            with suppress(ProcessLookupError):  # as the owner of a worker does after every end
                os.killpg(process.pid, signal.SIGKILL)
        assert os.read(into, 100) == b""  # the last holder of the other end is gone
    os.close(into)


@walled
def test_behind_walls_a_status_passes_and_a_signal_becomes_one(tmp_path: Path) -> None:
    with Sandbox([tmp_path], bwrap=BWRAP) as sandbox:
        for end, status in (("os._exit(7)", 7), ("os.kill(os.getpid(), 11)", 128 + 11)):
            argv = sandbox.argv([sys.executable, "-c", f"import os; {end}"])
            assert subprocess.run(argv, check=False).returncode == status


@walled
def test_what_is_needed_below_tmp_is_shown(tmp_path: Path) -> None:
    with TemporaryDirectory(dir="/tmp") as shown, TemporaryDirectory(dir="/tmp") as hidden:
        written(Path(shown, "a"))
        written(Path(hidden, "a"))
        with Sandbox([tmp_path / "none"], bwrap=BWRAP) as sandbox:
            argv = sandbox.argv(["ls", "/tmp"], readable_paths=[Path(shown, "a")])
            seen = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
        assert Path(shown).name in seen
        assert Path(hidden).name not in seen


def test_what_is_to_be_apart_is_neither_copied_nor_watched(tmp_path: Path) -> None:
    journal = tmp_path / "home/.local/state/ours/journal.db"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"old")
    (tmp_path / "home/file").touch()
    with Sandbox([tmp_path / "home"], bwrap=None, excluded=[journal.parent]) as sandbox:
        journal.write_bytes(b"a run was recorded")
        assert sandbox.check_originals().changed == ()
        copy = Path(sandbox.copy_of(tmp_path / "home"))
        assert (copy / "file").exists()
        assert not (copy / ".local/state/ours").exists()


# Links, without walls


@pytest.mark.parametrize("target", ["/dev/null", "/dev/full", "/dev/urandom"])
def test_links_to_harmless_devices_stay(tmp_path: Path, target: str) -> None:
    (tmp_path / "link").symlink_to(target)
    with unwalled(tmp_path) as sandbox:
        assert sandbox.copy_of(tmp_path / "link").readlink() == Path(target)
        assert sandbox.isolation.skipped_notes == ()


@pytest.mark.parametrize("target", ["/dev/tty", "/proc/self/status", "/proc/sys/kernel/hostname", "/proc"])
def test_links_to_devices_and_to_the_kernel_lead_nowhere(tmp_path: Path, target: str) -> None:
    (tmp_path / "link").symlink_to(target)
    with unwalled(tmp_path) as sandbox:
        if os.access(target, os.W_OK):
            led = os.path.realpath(sandbox.copy_of(tmp_path / "link"))
            assert led.startswith(str(sandbox.temporary.parent))
            assert "link (a link to " in sandbox.isolation.skipped_notes[0]


def test_what_exceeds_the_bounds_is_missing_and_never_the_original(tmp_path: Path) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    written(outside / "large", "x" * 200)
    for number in range(10):
        written(outside / "many" / str(number))
        written(work / "node_modules" / "p" / str(number))
    for name in ("large", "many"):
        (work / name).symlink_to(f"../outside/{name}")
    before = states(tmp_path)
    bounds = CopyBounds(files=10, largest=100)
    with Sandbox([work], bwrap=None, bounds=bounds, packages=CopyBounds(files=5)) as sandbox:
        copy = sandbox.copy_of(work)
        (copy / "large").write_text("new")
        (copy / "many" / "9").write_text("new")
        (copy / "node_modules" / "p" / "9").write_text("new")
        assert {change.kind for change in sandbox.changes().listed} == {"written"}
        assert len(sandbox.changes().listed) == 3
        said = " ".join(sandbox.isolation.skipped_notes)
        assert f"Not copied from {outside}: large (larger than 100 bytes)." in said
        assert f"Not copied from {outside}/many:" in said
        assert "(over the limit of 5 files and folders)" in said
    assert {path: state for path, state in states(tmp_path).items() if path.startswith(str(work))} == {
        path: state for path, state in before.items() if path.startswith(str(work))
    }
    assert states(outside) == {path: state for path, state in before.items() if path.startswith(str(outside))}


def test_packages_of_a_folder_around_the_workspace_are_copied_and_no_others(tmp_path: Path) -> None:
    workspace = written(tmp_path / "repository/packages/agent/a").parent
    written(tmp_path / "repository/node_modules/hoisted/index.js")
    written(tmp_path / "other/node_modules/dep/index.js")
    with unwalled(workspace, tmp_path) as sandbox:
        assert sandbox.copy_of(tmp_path / "repository/node_modules/hoisted/index.js").read_text() == "one\n"
        assert not sandbox.copy_of(tmp_path / "other/node_modules").exists()
        assert sandbox.isolation.skipped_notes == (
            f"Not copied from {tmp_path}: other/node_modules (installed packages).",
        )


def test_links_in_a_circle_and_to_what_holds_them_end(tmp_path: Path) -> None:
    work = written(tmp_path / "work" / "a").parent
    written(tmp_path / "b" / "c")
    for path, target in {"up": "..", "self": ".", "one": "two", "two": "one", "b": "../b"}.items():
        (work / path).symlink_to(target)
    (tmp_path / "b" / "back").symlink_to("../work")
    before = states(tmp_path)
    with unwalled(work) as sandbox:
        copy = sandbox.copy_of(work)
        written(copy / "up" / "b" / "back" / "b" / "c", "two\n")
        assert [change.path for change in sandbox.changes().listed] == [tmp_path / "b" / "c"]
    assert states(tmp_path) == before


def test_a_file_that_only_others_write_is_read_through_its_link(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everything")
    work, own = tmp_path / "work", written(tmp_path / "own")
    own.chmod(0o400)
    work.mkdir()
    (work / "link").symlink_to("/etc/passwd")
    (work / "own").symlink_to(own)
    with unwalled(work) as sandbox:
        assert sandbox.copy_of(work / "link").readlink() == Path("/etc/passwd")
        sandbox.copy_of(work / "own").chmod(0o600)
    assert stat.S_IMODE(own.stat().st_mode) == 0o400


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_git_in_a_linked_working_tree_does_not_write_the_original(tmp_path: Path) -> None:
    def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        argv = ("git", "-c", "user.name=a", "-c", "user.email=a@b", *words)
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)

    (tmp_path / "main").mkdir()
    git(tmp_path / "main", "init", "--quiet")
    git(tmp_path / "main", "commit", "--quiet", "--allow-empty", "--message", "first")
    git(tmp_path / "main", "worktree", "add", "--quiet", str(tmp_path / "tree"))
    before = states(tmp_path)
    with unwalled(tmp_path / "tree") as sandbox:
        assert "(git would write to the original)" in sandbox.isolation.skipped_notes[0]
        git(sandbox.copy_of(tmp_path / "tree"), "commit", "--quiet", "--allow-empty", "--message", "second")
    assert states(tmp_path) == before


@walled
def test_a_program_behind_several_links_below_tmp_is_found(tmp_path: Path) -> None:
    with TemporaryDirectory(dir="/tmp") as first, TemporaryDirectory(dir="/tmp") as second:
        Path(first, "cat").symlink_to("/usr/bin/env")
        Path(second, "cat").symlink_to(f"{first}/cat")
        with TemporaryDirectory(dir="/tmp") as third, Sandbox([tmp_path], bwrap=BWRAP) as sandbox:
            Path(third, "cat").symlink_to(f"{second}/cat")
            argv = sandbox.argv([f"{third}/cat", "true"])
            assert subprocess.run(argv, check=False).returncode == 0


def test_closing_one_removes_what_killed_processes_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, workspace = tmp_path / "temporary", tmp_path / "workspace"
    temporary.mkdir()
    written(workspace / "notes")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(workspace)],
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    (abandoned,) = temporary.iterdir()
    unrelated = temporary / "hookscope-sandbox.txt"
    unrelated.write_text("mine")
    with unwalled(workspace) as used, unwalled(workspace) as other:
        roots = {used.temporary.parent, other.temporary.parent}
        for folder in (abandoned, *roots):
            os.utime(folder, (0, 0))
        other.close()
        assert used.temporary.is_dir()  # in use, however old
    assert list(temporary.iterdir()) == [unrelated]


KILLED = """
import os, signal, sys
from pathlib import Path
from hookscope.runtime.sandbox import Sandbox
Sandbox([Path(sys.argv[1])], bwrap=None)
os.kill(os.getpid(), signal.SIGKILL)
"""

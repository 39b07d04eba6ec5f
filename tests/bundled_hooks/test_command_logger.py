"""command-logger: whole lines, all of them, in a bounded log."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bundled_hooks.conftest import BUNDLED, Fire, FireHere

WRITER = """
import asyncio, pathlib, select, sys
from hookscope import create_hook_event, load_hooks, trigger_hook

replace = pathlib.Path.replace

def slow_replace(path, target):
    select.select([], [], [], 0.005)  # a slow disk: whoever decided without the lock comes too late
    return replace(path, target)

async def main(bundled, writer, count, room):
    if room < 0:
        pathlib.Path.replace = slow_replace
    if room > 0:
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    await load_hooks(bundled_dir=bundled, internal_config={"entries": {"session-memory": {"enabled": False}}})
    for number in range(count):
        if room < 0:  # one line at each word from outside
            print(flush=True)
            sys.stdin.readline()
        event = create_hook_event("command", "new", f"{writer}-{number}", {"senderId": "x" * 300})
        for result in (await trigger_hook(event)).results:
            if result.status != "ok":
                print(result.error.message)

asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
"""
LIMIT = 5 * 1024 * 1024


@pytest.fixture
def logs(home: Path) -> Path:
    return home / ".openclaw" / "logs"


def write(writer: int, count: int, room: int = 0) -> subprocess.Popen[str]:
    arguments = [str(BUNDLED), str(writer), str(count), str(room)]
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", WRITER, *arguments], stdin=pipe, stdout=pipe, text=True)


def sessions(path: Path) -> list[str]:
    return [json.loads(line)["sessionKey"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("dialect", ["openclaw", "milady", "eliza"])
def test_each_host_has_its_own_log(fire: Fire, home: Path, dialect: str) -> None:
    fire("command-logger", "command:reset", {"commandSource": None, "senderId": "Zoë"}, dialect=dialect)
    (line,) = (home / f".{dialect}/logs/commands.log").read_text().splitlines()
    shown = json.loads(line)
    assert line == json.dumps(shown, separators=(",", ":"), ensure_ascii=False)  # as guide 004 prints it
    assert shown.pop("timestamp").endswith("Z")
    assert shown == {"action": "reset", "sessionKey": "s1", "senderId": "Zoë", "source": "unknown"}


def test_eight_writers_lose_and_mix_nothing_while_the_log_is_moved_aside(logs: Path) -> None:
    logs.mkdir(parents=True)
    old = json.dumps({"sessionKey": "old"}) + "\n"
    count = (LIMIT - 300_000) // len(old)  # room for about 700 of the 1,600 lines
    (logs / "commands.log").write_text(old * count)
    writers = [write(writer, 200) for writer in range(8)]
    assert [writer.communicate(timeout=120)[0] for writer in writers] == [""] * 8
    before, after = sessions(logs / "commands.log.1"), sessions(logs / "commands.log")
    assert len(before) > count
    assert len(after) > 200
    written = [session for session in before + after if session != "old"]
    assert sorted(written) == sorted(f"{writer}-{number}" for writer in range(8) for number in range(200))
    for writer in range(8):  # and each writer's lines in its own order
        own = [session for session in written if session.startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}" for number in range(200)]
    assert (logs / "commands.log.1").stat().st_size <= LIMIT


def test_the_log_is_moved_aside_once_though_all_writers_find_it_full(logs: Path) -> None:
    logs.mkdir(parents=True)
    rounds = 10
    writers = [write(writer, rounds, room=-1) for writer in range(8)]
    ready = [writer.stdout for writer in writers if writer.stdout]
    for number in range(rounds):
        assert [stream.readline() for stream in ready] == ["\n"] * 8  # the round before has ended too
        assert_moved_once(logs, number)
        with open(logs / "commands.log", "wb") as full:
            full.truncate(LIMIT)
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
    assert [writer.communicate(timeout=60)[0] for writer in writers] == [""] * 8
    assert_moved_once(logs, rounds)


def assert_moved_once(logs: Path, number: int) -> None:
    """What the round before `number` left: the full log aside, and every writer's line in the new one."""
    if number:
        assert (logs / "commands.log.1").stat().st_size == LIMIT
        assert sorted(sessions(logs / "commands.log")) == [f"{writer}-{number - 1}" for writer in range(8)]


def test_a_full_disk_is_said_and_leaves_no_half_line(logs: Path) -> None:
    out, _ = write(0, 5, room=1500).communicate(timeout=60)
    assert "No space left on device" in out
    assert sessions(logs / "commands.log") == ["0-0", "0-1", "0-2"]


async def test_hostile_field_stays_on_one_line(fire_here: FireHere, logs: Path) -> None:
    hostile = 'a\n"b"\u2028\ud800'
    result = await fire_here("command-logger", "command:new", {"senderId": hostile, "commandSource": {1, 2}})
    assert result.status == "ok"
    (line,) = (logs / "commands.log").read_bytes().split(b"\n")[:-1]
    assert json.loads(line)["senderId"] == hostile


def test_a_folder_that_cannot_be_made_is_a_failure(fire: Fire, logs: Path) -> None:
    logs.parent.mkdir()
    logs.write_text("in the way")
    run = fire("command-logger", "command:new", {}, code=1)
    assert str(logs) in run["result"]["error"]["message"]

"""What a tap does to its host – nothing – and what it writes. Both languages, loaded as hosts load them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.recording.conftest import Agent

EVENTS = [
    ("command", "new", {"senderId": "dev", "commandSource": "telegram"}),
    ("message", "received", {"from": "+15550100", "content": "Grüße 🐙\n\u2028[/x]"}),
]
# Each makes a context that is not JSON, keeps what it holds, and looks at it again afterwards.
HOSTILE = {
    "typescript": """
const cycle = { a: 1 }; cycle.self = cycle;
const before = { keys: 0, at: new Date(0) };
const context = {
  when: before.at, big: 12345678901234567890n, small: 5n, bytes: Buffer.from("hello"), cycle,
  nothing: undefined, call() {}, get boom() { process.exit(3); }, map: new Map([["k", new Set([1])]]),
  error: new Error("no"), nan: NaN, symbol: Symbol("s"), text: "x".repeat(30_000),
  many: Array.from({ length: 1_000 }, (_, i) => i),
  proxy: new Proxy({}, { ownKeys() { throw new Error("mine"); } }), lone: "a\\ud800b", bad: new Date(NaN),
};
const shape = Object.keys(context).join();
tap(event(context));
tap(null); tap({}); tap(new Proxy({}, { get() { throw new Error("mine"); } }));
if (Object.keys(context).join() !== shape || cycle.self !== cycle) throw new Error("changed");
let deep = {}; for (let i = 0; i < 100_000; i++) deep = { deep };
tap(event({ deep }, "command", "deep"));
const wide = {}; for (let i = 0; i < 3_000; i++) wide[`k${i}`] = { v: "\\u0000".repeat(1_000) };
tap(event(wide, "command", "wide"));
""",
    "python": """
from datetime import datetime, timezone
class Boom:
    __slots__ = ()
    def __str__(self): raise SystemError("mine")
class Odd(dict):
    def items(self): raise RuntimeError("mine")
cycle = {"a": 1}; cycle["self"] = cycle
context = {
    "when": datetime(1970, 1, 1, tzinfo=timezone.utc), "big": 12345678901234567890, "small": 5,
    "bytes": b"hello", "cycle": cycle, "call": print, "map": {"k": {1}}, "error": ValueError("no"),
    "nan": float("nan"),
    "text": "x" * 30_000, "many": list(range(1_000)), "proxy": Odd(a=1), "boom": Boom(), "lone": "a\\ud800b",
    "huge": 2 ** 100_000,
}
shape = list(context)
tap(event(context))
tap(None); tap({})
assert list(context) == shape and cycle["self"] is cycle
deep = {}
for _ in range(100_000): deep = {"deep": deep}
tap(event({"deep": deep}, "command", "deep"))
tap(event({f"k{i}": {"v": "\\0" * 1_000} for i in range(3_000)}, "command", "wide"))
while deep: deep = deep.pop("deep")
""",
}


def test_every_event_is_one_line_with_all_fields(agent: Agent) -> None:
    agent.send(*EVENTS)
    first, second = agent.lines()
    assert first["key"] == "command:new"
    assert (first["type"], first["action"], first["kind"], first["tap"]) == ("command", "new", "folder", 1)
    assert (first["session"], first["timestamp"]) == ("agent:main:main", "2026-11-20T12:00:00.000Z")
    assert (first["host"], first["language"]) == ("openclaw", agent.language)
    assert first["context"] == EVENTS[0][2]
    assert second["context"] == EVENTS[1][2]
    assert (second["pid"], second["seq"]) == (first["pid"], first["seq"] + 1)
    assert not {"cut", "left_out"} & first.keys()
    modes = [path.stat().st_mode & 0o777 for path in (agent.spool, agent.spool / "events.jsonl")]
    assert modes == [0o700, 0o600]  # its user's own


def test_settings_are_omitted_and_secret_keys_masked(agent: Agent) -> None:
    context = {
        "cfg": {"x": 1},
        "apiKey": "abc",
        "auth": {"bot_token": "xyz", "maxTokens": 5, "headers": {"Set-Cookie": ["a=b"]}},
        "continuationToken": "t1",
        "sessionKey": "s1",
    }
    asking = {"content": "see ${SECRET:AWS_KEY} and ${HOME}", "${SECRET:A}": 1}
    agent.send(("command", "new", context), ("message", "received", asking))
    line, foreign = agent.lines()
    assert line["left_out"] == ["cfg"]
    assert line["context"] == {
        "apiKey": "${SECRET:API_KEY}",
        "auth": {
            "bot_token": "${SECRET:AUTH_BOT_TOKEN}",
            "maxTokens": 5,
            "headers": {"Set-Cookie": ["${SECRET:AUTH_HEADERS_SET_COOKIE_0}"]},
        },
        "continuationToken": "t1",
        "sessionKey": "s1",
    }
    # Fired again, an event gets its secrets from the environment: those that the tap took out, and no others.
    assert foreign["context"] == {"content": "see $ {SECRET:AWS_KEY} and ${HOME}", "$ {SECRET:A}": 1}


def test_values_of_secret_variables_and_known_shapes_are_masked_in_texts(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery-77")
    monkeypatch.setenv("SIGNING_KEY", 'line one of it\nline "two" of it')
    monkeypatch.setenv("DEPLOY_DIR", "/srv/deploy/of/ours")
    github = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
    said = [
        "got correct-horse-battery-77 back",
        json.dumps({"inner": 'line one of it\nline "two" of it'}),
        'only line "two" of it',
        f"clone with {github}",
        "from /srv/deploy/of/ours with sk-learn-is-a-library",
        "x" * 19_990 + "correct-horse-battery-77",
    ]
    agent.send(("message", "received", {"said": said, "correct-horse-battery-77": 1}))
    (line,) = agent.lines()
    assert line["context"]["said"][:5] == [
        "got ${SECRET:MY_API_KEY} back",
        '{"inner": "${SECRET:SIGNING_KEY}"}',
        "only ${SECRET:SIGNING_KEY}",
        "clone with ${SECRET:VALUE}",
        "from /srv/deploy/of/ours with sk-learn-is-a-library",
    ]
    assert "${SECRET:MY_API_KEY}" in line["context"]
    assert "correct-" not in json.dumps(line)


def test_values_that_are_not_json_are_abbreviated_and_not_modified(agent: Agent) -> None:
    agent.run(HOSTILE[agent.language])
    first, deep, wide = agent.lines()
    context: dict[str, Any] = first["context"]
    assert context["when"] == "1970-01-01T00:00:00.000Z"
    assert (context["big"], context["small"], context["bytes"]) == ("12345678901234567890", 5, "<5 bytes>")
    assert context["cycle"] == {"a": 1, "self": "<cycle>"}
    assert context["map"] == {"k": [1]}
    assert context["error"]["message"] == "no"
    assert str(context["nan"]).lower() == "nan"
    assert (len(context["text"]), len(context["many"])) == (20_001, 200)
    assert context["proxy"] == "<unreadable>"
    assert context["lone"] == "a\ud800b"
    assert not {"call", "boom", "nothing", "symbol"} & {
        name for name in context if context[name] != "<unreadable>"
    }
    assert first["cut"] >= 4
    assert json.dumps(deep["context"]).count("deep") <= 14
    assert wide["cut"] >= 1
    sizes = [len(line) for line in (agent.spool / "events.jsonl").read_bytes().splitlines()]
    assert max(sizes) < 256 * 1024


def test_events_fired_by_hookscope_are_not_recorded(agent: Agent) -> None:
    agent.send(*EVENTS, env={"HOOKSCOPE_HOST_STATE": "/somewhere"})
    assert not (agent.spool / "events.jsonl").exists()


def test_without_its_folder_a_tap_writes_nothing(agent: Agent) -> None:
    agent.spool.rmdir()
    agent.send(*EVENTS)
    assert not agent.spool.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_an_unwritable_spool_does_not_affect_the_host(agent: Agent, kind: str) -> None:
    file = agent.spool / "events.jsonl"
    if kind == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    agent.send(*EVENTS)


def test_concurrent_processes_write_whole_lines(agent: Agent) -> None:
    contexts = [("message", "sent", {"n": n, "text": "x" * (n * 37 % 5_000)}) for n in range(150)]
    processes = [agent.start(*contexts) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    for process in processes:
        process.communicate()
    lines = agent.lines()
    by_process: dict[int, list[int]] = {}
    for line in lines:
        by_process.setdefault(line["pid"], []).append(line["context"]["n"])
    assert list(by_process.values()) == [list(range(150))] * 4


def test_a_full_spool_is_rotated_by_any_writer(agent: Agent) -> None:
    agent.changed("8 * 1024 * 1024", "40_000")
    contexts = [("message", "sent", {"n": n, "text": "x" * 500}) for n in range(200)]
    processes = [agent.start(*contexts) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0] * 3
    for process in processes:
        process.communicate()
    files = {path.name: path.stat().st_size for path in agent.spool.iterdir()}
    assert set(files) == {"events.jsonl", "events.jsonl.1"}
    assert max(files.values()) <= 80_000
    old, new = agent.lines("events.jsonl.1"), agent.lines()
    assert old
    assert {line["pid"] for line in old + new} <= {process.pid for process in processes}
    last = {line["pid"]: line["context"]["n"] for line in old + new}
    assert max(last.values()) == 199


def test_a_stale_lock_is_released_soon(agent: Agent) -> None:
    agent.changed("8 * 1024 * 1024", "2_000")
    lock = agent.spool / "events.jsonl.lock"
    lock.touch()
    os.utime(lock, (time.time() - 3_600,) * 2)
    agent.send(*[("message", "sent", {"text": "x" * 900})] * 6)
    assert (agent.spool / "events.jsonl.1").exists()
    assert not lock.exists()


def test_a_spool_that_cannot_be_rotated_stops_growing(agent: Agent) -> None:
    agent.changed("8 * 1024 * 1024", "2_000")
    blocked = agent.spool / "events.jsonl.1"
    (blocked / "x").mkdir(parents=True)
    agent.send(*[("message", "sent", {"text": "x" * 900})] * 20)
    assert (agent.spool / "events.jsonl").stat().st_size <= 4_000


def test_a_line_cut_off_by_a_kill_damages_no_other(agent: Agent) -> None:
    (agent.spool / "events.jsonl").write_text('{"tap":1,"kind":"fol')
    agent.send(EVENTS[0])
    torn, loaded, event = (agent.spool / "events.jsonl").read_text().splitlines()
    assert torn.endswith("fol")
    assert json.loads(loaded)["kind"] == "loaded"
    assert json.loads(event)["key"] == "command:new"


def test_a_tap_finds_its_spool_in_a_container(agent: Agent, tmp_path: Path) -> None:
    """A container sees the state folder elsewhere: the tap finds its spool as seen from itself."""
    state = agent.spool.parent
    moved = tmp_path / "mounted"
    state.rename(moved)
    path = moved / agent.path.relative_to(state)
    Agent(agent.language, path, moved / "hookscope", agent.scratch).send(EVENTS[0])
    assert (moved / "hookscope" / "events.jsonl").exists()

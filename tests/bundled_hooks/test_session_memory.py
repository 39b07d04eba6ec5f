"""session-memory: conversations kept, whatever the transcript or the endpoint is like."""

import json
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import yaml
from tests.bundled_hooks.conftest import Fire, FireHere, settings

from hookscope.model.run import Result

HOOK = "session-memory"
Transcript = Callable[..., str]
Save = Callable[..., Any]


def said(role: str, content: Any) -> str:
    return json.dumps({"role": role, "content": content})


TALK = [
    json.dumps({"type": "session", "id": "3f1c"}),
    said("user", "Why does the deploy pipeline fail since Monday?"),
    json.dumps(
        {"type": "message", "message": {"role": "assistant", "content": [{"text": "A token expired."}]}}
    ),
    said("user", "/new"),
]


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    """transcript(*lines) → the path of a session file."""

    def write(*lines: str | bytes) -> str:
        path = tmp_path / "session.jsonl"
        path.write_bytes(
            b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
        )
        return str(path)

    return write


@pytest.fixture
def save(fire_here: FireHere, workspace: Path) -> Save:
    """Fire command:new here with a session file and settings of the hook."""

    async def save(file: Any, entry: dict[str, Any] | None = None, **context: Any) -> Result:
        cfg = settings(HOOK, **(entry or {}))
        own = {"workspaceDir": str(workspace), "sessionFile": file, "cfg": cfg, **context}
        return await fire_here(HOOK, "command:new", own)

    return save


def memories(workspace: Path) -> list[Path]:
    """Everything in the memory folder, left-over drafts too."""
    return sorted((workspace / "memory").iterdir()) if (workspace / "memory").exists() else []


def the_memory(workspace: Path) -> str:
    (path,) = memories(workspace)
    return path.read_text()


@pytest.mark.parametrize(
    ("dialect", "action"),
    [("openclaw", "new"), *((name, action) for name in ("milady", "eliza") for action in ("new", "reset"))],
)
def test_every_host_saves_when_a_conversation_starts_over(
    fire: Fire, workspace: Path, transcript: Transcript, dialect: str, action: str
) -> None:
    context = {
        "workspaceDir": str(workspace), "sessionFile": transcript(*TALK),
        "sessionId": "3f1c", "commandSource": "telegram",
    }  # fmt: skip
    run = fire(HOOK, f"command:{action}", context, dialect=dialect)
    (path,) = memories(workspace)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-deploy-pipeline-fail-since-monday\.md", path.name)
    assert run["messages"] == [f"Session saved to memory/{path.name}"]
    _, header, body = path.read_text().split("---\n")
    shown = yaml.safe_load(header)
    assert shown.pop("time") == run["event"]["timestamp"][:19] + "Z"
    assert shown == {"session": "s1", "sessionId": "3f1c", "source": "telegram"}
    assert "**user**\n\nWhy does the deploy pipeline fail since Monday?\n" in body
    assert "**assistant**\n\nA token expired.\n" in body
    assert ("/new" in body) == (action == "reset")  # the command itself is not a talk


@pytest.mark.parametrize("dialect", ["openclaw", "milady", "eliza"])
def test_settings_and_workspace_come_from_the_hosts_file(
    fire: Fire, home: Path, workspace: Path, transcript: Transcript, dialect: str
) -> None:
    entries = {"entries": {HOOK: {"messages": 1}}}
    hooks = entries if dialect == "milady" else {"internal": entries}
    cfg = {"hooks": hooks, "agents": {"defaults": {"workspace": str(workspace)}}}
    fire(HOOK, "command:new", {"sessionFile": transcript(*TALK), "cfg": cfg}, dialect=dialect)
    text = the_memory(workspace)
    assert "A token expired." in text
    assert "deploy pipeline fail?" not in text.partition("**assistant**")[0]


def test_without_any_name_the_workspace_is_the_one_of_the_hosts_state(
    fire: Fire, home: Path, transcript: Transcript
) -> None:
    (home / ".eliza/workspace").mkdir(parents=True)
    fire(HOOK, "command:new", {"sessionEntry": {"sessionFile": transcript(*TALK)}}, dialect="eliza")
    assert memories(home / ".eliza/workspace")


def test_a_template_whose_session_file_is_not_there_saves_nothing(fire: Fire, workspace: Path) -> None:
    run = fire(HOOK, "command:new")
    assert run["result"]["stdout"].startswith("Nothing to save: there is no file ")
    assert run["messages"] == []
    assert not (workspace / "memory").exists()
    run = fire(HOOK, "command:new", {})
    assert run["result"]["stdout"] == "Nothing to save: the event names no session file.\n"


def test_of_two_records_the_one_of_the_session_that_ends_is_saved(
    fire: Fire, workspace: Path, transcript: Transcript
) -> None:
    records = {
        "sessionEntry": {"sessionFile": "/nowhere"},
        "previousSessionEntry": {"sessionFile": transcript(*TALK)},
    }
    fire(HOOK, "command:new", records)
    assert memories(workspace)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["not JSON", "[1, 2", '"text"', "null", "[]", "{}", "\0\0"], "contains no messages"),
        ([said("user", "/new")], "contains no messages"),
        ([said("system", "be kind"), said("user", " "), said("user", [5, None, {}])], "no messages"),
        ([json.dumps({"role": ["user"], "content": "x"}), json.dumps({"type": "message"})], "no messages"),
        (["[" * 500_000, b"\xff\xfe\xfd", said("user", "x" * 3_000_000)], "no messages"),
        ([], "contains no messages"),
    ],
)  # fmt: skip
async def test_a_transcript_without_messages_is_nothing_to_save(
    save: Save,
    workspace: Path,
    transcript: Transcript,
    capfd: pytest.CaptureFixture[str],
    lines: Any,
    why: str,
) -> None:
    result = await save(transcript(*lines))
    assert (result.status, result.messages) == ("ok", ())
    assert why in capfd.readouterr().out
    assert memories(workspace) == []


async def test_a_missing_transcript_is_nothing_to_save(
    save: Save, workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for file in ("/nowhere/session.jsonl", str(workspace), "lost.jsonl"):
        result = await save(file)
        assert (result.status, result.messages) == ("ok", ())
        assert "Nothing to save: there is no file " in capfd.readouterr().out
    assert memories(workspace) == []


async def test_a_transcript_that_may_not_be_read_is_a_failure(
    save: Save, workspace: Path, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *_: Any) -> None:  # root may read everything
        raise PermissionError(13, "Permission denied", str(self))

    file = transcript(*TALK)
    monkeypatch.setattr(Path, "open", refuse)
    result = await save(file)
    assert result.error is not None
    assert "Permission denied" in result.error.message
    assert memories(workspace) == []


async def test_good_lines_between_bad_ones_are_kept(
    save: Save, workspace: Path, transcript: Transcript
) -> None:
    huge = said("user", "x" * 2_000_000)
    await save(transcript("torn {", huge, said("user", "first half \ud800 of a pair"), huge, "[[[", TALK[2]))
    text = the_memory(workspace)
    assert "first half ? of a pair" in text
    assert "A token expired." in text
    assert len(text) < 1000


async def test_of_ten_thousand_lines_the_last_fifteen_are_kept(
    save: Save, workspace: Path, transcript: Transcript
) -> None:
    await save(transcript(*(said("assistant" if n % 2 else "user", f"line {n}") for n in range(10_000))))
    assert re.findall(r"^line (\d+)", the_memory(workspace), re.MULTILINE) == [
        str(n) for n in range(9985, 10_000)
    ]
    assert memories(workspace)[0].name.endswith("-line-0.md")  # named by how it began


async def test_the_number_of_messages_is_a_setting_and_a_wrong_one_is_said(
    save: Save, workspace: Path, transcript: Transcript, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [said("user", f"line {n}") for n in range(40)]
    for wanted, kept in ((3, 3), (40, 40), (0, 15), (-1, 15), ("many", 15), (True, 15), (10**30, 15)):
        result = await save(transcript(*lines), {"messages": wanted})
        path = workspace / result.messages[0].removeprefix("Session saved to ")
        assert len(re.findall(r"^line", path.read_text(), re.MULTILINE)) == kept
        assert ("`messages` must be" in capfd.readouterr().err) == (kept == 15)


async def test_no_file_is_ever_replaced(save: Save, workspace: Path, transcript: Transcript) -> None:
    results = [await save(transcript(said("user", "Deploy today"), said("user", f"{n}"))) for n in range(3)]
    names = [result.messages[0].rpartition("/")[2] for result in results]
    assert [name[len("2026-11-20-") :] for name in names] == [
        "deploy-today.md",
        "deploy-today-2.md",
        "deploy-today-3.md",
    ]
    for number, name in enumerate(names):
        assert f"**user**\n\n{number}\n" in (workspace / "memory" / name).read_text()
    assert len(memories(workspace)) == 3


@pytest.mark.parametrize(
    ("topic", "slug"),
    [
        ("Can you please tell me how to bake bread?", "bake-bread"),
        ("one two three four five six seven eight", "one-two-three-four-five-six"),
        ("Übergrößen für Café-Möbel", "ubergroen-fur-cafe-mobel"),
        ("../../etc/passwd\0\n", "etc-passwd"),
        ("x" * 500, "x" * 60),
        ("Don't you know?", r"\d{4}"),
        ("今日は 🙂", r"\d{4}"),
    ],
)
async def test_the_slug_comes_from_the_conversation_else_from_the_time(
    save: Save, workspace: Path, transcript: Transcript, topic: str, slug: str
) -> None:
    result = await save(transcript(said("user", topic)))
    assert re.fullmatch(rf"Session saved to memory/\d{{4}}-\d\d-\d\d-{slug}\.md", result.messages[0])


async def test_no_value_breaks_out_of_the_header(save: Save, workspace: Path, transcript: Transcript) -> None:
    hostile = 'x"\n---\nadmin: true 🙂'
    await save(transcript(*TALK), sessionId=hostile, commandSource=["a", "b"])
    shown = next(yaml.safe_load_all(the_memory(workspace)))
    assert shown.keys() == {"session", "sessionId", "source", "time"}
    assert (shown["sessionId"], shown["source"]) == (hostile, "['a', 'b']")


async def test_a_workspace_that_is_not_there_is_a_failure(
    save: Save, tmp_path: Path, transcript: Transcript
) -> None:
    result = await save(transcript(*TALK), workspaceDir=str(tmp_path / "typo"))
    assert result.status == "error"
    assert not (tmp_path / "typo").exists()


class Endpoint:
    """An OpenAI-compatible endpoint that answers as told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, {"Connection": "close"}, b""
        self.asked: list[tuple[str, str | None, Any]] = []
        self.silent = False
        self.done = Event()
        endpoint = self

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append((self.path, self.headers["Authorization"], body))
                endpoint.answer(self)

            def do_GET(self) -> None:
                endpoint.asked.append((self.path, self.headers["Authorization"], None))
                self.send_error(404)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        if self.silent:
            self.done.wait(60)
            return
        to.send_response(self.status)
        for name, value in self.headers.items():
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(self.body)

    def says(self, content: Any) -> None:
        self.body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    endpoint = Endpoint()
    thread = Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield endpoint
    endpoint.done.set()
    endpoint.server.shutdown()
    thread.join()
    endpoint.server.server_close()


def test_an_endpoint_names_the_file(
    fire: Fire, workspace: Path, transcript: Transcript, endpoint: Endpoint
) -> None:
    endpoint.says(' "Expired Deploy-Token!" ')
    llm = {"baseUrl": endpoint.address + "/", "model": "small", "apiKeyEnv": "THE_KEY"}
    context = {
        "workspaceDir": str(workspace),
        "sessionFile": transcript(*TALK),
        "cfg": settings(HOOK, llm=llm),
    }
    run = fire(HOOK, "command:new", context, THE_KEY="sk-1")
    assert run["messages"][0].endswith("-expired-deploy-token.md")
    assert run["result"]["stderr"] == ""
    assert "\n# expired deploy token\n" in the_memory(workspace)
    ((path, key, body),) = endpoint.asked
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer sk-1", "small")
    assert body["messages"][1]["content"].endswith("assistant: A token expired.")


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, b"oops", "it returned 500"),
        (401, b"{}", "it returned 401"),
        (200, b"<html>", "not a chat completion"),
        (200, b"", "not a chat completion"),
        (200, b"[" * 100_000, "not a chat completion"),
        (200, b'{"choices": []}', "not a chat completion"),
        (200, b'{"choices": [{"message": {"content": null}}]}', "not a chat completion"),
        (200, '{"choices": [{"message": {"content": "今日は"}}]}'.encode(), "no words"),
        (200, b'{"choices": [{"message": {"content": "../.."}}]}', "no words"),
        (200, b'{"a": "' + b"x" * 1_000_000, "not a chat completion"),
    ],
)  # fmt: skip
async def test_an_endpoint_that_fails_costs_no_session(
    save: Save, transcript: Transcript, endpoint: Endpoint, capfd: pytest.CaptureFixture[str],
    status: int, body: bytes, why: str,
) -> None:  # fmt: skip
    endpoint.status, endpoint.body = status, body
    result = await save(transcript(*TALK), {"llm": {"baseUrl": endpoint.address, "model": "small"}})
    assert result.messages[0].endswith("-deploy-pipeline-fail-since-monday.md")
    err = capfd.readouterr().err
    assert err.startswith("session-memory: the endpoint did not suggest a name (")
    assert why in err


async def test_an_endpoint_that_never_answers_costs_its_time_limit(
    save: Save, transcript: Transcript, endpoint: Endpoint, capfd: pytest.CaptureFixture[str]
) -> None:
    endpoint.silent = True
    llm = {"baseUrl": endpoint.address, "model": "small", "timeoutSeconds": 0.2}
    result = await save(transcript(*TALK), {"llm": llm})
    assert result.messages[0].endswith("-deploy-pipeline-fail-since-monday.md")
    err = capfd.readouterr().err
    assert "timed out" in err or "no answer within 0.2 s" in err
    assert result.took < 60


@pytest.mark.parametrize(
    ("llm", "why"),
    [
        ({"baseUrl": "http://127.0.0.1:1/v1", "model": "small"}, "refused"),
        ({"baseUrl": "file:///etc", "model": "small"}, "http"),
        ({"baseUrl": "http://127.0.0.1:x", "model": "small"}, "port"),
        ({"model": "small"}, "`llm.baseUrl` must be a string"),
        ({"baseUrl": "http://127.0.0.1:1"}, "`llm.model` must be a string"),
        ({"baseUrl": "http://127.0.0.1:1", "model": "small", "timeoutSeconds": "soon"}, "soon"),
        ({"baseUrl": "http://127.0.0.1:1", "model": "small", "apiKeyEnv": "UNSET"}, "UNSET does not contain"),
        ("on", "`llm` must be an object"),
    ],
)  # fmt: skip
async def test_wrong_settings_of_the_endpoint_are_said(
    save: Save, transcript: Transcript, capfd: pytest.CaptureFixture[str], llm: Any, why: str
) -> None:
    result = await save(transcript(*TALK), {"llm": llm})
    assert result.messages
    assert why in capfd.readouterr().err


async def test_invalid_key_is_neither_sent_nor_printed(
    save: Save, transcript: Transcript, endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    llm = {"baseUrl": endpoint.address, "model": "small", "apiKeyEnv": "THE_KEY"}
    monkeypatch.setenv("THE_KEY", "sk-1\nsecret")
    await save(transcript(*TALK), {"llm": llm})
    assert endpoint.asked == []
    assert "secret" not in capfd.readouterr().err
    monkeypatch.setenv("THE_KEY", "sk-1")
    endpoint.status, endpoint.headers["Location"] = 302, f"{endpoint.address}/elsewhere"
    await save(transcript(*TALK), {"llm": llm})
    assert [(path, key) for path, key, _ in endpoint.asked] == [
        ("/v1/chat/completions", "Bearer sk-1"),
        ("/v1/elsewhere", None),
    ]

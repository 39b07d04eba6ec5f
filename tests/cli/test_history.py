"""What was fired: narrowed down, pinned, exported, and read again elsewhere."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.done import Done

from hookscope.cli.main import exit_code
from hookscope.cli.shared_options import parse_moment
from hookscope.model.run import Code, Event, Registration
from hookscope.storage.journal.journal import Journal

if TYPE_CHECKING:
    from tests.conftest import MakeHook


Program = Callable[..., Done]
COMMAND = "{openclaw: {events: [command]}}"
HOSTILE = "</pre><script>alert(1)</script> <img src=x onerror=y> &amp; \x1b[31m \u202e"
SECRET = "sk-abcdefghijklmnopqrstuvwxyz123456"
BREAKS = f"""\
def handler(event):
    event.messages.append({HOSTILE!r})
    event.context["seen"] = [1, 2]
    print({HOSTILE!r})
    raise ValueError({HOSTILE!r})
"""


@pytest.fixture
def hookscope(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """The program in this process: these tests ask it often."""

    def run(*arguments: str, cwd: Path = workspace, env: Mapping[str, str] | None = None) -> Done:
        monkeypatch.chdir(cwd)
        with monkeypatch.context() as patch:
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            code = exit_code(list(arguments))
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def fired(hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook) -> Program:
    """Two runs: one that goes well, and one in which everything is hostile."""
    make_hook(
        workspace / "hooks", "good", COMMAND, "def handler(event): event.messages.append('hello there')"
    )
    make_hook(workspace / "hooks", "bad", "{openclaw: {events: ['command:reset']}}", BREAKS)
    fire = ("fire", "--trust", "--bundled", str(bundled))
    hookscope(*fire, "command:new", "--context", json.dumps({"senderId": "Ada"}))
    hookscope(*fire, "command:reset", "--context", json.dumps({"text": HOSTILE, "apiKey": SECRET}))
    return hookscope


def events(program: Program, *arguments: str) -> list[str]:
    return [run["event"] for run in program("log", "--json", *arguments).json["runs"]]


def test_log_options_filter_runs(fired: Program) -> None:
    both = ["command:new", "command:reset"]
    assert events(fired) == events(fired, "--since", "1h") == both
    assert events(fired, "--text", "Hello THERE", "--hook", "good") == both
    assert events(fired, "--outcome", "ok") == events(fired, "--text", "ada") == both[:1]
    assert events(fired, "--outcome", "ok", "--until", "5s") == events(fired, "--until", "2001-01-01") == []
    assert events(fired, "--failed", "--event", "command:reset", "--text", "valueerr*") == both[1:]
    refused = fired("log", "--failed", "--outcome", "ok")
    assert (refused.code, refused.out) == (2, "")
    assert fired("log", "--text", "?!").code == fired("log", "--since", "soon").code == 2
    assert "`--text 'hell*'` finds longer words" in fired("log", "--text", "hell").out


def test_a_run_records_its_settings_and_handlers(fired: Program, workspace: Path, home: Path) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps({"model": "m", "token": SECRET}))
    fired("fire", "command:new", "--trust", "--only", "good")
    told = fired("log", "--json").json
    before, _, after = told["runs"]
    assert (before["settings"], before["version"], before["pinned"]) == (None, None, False)
    assert told["settings"][after["settings"]]["value"] == {"model": "m", "token": "${SECRET:TOKEN}"}
    (handler,) = after["handlers"]
    assert handler["path"] == str(workspace / "hooks" / "good" / "handler.py")
    assert len(handler["digest"]) == 32


def test_a_pinned_run_is_kept_when_older_runs_are_deleted(
    fired: Program, workspace: Path, bundled: Path, make_hook: MakeHook
) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope" / "config.yaml").write_text("journal: {size: 0.5, runs: 2}\n")
    done = fired("pin", "1", "7")
    assert (done.code, done.out) == (1, "Run 1 is pinned.\n")
    assert done.err == "hookscope: There is no run 7 in this workspace. `hookscope log` lists the runs.\n"
    fire = ("fire", "--trust", "--bundled", str(bundled), "--only", "good", *["command:new"] * 4)
    fired(*fire)
    assert [run["id"] for run in fired("log", "--json").json["runs"]] == [1, 2, 5, 6]  # 2 failed
    assert [run["id"] for run in fired("log", "--json", "--pinned").json["runs"]] == [1]
    assert "1 ran, pinned" in fired("log").out
    assert fired("pin", "1", "--off", "--json").json == {"pinned": False, "runs": [1], "missing": []}
    assert fired("log", "--pinned").out.startswith("No run matches.")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("journal: {runs: 0}", "needs a number of runs, above 0"),
        ("journal: {runs: 1.5}", "needs a number of runs, above 0"),
        ("journal: {runs: true}", "needs a number of runs, above 0"),
        ("journal: {size: true}", "needs a size in MiB, above 0"),
        ("journal: {size: many}", "needs a size in MiB, above 0"),
        ("journal: {size: .inf}", "needs a size in MiB, above 0"),
        ("journal: {days: 3}", "has 'days'; valid names are size, runs"),
        ("journal: 5", "must be a mapping with `size`, `runs` or both"),
    ],
)
def test_invalid_journal_limits_are_reported(
    hookscope: Program, workspace: Path, config: str, said: str
) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope" / "config.yaml").write_text(config)
    done = hookscope("log")
    assert done.code == 2
    assert said in done.err


def test_exported_runs_open_on_another_machine(fired: Program, workspace: Path, tmp_path: Path) -> None:
    fired("pin", "2")
    done = fired("export", "--jsonl", "all.jsonl")
    assert (done.code, done.out) == (0, "Wrote 2 runs to all.jsonl.\n")
    here = fired("log", "--json").json["runs"]
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "hooks").mkdir(parents=True)
    file = str(workspace / "all.jsonl")
    away = {"HOOKSCOPE_STATE_DIR": str(tmp_path / "other-state")}
    there = fired("log", "--from", file, "--json", cwd=elsewhere, env=away).json["runs"]
    assert there == here
    for asked in (["--failed"], ["--pinned"], ["--text", "hello there"], ["--until", "5d"], ["--limit", "1"]):
        wanted = [run["id"] for run in fired("log", "--json", *asked).json["runs"]]
        read = fired("log", "--from", file, "--json", *asked, cwd=elsewhere, env=away).json["runs"]
        assert [run["id"] for run in read] == wanted
    shown = [fired("log", "--from", file, cwd=elsewhere, env=away).out, fired("log", "--limit", "2").out]
    read, kept = (re.sub(r"[\d.]+ ms", "ms", text) for text in shown)  # a file has rounded times
    assert read == kept
    assert SECRET not in Path(file).read_text()
    assert not (tmp_path / "other-state").exists()


def test_some_runs_are_exported_by_number_and_by_filter(fired: Program) -> None:
    lines = fired("export", "2", "1", "--jsonl", "-").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [2, 1]
    lines = fired("export", "--failed", "--jsonl", "-").out.splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["failed"]
    assert fired("export", "--jsonl", "x.jsonl", "--limit", "1", "--json").json == {
        "file": "x.jsonl",
        "runs": 1,
    }


@pytest.mark.parametrize("number", ["1e999", "NaN"])
def test_an_invalid_number_in_an_export_is_reported_with_its_line(
    fired: Program, workspace: Path, number: str
) -> None:
    fired("export", "--jsonl", "all.jsonl")
    file = workspace / "all.jsonl"
    file.write_text(re.sub(r'"ms": [\d.]+', f'"ms": {number}', file.read_text()))
    done = fired("log", "--from", "all.jsonl", "--json")
    assert (done.code, done.json["error"]) == (1, "all.jsonl, line 1: it is not JSON.")


CANNOT: tuple[tuple[tuple[str, ...], int, str], ...] = (
    ((), 2, "needs --jsonl FILE or --html FILE"),
    (("--jsonl", "a", "--html", "b"), 2, "needs --jsonl FILE or --html FILE"),
    (("1", "2", "--html", "a"), 2, "An HTML page can hold only one run"),
    (("1", "--failed", "--jsonl", "a"), 2, "run numbers or filters, not both"),
    (("--jsonl", "-", "--json"), 2, "name a file"),
    (("1", "--jsonl", "a", "--limit", "1"), 2, "--limit is only for --jsonl without run numbers"),
    (("--html", "a", "--limit", "1"), 2, "--limit is only for --jsonl without run numbers"),
    (("9", "--html", "a"), 1, "There is no run 9 in this workspace"),
    (("--event", "none", "--jsonl", "a"), 1, "No run matches"),
    (("--jsonl", "no/such/folder/a"), 2, "Cannot write no/such/folder/a: no such file or directory"),
    (("--html", "."), 2, "Cannot write .: is a directory"),
)


def test_an_impossible_export_is_explained_and_writes_nothing(fired: Program, workspace: Path) -> None:
    before = sorted(workspace.rglob("*"))
    for arguments, code, said in CANNOT:
        done = fired("export", *arguments)
        assert (done.code, said in done.err) == (code, True), (arguments, done.err)
    assert sorted(workspace.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "line 1: it is not JSON"),
        (b"\n\n[1]\n", "line 3: it is not a run of Hookscope"),
        (b'{"format": 99}\n', "line 1: its format is 99, but this Hookscope reads 1"),
        (b'{"format": 1, "id": 1}\n', "line 1: its run is invalid (KeyError: 'run')"),
        (b"[" * 100_000, "line 1: it is not JSON"),
        (b"\xff\xfe", "line 1: it is not JSON"),
    ],
)
def test_a_file_without_runs_is_reported(
    hookscope: Program, workspace: Path, content: bytes, said: str
) -> None:
    (workspace / "runs.jsonl").write_bytes(content)
    done = hookscope("log", "--from", "runs.jsonl")
    assert done.code == 1
    assert said in done.err
    assert hookscope("log", "--from", "none.jsonl").code == 2


def test_an_empty_search_in_a_file_names_the_file(hookscope: Program, workspace: Path) -> None:
    hookscope("fire", "command:new")
    hookscope("export", "1", "--jsonl", "a run.jsonl")
    (workspace / "empty.jsonl").write_bytes(b"")
    empty = hookscope("log", "--from", "empty.jsonl")
    assert (empty.code, empty.out.startswith("empty.jsonl has no runs.")) == (0, True)
    none = hookscope("log", "--from", "a run.jsonl", "--hook", "nobody").out
    assert none == "No run matches. `hookscope log --from 'a run.jsonl'` lists all.\n"


@pytest.mark.parametrize(
    ("written", "instead", "place"),
    [
        ('"status": "ok"', '"status": "paused"', "results.0.status"),
        ('"op": ', '"of": ', "results.0.patch.0.op"),
        ('"failure": null', '"failure": ["no"]', "failure"),
    ],
)
def test_an_unreadable_run_in_a_file_is_reported_with_its_line(
    fired: Program, workspace: Path, written: str, instead: str, place: str
) -> None:
    """A newer version may have written the file."""
    fired("export", "--jsonl", "all.jsonl")
    file = workspace / "all.jsonl"
    assert written in file.read_text()
    file.write_text(file.read_text().replace(written, instead))
    done = fired("log", "--from", "all.jsonl", "1")
    assert done.code == 1
    assert f"{place} is missing or invalid" in done.err


class Page(HTMLParser):
    """What a browser would find."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_html_page_of_a_run_is_complete_and_escaped(fired: Program, workspace: Path) -> None:
    done = fired("export", "--html", "run.html")
    assert done.out == "Wrote the page of run 2 to run.html.\n"
    source = (workspace / "run.html").read_text()
    page = Page()
    page.feed(source)
    page.close()
    assert page.open == []
    assert not {"script", "img", "link", "iframe", "a", "form"} & page.tags
    assert not {name for name in page.attributes if name.startswith("on") or name in ("src", "href", "style")}
    assert "url(" not in source
    assert "@import" not in source
    assert "default-src 'none'" in source
    assert "prefers-color-scheme: dark" in source
    assert SECRET not in source
    assert "\x1b" not in source
    assert "\u202e" not in source
    text = " ".join(page.texts)
    shown = HOSTILE.replace("\x1b", "␛").replace("\u202e", "\\u202e")
    assert text.count(shown) >= 5  # message, error, source, output, context
    for said in (
        "delivered to the user",
        "ValueError",
        "handler.py:5",
        "/context/seen",
        "before",
        "Log",
        "bad",
    ):
        assert said in text


def test_the_html_page_of_any_run_can_be_written(fired: Program) -> None:
    page = fired("export", "1", "--html", "-").out
    assert "hello there" in page
    assert "✓ ok" in page
    assert "No handler changed it." in page


def test_the_html_page_of_a_running_run_names_the_planned_handlers(
    hookscope: Program, workspace: Path, tmp_path: Path
) -> None:
    code = Code(
        workspace / "hooks" / "good" / "handler.py", "handler", workspace / "hooks" / "good", "python"
    )
    with Journal(tmp_path / "state" / "journal.db", str(workspace), "openclaw") as journal:
        asyncio.run(journal.begin(Event("command", "new"), [Registration("command", "good", code)]))
        page = hookscope("export", "--outcome", "running", "--html", "-").out
    assert "» running" in page
    assert "good as command" in page
    assert "its end was not recorded" in page


def test_a_replay_names_handlers_that_changed_since(fired: Program, workspace: Path) -> None:
    assert fired("replay", "1", "--trust", "--json").json[0]["changed"] == []
    handler = workspace / "hooks" / "good" / "handler.py"
    handler.write_text("def handler(event): event.messages.append('hello you')")
    (told,) = fired("replay", "1", "--trust", "--json").json
    assert told["changed"] == [{"hook": "good", "path": str(handler), "what": "changed"}]
    assert "since run 1: good (handler.py has changed)" in fired("replay", "1", "--trust").out


def test_since_accepts_times_as_people_write_them() -> None:
    now = datetime.fromisoformat("2026-11-20T10:00:00+02:00")
    assert parse_moment("2h", now) == now - timedelta(hours=2)
    assert parse_moment("1.5d", now) == now - timedelta(hours=36)
    assert parse_moment("09:30", now) == now - timedelta(minutes=30)
    assert parse_moment("2026-11-20T10:00:00+02:00", now) == now
    assert parse_moment("2026-11-20T08:00:00Z", now) == now
    day = parse_moment("2026-11-20", now)
    assert day is not None
    assert day.tzinfo is not None
    for text in ("", "2x", "soon", "99999999999999d", "999999999w", "2026-13-01", "25:00"):
        assert parse_moment(text, now) is None

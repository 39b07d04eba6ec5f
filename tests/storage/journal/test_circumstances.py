"""What held when an event was fired: settings and handlers, and whether handlers have changed since."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hookscope.hosts.dialects import DIALECTS
from hookscope.model.host import Settings
from hookscope.model.run import CallGroup, Code, Event, Plan, Registration, Run
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.reader import StoredRun
from hookscope.storage.journal.run_environment import handlers_changed_since
from hookscope.storage.journal.secrets import Secret
from hookscope.storage.state_files import Retention

RunOfId = Callable[..., Run]
SHIPPED = next(dialect for dialect in DIALECTS.values() if dialect.version)


@pytest.fixture
def handler(tmp_path: Path) -> Path:
    """A handler's file, with a module beside it and what is not code."""
    folder = tmp_path / "hooks" / "greet"
    (folder / "node_modules").mkdir(parents=True)
    for name in ("handler.py", "words.py", "log.jsonl", "node_modules/large.js"):
        (folder / name).write_text("first")
    return folder / "handler.py"


def call_of(path: Path, shape: Any = "hook") -> Registration:
    return Registration("command", "greet", Code(path, "handler", path.parent, "python", shape=shape))


def write(path: Path, text: str) -> None:
    path.write_text(text)


def remove(path: Path) -> None:
    path.unlink()


async def recorded(journal: Journal, *calls: Registration) -> StoredRun:
    stored = journal.run(await journal.begin(Event("command", "new"), calls))
    assert stored is not None
    return stored


def whats(run: StoredRun) -> list[str]:
    return [changed.what for changed in handlers_changed_since(run.handlers)]


async def test_a_run_records_the_files_of_its_handlers(journal: Journal, handler: Path) -> None:
    run = await recorded(journal, call_of(handler), Registration("command:new", "inline", print))
    with_file, inline = run.handlers
    assert (with_file.hook, with_file.key, with_file.path) == ("greet", "command", str(handler))
    assert sha256(b"first").hexdigest().startswith(with_file.digest)
    assert len(with_file.digest) == len(with_file.folder_digest) == 32
    assert (inline.hook, inline.path, inline.digest) == ("inline", None, "")


async def test_handlers_changed_since_a_run_are_named(journal: Journal, handler: Path) -> None:
    run = await recorded(journal, call_of(handler), call_of(handler))
    write(handler.parent / "log.jsonl", "more")
    write(handler.parent / "node_modules" / "large.js", "more")
    assert whats(run) == []
    write(handler.parent / "words.py", "other")
    assert whats(run) == ["beside"]
    write(handler, "other")
    assert whats(run) == ["changed"]
    assert handlers_changed_since(run.handlers)[0].text == "handler.py has changed"
    remove(handler)
    assert whats(run) == ["gone"]


async def test_a_restored_file_does_not_count_as_changed(journal: Journal, handler: Path) -> None:
    run = await recorded(journal, call_of(handler))
    write(handler, "other")
    again = await recorded(journal, call_of(handler))
    assert (whats(run), whats(again)) == (["changed"], [])
    write(handler, "first")
    assert (whats(run), whats(again)) == ([], ["changed"])


async def test_an_unreadable_file_has_no_digest(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    names: Sequence[Path] = (tmp_path / "folder", tmp_path / "gone.py", tmp_path / "nul\0.py")
    run = await recorded(journal, *map(call_of, names))
    assert [one.digest for one in run.handlers] == ["", "", ""]
    assert handlers_changed_since(run.handlers) == ()


async def test_a_module_in_a_shared_folder_has_its_own_digest(journal: Journal, handler: Path) -> None:
    run = await recorded(journal, call_of(handler, "stream"))
    write(handler.parent / "words.py", "other")
    assert whats(run) == []


async def test_a_run_records_its_plan(journal: Journal, handler: Path) -> None:
    plan = Plan(Event("command", "new"), 1, (CallGroup((call_of(handler),)),), (), None)  # type: ignore[arg-type]
    run = journal.run(await journal.begin_plan(plan))
    assert run is not None
    assert [one.hook for one in run.handlers] == ["greet"]
    assert run.outcome == "running"


async def test_settings_are_masked_and_stored_once_for_each_content(journal: Journal, path: Path) -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz123456"
    first = Settings(Path("/h/host.json"), {"model": "m", "apiKey": secret}, exists=True)
    second = Settings(Path("/h/host.json"), {"model": "n"}, exists=True)
    runs = [await recorded(journal.for_host(SHIPPED, one)) for one in (first, second, first, first)]
    plain = await recorded(journal.for_host(SHIPPED, Settings(Path("/h/none.json"))))
    assert runs[0].settings == runs[2].settings == runs[3].settings != runs[1].settings
    assert plain.settings is None
    settings = journal.settings([*runs, plain])
    assert [settings[run.settings or ""]["value"] for run in runs[:2]] == [
        {"model": "m", "apiKey": "${SECRET:API_KEY}"},
        {"model": "n"},
    ]
    assert {run.dialect for run in runs} == {SHIPPED.name}
    assert {run.version for run in runs} == {SHIPPED.version}
    journal.close()
    assert not any(secret.encode() in file.read_bytes() for file in path.parent.iterdir())
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("select count(*) from settings").fetchone() == (2,)


async def test_secrets_known_by_name_are_masked_in_settings(journal: Journal) -> None:
    settings = Settings(Path("/h/host.json"), {"greeting": "the quiet word"}, exists=True)
    under = journal.for_host(SHIPPED, settings)
    await recorded(under)
    under.mask_also([Secret("GREETING", "quiet word")])
    run = await recorded(under)
    assert journal.settings([run])[run.settings or ""]["value"] == {"greeting": "the ${SECRET:GREETING}"}


async def test_unused_settings_are_deleted(path: Path, run_of_id: RunOfId) -> None:
    with Journal(path, "w", "d", Retention(runs=2)) as journal:
        for number in range(5):
            settings = Settings(Path("/h/host.json"), {"number": number}, exists=True)
            under = journal.for_host(SHIPPED, settings)
            await under.end(run_of_id(await under.begin(Event("command", "new"))))
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("select text from settings order by id").fetchall()
        assert [json.loads(text)["value"]["number"] for (text,) in rows] == [3, 4]
        assert database.execute("select count(*) from circumstances").fetchone() == (2,)


async def test_large_settings_count_towards_the_size_of_their_run(path: Path, run_of_id: RunOfId) -> None:
    with Journal(path, "w", "d", Retention(size=50_000)) as journal:
        for number in range(8):
            settings = Settings(Path("/h/host.json"), {"number": number, "large": "x" * 20_000}, exists=True)
            under = journal.for_host(SHIPPED, settings)
            await under.end(run_of_id(await under.begin(Event("command", "new"))))
    assert 2 <= len(journal.recent()) <= 3

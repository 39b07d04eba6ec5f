"""Behind the gates: what has come of a hook so far, and the next step where nothing has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.runs.activation_chain import activation_chain
from hookscope.app.workbench import Workbench

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

Chain = Callable[[str], dict[str, Any]]

NEW = "{openclaw: {events: ['command:new']}}"


@pytest.fixture
def chain(workspace: Path, bundled: Path) -> Iterator[Chain]:
    """chain("greet") → what `info --json` would have as its links, by name."""
    benches = []

    def of(name: str) -> dict[str, Any]:
        bench = Workbench(Options(workspace=workspace, bundled=bundled, dialect="openclaw"))
        benches.append(bench)
        view = bench.scan()
        return {
            one.name: json_documents.link_document(one)
            for one in activation_chain(bench, view, bench.hook(view, name))
        }

    yield of
    for bench in benches:
        bench.close_now()


def test_info_shows_load_arrival_and_run_of_a_hook_over_its_life(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path, chain: Chain
) -> None:
    host = ("--dialect", "openclaw", "--bundled", str(bundled))
    folder = make_hook(workspace / "hooks", "greet", NEW)
    fresh = chain("greet")
    assert [fresh[name]["passed"] for name in ("loads", "arrived", "ran")] == [None, None, None]
    assert fresh["loads"]["then"] == "`hookscope load greet` loads it"
    assert "subscribed, never seen: OpenClaw sends command:new" in fresh["arrived"]["found"]
    assert fresh["arrived"]["then"] == "`hookscope fire command:new` fires it"
    assert fresh["registered"]["passed"] is False
    assert "untrusted" in fresh["registered"]["found"]

    assert hookscope(*host, "load", "greet").code == 1  # nobody has trusted it
    Workbench(Options(workspace=workspace)).trust(workspace / "hooks")
    loaded = hookscope(*host, "load", "greet", "--json")
    assert (loaded.code, loaded.json["registered"], loaded.json["discovered"]) == (0, 1, 1)
    after = chain("greet")
    assert (after["loads"]["passed"], after["export"]["passed"]) == (True, True)
    assert after["registered"]["found"] == "as command:new"
    assert after["ran"]["passed"] is None

    hookscope(*host, "fire", "command:new")
    ran = chain("greet")
    assert (ran["arrived"]["passed"], ran["arrived"]["run"]) == (True, 1)
    assert (ran["ran"]["passed"], ran["ran"]["run"]) == (True, 1)

    (folder / "handler.py").write_text("def handler(event):\n    raise KeyError('who')\n")
    edited = chain("greet")
    assert edited["loads"]["passed"] is None
    assert "its file was different in run 1" in edited["loads"]["found"]
    hookscope(*host, "fire", "command:new")
    done = hookscope(*host, "info", "greet")
    assert "✗ it ran" in done.out
    assert "error in run 2" in done.out
    assert "KeyError" in done.out
    assert "`hookscope replay 2` fires it again" in done.out

    (folder / "handler.py").write_text("import no_such_module_at_all\n\n\ndef handler(event): ...\n")
    assert hookscope(*host, "load", "greet").code == 1
    broken = chain("greet")
    assert broken["loads"]["passed"] is False
    assert "no_such_module_at_all" in broken["loads"]["found"]
    assert broken["export"]["passed"] is None


def test_recorded_events_count_as_arrived_but_runs_of_other_hooks_do_not(
    hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook, bundled: Path, chain: Chain
) -> None:
    host = ("--dialect", "openclaw", "--bundled", str(bundled))
    make_hook(workspace / "hooks", "all", "{openclaw: {events: [message]}}")
    make_hook(workspace / "hooks", "greet", NEW)
    spool = home / ".openclaw" / "hookscope"
    spool.mkdir(parents=True)
    line = {"tap": 1, "kind": "folder", "key": "message:sent", "at": "2026-01-30T09:00:00Z"}
    (spool / "events.jsonl").write_text((json.dumps(line) + "\n") * 3)
    hookscope(*host, "fire", "command:new", "--trust")
    links = chain("all")
    assert links["arrived"]["passed"] is True
    assert links["arrived"]["found"].startswith("OpenClaw sent message:sent ")
    assert links["arrived"]["found"].endswith(", 3 × in all")
    assert links["ran"]["passed"] is None


def test_info_states_the_result_of_the_last_run_once(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path, chain: Chain
) -> None:
    source = "import time\n\ndef handler(event):\n    time.sleep(60)\n"
    make_hook(workspace / "hooks", "greet", NEW, source)
    fired = hookscope("--bundled", str(bundled), "fire", "command:new", "--timeout", "0.2", "--trust")
    assert fired.code == 1
    found = chain("greet")["ran"]["found"]
    assert found.startswith("timeout in run 1, ")
    assert ": did not answer within 0.2 s" in found
    assert "Timeout" not in found


@pytest.mark.parametrize(
    ("file", "source", "other"),
    [
        ("handler.ts", "export default () => 1;\n", "export default () => 2;\n"),
        ("handler.py", "handler = [lambda event: 1][0]\n", "handler = [lambda event: 2][0]\n"),
    ],
)
def test_the_export_gate_agrees_with_the_load_history(
    hookscope: Program, workspace: Path, make_hook: MakeHook, file: str, source: str, other: str
) -> None:
    def told() -> tuple[dict[str, Any], dict[str, Any]]:
        document = hookscope("info", "greet", "--json").json
        (gate,) = (one for one in document["gates"] if one["gate"] == "export")
        (link,) = (one for one in document["chain"] if one["link"] == "export")
        return gate, link

    folder = make_hook(workspace / "hooks", "greet", NEW, source, file=file)
    hookscope("trust", "hooks")
    assert [one["passed"] for one in told()] == [None, None]
    assert "known after a load" in hookscope("info", "greet").out
    hookscope("fire", "command:new")
    gate, link = told()
    assert (gate["passed"], link["passed"]) == (True, True)
    assert "a function (in run 1, " in gate["found"]
    said = hookscope("info", "greet").out
    assert "known after a load" not in said
    assert "▸" in said
    (folder / file).write_text(other)
    assert [one["passed"] for one in told()] == [None, None]

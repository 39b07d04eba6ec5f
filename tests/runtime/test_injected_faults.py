"""Handlers broken on purpose, in real workers: every fault, language and kind, and what hosts make of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.fire_request import parse_faults, plan_with_faults
from hookscope.model import failure
from hookscope.model.failure import FAULTS, InjectedFault, InvalidFault, Refusal, parse_fault
from hookscope.model.run import Run

if TYPE_CHECKING:
    from tests.conftest import MakeHook

COMMAND = "{openclaw: {events: [command]}}"
FOLDER = {
    "python": ("handler.py", "async def handler(event): event.messages.append(event.session_key)\n"),
    "typescript": ("handler.ts", "export default async (event: any) => { event.messages.push('ran'); };\n"),
}
PLUGIN = {
    "python": (
        "plugin.py",
        "def answer(event, ctx):\n    return {'params': {'seen': True}}\n\n"
        "def register(api):\n    api.on('before_tool_call', answer)\n",
    ),
    "typescript": (
        "index.ts",
        "const answer = async () => ({ params: { seen: true } });\n"
        "export default (api) => { api.on('before_tool_call', answer); };\n",
    ),
}
MANIFEST = {"configSchema": {"type": "object"}}
STREAM = {
    "python": (
        "a.py",
        "from hookscope import define_hook\n\nasync def heard(event, ctx):\n    print('heard')\n\n"
        "default = define_hook(events={'turn.started': heard, 'turn.failed': heard})\n",
    ),
    "typescript": (
        "a.ts",
        'import { defineHook } from "eve/hooks";\nconst heard = async () => { console.log("heard"); };\n'
        'export default defineHook({ events: { "turn.started": heard, "turn.failed": heard } });\n',
    ),
}
ENDS = {"exception": "error", "hang": "timeout", "slow": "ok", "junk": "ok", "exit": "crashed"}


class Bench:
    """A workbench, and its fires with breakages."""

    def __init__(self, workspace: Path, bundled: Path, dialect: str) -> None:
        options = Options(dialect=dialect, workspace=workspace, bundled=bundled)
        self.bench = Workbench(options, trust_all=True)

    async def fire(self, key: str, **breakages: str) -> Run:
        bench = self.bench
        view = bench.scan()
        event = bench.template(view, key)
        view = await bench.load_modules(view, event.kind)
        faults = {name.replace("_", "-"): parse_fault(text) for name, text in breakages.items()}
        return await bench.fire(view, plan_with_faults(view, bench.plan(view, event), faults))


@pytest_asyncio.fixture
async def bench(
    request: pytest.FixtureRequest, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    monkeypatch.setattr(failure, "HANG_SECONDS", 0.3)  # seconds: what hangs on purpose need not hang for long
    (tmp_path / "bundled").mkdir()
    made = Bench(workspace, tmp_path / "bundled", getattr(request, "param", "openclaw"))
    yield made
    await made.bench.close()


def write_plugin(folder: Path, name: str, file: str, source: str) -> None:
    """Write a plugin as the shipped program wants it: with a manifest."""
    (folder / name).mkdir(parents=True)
    (folder / name / file).write_text(source)
    (folder / name / "openclaw.plugin.json").write_text(json.dumps({"id": name, **MANIFEST}))


def facts(run: Run) -> dict[str, Any]:
    return {result.call.name: result.status for result in run.results}


@pytest.mark.parametrize("language", FOLDER)
async def test_injected_fault_in_folder_hooks(
    language: str, bench: Bench, workspace: Path, make_hook: MakeHook
) -> None:
    file, source = FOLDER[language]
    make_hook(workspace / "hooks", "a", COMMAND, source, file=file)
    make_hook(workspace / "hooks", "z", COMMAND, FOLDER["python"][1])
    for fault in FAULTS:
        run = await bench.fire("command:new", a="slow:0.05" if fault == "slow" else fault)
        assert facts(run) == {"a": ENDS[fault], "z": "ok"}, fault
        first, second = run.results
        assert first.notes[0].startswith(f"broken on purpose: {fault}")
        assert not any(note.startswith("broken") for note in second.notes)
        assert run.notes[0].startswith(f"a was broken on purpose: {fault}")
        assert (first.messages != ()) == (fault in ("slow", "junk"))
        assert [line.level for line in run.ending.log] == ["error"] * (ENDS[fault] not in ("ok",))
        if fault == "slow":
            assert first.took > 0.04  # timers may be early by a millisecond
        if fault == "exit":
            assert first.error is not None
            assert "status 1" in first.error.message
    assert not bench.bench.scan().quarantined


@pytest.mark.parametrize("language", PLUGIN)
@pytest.mark.parametrize("bench", ["openclaw@2026.9"], indirect=True)
async def test_injected_fault_in_plugin_hooks_that_fail_closed(
    language: str, bench: Bench, home: Path
) -> None:
    for name, source in (("a", PLUGIN[language]), ("z", PLUGIN["python"])):
        write_plugin(home / ".openclaw/extensions", name, *source)
    for fault in FAULTS:
        run = await bench.fire("before_tool_call", a="slow:0.05" if fault == "slow" else fault)
        status = {result.call.name: result.status for result in run.results}
        assert status["a"] == ENDS[fault], fault
        if ENDS[fault] != "ok":
            assert run.ending.failure is not None
            assert "before_tool_call handler from a failed" in run.ending.failure
            assert [item.reason for item in run.not_run] == ["an earlier handler made the event fail"]
        else:
            assert status["z"] == "ok"
    assert not bench.bench.scan().quarantined


@pytest.mark.parametrize("language", STREAM)
@pytest.mark.parametrize("bench", ["eve"], indirect=True)
async def test_injected_fault_in_stream_hooks_fails_the_session(
    language: str, bench: Bench, workspace: Path
) -> None:
    for name, source in (("a", STREAM[language]), ("z", STREAM["python"])):
        file = workspace / "agent/hooks" / source[0].replace("a.", f"{name}.")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source[1])
    for fault in FAULTS:
        run = await bench.fire("turn.started", a="slow:0.05" if fault == "slow" else fault)
        status = {result.call.name: result.status for result in run.results}
        assert status["a"] == ENDS[fault], fault
        followed = [one.event.type for caused in run.caused for one in (caused, *caused.caused)]
        if ENDS[fault] == "ok":
            assert (status["z"], followed) == ("ok", [])
        else:
            assert "z" not in status
            assert followed == ["turn.failed", "session.failed"]


ALL_EVENTS = {
    "python": (
        "plugin.py",
        "def answer(event, ctx): pass\n\n"
        "def register(api):\n    for key in KEYS:\n        api.on(key, answer)\n",
    ),
    "typescript": (
        "index.ts",
        "export default (api) => { for (const key of KEYS) api.on(key, () => {}); };\n",
    ),
}


@pytest.mark.parametrize("language", ALL_EVENTS)
@pytest.mark.parametrize("bench", ["openclaw", "openclaw@2026.9"], indirect=True)
async def test_junk_results_break_no_host_rule(language: str, bench: Bench, home: Path) -> None:
    (home / ".openclaw").mkdir()
    allowed = {"hooks": {"allowConversationAccess": True, "allowPromptInjection": True}}
    settings = {"plugins": {"entries": {"a": allowed, "z": allowed}}}
    if bench.bench.dialect.version:
        (home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
    catalogue = bench.bench.dialect.catalogue()
    keys = sorted(catalogue.keys_of("plugin"))
    folder = home / ".openclaw" / ("extensions" if bench.bench.dialect.version else "plugins")
    for name in ("a", "z"):
        file, source = ALL_EVENTS[language]
        write_plugin(folder, name, file, source.replace("KEYS", json.dumps(keys)))
    for key in keys:
        if key == "inbound_claim":  # asks the owner alone
            continue
        run = await bench.fire(key, a="junk")
        assert run.results, key
        assert {result.status for result in run.results} == {"ok"}, key
        assert "Hookscope" not in (run.ending.failure or ""), key


async def test_injected_faults_do_not_quarantine_the_hook(
    bench: Bench, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, FOLDER["python"][1])
    for _ in range(4):
        (result,) = (await bench.fire("command:new", a="exit:0")).results
        assert (result.status, len(result.notes)) == ("crashed", 1)
    assert not bench.bench.scan().quarantined
    assert {facts.role for facts in bench.bench.worker_pools.workers()["python"]} <= {"shared"}
    assert (await bench.fire("command:new")).results[0].status == "ok"


async def test_faults_are_refused_for_uncalled_and_unknown_hooks(
    bench: Bench, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "later", "{openclaw: {events: ['gateway:startup']}}")
    with pytest.raises(
        Refusal, match=r"does not call it \(subscribes to gateway:startup\). `--only later --force`"
    ):
        await bench.fire("command:new", later="hang")
    with pytest.raises(Refusal, match="Did you mean later"):
        await bench.fire("command:new", latr="hang")


@pytest.mark.parametrize("text", ["exception", "hang", "slow:0.5", "junk", "exit:0", "exit:255"])
def test_fault_text_round_trips(text: str) -> None:
    assert parse_fault(text).text == text


@pytest.mark.parametrize(
    "text",
    ["", "sleep", "hang:1", "slow:", "slow:0", "slow:nan", "slow:inf", "exit:256", "exit:-1", "exit:²"],
)
def test_unknown_faults_are_refused(text: str) -> None:
    with pytest.raises(InvalidFault):
        parse_fault(text)
    with pytest.raises(Refusal) as refused:
        parse_faults([f"a={text}"])
    assert refused.value.code == 2


def test_a_hook_has_one_fault_at_a_time() -> None:
    assert parse_faults(["a=b=exit:3"]) == {"a=b": InjectedFault("exit", 3)}
    with pytest.raises(Refusal, match="twice"):
        parse_faults(["a=hang", "a=junk"])
    with pytest.raises(Refusal, match="needs HOOK="):
        parse_faults(["hang"])

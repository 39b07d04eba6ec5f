"""What OpenClaw 2026.9 loads, keeps and calls: through the engine that a program embeds."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.registry import LoadReport
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Event, Run
from hookscope.runtime.executors import NoNode, find_node

if TYPE_CHECKING:
    from tests.hosts.dialects.conftest import Program

needs_node = pytest.mark.skipif(
    isinstance(find_node(shutil.which("node")), NoNode), reason="runs JavaScript handlers"
)


class Gateway:
    """The program while it runs: loads again from what is on disk now."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.engine = HookEngine(program.host())

    async def load(self, *, strict: bool = False, platform: str = "linux") -> LoadReport:
        return await self.engine.load(self.program.host(platform), strict=strict)

    async def fire(self, key: str = "command:new", **context: Any) -> Run:
        kind, _, action = key.partition(":")
        return await self.engine.fire(Event(kind, action, context=context))

    async def names(self, key: str = "command:new") -> list[str]:
        return list((await self.fire(key)).messages)


@pytest.fixture
async def gateway(program: Program) -> AsyncIterator[Gateway]:
    running = Gateway(program)
    yield running
    await running.engine.close()


def python_hook(program: Program, folder: str, metadata: dict[str, Any] | None = None) -> Path:
    """A hook that says its folder's name. Hookscope runs it under this dialect, the program would not."""
    name = Path(folder).name
    handler = f"def handler(event): event.messages.append({name!r})\n"
    return program.hook(folder, metadata, handler=handler, file="handler.py")


def saying(text: str) -> Callable[[HookEvent], None]:
    return lambda event: event.messages.append(text)


@pytest.mark.parametrize(
    ("internal", "loaded"),
    [
        (None, []),
        ({}, []),
        ({"entries": {"a": {"enabled": False}}}, []),
        ({"enabled": True}, ["a", "b"]),
        ({"enabled": True, "entries": {}}, ["a", "b"]),
        ({"enabled": True, "entries": {"a": {"enabled": False}}}, []),
        ({"enabled": True, "entries": {"a": {}}}, ["a"]),
        ({"entries": {"b-key": {}}}, ["b"]),
        ({"entries": {"b": {}}}, ["b"]),
        ({"entries": {"x": {}}, "load": {"extraDirs": ["~/nowhere"]}}, ["a", "b"]),
        ({"load": {"extraDirs": [" "]}}, []),
        ({"enabled": False, "entries": {"a": {"enabled": True}}}, []),
    ],
)
async def test_what_is_selected(
    program: Program, gateway: Gateway, internal: dict[str, Any] | None, loaded: list[str]
) -> None:
    python_hook(program, ".openclaw/hooks/a")
    python_hook(program, ".openclaw/hooks/b", {"hookKey": "b-key"})
    program.settings(internal)
    report = await gateway.load()
    assert (report.registered, await gateway.names()) == (len(loaded), loaded)


async def test_the_loader_compares_platforms_letter_for_letter(program: Program, gateway: Gateway) -> None:
    program.settings({"enabled": True})
    for name, names in (("mac", ["macos"]), ("darwin", ["darwin"]), ("upper", ["Darwin"])):
        python_hook(program, f".openclaw/hooks/{name}", {"os": names})
    assert (await gateway.load(platform="darwin")).registered == 1
    reported = [row for row in gateway.engine.inventory.hooks if row.hook.name == "mac"]
    assert [gate.passed for gate in reported[0].verdict.gates if gate.name == "os"] == [True, False]


async def test_switched_off_nobody_hears_an_event(program: Program, gateway: Gateway) -> None:
    python_hook(program, ".openclaw/hooks/a")
    gateway.engine.register("command", saying("code"))
    program.settings({"enabled": True})
    await gateway.load()
    assert await gateway.names() == ["code", "a"]
    program.settings({"enabled": False})
    report = await gateway.load(strict=True)
    assert (report.registered, report.committed, await gateway.names()) == (0, True, [])
    assert gateway.engine.registry.keys() == ("command",)
    program.settings({"enabled": True})
    await gateway.load()
    assert await gateway.names() == ["code", "a"]


async def test_handlers_of_code_stay_and_those_of_hooks_come_behind_them(
    program: Program, gateway: Gateway
) -> None:
    python_hook(program, ".openclaw/hooks/a", {"events": ["command", "command:new", "command:new"]})
    gateway.engine.register("command:new", saying("exact"))
    gateway.engine.register("command", saying("family"))
    program.settings({"enabled": True})
    await gateway.load()
    assert await gateway.names() == ["family", "a", "exact", "a", "a"]


@pytest.mark.parametrize("lost", ["HOOK.md", "handler.py", "folder", "metadata", "events"])
async def test_a_reload_is_refused_where_a_loaded_hook_lost_something(
    program: Program, gateway: Gateway, lost: str
) -> None:
    python_hook(program, ".openclaw/hooks/a")
    folder = python_hook(program, ".openclaw/hooks/b")
    program.settings({"enabled": True})
    await gateway.load()
    if lost == "folder":
        shutil.rmtree(folder)
    elif lost == "metadata":
        (folder / "HOOK.md").write_text("---\nname: b\nmetadata: {broken\n---\n")
    elif lost == "events":
        python_hook(program, ".openclaw/hooks/b", {"events": []})
    else:
        (folder / lost).unlink()
    report = await gateway.load(strict=True)
    manifest = f'Hook "b" has missing or invalid metadata at {folder / "HOOK.md"}'
    assert (report.committed, report.registered) == (False, 0)
    assert (
        report.refusal
        == {
            "HOOK.md": manifest,
            "folder": manifest,
            "metadata": manifest,
            "handler.py": f'Hook "b" has no readable handler in {folder}',
            "events": manifest,
        }[lost]
    )
    assert await gateway.names() == ["a", "b"]
    report = await gateway.load()
    assert (report.committed, report.refusal, await gateway.names()) == (True, "", ["a"])


async def test_a_hook_that_the_settings_took_out_is_not_missed(program: Program, gateway: Gateway) -> None:
    folder = python_hook(program, ".openclaw/hooks/a")
    python_hook(program, "extra/b")
    program.settings({"enabled": True, "load": {"extraDirs": ["~/extra"]}})
    await gateway.load()
    shutil.rmtree(folder)
    program.settings({"enabled": True, "entries": {"a": {"enabled": False}}})
    report = await gateway.load(strict=True)
    assert (report.committed, report.registered) == (True, 0)


async def test_invalid_settings_load_nothing(program: Program, gateway: Gateway) -> None:
    python_hook(program, ".openclaw/hooks/a")
    program.settings({"enabled": True, "handlers": []})
    assert (await gateway.load()).registered == 0
    row = gateway.engine.inventory.find("a")
    assert row is not None
    assert 'Unrecognized key: "handlers"' in row.verdict.why()


async def test_an_entrys_env_is_not_laid_over_its_handler(program: Program, gateway: Gateway) -> None:
    handler = "import os\ndef handler(event): event.messages.append(os.environ.get('OWN', 'unset'))\n"
    program.hook(".openclaw/hooks/a", {"requires": {"env": ["OWN"]}}, handler=handler, file="handler.py")
    program.settings({"entries": {"a": {"env": {"OWN": "x"}}}})
    assert (await gateway.load()).registered == 1
    assert await gateway.names() == ["unset"]


async def test_a_python_hook_takes_no_name_from_one_that_the_program_sees(program: Program) -> None:
    program.hook("bundled/same")
    python_hook(program, ".openclaw/hooks/same")
    assert program.listed()["same"]["source"] == "openclaw-bundled"


@needs_node
async def test_nothing_is_mended_and_a_class_fails_only_when_called(
    program: Program, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.hook(".openclaw/hooks/a", handler="export default class A {}\n")
    program.hook(".openclaw/hooks/b", handler="module.exports = (event) => event.messages.push('b');\n")
    program.hook(".openclaw/hooks/c", handler="export default () => {}; enum A { B }\n", file="handler.ts")
    program.hook(".openclaw/hooks/e", handler="import x from 'no-such-package'; export default () => x;\n")
    program.hook(".openclaw/hooks/f", handler="export default () => __dirname;\n")
    program.hook(".openclaw/hooks/d", {"export": " named "}, handler="export const named = 5;\n")
    program.settings({"enabled": True})
    report = await gateway.load()
    assert (report.registered, report.failed) == (3, ("c", "d", "e"))
    run = await gateway.fire()
    assert ([result.status for result in run.results], run.messages) == (["error", "ok", "error"], ("b",))
    said = [line.text for line in report.log]
    assert "[hooks:loader] Failed to load hook d: Handler ' named ' is not a function" in said


ERRORS = {
    "throw new Error('outer', { cause: new Error('inner') })": "outer | inner",
    "throw new Error('outer', { cause: 'text' })": "outer | text",
    "throw new Error('')": "Error",
    "throw { message: 'm' }": '{"message":"m"}',
    "throw null": "null",
    "throw 7": "7",
    "event.messages.push('before'); throw 'plain'": "plain",
}


@needs_node
async def test_errors_are_logged_in_the_programs_words(program: Program, gateway: Gateway) -> None:
    for number, code in enumerate(ERRORS):
        program.hook(f".openclaw/hooks/{number}", handler=f"export default (event) => {{ {code}; }};\n")
    program.settings({"enabled": True})
    await gateway.load()
    run = await gateway.fire()
    lines = [line.text.removeprefix("[internal-hooks] Hook error [command:new]: ") for line in run.ending.log]
    assert (lines, run.messages) == (list(ERRORS.values()), ("before",))


def test_no_setting_is_written_by_looking(program: Program) -> None:
    program.hook(".openclaw/hooks/a")
    file = program.settings({"enabled": True})
    before = {path: os.stat(path).st_mtime_ns for path in program.home.rglob("*")}
    for command in (["list"], ["check"], ["info", "a"]):
        program.says(*command)
    assert {path: os.stat(path).st_mtime_ns for path in program.home.rglob("*")} == before
    assert json.loads(file.read_text()) == {"hooks": {"internal": {"enabled": True}}}

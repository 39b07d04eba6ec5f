"""The examples of guide 004, written as folders with Python handlers."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope import State, check_eligibility, create_hook_event, discover_hooks, load_hooks, trigger_hook
from hookscope.engine.discovery import discover
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Overrides, Trust
from hookscope.model.machine import real_machine

MakeHook = Callable[..., Path]
PATTERN = """
    async def handler(event):
        if event.type != "command" or event.action != "new":
            return
        session_key, context, timestamp = event.session_key, event.context, event.timestamp
        assert session_key and timestamp.tzinfo
        event.messages.append("Hook executed successfully.")
"""
BOOTSTRAP = """
    def handler(event):
        event.context["bootstrapFiles"].append(
            {"name": "CUSTOM.md", "content": "Custom context", "type": "custom"}
        )
"""


def on(*keys: str) -> str:
    return f"{{openclaw: {{events: [{', '.join(keys)}]}}}}"


def saying(text: str) -> str:
    return f"def handler(event): event.messages.append({text!r})"


async def test_the_handler_pattern_answers_command_new_only(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".openclaw/hooks", "pattern", on("command"), PATTERN)
    await load_hooks(host_config={})
    new, reset = (create_hook_event("command", action, "agent:main:main") for action in ("new", "reset"))
    await trigger_hook(new)
    await trigger_hook(reset)
    assert (new.messages, reset.messages) == (["Hook executed successfully."], [])


async def test_a_bootstrap_hook_changes_the_files_that_the_host_uses(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".openclaw/hooks", "extra-files", on("agent:bootstrap"), BOOTSTRAP)
    await load_hooks(host_config={})
    files = [{"name": "SOUL.md", "content": "", "type": "workspace"}]
    event = create_hook_event("agent", "bootstrap", "agent:main:main", {"bootstrapFiles": files})
    run = await trigger_hook(event)
    assert [file["name"] for file in event.context["bootstrapFiles"]] == ["SOUL.md", "CUSTOM.md"]
    assert run.context["bootstrapFiles"][-1]["type"] == "custom"


async def test_handlers_of_the_type_run_before_handlers_of_the_event(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".openclaw/hooks", "a-exact", on("command:new"), saying("exact"))
    make_hook(home / ".openclaw/hooks", "b-type", on("command"), saying("type"))
    make_hook(home / ".openclaw/hooks", "c-both", on("command", "command:new"), saying("both"))
    await load_hooks(host_config={})
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["type", "both", "exact", "both"]


async def test_the_workspace_wins_over_managed_over_bundled(
    home: Path, workspace: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    for source, folder in (
        ("workspace", workspace / "hooks"),
        ("managed", home / ".openclaw/hooks"),
        ("bundled", tmp_path / "bundled"),
    ):
        make_hook(folder, "same", on("command"), saying(source))
        make_hook(folder, source, on("command"), saying(f"only {source}"))
    await load_hooks(workspace, tmp_path / "bundled", host_config={})
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["workspace", "only workspace", "only managed", "only bundled"]


async def test_extra_folders_count_from_the_settings_file(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / ".openclaw/custom-hooks", "extra", on("command"), saying("extra"))
    config = {"hooks": {"internal": {"load": {"extraDirs": ["./custom-hooks"]}}}}
    await load_hooks(host_config=config)
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["extra"]


def test_the_session_memory_header_of_the_guide_is_ready_with_the_workspace_in_force(
    home: Path, make_hook: MakeHook
) -> None:
    header = """
      openclaw:
        emoji: "💾"
        events: ["command:new"]
        export: "default"
        requires:
          config: ["workspace.dir"]
        os: ["linux", "darwin"]
        install:
          - id: "bundled"
            kind: "bundled"
            label: "Bundled with OpenClaw"
    """
    folder = home / ".openclaw/hooks/session-memory"
    folder.mkdir(parents=True)
    body = "".join(line[4:] + "\n" for line in header.splitlines() if line.strip())
    (folder / "HOOK.md").write_text(f"---\nname: session-memory\nmetadata:\n{body}---\n\n# Hook Name\n")
    (folder / "handler.py").write_text("def handler(event): pass\n")
    (hook,) = discover_hooks(host_config={})
    assert (hook.meta.emoji, hook.meta.events) == ("💾", ("command:new",))
    assert check_eligibility(hook, {}, platform="linux").eligible
    assert not check_eligibility(hook, {"workspace": {"dir": ""}}, platform="linux").eligible


def test_always_bypasses_every_check(home: Path, make_hook: MakeHook) -> None:
    make_hook(
        home / ".openclaw/hooks",
        "stubborn",
        "{openclaw: {events: [command], always: true, os: [win32], requires: {env: [NOT_SET]}}}",
    )
    (hook,) = discover_hooks(host_config={})
    assert check_eligibility(hook, {}, platform="linux", env={}).eligible


async def test_an_entrys_env_reaches_the_requirement(home: Path, make_hook: MakeHook) -> None:
    make_hook(
        home / ".openclaw/hooks", "keyed", "{openclaw: {events: [command], requires: {env: [MY_API_KEY]}}}"
    )
    without = await load_hooks(host_config={})
    assert without.skipped == ("keyed: Env missing: MY_API_KEY",)
    entries = {"keyed": {"env": {"MY_API_KEY": "secret"}}}
    report = await load_hooks(internal_config={"entries": entries}, host_config={})
    assert report.registered == 1


LOAD_FAILURES = {
    "not-a-function": "handler = 5\n",
    "import-error": "import no_such_module_anywhere\n",
    "broken-syntax": "def handler(:\n",
    "a-class": "class handler: pass\n",
    "no-export": "def main(event): pass\n",
    "exits": "raise SystemExit(3)\n",
}


async def test_load_time_failures_stop_nobody_else(home: Path, make_hook: MakeHook) -> None:
    hooks = home / ".openclaw/hooks"
    for name, source in LOAD_FAILURES.items():
        make_hook(hooks, name, on("command"), source)
    make_hook(hooks, "no-events", "{openclaw: {events: []}}")
    make_hook(hooks, "good", on("command"), saying("still here"))
    (hooks / "no-manifest").mkdir()
    (hooks / "no-manifest/handler.py").write_text("def handler(event): pass\n")
    (hooks / "no-handler").mkdir()
    (hooks / "no-handler/HOOK.md").write_text("---\nname: no-handler\n---\n")
    report = await load_hooks(host_config={})
    assert set(report.failed) == set(LOAD_FAILURES)
    assert report.skipped == ("no-events: no events",)
    assert report.discovered == len(LOAD_FAILURES) + 2
    assert report.registered == 1
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["still here"]


RUNTIME_FAILURES = {
    "throws": "def handler(event): raise ValueError('thrown')",
    "rejects": "async def handler(event): raise ValueError('rejected')",
    "leaves": "def handler(event): raise SystemExit(1)",
}


async def test_runtime_failures_are_logged_with_the_event_and_stop_nobody(
    home: Path, make_hook: MakeHook, caplog: pytest.LogCaptureFixture
) -> None:
    for name, source in RUNTIME_FAILURES.items():
        make_hook(home / ".openclaw/hooks", name, on("command"), source)
    make_hook(home / ".openclaw/hooks", "z-good", on("command"), saying("still here"))
    await load_hooks(host_config={})
    caplog.set_level(logging.ERROR, "hookscope")
    run = await trigger_hook(create_hook_event("command", "new"))
    assert [result.status for result in run.results] == ["error", "error", "error", "ok"]
    assert run.messages == ("still here",)
    assert "Hook error [command:new]: thrown" in caplog.messages
    assert "Hook error [command:new]: rejected" in caplog.messages


def test_a_handler_that_links_out_of_its_folder_does_not_run(
    home: Path, tmp_path: Path, make_hook: MakeHook
) -> None:
    folder = make_hook(home / ".openclaw/hooks", "escapes", on("command"))
    (tmp_path / "elsewhere.py").write_text("def handler(event): pass\n")
    (folder / "handler.py").unlink()
    (folder / "handler.py").symlink_to(tmp_path / "elsewhere.py")
    host = open_host(DIALECTS["openclaw"], real_machine(), Overrides(), trust=Trust(everything=True))
    (row,) = discover(host).hooks
    assert row.state is State.BROKEN
    assert "escapes the hook's folder" in row.verdict.why()


def test_an_event_that_the_host_never_sends_is_silent_and_says_which_was_meant(
    home: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw/hooks", "typo", on("agent:bootstap"))
    make_hook(home / ".openclaw/hooks", "own-command", on("command:deploy"))
    make_hook(home / ".openclaw/hooks", "half", on("gateway:startup", "gateway:stop"))
    host = open_host(DIALECTS["openclaw"], real_machine(), Overrides(), trust=Trust(everything=True))
    rows = {row.hook.name: row for row in discover(host).hooks}
    assert {name: row.state for name, row in rows.items()} == {
        "typo": State.SILENT,
        "own-command": State.READY,
        "half": State.READY,
    }
    assert "did you mean agent:bootstrap?" in rows["typo"].verdict.why()
    assert any("gateway:stop is not an event" in note for note in rows["half"].notes)


@pytest.mark.parametrize(
    ("file", "counts"), [("handler.js", 1), ("index.ts", 1), ("index.py", 1), ("handler.mjs", 0)]
)
async def test_the_handler_candidates_are_the_guides_then_python(
    file: str, counts: int, home: Path, make_hook: MakeHook
) -> None:
    source = saying("python") if file.endswith(".py") else "export default () => {}"
    make_hook(home / ".openclaw/hooks", "candidate", on("command"), source, file=file)
    report = await load_hooks(host_config={})
    assert (report.discovered, report.registered, report.skipped) == (counts, counts, ())

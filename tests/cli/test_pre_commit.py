"""`.pre-commit-hooks.yaml`: what pre-commit runs in the projects of hook authors."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.conftest import Program
from tests.conftest import MakeHook

HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
}
COMMAND = '{openclaw: {events: ["command:new"]}}'


def run(hookscope: Program, hook: dict[str, Any], bundled: Path) -> int:
    """Its exit code, run as pre-commit does: in the project, with nothing behind the entry."""
    program, *arguments = shlex.split(hook["entry"])
    assert (program, hook["pass_filenames"], hook["language"]) == ("hookscope", False, "python")
    return hookscope("--bundled", str(bundled), *arguments).code


def test_a_commit_with_a_mistake_is_stopped(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    folder = make_hook(workspace / "hooks", "greet", COMMAND, "def handler(event): pass")
    assert run(hookscope, HOOKS["hookscope-lint"], bundled) == 0
    (folder / "handler.py").write_text("def handler(event:")
    assert run(hookscope, HOOKS["hookscope-lint"], bundled) == 1


def test_a_commit_that_breaks_what_is_expected_is_stopped(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    folder = make_hook(
        workspace / "hooks", "greet", COMMAND, "def handler(event): event.messages.append('hi')"
    )
    saved = workspace / ".hookscope" / "events" / "greet.yaml"
    saved.parent.mkdir(parents=True)
    saved.write_text("event: command:new\nexpect: {messages: [hi]}\n")
    assert run(hookscope, HOOKS["hookscope-test"], bundled) == 0
    (folder / "handler.py").write_text("def handler(event): event.messages.append('ho')")
    assert run(hookscope, HOOKS["hookscope-test"], bundled) == 1


@pytest.mark.parametrize("hook", HOOKS.values(), ids=lambda hook: hook["id"])
def test_what_authors_write_asks_for_it_and_other_files_do_not(hook: dict[str, Any]) -> None:
    asks = re.compile(hook["files"]).search
    for path in (
        "hooks/greet/HOOK.md", "hooks/greet/handler.ts", "hooks/greet/lib/text.ts", "HOOK.md", "handler.js",
        "agent/hooks/audit.py", "plugins/guard/plugin.py", "plugins/audit/index.ts",
        "guard/openclaw.plugin.json",
    ):  # fmt: skip
        assert asks(path), path
    for path in ("README.md", "src/webhooks/server.py", "docs/handler/notes.md", "package-lock.json"):
        assert not asks(path), path

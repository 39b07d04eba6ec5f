"""Without `--language`, a new hook is written in the language of the workspace's other hooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

EVENTS = '{"openclaw": {"events": ["command:new"]}}'
SCRIPT = "export default async () => {};\n"


@pytest.mark.parametrize(
    ("files", "options", "handler", "is_noted"),
    [
        ((), (), "handler.py", False),
        (("handler.ts",), (), "handler.ts", True),
        (("handler.js", "handler.js", "handler.py"), (), "handler.js", True),
        (("handler.ts", "handler.py"), (), "handler.py", False),
        (("handler.ts",), ("--language", "python"), "handler.py", False),
        (("handler.py",), ("--dialects", "openclaw@2026.9"), "handler.ts", False),
        (("handler.js",), ("--dialects", "openclaw@2026.9"), "handler.js", True),
    ],
)
def test_a_new_hook_is_written_as_the_others_are(
    hookscope: Program,
    workspace: Path,
    make_hook: MakeHook,
    files: tuple[str, ...],
    options: tuple[str, ...],
    handler: str,
    is_noted: bool,
) -> None:
    for number, file in enumerate(files):
        source = SCRIPT if file != "handler.py" else "def handler(event): pass\n"
        make_hook(workspace / "hooks", f"other-{number}", EVENTS, source, file=file)
    made = hookscope("new", "greet", *options)
    assert (workspace / "hooks/greet" / handler).is_file()
    assert ("like most hooks here" in made.out) is is_noted


def test_hooks_of_other_workspaces_choose_no_language(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw/hooks", "managed", EVENTS, SCRIPT, file="handler.ts")
    hookscope("new", "greet")
    assert (workspace / "hooks/greet/handler.py").is_file()

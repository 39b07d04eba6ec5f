"""Only a file that does not exist is none: any other one that cannot be read may switch hooks off."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

HEADER = "{openclaw: {events: [command:new]}}"
Damage = Callable[[Path], None]


def loop(file: Path) -> None:
    file.symlink_to(file)


def dangling(file: Path) -> None:
    file.symlink_to(file.with_name("unmounted") / file.name)


def folder(file: Path) -> None:
    file.mkdir()


def below_a_file(file: Path) -> None:
    file.parent.rmdir()
    file.parent.write_text("")


def below_a_dangling_link(file: Path) -> None:
    file.parent.rmdir()
    file.parent.symlink_to("unmounted")


def below_a_loop(file: Path) -> None:
    file.parent.rmdir()
    file.parent.symlink_to(file.parent)


def blank(file: Path) -> None:
    file.write_text("\n")


def half(file: Path) -> None:
    file.write_text('{"hooks": {"internal": {"entries": {"greet": {"enabl')


def not_utf8(file: Path) -> None:
    file.write_bytes(b'{"hooks": "\xff"}')


def a_list(file: Path) -> None:
    file.write_text("[]")


def too_large(file: Path) -> None:
    file.write_text("{}" + " " * 8 * 1024 * 1024)


def includes_a_dangling_link(file: Path) -> None:
    file.write_text('{"$include": "./more.json"}')
    dangling(file.with_name("more.json"))


UNREAD = [loop, dangling, folder, below_a_file, below_a_dangling_link, below_a_loop]
UNKNOWN = [blank, half, not_utf8, a_list, too_large]
HOSTS = {"openclaw": "openclaw", "openclaw@2026.9": "openclaw", "milady": "milady", "eliza": "eliza",
         "milady@2.0.0-alpha.76": "milady"}  # fmt: skip
CASES = [
    *((damage, "openclaw") for damage in (*UNREAD, *UNKNOWN)),
    *((damage, dialect) for dialect in HOSTS if dialect != "openclaw" for damage in (loop, dangling, half)),
    (includes_a_dangling_link, "openclaw@2026.9"),
]


def says(text: str) -> bool:
    return "may switch this hook off" in text or "Invalid config" in text


@pytest.mark.parametrize(
    ("damage", "dialect"), CASES, ids=[f"{damage.__name__}-{dialect}" for damage, dialect in CASES]
)
def test_unreadable_settings_stop_every_hook_with_a_reason(
    hookscope: Program, workspace: Path, home: Path, make_hook: MakeHook, damage: Damage, dialect: str
) -> None:
    host = HOSTS[dialect]
    header = f'{{"{host}": {{"events": ["gateway:startup"]}}}}'
    make_hook(workspace / "hooks", "greet", header, handler=MARKS)
    file = home / f".{host}" / f"{host}.json"
    file.parent.mkdir()
    damage(file)
    host_of = ("--dialect", dialect)
    fired = hookscope(*host_of, "fire", "gateway:startup", "--json", "--trust")
    assert fired.code == 1
    assert fired.json["results"] == []
    assert not (workspace / "fired").exists()
    assert says(fired.err + str(fired.json["not_run"]))
    listed = hookscope(*host_of, "list", "--json")
    rows = {row["name"]: row for row in listed.json["hooks"]}
    assert rows["greet"]["state"] == "blocked"
    assert any(str(file.name) in problem for problem in listed.json["problems"])
    assert says(hookscope(*host_of, "info", "greet").out)
    checked = hookscope(*host_of, "doctor", "--json")
    assert any(file.name in str(finding) and not finding["well"] for finding in checked.json["findings"])


MARKS = "def handler(event):\n    open('fired', 'w').close()\n"


@pytest.mark.parametrize("dialect", HOSTS)
def test_without_a_settings_file_hooks_run(
    hookscope: Program, workspace: Path, make_hook: MakeHook, dialect: str
) -> None:
    header = f'{{"{HOSTS[dialect]}": {{"events": ["gateway:startup"]}}}}'
    make_hook(workspace / "hooks", "greet", header)
    listed = hookscope("--dialect", dialect, "list", "--json").json
    assert not any("cannot read" in problem for problem in listed["problems"])
    (row,) = (row for row in listed["hooks"] if row["name"] == "greet")
    assert "settings" not in [gate["gate"] for gate in row["gates"] if gate["passed"] is False]


# Hooks folders and manifests: what is in them may replace a hook of a lower folder


@pytest.mark.parametrize("damage", [loop, dangling])
@pytest.mark.parametrize("where", ["workspace", "managed"])
def test_a_hook_that_an_unreadable_folder_may_replace_does_not_run(
    hookscope: Program,
    workspace: Path,
    home: Path,
    bundled: Path,
    make_hook: MakeHook,
    damage: Damage,
    where: str,
) -> None:
    make_hook(bundled, "greet", HEADER)
    hooks = workspace / "hooks" if where == "workspace" else home / ".openclaw/hooks"
    hooks.parent.mkdir(exist_ok=True)
    if where == "workspace":
        hooks.rmdir()
    damage(hooks)
    given = ("--dialect", "openclaw", "--workspace", str(workspace), "--bundled", str(bundled))
    listed = hookscope(*given, "list", "--json").json
    rows = {row["name"]: row for row in listed["hooks"]}
    assert rows["greet"]["state"] == "blocked"
    assert f"cannot read the {where} folder: {hooks}" in listed["problems"][0]
    fired = hookscope(*given, "fire", "command:new", "--json")
    assert (fired.code, fired.json["results"]) == (1, [])
    assert "a hook there may replace this one" in str(fired.json["not_run"])
    assert f"{where} folder" in hookscope(*given, "doctor").out


@pytest.mark.parametrize("damage", [loop, dangling])
def test_a_hook_that_an_unreadable_manifest_may_replace_does_not_run(
    hookscope: Program, workspace: Path, bundled: Path, make_hook: MakeHook, damage: Damage
) -> None:
    make_hook(bundled, "greet", HEADER)
    make_hook(bundled, "other", HEADER)
    (workspace / "hooks/greet").mkdir()
    damage(workspace / "hooks/greet/HOOK.md")
    given = ("--dialect", "openclaw", "--workspace", str(workspace), "--bundled", str(bundled))
    listed = hookscope(*given, "list", "--json").json
    states = {row["name"]: row["state"] for row in listed["hooks"]}
    assert states["greet"] == "blocked"
    assert states["other"] == "ready", "nothing unread has its name"


OURS = ("state/trust.json", "state/packs/installed.json", "state/tap/installed.json")
DAMAGED = [
    *((damage, name) for damage in (loop, dangling, folder) for name in OURS),
    *((damage, "workspace/.env") for damage in (loop, dangling)),
]


@pytest.mark.parametrize(
    ("damage", "name"), DAMAGED, ids=[f"{damage.__name__}-{name}" for damage, name in DAMAGED]
)
def test_unreadable_state_files_are_reported_as_problems(
    hookscope: Program, tmp_path: Path, workspace: Path, damage: Damage, name: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    damage(file)
    listed = hookscope("--workspace", str(workspace), "list", "--json").json
    assert [one for one in listed["problems"] if f"cannot read {file}" in one]
    assert str(file.name) in hookscope("--workspace", str(workspace), "doctor").out
    if name.endswith("packs/installed.json"):
        assert hookscope("--workspace", str(workspace), "packs").code == 1
    if name.endswith("trust.json"):
        assert hookscope("trust", str(workspace)).code == 1
        assert file.is_symlink() or file.is_dir(), "it was not replaced"


@pytest.mark.parametrize("damage", [loop, dangling, folder])
def test_a_project_configuration_that_cannot_be_read_is_refused(
    hookscope: Program, workspace: Path, damage: Damage
) -> None:
    (workspace / ".hookscope").mkdir()
    damage(workspace / ".hookscope/config.yaml")
    done = hookscope("list", "--workspace", str(workspace))
    assert done.code == 2
    assert f"Cannot read {workspace / '.hookscope/config.yaml'}" in done.err


@pytest.mark.parametrize("command", [("disable", "greet"), ("enable", "greet")])
@pytest.mark.parametrize("damage", [loop, dangling, folder, blank, half, too_large])
def test_unreadable_files_are_not_edited(
    hookscope: Program,
    workspace: Path,
    home: Path,
    make_hook: MakeHook,
    damage: Damage,
    command: tuple[str, ...],
) -> None:
    make_hook(workspace / "hooks", "greet", HEADER)
    file = home / ".openclaw/openclaw.json"
    file.parent.mkdir()
    damage(file)
    before = content(file)
    done = hookscope(*command)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert file.name in done.err
    assert content(file) == before
    assert hookscope("undo").code == 1, "there is nothing to undo"


def content(file: Path) -> object:
    if file.is_symlink():
        return os.readlink(file)
    return file.read_bytes() if file.is_file() else None


# What permissions forbid


CAPABILITIES = range(41)  # those of Linux


def without_capabilities() -> None:
    """Root obeys permissions too, from the next program on."""
    for capability in CAPABILITIES:
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP = 24


@pytest.mark.skipif(sys.platform != "linux", reason="only there can root give up its rights")
@pytest.mark.parametrize("shut", ["openclaw.json", ".", "hooks"])
def test_files_without_read_permission_stop_the_hooks_that_they_may_disable(
    home: Path, workspace: Path, bundled: Path, make_hook: MakeHook, shut: str
) -> None:
    state = home / ".openclaw"
    (state / "hooks").mkdir(parents=True)
    make_hook(bundled, "greet", HEADER)
    if shut != "hooks":
        off = '{"hooks": {"internal": {"entries": {"greet": {"enabled": false}}}}}'
        (state / "openclaw.json").write_text(off)
    given = ["--dialect", "openclaw", "--workspace", str(workspace), "--bundled", str(bundled)]

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-P", "-m", "hookscope", *given, *command],
            cwd=workspace,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=without_capabilities,
        )

    (state / shut).chmod(0)
    try:
        listed = run("list")
        fired = run("fire", "command:new", "--json")
    finally:
        (state / shut).chmod(0o755)
    assert "permission denied" in listed.stdout
    assert "blocked" in listed.stdout
    assert fired.returncode == 1
    assert json.loads(fired.stdout)["results"] == []


@pytest.mark.parametrize("link", ["hooks/x", "hooks/x/HOOK.md", "plugins/x", "hooks/greet/more.py"])
def test_a_link_that_cannot_be_followed_breaks_no_scan(
    hookscope: Program, workspace: Path, make_hook: MakeHook, link: str
) -> None:
    make_hook(workspace / "hooks", "greet", HEADER)
    (workspace / link).parent.mkdir(parents=True, exist_ok=True)
    (workspace / link).symlink_to("long" * 100)  # longer than a name may be: not "does not exist"
    found = hookscope("list", "--json")
    assert "greet" in [hook["name"] for hook in found.json["hooks"]]

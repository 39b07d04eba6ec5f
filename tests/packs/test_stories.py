"""Packs from the command line: what is shown, what is asked, what is written, and all of it taken back."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pyjson5
import pytest
from tests.packs.conftest import SHIPPED, Cli, make_pack, manifest, on_disk

DIALECTS = ("openclaw", SHIPPED, "milady", "eliza")


def single(folder: Path, name: str, handler: str = "def handler(event): pass\n", more: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "HOOK.md").write_text(manifest(name, more))
    (folder / "handler.py").write_text(handler)
    return folder


def test_a_dry_run_shows_everything_and_writes_nothing(
    cli: Cli, home: Path, settings: Path, tmp_path: Path
) -> None:
    asks = (
        ', "requires": {"bins": ["sh"], "env": ["MY_KEY"]}, "install": '
        '[{"id": "n", "kind": "npm", "package": "keys", "label": "Get keys", "bins": ["keys"]}]'
    )
    source = (
        "import os, subprocess, urllib.request\n"
        "def handler(event):\n"
        "    subprocess.run(['git', 'status']); urllib.request.urlopen('http://x')\n"
        "    os.environ['SECRET_KEY']; open('log', 'w')\n"
    )
    pack = single(tmp_path / "greet", "greet", source, asks)
    cli("list")  # any command caches the versions of the programs here
    before = on_disk(tmp_path)
    done = cli("install", str(pack), "--dry-run")
    assert (done.code, on_disk(tmp_path)) == (0, before)
    for words in (
        "install greet from folder",
        "receives command:new",
        "✗ env: Env missing: MY_KEY",
        "✓ needs bins: sh",
        "install npm keys for keys (Get keys); Hookscope never runs that",
        "reads variables: SECRET_KEY",
        "starts programs: git",
        "connects to other machines:",
        "writes files:",
        "+ ~/.openclaw/hooks/greet/HOOK.md",
    ):
        assert words in done.out, words
    told = cli("install", str(pack), "--dry-run", "--json").json
    assert (told["written"], told["id"], told["hooks"][0]["uses"]["programs"]) == (False, "greet", ["git"])
    assert "greet" in told["settings"]["diff"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_install_update_and_uninstall_leave_the_original_files(
    dialect: str, cli: Cli, home: Path, settings: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello", "bye")
    before = on_disk(home)
    options = ("--dialect", dialect)
    assert cli("install", str(pack), *options).code == 1, "nobody was asked"
    assert on_disk(home) == before
    done = cli("install", str(pack), "--yes", "--json", *options)
    assert (done.code, done.json["written"], done.json["version"]) == (0, True, "1.0.0"), done.err
    listed = {hook["name"]: hook for hook in cli("list", "--json", *options).json["hooks"]}
    assert {"hello", "bye"} <= set(listed)
    assert listed["hello"]["state"] == "untrusted", "it is on, and waits for trust alone"
    again = cli("install", str(pack), "--yes", *options)
    assert (again.code, "is already installed" in again.err) == (1, True)
    assert "nothing newer" in cli("update", "greetings", *options).out
    make_pack(pack, "hello", "welcome", version="2.0.0")
    updated = cli("update", "--all", "--yes", "--json", *options)
    assert (updated.code, updated.json["updates"][0]["version"]) == (0, "2.0.0"), updated.err
    packs = cli("packs", "--json", *options).json["packs"]
    assert [(one["id"], one["hooks"], one["on_disk"]["state"]) for one in packs] == [
        ("greetings", ["hello", "welcome"], "as installed")
    ]
    assert cli("uninstall", "greetings", "--yes", *options).code == 0
    assert on_disk(home) == before


def test_a_pack_is_one_folder_where_the_host_reads_packs_and_separate_hooks_elsewhere(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello", "bye")
    cli("install", str(pack), "--yes", "--dialect", SHIPPED)
    hooks = home / ".openclaw" / "hooks"
    assert sorted(path.name for path in hooks.iterdir()) == ["greetings"]
    assert os.access(hooks / "greetings" / "run.sh", os.X_OK)
    cli("uninstall", "greetings", "--yes", "--dialect", SHIPPED)
    assert not (home / ".openclaw").exists(), "the host's folder was not there before"
    done = cli("install", str(pack), "--yes", "--dialect", "openclaw")
    assert sorted(path.name for path in hooks.iterdir()) == ["bye", "hello"]
    assert "run.sh is not installed" in done.out


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_three_packs_can_be_removed_in_any_order(
    order: tuple[int, ...], cli: Cli, home: Path, tmp_path: Path
) -> None:
    """No settings at first, so the last one takes the file with it; hands over what others rely on."""
    for number in range(3):
        done = cli("install", str(single(tmp_path / f"h{number}", f"h{number}")), "--yes")
        assert done.code == 0, done.err
    for left, number in enumerate(order, 1):
        assert cli("uninstall", f"h{number}", "--yes").code == 0
        states = {
            hook["name"]: hook["enabled"]
            for hook in cli("list", "--json", "--bundled", str(tmp_path / "bundled")).json["hooks"]
        }
        assert states == {f"h{other}": True for other in order[left:]}
    assert on_disk(home) == {}


def test_files_changed_since_the_install_are_named_and_kept(
    cli: Cli, home: Path, settings: Path, tmp_path: Path
) -> None:
    pack = single(tmp_path / "greet", "greet")
    assert cli("install", str(pack), "--yes").code == 0
    there = settings.parent / "hooks" / "greet"
    (there / "handler.py").write_text("# mine now\n")
    (there / "notes.txt").write_text("added\n")
    settings.write_text(settings.read_text().replace("// mine", "// mine, still"))
    shown = cli("packs").out
    assert "changed on disk since the install: ~/.openclaw/hooks/greet/handler.py" in shown
    assert "added on disk since the install: ~/.openclaw/hooks/greet/notes.txt" in shown
    (pack / "more.py").write_text("")
    dry = cli("update", "greet", "--dry-run", "--json").json["updates"][0]
    actions = {Path(file["path"]).name: file["action"] for file in dry["files"]}
    assert actions == {"HOOK.md": "same", "handler.py": "replace", "more.py": "add"}
    updated = cli("update", "greet", "--yes", "--accept-changed", "--json").json["updates"][0]
    kept = Path(updated["kept"])
    assert (kept / "greet" / "handler.py").read_text() == "# mine now\n"
    assert (kept / "greet" / "notes.txt").read_text() == "added\n"
    assert (there / "handler.py").read_text() == (pack / "handler.py").read_text()
    pack.rename(tmp_path / "elsewhere")
    gone = cli("update", "greet", "--yes")
    assert "which no longer exists. Restore it, or `hookscope uninstall greet`." in gone.err
    assert cli("uninstall", "greet", "--yes").code == 0
    assert settings.read_text() == ORIGINAL.replace("// mine", "// mine, still")


ORIGINAL = """// mine
{
  hooks: { internal: { /* keep */ entries: { 'mine': { enabled: true, }, }, }, },
}
"""


def test_hooks_switched_by_the_user_stay_switched(cli: Cli, settings: Path, tmp_path: Path) -> None:
    assert cli("install", str(single(tmp_path / "greet", "greet")), "--yes").code == 0
    assert cli("disable", "greet").code == 0
    done = cli("uninstall", "greet", "--yes")
    assert (
        "hooks.internal.entries.greet.enabled has changed since the install, so it is not reverted"
        in done.out
    )
    assert json.loads(cli("packs", "--json").out)["packs"] == []


def test_a_linked_folder_is_not_copied(cli: Cli, home: Path, settings: Path, tmp_path: Path) -> None:
    before = on_disk(home)
    pack = make_pack(tmp_path / "pack", "hello")
    done = cli("install", str(pack), "--link", "--yes", "--dialect", SHIPPED)
    assert done.code == 0, done.err
    hook = next(
        one for one in cli("list", "--json", "--dialect", SHIPPED).json["hooks"] if one["name"] == "hello"
    )
    assert hook["path"] == str(pack / "hooks" / "hello")
    assert "it is linked" in cli("update", "greetings", "--dialect", SHIPPED).out
    pack.rename(tmp_path / "moved")
    moved = cli("update", "greetings", "--dialect", SHIPPED)
    assert (moved.code, "which no longer exists" in moved.err) == (1, True)
    (tmp_path / "moved").rename(pack)
    assert cli("uninstall", "greetings", "--yes", "--dialect", SHIPPED).code == 0
    assert on_disk(home) == before
    refused = cli("install", str(pack), "--link", "--yes", "--dialect", "milady")
    assert (refused.code, "must be under ~/.milady/" in refused.err) == (1, True), refused.err
    refused = cli("install", str(pack / "hooks" / "hello"), "--link", "--yes", "--dialect", "openclaw")
    assert (refused.code, "is a hook itself" in refused.err) == (1, True), refused.err


def test_a_linked_folder_is_known_by_its_name(cli: Cli, tmp_path: Path) -> None:
    """Nothing in it says what it is called; linking it again was taken for somebody else's doing."""
    folder = tmp_path / "mine"
    single(folder / "hello", "hello")
    assert cli("install", str(folder), "--link", "--yes", "--dialect", "openclaw").code == 0
    again = cli("install", str(folder), "--link", "--yes", "--dialect", "openclaw")
    assert (again.code, "mine is already installed" in again.err) == (1, True), again.err
    assert cli("install", str(folder), "--link", "--force", "--yes", "--dialect", "openclaw").code == 0
    assert cli("uninstall", "mine", "--yes", "--dialect", "openclaw").code == 0


def test_invalid_packs_are_refused_with_a_reason(
    cli: Cli, home: Path, settings: Path, tmp_path: Path
) -> None:
    pack = single(tmp_path / "greet", "greet")
    (tmp_path / "linked").mkdir()
    single(tmp_path / "linked", "linked")
    (tmp_path / "linked" / "secret").symlink_to("/etc/passwd")
    single(tmp_path / "mine", "mine")
    for name in ("HEAD", "objects/info", "refs/heads"):
        (tmp_path / "bare.git" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bare.git" / name).write_text("ref")
    before = on_disk(home)
    cases: list[tuple[tuple[str, ...], int, str]] = [
        (("install", str(pack), "--yes", "--os", "darwin"), 2, "cannot be installed under a what-if (os)"),
        (("install", str(pack), "--pin", "--yes"), 1, "--pin is only supported with npm registry installs."),
        (("install", str(pack), "--yes", "--dialect", "eve"), 1, "Eve has no folder"),
        (("install", str(tmp_path / "linked"), "--yes"), 1, "secret is a link that leads out"),
        (("install", str(tmp_path / "mine"), "--yes"), 1, "Hookscope has not installed it"),
        (("install", "./absent", "--yes"), 1, "There is no folder or archive"),
        (("install", "name@^1.0", "--yes"), 1, "does not name one version or a tag"),
        (("install", "https://example.org/a.tgz", "--yes"), 1, "is a URL"),
        (("install", "file:///srv/a.git", "--yes"), 1, "Name its path, or write `git+file://…`"),
        (("install", str(tmp_path / "bare.git"), "--yes"), 1, f"`git+file://{tmp_path}/bare.git`."),
        (("install", "git+ext::sh", "--yes"), 1, "Use git+https, git+ssh or git+file."),
        (("install", "git+file:///srv/my repo", "--yes"), 1, "Write a space as %20."),
        (("install", "-rf", "--yes"), 2, "No such option"),
        (("uninstall", "gret", "--yes"), 1, "No pack 'gret' is installed here"),
        (("update",), 2, "Name the packs to update, or --all"),
        (
            ("install", str(pack), "--format", "host", "--json"),
            2,
            "has no command of OpenClaw's own about packs",
        ),
    ]
    for words, code, sentence in cases:
        done = cli(*words)
        assert (done.code, sentence in done.err) == (code, True), (words, done.err)
        assert done.err.count("\n") == 1
    settings.write_text("{ hooks: ")
    done = cli("install", str(pack), "--yes")
    assert (done.code, "cannot be edited" in done.err) == (1, True)
    settings.write_bytes((before[str(settings)] or b"")[1:])
    assert on_disk(home) == before


def test_install_asks_at_a_terminal(home: Path, workspace: Path, tmp_path: Path) -> None:
    pack = single(tmp_path / "greet", "greet")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "hookscope", "install", str(pack)],
        cwd=workspace,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, b"y\n")
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:
        pass  # it has ended
    assert child.wait(60) == 0
    os.close(ours)
    assert b"Install it? [y/N]" in said
    assert (home / ".openclaw" / "hooks" / "greet" / "handler.py").exists()


def test_packs_installed_by_the_host_are_named_and_not_touched(cli: Cli, home: Path, settings: Path) -> None:
    """Guide 004 keeps such records under `hooks.internal.installs`."""
    single(home / ".openclaw" / "hooks" / "hello", "hello")
    record = {"source": "npm", "spec": "@acme/my-hooks", "version": "0.1.0", "hooks": ["hello"]}
    text = json.dumps({"hooks": {"internal": {"installs": {"my-hooks": record, "odd": 5}}}})
    settings.write_text(text)
    listed = cli("packs", "--dialect", "openclaw")
    assert "Installed by OpenClaw itself" in listed.out
    assert "my-hooks  npm @acme/my-hooks 0.1.0  hooks: hello" in listed.out
    (theirs, odd) = cli("packs", "--json", "--dialect", "openclaw").json["of_host"]
    assert (theirs["id"], theirs["hooks"], theirs["line"], odd["spec"]) == ("my-hooks", ["hello"], 1, None)
    for words in (("update", "my-hooks"), ("update", "hello"), ("uninstall", "@acme/my-hooks")):
        done = cli(*words, "--yes", "--dialect", "openclaw")
        assert (done.code, "was installed by OpenClaw itself" in done.err) == (1, True), done.err
    assert "Packs of OpenClaw itself, not updated" in cli("update", "--all", "--dialect", "openclaw").err
    notes = cli("info", "hello", "--json", "--dialect", "openclaw").json["notes"]
    assert "OpenClaw installed it with my-hooks, from npm @acme/my-hooks 0.1.0" in notes
    assert settings.read_text() == text


@pytest.mark.parametrize("way", ["copy", "archive"])
def test_older_versions_find_the_pack_in_their_own_record(
    cli: Cli, home: Path, settings: Path, tmp_path: Path, way: str
) -> None:
    """Since 2026.8 the record is a database of the program; one in the settings makes them invalid."""
    pack = make_pack(tmp_path / "pack", "hello", "bye")
    written = settings.read_text()
    spec = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", pack)) if way == "archive" else pack
    older = ("--dialect", "openclaw@2026.7")
    assert cli("install", str(spec), "--yes", *older).code == 0
    (record,) = pyjson5.decode(settings.read_text())["hooks"]["internal"]["installs"].items()
    where, kind = home / ".openclaw" / "hooks" / "greetings", "archive" if way == "archive" else "path"
    assert record[0] == "greetings"
    assert record[1].pop("installedAt").endswith("Z")
    assert record[1] == {
        "source": kind,
        "sourcePath": str(spec),
        "installPath": str(where),
        "version": "1.0.0",
        "hooks": ["hello", "bye"],
    }
    listed = cli("packs", "--json", *older).json
    assert ([one["id"] for one in listed["packs"]], listed["of_host"]) == (["greetings"], [])
    assert cli("update", "greetings", "--force", "--yes", *older).code == 0
    assert cli("uninstall", "@acme/greetings", "--yes", *older).code == 0
    assert settings.read_text() == written
    linked = single(tmp_path / "linked" / "hello", "hello").parent
    assert cli("install", str(linked), "--link", "--yes", *older).code == 0
    records = pyjson5.decode(settings.read_text())["hooks"]["internal"]["installs"]
    assert records["linked"]["installPath"] == str(linked)
    assert cli("uninstall", "linked", "--yes", *older).code == 0
    assert settings.read_text() == written
    assert cli("install", str(spec), "--yes", "--dialect", SHIPPED).code == 0
    assert "installs" not in pyjson5.decode(settings.read_text())["hooks"]["internal"]


def test_imports_outside_an_installed_hook_are_reported(cli: Cli, tmp_path: Path) -> None:
    """Where each hook goes by itself, what they share does not."""
    pack = make_pack(tmp_path / "pack", "hello", "bye", handler="import json\nfrom shared.words import hi\n")
    (pack / "shared").mkdir()
    (pack / "shared" / "words.py").write_text("hi = 1\n")
    (pack / "lib").mkdir()
    (pack / "lib" / "index.ts").write_text("export const hi = 1;\n")
    (pack / "hooks" / "bye" / "handler.py").unlink()
    (pack / "hooks" / "bye" / "handler.js").write_text(
        'import { hi } from "../../lib";\nimport fs from "./own.js";\nexport default () => {};\n'
    )
    (pack / "hooks" / "bye" / "own.js").write_text("export default 1;\n")
    told = json.loads((pack / "package.json").read_text())
    (pack / "package.json").write_text(json.dumps({**told, "dependencies": {"helper": "^1"}}))
    shown = cli("install", str(pack), "--dry-run", "--json").json
    lost = {
        hook["name"]: [note for note in hook["notes"] if "not installed" in note] for hook in shown["hooks"]
    }
    assert lost == {
        "hello": ["handler.py imports shared.words, which is not installed: --link uses a folder as a whole"],
        "bye": ["handler.js imports ../../lib, which is not installed: --link uses a folder as a whole"],
    }
    assert "hooks in separate folders cannot share it" in cli("install", str(pack), "--dry-run").out
    whole = cli("install", str(pack), "--dry-run", "--json", "--dialect", SHIPPED).json
    assert not [note for hook in whole["hooks"] for note in hook["notes"] if "is not installed" in note]

"""Where packs come from: a registry on loopback, a repository, a Python package. Nothing of them is run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.packs.conftest import Cli, make_pack, manifest, on_disk
from tests.packs.registry import Registry, serving

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal
from hookscope.packs.errors import Progress

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
HOOK: dict[str, Any] = {"openclaw": {"hooks": ["./hooks/hello"]}}


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with serving(Registry()) as registry:
        monkeypatch.setenv("npm_config_registry", registry.url)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        monkeypatch.setenv("npm_config_prefer_online", "true")
        yield registry


def files(text: str) -> dict[str, str]:
    return {"hooks/hello/HOOK.md": manifest("hello"), "hooks/hello/handler.py": f"# {text}\n"}


def marks(tmp_path: Path) -> dict[str, str]:
    """Scripts that npm would run, and that nobody may."""
    return dict.fromkeys(
        ("preinstall", "install", "postinstall", "prepack", "prepare"), f"touch {tmp_path}/ran"
    )


@needs_npm
def test_a_registry_package_is_installed_and_uninstalled(
    cli: Cli, registry: Registry, settings: Path, home: Path, tmp_path: Path
) -> None:
    scripts = marks(tmp_path)
    registry.publish("@acme/hooks", "1.0.0", files("one"), scripts=scripts, **HOOK)
    before = on_disk(home)
    done = cli("install", "@acme/hooks", "--yes", "--json")
    assert done.code == 0, done.err
    assert (done.code, done.json["version"], done.json["id"]) == (0, "1.0.0", "hooks"), done.err
    assert done.json["integrity"].startswith("sha512-")
    registry.publish("@acme/hooks", "1.1.0", files("two"), scripts=scripts, **HOOK)
    dry = cli("update", "hooks", "--dry-run")
    assert "update hooks 1.1.0 (now 1.0.0) from npm @acme/hooks@1.1.0" in dry.out
    assert "~ ~/.openclaw/hooks/hello/handler.py" in dry.out
    assert cli("update", "--all", "--yes").code == 0
    handler = settings.parent / "hooks" / "hello" / "handler.py"
    assert handler.read_text() == "# two\n"
    registry.publish("@acme/hooks", "1.1.0", files("slipped in"), scripts=scripts, **HOOK)
    drifted = cli("update", "hooks", "--dry-run", "--json").json["updates"][0]
    assert "@acme/hooks@1.1.0 has changed: its integrity was sha512-" in drifted["drift"]
    refused = cli("uninstall", "hello", "--yes")
    assert (refused.code, "'hello' is a hook of the pack hooks." in refused.err) == (1, True), refused.err
    assert cli("uninstall", "@acme/hooks", "--yes").code == 0, "by the name that it was installed by"
    assert on_disk(home) == before
    assert not (tmp_path / "ran").exists()


@needs_npm
def test_a_pinned_package_stays_and_a_wrong_checksum_is_refused(
    cli: Cli, registry: Registry, home: Path, tmp_path: Path
) -> None:
    registry.publish("pinned", "1.0.0", files("one"), **HOOK)
    registry.publish("pinned", "2.0.0", files("two"), tag="next", **HOOK)
    done = cli("install", "pinned@next", "--pin", "--yes", "--json").json
    assert (done["pinned"], done["spec"], done["version"]) == (True, "pinned@2.0.0", "2.0.0")
    registry.publish("pinned", "3.0.0", files("three"), tag="next", **HOOK)
    assert cli("update", "pinned", "--json").json["updates"][0]["why"] == "nothing newer"
    registry.publish("liar", "1.0.0", files("one"), **HOOK)
    registry.says["liar@1.0.0"] = b"other bytes"
    before = on_disk(home)
    for spec, sentence in {
        "liar": "failed the integrity check",
        "nowhere": "The registry has no package nowhere.",
    }.items():
        refused = cli("install", spec, "--yes")
        assert (refused.code, sentence in refused.err) == (1, True), refused.err
    assert on_disk(home) == before


@needs_npm
def test_dependencies_come_on_request_with_scripts_off(
    cli: Cli, registry: Registry, home: Path, tmp_path: Path
) -> None:
    registry.publish("helper", "1.0.0", {"index.js": "export default 1\n"}, scripts=marks(tmp_path))
    registry.publish("needy", "1.0.0", files("one"), dependencies={"helper": "^1.0.0"}, **HOOK)
    shipped = ("--dialect", "openclaw@2026.9")
    done = cli("install", "needy", "--dependencies", "--yes", *shipped)
    assert done.code == 0, done.err
    assert "depends on helper ^1.0.0 (installed too, without scripts)" in done.out
    folder = home / ".openclaw" / "hooks" / "needy"
    assert (folder / "node_modules" / "helper" / "index.js").read_text() == "export default 1\n"
    assert cli("packs", "--json", *shipped).json["packs"][0]["on_disk"]["state"] == "as installed"
    assert not (tmp_path / "ran").exists()
    assert cli("uninstall", "needy", "--yes", *shipped).code == 0
    assert not folder.parent.exists()


@needs_git
def test_a_repository_is_read_without_a_checkout(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, ran = make_pack(tmp_path / "repository", "hello"), tmp_path / "ran"
    evil = f'[filter "evil"]\nsmudge = touch {ran}; cat\n[core]\nhooksPath = {tmp_path}/hooks\n'
    (home / ".gitconfig").write_text(f"{evil}[user]\nname = t\nemail = t@t\n")
    (tmp_path / "hooks").mkdir()
    for name in ("post-checkout", "reference-transaction"):
        (tmp_path / "hooks" / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (tmp_path / "hooks" / name).chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "-c", f"core.hooksPath={tmp_path}/none", "commit", "-qm", "one")
    git(repository, "-c", f"core.hooksPath={tmp_path}/none", "tag", "v1")
    ran.unlink(missing_ok=True)
    spec = f"git+file://{repository}"
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))  # as where a hook of git calls us
    done = cli("install", f"{spec}#v1", "--yes", "--json")
    assert (done.code, done.json["version"], len(done.json["resolved"])) == (0, "1.0.0", 40), done.err
    assert cli("update", "greetings", "--json").json["updates"][0]["why"] == "nothing newer"
    assert cli("uninstall", "greetings", "--yes").code == 0
    refused = cli("install", f"{spec}#gone", "--yes")
    assert (refused.code, "git cannot fetch" in refused.err) == (1, True)
    refused = cli("install", f"{spec}#0123abcd", "--yes")
    assert "Name a commit by all of its 40 digits." in refused.err
    ssh = tmp_path / "ssh"
    ssh.write_text(
        "#!/bin/sh\necho 'warning: a key was added' >&2\necho 'git@host: Permission denied.' >&2\nexit 255\n"
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    refused = cli("install", "git+ssh://git@host/acme/hooks.git", "--yes")
    assert "git@host: Permission denied. Nothing was written." in refused.err, "not what git says of it"
    assert not ran.exists()


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_hooks_of_an_installed_python_package_are_found(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, ran = tmp_path / "site", tmp_path / "ran"
    package = site / "acme_hooks"
    for name in ("hello", "bye"):
        (package / "hooks" / name).mkdir(parents=True)
        (package / "hooks" / name / "HOOK.md").write_text(manifest(name))
        (package / "hooks" / name / "handler.py").write_text("def handler(event): pass\n")
    (package / "__init__.py").write_text(f"open({str(ran)!r}, 'w')\n")
    told = site / "acme_hooks-2.1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-hooks\nVersion: 2.1\n")
    (told / "entry_points.txt").write_text("[hookscope.hooks]\nacme = acme_hooks.hooks\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    done = cli("install", "python:acme-hooks", "--yes", "--json")
    assert (done.code, done.json["resolved"]) == (0, "acme-hooks==2.1"), done.err
    assert {hook["name"] for hook in done.json["hooks"]} == {"hello", "bye"}
    again = cli("install", "python:Acme_Hooks", "--yes")
    assert "acme-hooks is already installed, from python:acme-hooks." in again.err, "it has one name"
    assert cli("uninstall", "acme-hooks", "--yes").code == 0
    refused = cli("install", "python:acme-nothing", "--yes")
    assert "has no package acme-nothing installed" in refused.err
    assert not ran.exists()


@pytest.mark.parametrize(
    "place", ["{outside}", "..", "../outside", "acme/../../outside", "", "....", "acme/in"]
)
def test_an_entry_point_must_name_a_package(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    site = tmp_path / "site"
    for folder in (tmp_path / "outside/hello", site / "acme/in/hello", site / "hello", tmp_path / "hello"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "HOOK.md").write_text(manifest("hello"))
        (folder / "handler.py").write_text("def handler(event): pass\n")
    told = site / "acme-2.1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 2.1\n")
    named = place.format(outside=tmp_path / "outside")
    (told / "entry_points.txt").write_text(f"[hookscope.hooks]\nacme = {named}\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    done = cli("install", "python:acme", "--yes")
    assert done.code == 1
    assert "does not name a hooks folder" in done.err


def test_a_slow_download_shows_progress_and_can_be_stopped(
    workspace: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin" / "npm"
    slow.parent.mkdir()
    begun = tmp_path / "bin" / "begun"
    slow.write_text(f"#!/bin/sh\nsleep 60 & : > '{begun}'; sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    monkeypatch.chdir(workspace)
    before, told = on_disk(tmp_path), list[str]()
    progress = Progress(report=told.append, is_cancelled=begun.exists)
    manager = PackManager(Workbench(Options()))
    with pytest.raises(Refusal, match="Cancelled; nothing was installed"):
        manager.plan_install("acme", progress=progress)
    assert told == ["fetching acme with npm"]
    begun.unlink()
    assert on_disk(tmp_path) == before


@needs_npm
def test_latest_is_the_version_that_the_registry_names(cli: Cli, registry: Registry, home: Path) -> None:
    """npm took an older one where the newest wanted another Node than its own; hosts bring theirs."""
    registry.publish("aging", "0.1.0", files("one"), **HOOK)
    registry.publish("aging", "2.0.0", files("two"), engines={"node": ">=99"}, **HOOK)
    assert cli("install", "aging", "--yes", "--json").json["version"] == "2.0.0"
    registry.publish("aging", "1.5.0", files("three"), **HOOK)
    told = cli("update", "aging", "--dry-run").out
    assert "1.5.0 is older than 2.0.0, which is installed now" in told
    registry.publish("aging", "3.0.0-beta.1", files("four"), **HOOK)
    refused = cli("update", "aging", "--yes")
    assert (refused.code, "Use `aging@3.0.0-beta.1` to install it" in refused.err) == (1, True), refused.err
    assert cli("install", "aging@3.0.0-beta.1", "--force", "--yes").code == 0
    registry.publish("plug", "1.0.0", {}, openclaw={"extensions": ["./index.ts"]})
    assert "is a plugin, not a pack" in cli("install", "plug", "--yes").err

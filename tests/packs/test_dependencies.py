"""`--dependencies`: npm gets the dependencies of package.json, and nothing else of a pack or a workspace."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.packs.conftest import SHIPPED, Cli, make_pack, manifest, on_disk
from tests.packs.registry import Registry, serving
from tests.packs.test_names_of_packs import packed

from hookscope.packs.npm import is_from_registry

SHIPPED_HOST = ("--dialect", SHIPPED)
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
ELSEWHERE = (
    "git+https://127.0.0.1:1/x.git",
    "git+ssh://git@host/x.git",
    "git://host/x.git",
    "git+file:///srv/x",
    "git@host:acme/x.git",
    "acme/x",
    "acme/x#v1",
    "github:acme/x",
    "gist:0123abcd",
    "https://host/x.tgz",
    "http://127.0.0.1:1/x",
    "file:../x",
    "file:///etc",
    "FILE:../x",
    "link:../x",
    "../x",
    "./x",
    ".",
    "..",
    "~/x",
    "/srv/x",
    "C:\\x",
    "x.tgz",
    "x.TAR.GZ",
    "x.tar ",
    "workspace:*",
    "catalog:",
    "portal:../x",
    "patch:x@1#y",
    "npm:x@git+https://host/x.git",
    "npm:x@file:../x",
    "npm:../x",
    "npm:@acme/../x@1",
    "npm:node_modules@1",
    "npm:",
    "1.0.0\ngit+https://host/x.git",
    "$HOME",
    "${SECRET}",
)
OF_REGISTRY = (
    *("", "*", "1", "^1.2.3", "~1.2", ">=1 <3", "1 - 2", "^1 || ^2", "latest", "1.0.0-beta.2+b", "x"),
    *("npm:other@^1", "npm:@acme/other@1.2.3", "npm:other"),
)


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_dependencies_from_elsewhere_are_recognised(wanted: str) -> None:
    assert not is_from_registry(wanted)


@pytest.mark.parametrize("wanted", OF_REGISTRY)
def test_ranges_tags_and_aliases_come_from_the_registry(wanted: str) -> None:
    assert is_from_registry(wanted)


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A npm of the user's that writes down how it was run, then does what `then` beside it says."""
    return fake_npm(tmp_path / "users-bin", monkeypatch, "/usr/bin", "/bin")


def fake_npm(folder: Path, monkeypatch: pytest.MonkeyPatch, *after: str) -> Path:
    folder.mkdir()
    script = f"""#!/bin/sh
pwd > '{folder}/cwd'; ls -A > '{folder}/files'; cat package.json > '{folder}/package.json'
printf '%s\\n' "$@" > '{folder}/words'
cat "/proc/$$/environ" > '{folder}/env' 2>&- || env -0 > '{folder}/env'
test -f '{folder}/then' && . '{folder}/then'
exit 0
"""
    (folder / "npm").write_text(script)
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(folder), *after)))
    return folder


def environment(npm: Path) -> dict[str, str]:
    pairs = (npm / "env").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def needy(folder: Path, needs: Mapping[str, object], **more: Any) -> Path:
    pack = make_pack(folder, "hello")
    told = json.loads((pack / "package.json").read_text())
    (pack / "package.json").write_text(json.dumps({**told, "dependencies": needs, **more}))
    return pack


@pytest.mark.parametrize("part", ["dependencies", "optionalDependencies"])
@pytest.mark.parametrize(
    "wanted", ["git+https://127.0.0.1:1/x.git", "file:../x", "acme/x", "https://host/x.tgz", None]
)
def test_a_dependency_from_elsewhere_is_refused_before_npm_runs(
    wanted: str | None, part: str, cli: Cli, home: Path, npm: Path, tmp_path: Path
) -> None:
    pack = needy(tmp_path / "pack", {}, **{part: {"x": wanted}})
    for words in (("--yes",), ("--dry-run",), ("--yes", "--json")):
        done = cli("install", str(pack), "--dependencies", *words, *SHIPPED_HOST)
        assert (done.code, "only packages of the registry are installed" in done.err) == (1, True), done.err
        assert "Install it without --dependencies." in done.err
    assert not (npm / "cwd").exists()
    assert on_disk(home) == {}
    assert cli("install", str(pack), "--yes", *SHIPPED_HOST).code == 0, "without them it comes"


@pytest.mark.parametrize(
    "name", ["node_modules", "../x", "__proto__", ".bin", "@acme/node_modules", "-rf", "a b"]
)
def test_a_dependency_with_an_invalid_name_is_refused(
    name: str, cli: Cli, home: Path, npm: Path, tmp_path: Path
) -> None:
    done = cli(
        "install", str(needy(tmp_path / "pack", {name: "^1"})), "--dependencies", "--yes", *SHIPPED_HOST
    )
    assert (done.code, "It depends on" in done.err) == (1, True), done.err
    assert not (npm / "cwd").exists()
    assert on_disk(home) == {}


@pytest.mark.parametrize("source", ["folder", "zip", "tgz"])
def test_npm_sees_only_the_dependencies(
    source: str,
    cli: Cli,
    home: Path,
    workspace: Path,
    npm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = needy(
        tmp_path / "pack",
        {"helper": "^1"},
        optionalDependencies={"maybe": "2"},
        devDependencies={"x": "file:../x"},
        overrides={"helper": "git+https://host/x.git"},
        bundledDependencies=["helper"],
        workspaces=["hooks/*"],
        scripts={"preinstall": "touch ran"},
        packageManager="npm@1.0.0",
    )
    for name in (".npmrc", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", ".pnpmfile.cjs"):
        (pack / name).write_text("git=./evil.sh\nregistry=http://evil/${SECRET}\n")
    (pack / "node_modules" / "helper").mkdir(parents=True)
    (pack / "node_modules" / "helper" / "index.js").write_text("// of the pack\n")
    (npm / "then").write_text(
        "mkdir -p node_modules/helper node_modules/.bin; echo '// of npm' > node_modules/helper/index.js\n"
        "ln -s ../helper/index.js node_modules/.bin/helper\n"
    )
    for name, value in {
        "npm_config_git": "./evil.sh",
        "NPM_CONFIG_SCRIPT_SHELL": "./evil.sh",
        "npm_config_node_options": "--require ./evil.js",
        "npm_config_prefix": str(pack),
        "npm_config_userconfig": ".npmrc",
        "npm_config_globalconfig": str(workspace / ".npmrc"),
        "npm_package_name": "x",
        "NODE_OPTIONS": "--require ./evil.js",
        "NODE_PATH": str(pack),
        "npm_config_registry": "http://mine",
        "npm_config_@acme:registry": "http://acme",
        "HTTPS_PROXY": "http://proxy",
    }.items():
        monkeypatch.setenv(name, value)
    spec = pack if source == "folder" else packed(pack, source)
    done = cli("install", str(spec), "--dependencies", "--yes", *SHIPPED_HOST)
    assert done.code == 0, done.err
    for name in (".npmrc", "package-lock.json", "npm-shrinkwrap.json", "overrides of package.json"):
        assert name in done.out, "what is ignored is said"
    assert (npm / "files").read_text().split() == ["package.json"]
    told = json.loads((npm / "package.json").read_text())
    assert told == {"dependencies": {"helper": "^1"}, "optionalDependencies": {"maybe": "2"}}
    words = (npm / "words").read_text().splitlines()
    assert {"install", "--ignore-scripts", "--no-workspaces", "--omit=dev", f"--git={os.devnull}"} <= {*words}
    cache = next(word for word in words if word.startswith("--cache=")).removeprefix("--cache=")
    assert not Path(cache).exists(), "it goes with the folder that npm worked in"
    cwd = Path((npm / "cwd").read_text().strip())
    assert cwd.is_relative_to(tmp_path / "state")
    assert not cwd.exists()
    env = {"npm_config_@acme:registry": "http://acme", **environment(npm)}  # not every shell passes it on
    mine = {name: value for name, value in env.items() if name.lower().startswith("npm_")}
    assert mine == {
        "npm_config_registry": "http://mine",
        "npm_config_@acme:registry": "http://acme",
        "npm_config_ignore_scripts": "true",
        "npm_config_yes": "false",
    }
    assert env["HTTPS_PROXY"] == "http://proxy"
    assert not {"NODE_OPTIONS", "NODE_PATH"} & env.keys()
    folder = home / ".openclaw" / "hooks" / "greetings"
    assert (folder / "node_modules" / ".bin" / "helper").read_text() == "// of npm\n"
    assert cli("packs", "--json", *SHIPPED_HOST).json["packs"][0]["on_disk"]["state"] == "as installed"
    assert not [path for path in (tmp_path / "state").rglob("*") if path.name.startswith("npm")]
    assert cli("uninstall", "greetings", "--yes", *SHIPPED_HOST).code == 0
    assert on_disk(home) == {}


@pytest.mark.parametrize("where", ["state", "workspace/state", "home/state"])
def test_npm_runs_outside_every_project(
    where: str,
    cli: Cli,
    home: Path,
    workspace: Path,
    npm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever Hookscope keeps its state: npm looks for a project above the folder that it runs in."""
    for folder in (workspace, home):
        (folder / "package.json").write_text('{"workspaces": ["**"]}')
        (folder / ".npmrc").write_text("git=./evil.sh\n")
    monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(tmp_path / where))
    (npm / "then").write_text("test -f package.json && touch ../acme-1.0.0.tgz\n")
    done = cli("install", "acme", "--yes")
    assert (done.code, "not a valid tar archive" in done.err) == (1, True), done.err
    assert (npm / "files").read_text().split() == ["package.json"]
    assert json.loads((npm / "package.json").read_text()) == {}
    assert "--no-workspaces" in (npm / "words").read_text().splitlines()
    assert Path((npm / "cwd").read_text().strip()).is_relative_to(tmp_path / where)
    assert not list((tmp_path / where).rglob("npm*"))


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ("mkdir node_modules; ln -s /etc node_modules/x", "a link that leads out"),
        ("mkdir node_modules; ln -s ../../../.. node_modules/x", "a link that leads out"),
        ("mkdir -p node_modules/a; ln -s ../../package.json node_modules/a/x", "a link that leads out"),
        ("mkdir node_modules; ln -s $PWD/node_modules node_modules/x", "a link that leads out"),
        ("ln -s /etc node_modules", "created node_modules as a link"),
        ("mkdir node_modules; mkfifo node_modules/x", "a device, a pipe or a socket"),
        ("mkdir node_modules; echo '{' > node_modules/.package-lock.json", "cannot be read"),
        (
            'mkdir node_modules; echo \'{"packages": {"node_modules/a": {"link": true}}}\' '
            "> node_modules/.package-lock.json",
            "npm linked a folder (of a)",
        ),
        ("exit 3", "npm cannot fetch its dependencies"),
    ],
)
def test_npms_result_is_checked_before_it_is_moved(
    then: str, words: str, cli: Cli, home: Path, npm: Path, tmp_path: Path
) -> None:
    (npm / "then").write_text(f"{then}\n")
    pack = needy(tmp_path / "pack", {"helper": "^1"})
    done = cli("install", str(pack), "--dependencies", "--yes", *SHIPPED_HOST)
    assert (done.code, words in done.err) == (1, True), done.err
    assert on_disk(home) == {}
    assert not list((tmp_path / "state").rglob("work/*"))


def test_an_npm_in_a_workspace_or_pack_is_never_used(
    cli: Cli, home: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = needy(tmp_path / "pack", {"helper": "^1"})
    (tmp_path / "way").symlink_to(workspace / "node_modules")
    (tmp_path / "links").mkdir()
    for program in ("npm", "git"):
        (tmp_path / "links" / program).symlink_to(workspace / "bin" / program)
    theirs = [workspace / "node_modules" / ".bin", workspace / "bin", pack / "bin", workspace]
    for folder in theirs:
        folder.mkdir(parents=True, exist_ok=True)
        for program in ("npm", "git", "node"):
            (folder / program).write_text(f"#!/bin/sh\n: > '{tmp_path}/ran'\n")
            (folder / program).chmod(0o755)
    before = ["bin", ".", "", "./node_modules/.bin", *map(str, theirs), str(tmp_path / "way" / ".bin")]
    npm = fake_npm(tmp_path / "users-bin", monkeypatch)
    mine = [str(tmp_path / "links"), str(npm), "/usr/bin", "/bin"]
    monkeypatch.setenv("PATH", os.pathsep.join((*before, *mine)))
    done = cli("install", str(pack), "--dependencies", "--yes", *SHIPPED_HOST)
    assert done.code == 0, done.err
    assert environment(npm)["PATH"].split(os.pathsep) == mine
    before.remove(str(pack / "bin"))  # of no pack that is installed here
    monkeypatch.setenv("PATH", os.pathsep.join((*before, str(tmp_path / "links"), "/nowhere")))
    for spec, name in (("acme", "npm"), ("git+https://127.0.0.1:1/x.git", "git")):
        done = cli("install", spec, "--yes", *SHIPPED_HOST)
        sentence = f"{name} is not installed. It must be on PATH to fetch this, outside of the workspace."
        assert (done.code, sentence in done.err) == (1, True), done.err
    assert not (tmp_path / "ran").exists()


def test_an_update_with_other_dependencies_is_refused(
    cli: Cli, home: Path, npm: Path, tmp_path: Path
) -> None:
    pack = needy(tmp_path / "pack", {"helper": "^1"})
    assert cli("install", str(pack), "--dependencies", "--yes", *SHIPPED_HOST).code == 0
    before = on_disk(home)
    needy(pack, {"helper": "github:acme/helper"}, version="2.0.0")
    done = cli("update", "--all", "--yes", *SHIPPED_HOST)
    assert (done.code, "It depends on helper from github:acme/helper" in done.err) == (1, True), done.err
    assert on_disk(home) == before


def test_a_linked_folder_gets_no_dependencies(cli: Cli, home: Path, npm: Path, tmp_path: Path) -> None:
    pack = needy(tmp_path / "pack", {"helper": "^1"})
    done = cli("install", str(pack), "--link", "--dependencies", "--yes", *SHIPPED_HOST)
    assert (done.code, "Leave out --link or --dependencies." in done.err) == (1, True), done.err
    assert not (npm / "cwd").exists()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with serving(Registry()) as registry:
        monkeypatch.setenv("npm_config_registry", registry.url)
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        yield registry


@needs_npm
@pytest.mark.parametrize(
    "wanted", ["git+file://{}/repository", "file:../../../../..", "{url}/-/other/1.0.0.tgz"]
)
def test_indirect_dependencies_must_come_from_the_registry(
    wanted: str, cli: Cli, registry: Registry, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f"#!/bin/sh\n: > '{tmp_path}/ran'\nexit 1\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}{os.pathsep}{os.environ['PATH']}")
    registry.publish("other", "1.0.0", {"index.js": "export default 1\n"})
    wanted = wanted.format(tmp_path, url=registry.url)
    registry.publish("helper", "1.0.0", {"index.js": "export default 1\n"}, dependencies={"other": wanted})
    pack = needy(tmp_path / "pack", {"helper": "^1"})
    done = cli("install", str(pack), "--dependencies", "--yes", *SHIPPED_HOST)
    assert done.code == 1
    assert "Nothing was written." in done.err, done.err
    assert on_disk(home) == {}
    assert not (tmp_path / "ran").exists(), "git was not started"


@needs_npm
def test_programs_and_aliases_of_dependencies_are_installed(
    cli: Cli, registry: Registry, home: Path, tmp_path: Path
) -> None:
    registry.publish("helper", "1.2.0", {"cli.js": "#!/usr/bin/env node\n"}, bin={"helper": "./cli.js"})
    pack = needy(tmp_path / "pack", {"short": "npm:helper@^1"})
    done = cli("install", str(pack), "--dependencies", "--yes", *SHIPPED_HOST)
    assert done.code == 0, done.err
    modules = home / ".openclaw" / "hooks" / "greetings" / "node_modules"
    assert (modules / "short" / "cli.js").is_file()
    assert (modules / ".bin" / "helper").is_file()
    assert cli("packs", "--json", *SHIPPED_HOST).json["packs"][0]["on_disk"]["state"] == "as installed"


@needs_npm
def test_the_users_configuration_chooses_the_registry(
    cli: Cli, registry: Registry, home: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where Hookscope's state lies in a workspace that says it holds all that is below it."""
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("HOOKSCOPE_STATE_DIR", str(workspace / "state"))
    (home / ".npmrc").write_text(f"registry={registry.url}\n")
    pack = needy(tmp_path / "pack", {"helper": "^1"})
    for folder in (workspace, pack):
        (folder / ".npmrc").write_text("registry=http://127.0.0.1:1\nfetch-retries=0\ndry-run=true\n")
    (workspace / "package.json").write_text('{"name": "all", "workspaces": ["**"]}')
    registry.publish("helper", "1.0.0", {"index.js": "export default 1\n"})
    registry.publish(
        "acme", "1.0.0", {"HOOK.md": manifest("acme"), "handler.js": "export default () => {}\n"}
    )
    assert cli("install", "acme", "--yes", *SHIPPED_HOST).code == 0
    done = cli("install", str(pack), "--dependencies", "--yes", *SHIPPED_HOST)
    assert done.code == 0, done.err
    helper = home / ".openclaw" / "hooks" / "greetings" / "node_modules" / "helper"
    assert (helper / "index.js").read_text() == "export default 1\n"

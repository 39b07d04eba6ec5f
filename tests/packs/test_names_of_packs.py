"""Names that mean something to Node, npm, Python or a host: refused, wherever a pack comes from."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.packs.conftest import SHIPPED, Cli, make_pack, manifest, on_disk

from hookscope.packs.package_checks import fault_of_pack_name

REFUSED = {
    "of Node": ("node_modules", "Node_Modules", "NODE_MODULES", "node_modules ", "bower_components"),
    "of npm": ("favicon.ico", "package.json", "package-lock.json", "npm-shrinkwrap.json", "Package.JSON"),
    "of JavaScript": ("__proto__", "constructor", "prototype", "__defineGetter__", "toString", "valueOf"),
    "of Python": ("__init__", "__pycache__", "__main__"),
    "hidden": (".bin", ".package-lock.json", ".node_modules", ".git", "..", "."),
    "with a tilde": ("~", "~root", "NODE_M~1", "greet~"),
    "like an option": ("-rf", "--force", "-"),
    "of Windows": ("con", "AUX", "nul.js", "com1", "LPT9", "greet.", "a:b"),
    "not seen": (
        "node_modules\u200b",
        "node\u00ad_modules",
        "node_\U000e0041modules",
        "node_modules\ufe0f",
        "gr\u3164eet",
        "gr\u202eeet",
        "gr\x1beet",
        "gr\u200deet",
    ),
    "in other forms": (
        "\uff4e\uff4f\uff44\uff45_modules",
        "node_module\u017f",
        "\uff0ebin",
        "\uff0drf",
        "greet\uff5e",
        "n\u043ede_m\u043edul\u0435s",
        "\u0441onstruct\u03bfr",
    ),
    "with a path": ("a/b", "a\\b", "a\uff0fb"),
}
NAMES = [name for names in REFUSED.values() for name in names]
FOLDERS = [
    "node_modules",
    "Node_Modules",
    "__proto__",
    ".bin",
    "~greet",
    "-rf",
    "constructor",
    "package.json",
]
SHIPPED_HOST = ("--dialect", SHIPPED)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_reserved_names_are_refused_for_packs(name: str) -> None:
    assert fault_of_pack_name(name)


@pytest.mark.parametrize(
    "name",
    ["greet", "Greet-2", "acme.hooks", "_draft", "h\u00e9llo", "\u6328\u62f6", "my hook", "hooks", "x+y"],
)
def test_ordinary_names_are_accepted_for_packs(name: str) -> None:
    assert fault_of_pack_name(name) == ""


def packed(folder: Path, kind: str) -> Path:
    """The folder as an archive beside it."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    source = out.getvalue()
    file = folder.with_name(f"pack.{kind}")
    file.write_bytes(gzip.compress(source) if kind == "tgz" else source)
    return file


@pytest.mark.parametrize("source", ["folder", "link", "zip", "tar", "tgz"])
@pytest.mark.parametrize(
    "name", ["node_modules", "@acme/Node_Modules", "__proto__", "~greet", "-rf", "\uff4eode_modules"]
)
def test_every_source_refuses_reserved_names(
    name: str, source: str, cli: Cli, home: Path, tmp_path: Path
) -> None:
    pack = make_pack(tmp_path / "pack", "hello")
    told = json.loads((pack / "package.json").read_text())
    (pack / "package.json").write_text(json.dumps({**told, "name": name}))
    spec = pack if source in ("folder", "link") else packed(pack, source)
    before = on_disk(home)
    more = ("--link",) if source == "link" else ()
    done = cli("install", str(spec), *more, "--yes", "--force", *SHIPPED_HOST)
    assert (done.code, "The pack has an invalid name" in done.err) == (1, True), done.err
    assert "Nothing was written." in done.err
    assert on_disk(home) == before


@pytest.mark.parametrize("name", FOLDERS)
def test_reserved_names_of_hooks_and_folders_are_refused(
    name: str, cli: Cli, home: Path, tmp_path: Path
) -> None:
    """Where nothing else says what a hook or a linked folder is called, its folder does."""
    folder = tmp_path / "in" / name
    folder.mkdir(parents=True)
    (folder / "HOOK.md").write_text(manifest("x").replace("name: x\n", ""))
    (folder / "handler.py").write_text("def handler(event): pass\n")
    linked = tmp_path / "linked" / name
    shutil.copytree(folder, linked / "inner")
    called = tmp_path / "called"
    shutil.copytree(folder, called)
    (called / "HOOK.md").write_text(manifest(json.dumps(name)))
    for words in ((str(folder),), (str(linked), "--link"), (str(called),)):
        done = cli("install", *words, "--yes", "--dialect", "openclaw")
        assert (done.code, "Nothing was written." in done.err) == (1, True), (words, done.err)
    assert on_disk(home) == {}


@pytest.mark.parametrize(
    "spec", ["node_modules", "@acme/node_modules", "acme~1", "@~/greet", "Constructor", "npm:favicon.ico"]
)
def test_npm_is_not_called_for_a_reserved_name(
    spec: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\n: > '{tmp_path}/ran'\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    done = cli("install", spec, "--yes")
    assert (done.code, "is not a package name" in done.err) == (1, True), done.err
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("key", ["__proto__", "constructor", "prototype"])
def test_a_hook_key_named_like_an_object_member_is_refused(
    key: str, cli: Cli, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "greet"
    folder.mkdir()
    (folder / "HOOK.md").write_text(manifest("greet", f', "hookKey": "{key}"'))
    (folder / "handler.py").write_text("def handler(event): pass\n")
    done = cli("install", str(folder), "--yes")
    assert (done.code, "invalid hookKey" in done.err) == (1, True), done.err
    assert on_disk(home) == {}


def test_hooks_inside_node_modules_are_refused(cli: Cli, home: Path, tmp_path: Path) -> None:
    pack = make_pack(tmp_path / "pack", "hello")
    shutil.copytree(pack / "hooks", pack / "Node_Modules")
    told = {"name": "greetings", "openclaw": {"hooks": ["./Node_Modules/hello"]}}
    (pack / "package.json").write_text(json.dumps(told))
    done = cli("install", str(packed(pack, "zip")), "--yes", *SHIPPED_HOST)
    assert (done.code, "is in node_modules" in done.err) == (1, True), done.err
    assert on_disk(home) == {}


@pytest.mark.parametrize("name", ["constructor", "Node_Modules", "COM1", "prototype", "bower_components"])
@pytest.mark.parametrize("kind", [(), ("--pack",)], ids=["hook", "pack"])
def test_new_refuses_reserved_names(name: str, kind: tuple[str, ...], cli: Cli, workspace: Path) -> None:
    before = on_disk(workspace)
    done = cli("new", name, *kind, "--event", "command:new", "--dialect", "openclaw")
    assert (done.code, "is a reserved name" in done.err) == (2, True), done.err
    assert on_disk(workspace) == before

"""fire --sandbox behind bubblewrap's walls, also as root: kernel settings and services are out of reach."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from hookscope.runtime.sandbox import find_bwrap, socket_filter

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

BWRAP = find_bwrap(os.environ.get("PATH", ""))
pytestmark = pytest.mark.skipif(BWRAP is None, reason="no bubblewrap that works here")
filtered = pytest.mark.skipif(not socket_filter(), reason="no filter of system calls for this processor")
COMMAND = '{openclaw: {events: ["command:new"]}}'

KERNEL = """
import os, stat
def handler(event):
    for top in ("/proc", "/sys"):
        for folder, folders, files in os.walk(top):
            for name in files:
                path = os.path.join(folder, name)
                try:
                    if stat.S_ISREG(os.lstat(path).st_mode):
                        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                        print(path)
                except OSError:
                    pass
"""
ROOT = """
import ctypes, os, socket
def tried(what):
    try:
        what()
        return "done"
    except OSError as error:
        return error.strerror
def handler(event):
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    libc = ctypes.CDLL(None, use_errno=True)
    def mount():
        if libc.mount(b"none", b"/proc", b"proc", 32, None):  # MS_REMOUNT
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    event.context["found"] = {
        "capabilities": int(status["CapEff"], 16) | int(status["CapPrm"], 16) | int(status["CapBnd"], 16),
        "new": int(status["NoNewPrivs"]),
        "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")},
        "mount": tried(mount),
        "name": tried(lambda: socket.sethostname(socket.gethostname())),
        "device": tried(lambda: os.mknod("device", 0o600 | 0o060000, os.makedev(7, 0))),
        "run": os.listdir("/run"),
    }
"""
SOCKETS = """
import socket
def tried(kind, path):
    try:
        with socket.socket(socket.AF_UNIX, kind) as one:
            one.connect(path)
        return "answered"
    except OSError as error:
        return type(error).__name__
def past_a_pair(path):
    found = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            theirs.close()
            ours.connect(path)
            found.append(kind)
        except OSError:
            pass
    return found
def handler(event):
    paths = event.context["sockets"]
    event.context["found"] = [tried(kind, path) for kind, path in paths]
    event.context["pairs"] = [past_a_pair(path) for _, path in paths]
"""
NODE = """
import net from "node:net";
import { execSync } from "node:child_process";
export default async (event: any) => {
  const tried = (path: string) => new Promise((resolve) => {
    const one = net.connect(path, () => { one.destroy(); resolve("answered"); });
    one.on("error", (error: any) => resolve(error.code));
  });
  event.context.found = await Promise.all(event.context.sockets.map(([, path]: any) => tried(path)));
  event.context.child = execSync("echo from a child").toString();
};
"""


def fired(hookscope: Program, *arguments: str) -> dict[str, Any]:
    done = hookscope("fire", "command:new", "--trust", "--sandbox", "--json", *arguments)
    assert done.json["results"][0]["status"] == "ok", done.json["results"][0]
    assert done.json["sandbox"]["disk"] is True
    return dict(done.json)


def test_kernel_settings_are_read_only_in_the_sandbox(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, KERNEL)
    done = hookscope(
        "fire", "command:new", "--trust", "--sandbox", "--json", "--bundled", str(bundled), "--timeout", "60"
    )
    (result,) = done.json["results"]
    assert (result["status"], result["stdout"], result["stderr"]) == ("ok", "", "")


def test_root_has_no_capabilities_in_the_sandbox(
    hookscope: Program, workspace: Path, make_hook: MakeHook, bundled: Path
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, ROOT)
    found = fired(hookscope, "--bundled", str(bundled))["context"]["found"]
    assert (found["capabilities"], found["new"], found["run"]) == (0, 1, [])
    assert (found["mount"], found["name"], found["device"]) == ("Operation not permitted",) * 3
    shared = {
        name for name, space in found["namespaces"].items() if os.readlink(f"/proc/self/ns/{name}") == space
    }
    assert not shared & {"mnt", "pid", "net", "ipc", "uts"}


@pytest.fixture
def listening() -> Iterator[list[tuple[int, str]]]:
    """Services of this machine: the kind and the path of their sockets, an abstract one among them."""
    with TemporaryDirectory(dir="/var/tmp") as folder, ExitStack() as servers:
        found: list[tuple[int, str]] = []
        for kind, name in (
            (socket.SOCK_STREAM, f"{folder}/stream"),
            (socket.SOCK_SEQPACKET, f"{folder}/sequence"),
            (socket.SOCK_DGRAM, f"{folder}/datagram"),
            (socket.SOCK_STREAM, f"\0hookscope-{os.getpid()}"),
        ):
            server = servers.enter_context(socket.socket(socket.AF_UNIX, kind))
            server.bind(name)
            if kind != socket.SOCK_DGRAM:
                server.listen()
            found.append((int(kind), name))
        Path(folder, "stream").rename(Path(folder, "renamed"))  # as programs do that replace a socket
        found[0] = (found[0][0], f"{folder}/renamed")
        yield found


@filtered
@pytest.mark.parametrize(("file", "denied"), [("handler.py", "PermissionError"), ("handler.ts", "EACCES")])
def test_unix_sockets_are_unreachable_in_the_sandbox(
    hookscope: Program,
    workspace: Path,
    make_hook: MakeHook,
    bundled: Path,
    tmp_path: Path,
    listening: list[tuple[int, str]],
    file: str,
    denied: str,
) -> None:
    make_hook(workspace / "hooks", "a", COMMAND, SOCKETS if file == "handler.py" else NODE, file=file)
    context = tmp_path / "context.json"
    context.write_text(json.dumps({"sockets": listening}))
    words = ("--context", f"@{context}", "--bundled", str(bundled))
    plain = hookscope("fire", "command:new", "--trust", "--json", *words).json["context"]["found"]
    assert plain[0] == "answered", "without walls it does"
    document = fired(hookscope, *words)
    assert document["context"]["found"] == [denied] * len(listening)
    assert document["sandbox"]["sockets"] is True
    assert "no Unix sockets" in document["sandbox"]["walls"]
    if file == "handler.py":
        assert plain == ["answered"] * len(listening)
        assert document["context"]["pairs"] == [[]] * len(listening)
    else:
        assert document["context"]["child"] == "from a child\n"
